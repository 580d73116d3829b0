"""The SDKs that a program already uses, computing their fingerprints with this package.

::

    import overturn_fast

    overturn_fast.install()  # from here on the overturn and mcpulse packages compute natively

Every value stays what it is: ``overturn`` gets the functions of ``overturn_fast.compat``, and
``mcpulse`` those of ``overturn_fast.mcpulse``. Replaced are the functions in the modules that
define them and every name that any loaded module has bound to one, as ``from overturn import
tool_fingerprint`` does. What refers to a function in another way, as a default argument or a class
attribute, keeps the SDK's own, and with it the same values.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import FunctionType, ModuleType, TracebackType
from typing import Any, Final

from overturn_fast._backend import engine
from overturn_fast._errors import CanonicalizationError
from overturn_fast._sdk_binding import faster_bind_args

__all__ = [
    "PACKAGES",
    "Binding",
    "Installation",
    "SDKPackage",
    "UntestedVersionError",
    "install",
    "installed_bindings",
    "uninstall",
    "versions_of",
]

Function = Callable[..., Any]
Namespace = dict[str, Any]


class UntestedVersionError(RuntimeError):
    """A package is of a version whose values this one was not compared with.

    ``install(force=True)`` replaces its functions all the same.
    """

    def __init__(self, package: str, found: str, tested: Collection[str]) -> None:
        super().__init__(
            f"{package} is of version {found}; tested is {', '.join(sorted(tested))}. "
            "Pass force=True to install into it all the same"
        )
        self.package = package
        """The package, by the name it is imported by."""
        self.found = found
        """Its version."""
        self.tested = tuple(sorted(tested))
        """The versions that it may have."""


UntestedVersionError.__module__ = "overturn_fast"


@dataclass(frozen=True, slots=True)
class Binding:
    """A name that stands for a replaced function."""

    module: str
    """The module that has the name, as in ``sys.modules``."""
    name: str
    """The name in the module."""

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(frozen=True, slots=True)
class SDKPackage:
    """A package that ``install`` knows."""

    name: str
    """What it is imported by."""
    distribution: str
    """What it is installed by."""
    tested: frozenset[str]
    """The versions whose values were compared."""
    replaced: Mapping[str, tuple[tuple[str, Callable[[Function], Function]], ...]]
    """By the module that defines them, the names of functions, and what makes a replacement of
    the SDK's own."""
    methods: tuple[tuple[str, str, str, Callable[[Function], Function]], ...] = ()
    """Module, class and name of methods, and what makes a replacement."""


# -- the replacements ------------------------------------------------------------------------------


# Functions of their own, with the SDK's signatures: so they can be told from names that a program
# has bound to the functions of overturn_fast itself, which are nobody's to give back.


def _tool_fingerprint(original: Function) -> Function:
    computed = engine.compat_tool_fingerprint

    @functools.wraps(original)
    def tool_fingerprint(
        name: Any, args: Any, match_on: Any = None, ignore_args: Any = None
    ) -> Any:
        return computed(name, args, match_on, ignore_args)

    return tool_fingerprint


def _fingerprint(original: Function) -> Function:
    computed = engine.compat_fingerprint

    @functools.wraps(original)
    def fingerprint(
        kind: Any, name: Any, args: Any, match_on: Any = None, ignore_args: Any = None
    ) -> Any:
        return computed(kind, name, args, match_on, ignore_args)

    return fingerprint


def _select_args(original: Function) -> Function:
    from overturn_fast._selection import select_as_sdk

    @functools.wraps(original)
    def select_args(args: Any, match_on: Any = None, ignore_args: Any = None) -> Any:
        return select_as_sdk(args, match_on, ignore_args)

    return select_args


def _of_value(computed: Function) -> Callable[[Function], Function]:
    def make(original: Function) -> Function:
        @functools.wraps(original)
        def replacement(value: Any) -> Any:
            return computed(value)

        return replacement

    return make


def _args_hash(original: Function) -> Function:
    computed = engine.args_hash

    @functools.wraps(original)
    def args_hash(args: Any) -> str:
        return computed(args)

    return args_hash


def _utf16_length(original: Function) -> Function:
    computed = engine.utf16_length

    @functools.wraps(original)
    def utf16_length(text: Any) -> int:
        return computed(text)

    return utf16_length


def _new_session_id(original: Function) -> Function:
    from overturn_fast.mcpulse import new_session_id as computed

    @functools.wraps(original)
    def new_session_id() -> str:
        return computed()

    return new_session_id


def _canonicalize(original: Function) -> Function:
    from overturn_fast.mcpulse import canonicalize as computed

    # What a program catches is the SDK's own class.
    error_class = getattr(original, "__globals__", {}).get("CanonicalizeError", ValueError)

    @functools.wraps(original)
    def canonicalize(value: Any) -> str:
        try:
            return computed(value)
        except CanonicalizationError as error:
            raise error_class(str(error)) from error

    return canonicalize


