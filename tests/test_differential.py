"""The native engine against the pure one: one text or one error for every value, however odd.

The values come from a random source. Hypothesis supplies it: as a source that it can shrink, and,
for many more values, as a seed.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import ipaddress
import pathlib
import random
import struct
import types
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from types import ModuleType
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

PROFILES = ["overturn", "jcs", "jcs-double", "mcpulse", "pleach", "compat"]

VALUES_A_SEED = 50

# -- types -----------------------------------------------------------------------------------------


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "no"

    __repr__ = __str__


class Whole(int):
    def __index__(self) -> int:
        return -1

    __int__ = __index__


class Real(float):
    def __float__(self) -> float:
        return -1.0


class Named(str, enum.Enum):
    A = " a "
    LONE = "\ud800"


class Numbered(enum.IntEnum):
    ONE = 1
    LARGE = 2**62


class Plain(enum.Enum):
    TEXT = "plain"
    NOTHING = None
    PAIR = (1, b"")


@dataclasses.dataclass
class Record:
    first: Any
    second: Any = None


@dataclasses.dataclass
class SlotRecord:
    __slots__ = ("first",)
    first: Any


class Slots:
    __slots__ = ("_hidden", "x")

    def __init__(self, x: Any, hidden: Any) -> None:
        self.x, self._hidden = x, hidden


class Model:
    def __init__(self, dumped: Any) -> None:
        self.dumped = dumped

    def model_dump(self) -> Any:
        return self.dumped


class Target:
    """What only a hook can turn into something."""

    def __init__(self, content: Any) -> None:
        self.content = content

    def model_dump(self) -> None: ...


class Pairs(Mapping[Any, Any]):
    """A mapping whose pairs may hold one key several times."""

    def __init__(self, pairs: list[tuple[Any, Any]]) -> None:
        self.pairs = pairs

    def __getitem__(self, key: Any) -> Any:
        raise KeyError(key)

    def __iter__(self) -> Iterator[Any]:
        return (key for key, _ in self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    def items(self) -> Any:
        return iter(self.pairs)


class Items(Sequence[Any]):
    def __init__(self, content: list[Any]) -> None:
        self.content = content

    def __getitem__(self, index: Any) -> Any:
        return self.content[index]

    def __len__(self) -> int:
        return len(self.content)


class Bag(Set[Any]):
    """A set of any items, hashable or not."""

    def __init__(self, content: list[Any]) -> None:
        self.content = content

    def __contains__(self, item: object) -> bool:
        return item in self.content

    def __iter__(self) -> Iterator[Any]:
        return iter(self.content)

    def __len__(self) -> int:
        return len(self.content)


class ReversedList(list):  # type: ignore[type-arg]
    def __iter__(self) -> Iterator[Any]:
        return reversed(list(super().__iter__()))


class ReversedDict(dict):  # type: ignore[type-arg]
    def items(self) -> Any:
        return reversed(list(super().items()))


class Raising:
    """Objects that cannot be read, each in another way."""

    class Attributes:
        @property
        def __dict__(self) -> Any:  # type: ignore[override]
            raise LookupError("attributes")

    class Everything:
        def __getattribute__(self, name: str) -> Any:
            raise LookupError(name)

    class Dump:
        def model_dump(self) -> Any:
            raise LookupError("dump")

    class Entries(dict):  # type: ignore[type-arg]
        def items(self) -> Any:
            raise LookupError("items")

    class OddEntries(dict):  # type: ignore[type-arg]
        def items(self) -> Any:
            return [(1, 2, 3)]

    class Iteration(list):  # type: ignore[type-arg]
        def __iter__(self) -> Any:
            raise LookupError("iteration")

    class Position(Items):
        def __getitem__(self, index: Any) -> Any:
            raise LookupError("position")

        def __len__(self) -> int:
            return 2

    class View(Pairs):
        def items(self) -> Any:
            raise LookupError("view")


class Ring:
    """Its attributes lead back to it."""

    def __init__(self) -> None:
        self.next = {"again": [self]}


# -- random values ---------------------------------------------------------------------------------

# Shared str objects: records are often told apart by the identity of their keys.
WORDS = [
    *("id", "name", "ticketId", "filters", "a", "b", "c", "", " ", "\t", "x" * 40, 'q"', "\x00"),
    *("é", "中文", "😀", "\uffff", "\ufb33", "null", "true", "1", "1.5", "1e+21"),
]
SURROGATES = ["\ud800", "\udfff", "\ud83d\ude00", "\ude00\ud83d", "x\udead", "é\ud83d\ude00"]
CHARACTERS = (
    'ab \t\n"\\\x00\x1f\x7f\x85\xa0é\u2028\u3000中\ud7ff\ue000\ufeff\uffff😀\ud83d\ude00\udead'
)


def text(source: random.Random) -> str:
    kind = source.randrange(10)
    if kind < 5:
        return source.choice(WORDS)
    if kind < 6:
        return source.choice(SURROGATES)
    count = source.choice((1, 2, 5, 15, 16, 17, 33, 100))
    characters = CHARACTERS if kind < 8 else CHARACTERS[: source.choice((8, 13, 16))]
    return "".join(source.choice(characters) for _ in range(source.randrange(count + 1)))


def whole(source: random.Random) -> int:
    number = source.choice(
        (
            source.randrange(100),
            2 ** source.choice((30, 31, 53, 59, 60, 62, 63, 64, 69, 70)) + source.randrange(-2, 3),
            source.getrandbits(source.randrange(1, 80)),
            10 ** source.choice((1, 15, 16, 20, 21, 22, 300, 308, 309, 400)),
            2**1024 - 2**970 - source.randrange(2),
        )
    )
    return -number if source.randrange(3) == 0 else number


def real(source: random.Random) -> float:
    kind = source.randrange(4)
    if kind == 0:
        return float(struct.unpack("<d", source.getrandbits(64).to_bytes(8, "little"))[0])
    if kind == 1:
        return source.choice((0.0, -0.0, 1e21, 1e-7, 5e-324, float("nan"), float("inf"), 2.0**60))
    if kind == 2:
        return source.randrange(-10_000, 10_000) / source.choice((1, 2, 10, 100, 3))
    return source.randrange(1, 10**6) * 10.0 ** source.randrange(-25, 25)


def moment(source: random.Random) -> datetime.datetime:
    offset = datetime.timedelta(seconds=source.randrange(-86_399, 86_400))
    zone = source.choice((None, datetime.timezone.utc, datetime.timezone(offset)))
    days = datetime.datetime.min, datetime.datetime.max, datetime.datetime(2026, 1, 2)
    return source.choice(days).replace(microsecond=source.randrange(1_000_000), tzinfo=zone)


SCALARS: list[Callable[[random.Random], Any]] = [
    *[text] * 6,
    *[whole] * 3,
    *[real] * 3,
    lambda source: source.choice((None, None, True, False)),
    lambda source: Text(text(source)),
    lambda source: Whole(whole(source)),
    lambda source: Real(real(source)),
    lambda source: source.choice([*Named, *Numbered, Plain.TEXT, Plain.NOTHING]),
]
ODDITIES: list[Callable[[random.Random], Any]] = [
    moment,
    lambda source: moment(source).date(),
    lambda source: moment(source).timetz(),
    lambda source: decimal.Decimal(source.choice(("1.10", "-0", "1e30", "1e999", "sNaN", "Inf"))),
    lambda source: uuid.UUID(int=source.getrandbits(128)),
    lambda source: pathlib.PurePosixPath(source.choice(("a", "/b/é ", "."))),
    lambda source: ipaddress.ip_address(source.getrandbits(32)),
    lambda source: collections.UserString(text(source)),
    lambda source: source.choice((print, int, len, Record, text, [].append, Plain, lambda: None)),
]
WITHOUT_FORM: list[Callable[[random.Random], Any]] = [
    lambda source: source.choice((b"x", bytearray(b"x"), memoryview(b"x"), 1j, object(), ...)),
    lambda source: source.choice((fractions.Fraction(1, 2), datetime.timedelta(1), ValueError())),
    lambda source: source.choice((iter([]), {}.values(), {}.items(), random, (x for x in ""))),
    lambda source: Plain.PAIR,
    lambda source: Model(source.choice(([1], None, "x"))),
    lambda source: Ring(),
    lambda source: source.choice(
        (
            Raising.Attributes,
            Raising.Everything,
            Raising.Dump,
            lambda: Raising.Entries(a=1),
            Raising.OddEntries,
            lambda: Raising.Iteration([1]),
            lambda: Raising.Position([]),
            lambda: Raising.View([]),
        )
    )(),
]

try:
    import numpy
except ImportError:
    pass
else:
    ODDITIES += [
        lambda source: source.choice((numpy.int64(5), numpy.float32(0.1), numpy.bool_(True))),
        lambda source: source.choice((numpy.float64(1e21), numpy.str_(" x "), numpy.arange(4))),
        lambda source: numpy.array([[whole(source) % 7, 2.5]]),
    ]


def key(source: random.Random, wildness: float) -> Any:
    if source.random() >= wildness:
        return source.choice(WORDS)
    return source.choice(
        (
            text,
            text,
            whole,
            real,
            lambda s: s.choice((None, True, False)),
            lambda s: Text(text(s)),
            lambda s: s.choice([*Named, *Numbered]),
            lambda s: source.choice((b"k", (1, 2), Plain.TEXT, decimal.Decimal(1), frozenset())),
        )
    )(source)


class Maker:
    """Makes one value: how wild it is, and what it may refer back to."""

    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.wildness = source.choice((0.0, 0.02, 0.2))
        self.open: list[Any] = []  # the lists and dicts around the value that is being made

    def scalar(self) -> Any:
        wild = self.source.random()
        if wild < self.wildness / 2:
            return self.source.choice(WITHOUT_FORM)(self.source)
        if wild < self.wildness * 3:
            return self.source.choice(ODDITIES)(self.source)
        return self.source.choice(SCALARS)(self.source)

    def value(self, depth: int = 0) -> Any:
        source = self.source
        if depth > 5 or source.random() < 0.1 + 0.25 * depth:
            if self.open and source.random() < self.wildness / 10:
                return source.choice(self.open)
            return self.scalar()
        kind = source.randrange(12)
        if kind < 4:
            return self.mapping(depth)
        if kind < 6:
            return self.records(depth)
        if kind < 9:
            return self.sequence(depth)
        if kind < 10:
            return self.set(depth)
        return self.object(depth)

    def members(self, depth: int) -> list[Any]:
        return [self.value(depth + 1) for _ in range(self.source.choice((0, 1, 2, 3, 3, 5)))]

    def mapping(self, depth: int) -> Any:
        source = self.source
        made: dict[Any, Any] = {}
        self.open.append(made)
        for _ in range(source.choice((0, 1, 2, 2, 3, 4, 9))):
            made[key(source, self.wildness)] = self.value(depth + 1)
        self.open.pop()
        if source.random() >= self.wildness + 0.05:
            return made
        if source.random() < 0.3:
            return Pairs([*made.items(), *[(k, self.scalar()) for k in list(made)[:2]]])
        return source.choice((collections.OrderedDict, types.MappingProxyType, ReversedDict))(made)

    def records(self, depth: int) -> list[Any]:
        """Objects that have their keys in common, as rows of a table do."""
        source = self.source
        keys = [key(source, self.wildness) for _ in range(source.choice((1, 2, 3, 5, 15, 16, 17)))]
        rows = []
        for _ in range(source.randrange(2, 7)):
            order = source.sample(keys, len(keys)) if source.random() < 0.2 else keys
            rows.append({k: self.value(depth + 3) for k in order})
        return rows

    def sequence(self, depth: int) -> Any:
        source = self.source
        made: list[Any] = []
        self.open.append(made)
        made += self.members(depth)
        self.open.pop()
        if source.random() >= self.wildness + 0.2:
            return made
        return source.choice((tuple, tuple, collections.deque, ReversedList, Items))(made)

    def set(self, depth: int) -> Any:
        members = self.members(depth)
        if self.source.random() < 0.5:
            return Bag(members)
        items = [item for item in members if issubclass(type(item), (str, int, float, uuid.UUID))]
        return frozenset(items) if self.source.random() < 0.5 else set(items)

    def object(self, depth: int) -> Any:
        first, second = self.value(depth + 1), self.value(depth + 1)
        return self.source.choice(
            (
                lambda: Record(first, second),
                lambda: SlotRecord(first),
                lambda: Slots(first, second),
                lambda: types.SimpleNamespace(a=first, _b=second),
                lambda: Model({"m": first, 1: second}),
                lambda: Target(first),
                lambda: collections.namedtuple("Pair", "x y")(first, second),
            )
        )()


# -- hooks -----------------------------------------------------------------------------------------


def content(value: object) -> object:
    return value.content if isinstance(value, Target) else NotImplemented


def named(value: object) -> object:
    return type(value).__name__


def failing(value: object) -> object:
    raise OSError(2, "disk")


HOOKS: list[Callable[[object], object] | None] = [
    None,
    None,
    content,
    named,
    failing,
    lambda value: NotImplemented,
    lambda value: None,
    lambda value: print,
    lambda value: value,
    lambda value: [value],
    lambda value: {"a": [1, value]},
    lambda value: {"id": None, "name": value, 1: 2},
    lambda value: Target(value),
    lambda value: Bag([3, "x", Target(value), None]),
    lambda value: b"",
    lambda value: {"\ud800": "\ud83d\ude00"},
    lambda value: 2**64,
]


# -- comparison ------------------------------------------------------------------------------------


def outcome(function: Callable[..., Any], *args: Any, **options: Any) -> tuple[Any, ...]:
    """What a call returns, or all that can be seen of what it raises."""
    try:
        return ("returned", function(*args, **options))
    except Exception as error:
        notes = tuple(getattr(error, "__notes__", ()))
        if hasattr(error, "__notes__"):
            del error.__notes__
        return ("raised", type(error), str(error), error.args, repr(error.__cause__), notes)


def compare_canonical(
    native: ModuleType, pure: ModuleType, source: random.Random, value: Any
) -> None:
    encoder = source.choice(HOOKS)
    max_depth = source.choice((300, 300, 100, 1, 2, 3, 5))
    for profile in PROFILES:
        call = (profile, value, encoder, max_depth)
        expected = outcome(pure.canonical_with, *call)
        assert outcome(native.canonical_with, *call) == expected
        if profile == "overturn":
            options = {"encoder": encoder, "max_depth": max_depth}
            assert outcome(native.hash_json, value, **options) == (
                outcome(pure.hash_json, value, **options)
            )


def names(source: random.Random, args: Any) -> Any:
    present = list(args) if type(args) is dict else []
    chosen = [source.choice([*present, *WORDS]) for _ in range(source.choice((0, 1, 2, 3, 20)))]
    return source.choice(
        (
            lambda: None,
            lambda: [],
            lambda: chosen,
            lambda: tuple(chosen),
            lambda: dict.fromkeys(chosen),
            lambda: [Text(name) if isinstance(name, str) else name for name in chosen],
            lambda: "ab",
            lambda: 5,
        )
    )()


def compare_calls(native: ModuleType, pure: ModuleType, source: random.Random, args: Any) -> None:
    match_on, ignore_args = names(source, args), names(source, args)
    kind, name = text(source), source.choice((text(source), Text(text(source)), None))
    calls = [
        (name, args, match_on, ignore_args),
        {"name": name, "args": args, "matchOn": match_on, "ignoreArgs": ignore_args, "kind": kind},
    ]

    def fingerprinter(engine: ModuleType) -> Any:
        return engine.ToolFingerprinter(name, match_on, ignore_args, kind=kind)(args)

    call = (kind, name, args, match_on, ignore_args)
    assert outcome(native.fingerprint, *call) == outcome(pure.fingerprint, *call)
    assert outcome(fingerprinter, native) == outcome(fingerprinter, pure)
    assert outcome(native.fingerprint_many, calls) == outcome(pure.fingerprint_many, calls)


@settings(max_examples=120)
@given(seed=st.integers(0, 2**64 - 1))
@example(seed=0)
def test_both_engines_agree_on_many_random_values(
    native: ModuleType, pure: ModuleType, seed: int
) -> None:
    source = random.Random(seed)
    for _ in range(VALUES_A_SEED):
        compare_canonical(native, pure, source, Maker(source).value())


@settings(max_examples=150)
@given(source=st.randoms(use_true_random=False))
def test_both_engines_agree_on_generated_values(
    native: ModuleType, pure: ModuleType, source: random.Random
) -> None:
    compare_canonical(native, pure, source, Maker(source).value())


@settings(max_examples=40)
@given(seed=st.integers(0, 2**64 - 1))
def test_both_engines_agree_on_many_random_calls(
    native: ModuleType, pure: ModuleType, seed: int
) -> None:
    source = random.Random(seed)
    for _ in range(VALUES_A_SEED):
        maker = Maker(source)
        args = maker.mapping(2) if source.random() < 0.7 else maker.value(3)
        compare_calls(native, pure, source, args)


@settings(max_examples=100)
@given(source=st.randoms(use_true_random=False))
def test_both_engines_agree_on_generated_calls(
    native: ModuleType, pure: ModuleType, source: random.Random
) -> None:
    compare_calls(native, pure, source, Maker(source).value(2))


@settings(max_examples=300)
@given(value=st.text(st.characters(codec=None), max_size=80))
def test_both_engines_agree_on_any_text(native: ModuleType, pure: ModuleType, value: str) -> None:
    for profile in PROFILES:
        for wrapped in (value, [value], {value: value}, {value: 1, "é": 2}):
            call = (profile, wrapped)
            assert outcome(native.canonical_with, *call) == outcome(pure.canonical_with, *call)
    assert native.tool_fingerprint(value, value) == pure.tool_fingerprint(value, value)


@settings(max_examples=300)
@given(values=st.lists(st.floats(), max_size=30))
def test_both_engines_agree_on_any_float(
    native: ModuleType, pure: ModuleType, values: list[float]
) -> None:
    for profile in PROFILES:
        for value in (values, [abs(number) for number in values], dict.fromkeys(values, 1)):
            call = (profile, value)
            assert outcome(native.canonical_with, *call) == outcome(pure.canonical_with, *call)


@settings(max_examples=300)
@given(values=st.lists(st.integers() | st.integers(-(2**70), 2**70), max_size=30))
def test_both_engines_agree_on_any_int(
    native: ModuleType, pure: ModuleType, values: list[int]
) -> None:
    for profile in PROFILES:
        for value in (values, dict.fromkeys(values, 1), set(values)):
            call = (profile, value)
            assert outcome(native.canonical_with, *call) == outcome(pure.canonical_with, *call)


def test_both_engines_agree_on_random_bit_patterns(native: ModuleType, pure: ModuleType) -> None:
    source = random.Random(754)
    for _ in range(40):
        values = list(struct.unpack("<1000d", source.randbytes(8_000)))
        for profile in ("overturn", "pleach"):
            finite = [number for number in values if number - number == 0]
            assert native.canonical_with(profile, finite) == pure.canonical_with(profile, finite)


@pytest.mark.parametrize("count", [1, 2, 7, 15, 16, 17, 40])
def test_both_engines_agree_on_records_with_keys_in_common(
    native: ModuleType, pure: ModuleType, count: int
) -> None:
    source = random.Random(count)
    alphabets = ("abc", "abcé", 'ab\n"', "中😀\uffff", "a\ud83d\ude00")
    for alphabet in alphabets:
        sizes = [source.randrange(40) for _ in range(count)]
        keys = list({"".join(source.choices(alphabet, k=size)) for size in sizes})
        rows: list[Any] = []
        for number in range(200):
            order = source.sample(keys, len(keys)) if number % 10 == 9 else keys
            row: dict[Any, Any] = {k: source.choice((None, number, "x", [1], {2})) for k in order}
            if number % 7 == 0:
                row[number % 3] = Text("y")
            if number % 50 == 49:
                keys = keys[1:] or keys
            rows.append([row, {"nested": row}])
        for profile in PROFILES:
            for encoder in (None, named):
                call = (profile, rows, encoder)
                assert outcome(native.canonical_with, *call) == outcome(pure.canonical_with, *call)
