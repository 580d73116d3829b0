"""What stays the same from call to call, hashed once: tool catalogs and system prompts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple, final

from overturn_fast._arguments import DEFAULT_MAX_DEPTH
from overturn_fast._errors import CanonicalizationError
from overturn_fast._pure.strings import utf16_order
from overturn_fast.pleach.canonical import (
    canonicalize,
    digest_of,
    hash_value,
    in_field,
    text_digest,
)
from overturn_fast.pleach.errors import InputError, wrong_type

__all__ = ["SystemPrompt", "ToolCatalog"]

_POSITION: Final = re.compile(r"\$\[(\d+)\]")  # of a tool, where a path begins


class _Named(NamedTuple):
    """A tool, and where it stood among those that were given."""

    name: str
    position: int
    tool: Mapping[str, Any]


@final
class ToolCatalog:
    """The tools that calls are made with, hashed once.

    It stands in the place of ``tools`` in an input and gives the same fingerprint. A tool that is
    changed afterwards does not change the catalog: make a new one.

    Args:
        tools: A list or tuple of mappings with a ``name`` each, in any order.
        max_depth: How many levels of containers may be nested.

    Raises:
        InputError: A tool has no name, or is there twice. ``field`` names it: ``tools[3].name``.
        InputTypeError: ``tools`` is no list or tuple, or a tool is no mapping.
        CanonicalizationError: A tool has no canonical form.

    Source: the fingerprint contract, "What's IN the key".

    >>> catalog = ToolCatalog([{"name": "web"}, {"name": "calc"}])
    >>> catalog.names
    ('calc', 'web')
    >>> catalog == ToolCatalog([{"name": "calc"}, {"name": "web"}])
    True
    """

    __slots__ = ("_hash", "_names")

    def __init__(
        self, tools: Sequence[Mapping[str, Any]], *, max_depth: int = DEFAULT_MAX_DEPTH
    ) -> None:
        ordered = _sorted_tools(tools, max_depth)
        self._names = tuple(str.__str__(tool["name"]) for tool in ordered)
        self._hash = _digest(ordered, tools, max_depth)

    @property
    def hash(self) -> str:
        """The ``toolsHash`` of calls with these tools."""
        return self._hash

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools, as they are sorted to be hashed."""
        return self._names

    def __len__(self) -> int:
        return len(self._names)

    def __eq__(self, other: object) -> bool:
        return self._hash == other._hash if isinstance(other, ToolCatalog) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._hash)

    def __repr__(self) -> str:
        return f"<ToolCatalog of {len(self)}, {self._hash[:12]}>"


@final
class SystemPrompt:
    """A system prompt that calls are made with, hashed once.

    It stands in the place of ``system_prompt`` in an input and gives the same fingerprint.

    Args:
        text: The prompt; an empty one is present all the same.

    Raises:
        InputTypeError: ``text`` is no str.
        SurrogateError: It holds a lone surrogate, which has no UTF-8.

    Source: the fingerprint contract, "What's IN the key".

    >>> SystemPrompt("You are helpful.") == SystemPrompt("You are helpful.")
    True
    """

    __slots__ = ("_hash", "_text")

    def __init__(self, text: str) -> None:
        self._hash = text_digest("systemPrompt", text)
        self._text = str.__str__(text)

    @property
    def hash(self) -> str:
        """The ``systemPromptHash`` of calls with this prompt."""
        return self._hash

    @property
    def text(self) -> str:
        """The prompt itself."""
        return self._text

    def __eq__(self, other: object) -> bool:
        return self._hash == other._hash if isinstance(other, SystemPrompt) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._hash)

    def __repr__(self) -> str:
        return f"<SystemPrompt of {len(self._text):,} characters, {self._hash[:12]}>"


def tools_digest(tools: Any, max_depth: int) -> str:
    """The ``toolsHash`` of a call; None stands for no tools."""
    if isinstance(tools, ToolCatalog):
        return tools.hash
    if tools is None:
        return _NO_TOOLS
    return _digest(_sorted_tools(tools, max_depth), tools, max_depth)


def _sorted_tools(tools: Any, max_depth: int) -> Sequence[Mapping[str, Any]]:
    """The tools by name in UTF-16 order, those of one name by their canonical text."""
    if not isinstance(tools, (list, tuple)):
        raise wrong_type("tools", "a list, a tuple or a ToolCatalog", tools)
    if set(map(type, tools)) == {dict}:
        names = [tool.get("name") for tool in tools]
        # Where code points and UTF-16 units have one order, and no two names are the same.
        if set(map(type, names)) == {str} and "".join(names).isascii():
            distinct = set(names)
            if len(distinct) == len(names) and "" not in distinct:
                return sorted(tools, key=itemgetter("name"))
    named = [_Named(_name_of(index, tool), index, tool) for index, tool in enumerate(tools)]
    if len({one.name for one in named}) < len(named):
        return _sorted_by_text(named, max_depth)
    named.sort(key=lambda one: utf16_order(one.name))
    return [one.tool for one in named]


def _name_of(index: int, tool: Any) -> str:
    if not isinstance(tool, Mapping):
        raise wrong_type(f"tools[{index}]", "a mapping", tool)
    name = tool.get("name")
    if name is None:
        raise InputError(f"tools[{index}].name", "is missing")
    if not isinstance(name, str):
        raise wrong_type(f"tools[{index}].name", "a str", name)
    if not name:
        raise InputError(f"tools[{index}].name", "must not be empty")
    return str.__str__(name)


def _sorted_by_text(named: list[_Named], max_depth: int) -> list[Mapping[str, Any]]:
    """Sort tools some of which share a name, and refuse those that are the same throughout."""
    seen: dict[str, int] = {}
    keys = []
    for one in named:
        try:
            text = canonicalize(one.tool, max_depth=max_depth)
        except CanonicalizationError as error:
            in_field(error, f"tools[{one.position}]")
            raise
        first = seen.setdefault(text, one.position)
        if first != one.position:
            raise InputError(f"tools[{one.position}]", f"is the same as tools[{first}]")
        keys.append((utf16_order(one.name), utf16_order(text), one.tool))
    keys.sort(key=lambda key: key[:2])
    return [tool for _, _, tool in keys]


def _digest(ordered: Sequence[Any], given: Sequence[Any], max_depth: int) -> str:
    try:
        return hash_value(ordered, max_depth)
    except CanonicalizationError as error:
        in_tools(error, ordered, given)
        raise


def in_tools(error: CanonicalizationError, ordered: Sequence[Any], given: Sequence[Any]) -> None:
    """Put the caller's position of a tool in the place of the sorted one that begins a path.

    Nothing is read again: a hook that fails is not called twice.
    """
    message = error.args[0] if error.args else None
    found = _POSITION.match(message) if isinstance(message, str) else None
    position = int(found[1]) if found is not None else len(ordered)
    if found is not None and position < len(ordered):
        tool = ordered[position]
        index = next((i for i, one in enumerate(given) if one is tool), position)
        error.args = (f"tools[{index}]{found.string[found.end() :]}", *error.args[1:])
    else:
        in_field(error, "tools")


_NO_TOOLS = digest_of("tools", [])
