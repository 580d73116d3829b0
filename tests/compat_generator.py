"""Random values of the kinds that the Overturn SDK treats each in its own way, bugs included."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import ipaddress
import pathlib
import random
import struct
import types
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any

CHARACTERS = (
    "abcXYZ019_-./ \t\n\r\x0b\x0c\x1c\x1f\x00\x01\b\x7f\"'\\<>&{}[]:,"
    "\x80\x85\xa0\xadéßĀ\u0301\u1680\u180e\u2000\u200b\u2028\u2029\u202f\u3000中한\ud7ff\ue000"
    "\ufb33\ufeff\ufffd\uffff\U00010000😀\U0010ffff"
)
WORDS = ("ticketId", "priority", "query", "limit", "a", "b", "", " a ", "é", "1", "True", "None")

Source = random.Random


class Shade(enum.Enum):
    DARK = "dark"


class Level(enum.IntEnum):
    LOW = 1


class Mixed(int, enum.Enum):
    TWO = 2


class Word(str, enum.Enum):
    A = " a "


class Ratio(float, enum.Enum):
    WHOLE = 2.0
    HALF = 0.5


class Text(str):
    pass


class Loud(str):
    def __str__(self) -> str:
        return "loud"

    def strip(self, chars: str | None = None, /) -> str:
        return str.upper(self)


class Count(int):
    pass


class Told(int):
    def __repr__(self) -> str:
        return f"<{int(self)}>"


class Measure(float):
    pass


class Money(float):
    def __repr__(self) -> str:
        return f"{float(self):.2f}"


class Slotted:
    __slots__ = ("a",)

    def __init__(self) -> None:
        self.a = 1


@dataclasses.dataclass
class Order:
    item: Any
    note: Any = None


@dataclasses.dataclass(frozen=True)
class FrozenOrder:
    item: Any
    _hidden: Any = 1


class Model:
    """What the SDK knows of a pydantic model."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def model_dump(self) -> Any:
        return self.value


class Pairs(Mapping[Any, Any]):
    """A mapping that may have a key more than once, as those of HTTP headers."""

    def __init__(self, pairs: list[tuple[Any, Any]]) -> None:
        self.pairs = pairs

    def __iter__(self) -> Iterator[Any]:
        return iter(dict(self.pairs))

    def __len__(self) -> int:
        return len(dict(self.pairs))

    def __getitem__(self, key: Any) -> Any:
        return dict(self.pairs)[key]

    def items(self) -> Any:
        return list(self.pairs)


def function(argument: object) -> None:
    """An argument that somebody passed by mistake."""


def text(source: Source) -> str:
    kind = source.random()
    if kind < 0.5:
        return source.choice(WORDS)
    if kind < 0.7:
        return " " * source.randrange(3) + source.choice(WORDS) + "\u3000" * source.randrange(2)
    if kind < 0.998:
        return "".join(source.choices(CHARACTERS, k=source.randrange(12)))
    return source.choice(("\ud800", "a\udfffb", "\ud83d\ude00"))


def integer(source: Source) -> int:
    number = source.choice(
        (
            source.randrange(-20, 100),
            source.getrandbits(source.randrange(1, 69)),
            2 ** source.randrange(50, 69) + source.randrange(-2, 3),
            10 ** source.randrange(0, 40) + source.randrange(-2, 3),
            source.getrandbits(2_000),
        )
    )
    return number if source.random() < 0.7 else -number


def real(source: Source) -> float:
    kind = source.randrange(6)
    if kind == 0:
        return float(struct.unpack("<d", source.randbytes(8))[0])
    if kind == 1:
        return round(source.uniform(-1_000, 1_000), source.randrange(7))
    if kind == 2:
        return source.choice((0.0, -0.0, 1e21, 1e-7, 1e-6, 5e-324, 1.7976931348623157e308, 0.1))
    if kind == 3:
        return float(source.getrandbits(source.randrange(1, 80)))
    if kind == 4:
        return source.randrange(1, 10**5) * 10.0 ** source.randrange(-30, 30)
    return source.choice((float("nan"), float("inf"), float("-inf"), 2.5, -1.5e300))


def moment(source: Source) -> datetime.datetime:
    offset = datetime.timedelta(minutes=source.randrange(-720, 721))
    zone = source.choice((None, datetime.timezone.utc, datetime.timezone(offset)))
    days = datetime.timedelta(
        days=source.randrange(3_650_000), microseconds=source.randrange(86_400_000_000)
    )
    return (datetime.datetime(2, 1, 1) + days).replace(tzinfo=zone)


def number_in_decimal(source: Source) -> decimal.Decimal:
    written = f"{integer(source)}e{source.randrange(-30, 30)}"
    if source.random() < 0.01:
        return decimal.Decimal("sNaN")
    return decimal.Decimal(source.choice((written, "NaN", "-Infinity", "1.10", "-0")))