PACKAGES: Final[Mapping[str, SDKPackage]] = {
    "overturn": SDKPackage(
        name="overturn",
        distribution="overturn",
        tested=frozenset({"0.1.4"}),
        replaced={
            "overturn.fingerprint": (
                ("canonical_json", _of_value(engine.compat_canonical_json)),
                ("fingerprint", _fingerprint),
                ("hash_json", _of_value(engine.compat_hash_json)),
                ("select_args", _select_args),
                ("tool_fingerprint", _tool_fingerprint),
            )
        },
        methods=(("overturn.tools", "Tool", "bind_args", faster_bind_args),),
    ),
    "mcpulse": SDKPackage(
        name="mcpulse",
        distribution="mcpulse-sdk",
        tested=frozenset({"0.1.0"}),
        replaced={
            "mcpulse.canonical": (("canonicalize", _canonicalize),),
            "mcpulse.hashing": (("args_hash", _args_hash), ("new_session_id", _new_session_id)),
            "mcpulse.types": (("utf16_length", _utf16_length),),
        },
    ),
}
"""The packages that ``install`` knows, by the name they are imported by."""


# -- what is installed -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Replacement:
    """A function of an SDK and what stands in its place."""

    package: str
    original: Function
    function: Function
    owner: type | None = None
    """The class that it is a method of."""


_lock = threading.RLock()
_replacements: list[_Replacement] = []
_namespaces: dict[int, Namespace] = {}  # those that a name was replaced in, by identity


def install(packages: str | Iterable[str] | None = None, *, force: bool = False) -> Installation:
    """Let the Overturn and MCPulse SDKs compute their fingerprints with this package.

    Their functions are replaced in every loaded module that has bound one. Calling it again
    changes nothing, except that names bound to an SDK's own function meanwhile are replaced too.
    Threads may call it at any time.

    Args:
        packages: ``"overturn"``, ``"mcpulse"``, or several names. None stands for those of the two
            that are installed. They are imported if they are not yet.
        force: Replace the functions of a version that was not tested too, as far as it has them.

    Returns:
        What was done. As a context manager it takes that back at the end of the block.

    Raises:
        UntestedVersionError: A package is of another version than those that were compared, and
            ``force`` is not set. Nothing is replaced then.
        ModuleNotFoundError: A package that was named is not installed; or none was named, and
            neither of the two is.
        ValueError: A name is that of another package.

    Source: the Overturn SDK 0.1.4 and the MCPulse SDK 0.1.0, by their behaviour.

    >>> with install("overturn") as installation:
    ...     installation.packages
    ('overturn',)
    """
    found = _chosen(packages)
    for package in found:
        importlib.import_module(package.name)
    with _lock:
        planned = [(package, _plan(package, force)) for package in found]
        new = []
        for package, homes in planned:
            if _replace_homes(package, homes):
                new.append(package.name)
            _replace_methods(package)
        _rebind({id(entry.original): entry.function for entry in _replacements})
        return Installation(tuple(package.name for package in found), tuple(new))


def uninstall(packages: str | Iterable[str] | None = None) -> None:
    """Give the SDKs their own functions back.

    Every name that ``install`` replaced, and every one that a module has bound to a replacement
    since, is the SDK's function again. Without an installation nothing happens.

    Args:
        packages: ``"overturn"``, ``"mcpulse"``, or several names; None for all.

    Returns:
        Nothing.

    Raises:
        ValueError: A name is that of another package.

    Source: the Overturn SDK 0.1.4 and the MCPulse SDK 0.1.0, by their behaviour.

    >>> install("mcpulse").new
    ('mcpulse',)
    >>> uninstall()
    >>> installed_bindings("mcpulse")
    []
    """
    with _lock:
        names = {package.name for package in _chosen(packages, only_installed=False)}
        removed = [entry for entry in _replacements if entry.package in names]
        if not removed:
            return
        _rebind({id(entry.function): entry.original for entry in removed})
        for entry in removed:
            name = entry.original.__name__
            if entry.owner is not None and vars(entry.owner).get(name) is entry.function:
                setattr(entry.owner, name, entry.original)
        _replacements[:] = [entry for entry in _replacements if entry.package not in names]
        if not _replacements:
            _namespaces.clear()


@dataclass(frozen=True, slots=True)
class Installation:
    """What a call of ``install`` did; as a context manager it takes that back at its end."""

    packages: tuple[str, ...]
    """The packages that compute with this one now."""
    new: tuple[str, ...]
    """Those of them that did not before the call. The end of a ``with`` block is theirs."""

    def __enter__(self) -> Installation:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        uninstall(self.new)


def installed_bindings(package: str) -> list[Binding]:
    """The names in loaded modules that stand for a replacement of the package's functions.

    They are sorted. Without an installation there are none.
    """
    with _lock:
        functions = {id(e.function) for e in _replacements if e.package == package}
        found = {
            Binding(module, name)
            for module, namespace in _loaded_namespaces()
            for name, value in _items(namespace)
            if id(value) in functions
        }
        for entry in _replacements:
            if entry.package == package and entry.owner is not None:
                name = f"{entry.owner.__name__}.{entry.original.__name__}"
                found.add(Binding(entry.owner.__module__, name))
    return sorted(found, key=str)


def versions_of(package: SDKPackage, module: ModuleType | None = None) -> list[str]:
    """The versions that a package states: of its distribution, and of the module if given.

    They are usually one. The list is empty where nothing is known.
    """
    from importlib import metadata  # it takes a while, and most programs never need it

    versions = []
    with contextlib.suppress(metadata.PackageNotFoundError):  # it may lie on the path as it is
        versions.append(metadata.version(package.distribution))
    stated = getattr(module, "__version__", None)
    if isinstance(stated, str) and stated not in versions:
        versions.append(stated)
    return versions


# -- steps -----------------------------------------------------------------------------------------


def _chosen(
    packages: str | Iterable[str] | None, *, only_installed: bool = True
) -> list[SDKPackage]:
    """The packages that an argument names, in a fixed order."""
    if packages is None:
        chosen = list(PACKAGES.values())
        if only_installed:
            chosen = [package for package in chosen if _is_there(package.name)]
            if not chosen:
                raise ModuleNotFoundError(f"none is installed of: {', '.join(PACKAGES)}")
        return chosen
    names = {packages} if isinstance(packages, str) else set(packages)
    unknown = sorted(map(repr, names - set(PACKAGES)))
    if unknown:
        raise ValueError(
            f"{', '.join(unknown)} cannot be installed into; known are: {', '.join(PACKAGES)}"
        )
    return [package for package in PACKAGES.values() if package.name in names]


def _is_there(name: str) -> bool:
    if isinstance(sys.modules.get(name), ModuleType):
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except ValueError:  # something without a specification stands in sys.modules
        return False


def _plan(package: SDKPackage, force: bool) -> list[tuple[Namespace, str, Function]]:
    """Where the package's functions are defined, by which name, and what makes a replacement.

    Raises:
        UntestedVersionError: The version is another one, or a function is missing.
    """
    versions = versions_of(package, sys.modules[package.name])
    untested = [version for version in versions if version not in package.tested]
    if not force and (untested or not versions):
        raise UntestedVersionError(package.name, (untested or ["unknown"])[0], package.tested)
    homes: list[tuple[Namespace, str, Function]] = []
    for module_name, functions in package.replaced.items():
        try:
            # The attribute of the package may be a function of the module's name.
            importlib.import_module(module_name)
            namespace = vars(sys.modules[module_name])
        except ModuleNotFoundError:
            namespace = {}
        for name, make in functions:
            if callable(namespace.get(name)):
                homes.append((namespace, name, make))
            elif not force:
                found = f"{(versions or ['unknown'])[0]} without {module_name}.{name}"
                raise UntestedVersionError(package.name, found, package.tested)
    return homes


def _replace_homes(package: SDKPackage, homes: list[tuple[Namespace, str, Function]]) -> bool:
    """Make the replacements of functions that have none yet. Whether there were such."""
    replaced = {id(entry.function) for entry in _replacements}
    known = {id(entry.original) for entry in _replacements}
    missing = [home for home in homes if id(home[0][home[1]]) not in replaced]
    for namespace, name, make in missing:
        original = namespace[name]
        if id(original) not in known:
            _replacements.append(_Replacement(package.name, original, make(original)))
    return bool(missing)


def _replace_methods(package: SDKPackage) -> None:
    """The same for methods, as far as their classes have them."""
    replaced = {id(entry.function) for entry in _replacements}
    for module, class_name, name, make in package.methods:
        owner = getattr(sys.modules.get(module), class_name, None)
        original = vars(owner).get(name) if isinstance(owner, type) else None
        if isinstance(original, FunctionType) and id(original) not in replaced:
            function = make(original)
            setattr(owner, name, function)
            _replacements.append(_Replacement(package.name, original, function, owner))


def _rebind(exchange: Mapping[int, Function]) -> None:
    """Bind each name that has a function of these identities to another one, in every module."""
    spaces = {id(namespace): namespace for _, namespace in _loaded_namespaces()}
    for namespace in [*spaces.values(), *_namespaces.values()]:
        for name, value in _items(namespace):
            replacement = exchange.get(id(value))
            if replacement is not None:
                namespace[name] = replacement
                _namespaces[id(namespace)] = namespace


def _loaded_namespaces() -> Iterator[tuple[str, Namespace]]:
    """The names of every loaded module, but for this one, which keeps both kinds of functions."""
    for name, module in list(sys.modules.items()):
        if issubclass(type(module), ModuleType) and name != __name__:
            # Not by getattr: it would make a module load that waits for its first use.
            yield name, object.__getattribute__(module, "__dict__")


def _items(namespace: Namespace) -> list[tuple[str, Any]]:
    """What a namespace has now; another thread may be adding to it."""
    while True:
        try:
            return list(namespace.items())
        except RuntimeError:
            continue