def without_form(source: Source) -> Any:
    """What JSON has nothing for; the SDK often writes null."""
    number = source.randrange(1000)
    return source.choice(
        (
            uuid.UUID(int=number),
            bytes([number % 256]),
            bytearray(b"ab"),
            memoryview(b"ab"),
            datetime.date(2026, 1, 1 + number % 28),
            datetime.time(number % 24),
            datetime.timedelta(number),
            pathlib.PurePosixPath("/a"),
            ipaddress.IPv4Address(number),
            complex(number),
            Slotted(),
            object(),
            ValueError(number),
            iter([number]),
            function,
            print,
            Slotted,
            {}.keys(),
            {1: number}.items(),
            {1: number}.values(),
            range(number % 5),
        )
    )


def of_a_subclass(source: Source) -> Any:
    kind = source.choice((Text, Loud, Count, Told, Measure, Money))
    if issubclass(kind, str):
        return kind(text(source))
    return kind(integer(source)) if issubclass(kind, int) else kind(real(source))


def member_of_enum(source: Source) -> Any:
    """Of those whose type is no other the SDK knows no end, and few fractions it can read."""
    if source.random() < 0.03:
        return source.choice((Ratio.HALF, Shade.DARK))
    return source.choice((Level.LOW, Mixed.TWO, Word.A, Ratio.WHOLE))


PLAIN: tuple[Callable[[Source], Any], ...] = (
    *[text] * 6,
    *[integer] * 3,
    *[real] * 3,
    lambda source: source.choice((None, None, True, False)),
    moment,
    number_in_decimal,
)
ODD = (without_form, of_a_subclass, member_of_enum)


def scalar(source: Source) -> Any:
    return source.choice(ODD if source.random() < 0.15 else PLAIN)(source)


def key(source: Source) -> Any:
    if source.random() < 0.85:
        return text(source)
    return source.choice(
        (
            lambda: source.choice((1, 0, True, False, None, 1.0, -0.0, 1.5, float("nan"), "1")),
            lambda: integer(source),
            lambda: real(source),
            lambda: (1, text(source)),
            lambda: uuid.UUID(int=1),
            lambda: source.choice((Word.A, Level.LOW, Mixed.TWO, Shade.DARK)),
            lambda: source.choice((Text, Loud))(text(source)),
            lambda: text(source).encode("utf-8", "surrogatepass"),
        )
    )()


def value(source: Source, depth: int = 0) -> Any:
    """A value of any kind; half of those with members are dicts."""
    if depth > 5 or source.random() < 0.05 + 0.2 * depth:
        return scalar(source)
    size = source.choice((0, 1, 2, 2, 3, 3, 4, 12))
    members = [value(source, depth + 1) for _ in range(size)]
    if source.random() < 0.5:
        return dict(zip((key(source) for _ in members), members, strict=False))
    return source.choice(CONTAINERS)(source, members)


def _attributes(source: Source, members: list[Any]) -> dict[str, Any]:
    return {text(source): member for member in members}


def _hashable(source: Source, members: list[Any]) -> list[Any]:
    plain = (str, int, float, type(None), datetime.datetime)
    return [member for member in members if isinstance(member, plain) and member == member]


CONTAINERS: tuple[Callable[[Source, list[Any]], Any], ...] = (
    *[lambda source, members: members] * 4,
    lambda source, members: tuple(members),
    lambda source, members: set(_hashable(source, members)),
    lambda source, members: {len(members), *range(source.randrange(4))},
    lambda source, members: frozenset(_hashable(source, members)),
    lambda source, members: collections.deque(members),
    lambda source, members: collections.UserList(members),
    lambda source, members: collections.OrderedDict(_attributes(source, members)),
    lambda source, members: types.MappingProxyType(_attributes(source, members)),
    lambda source, members: types.SimpleNamespace(**_attributes(source, members)),
    lambda source, members: Model(_attributes(source, members)),
    lambda source, members: Model(members[0] if members else None),
    lambda source, members: Order(*members[:2]) if members else Order(None),
    lambda source, members: FrozenOrder(members),
    lambda source, members: Pairs([(key(source), member) for member in members]),
)


def call(source: Source, args: Any) -> tuple[Any, ...]:
    """The arguments of ``fingerprint``: some of a call's keys are declared, in one way or other."""
    keys = list(args) if isinstance(args, dict) else []
    keys.append("missing")
    match_on, ignore_args = (_declared(source, keys) for _ in range(2))
    kind = source.choice(("tool_call", "tool_call", "model", "two\nlines", 7))
    name = source.choice((text(source), Text("t"), Word.A, None, 1.5))
    return kind, name, args, match_on, ignore_args


def _declared(source: Source, keys: list[Any]) -> Any:
    chosen = source.sample(keys, source.randrange(len(keys) + 1))
    return source.choice(
        (None, None, [], chosen, chosen, tuple(chosen), set(map(str, chosen)), "ticketId", "ab")
    )
