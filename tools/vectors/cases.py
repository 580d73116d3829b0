"""The cases of the fixture files: inputs as JSON text, each with the trap that it sets.

Nothing here says what comes out; ``generate.py`` asks other implementations for that.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

__all__ = ["ALL_CONTRACTS", "Case", "all_cases"]

ALL_CONTRACTS = ("overturn", "mcpulse", "jcs")
RFC8785 = ("mcpulse", "jcs")


@dataclass(frozen=True)
class Case:
    """An input and why it is one."""

    name: str
    text: str
    """JSON text of the input. Its spelling is part of the case."""
    reason: str
    contracts: tuple[str, ...] = ALL_CONTRACTS
    as_text: bool = False
    """The fixture file holds the text in a string: many JSON readers refuse it or change it."""
    tool: str = "t"
    match_on: tuple[str, ...] | None = None
    ignore_args: tuple[str, ...] | None = None


def all_cases() -> list[Case]:
    """All cases in the order of the files."""
    return [
        *numbers(),
        *shortest_digits(),
        *big_numbers(),
        *strings(),
        *characters(),
        *texts_that_look_like_something_else(),
        *trimming(),
        *key_order(),
        *keys(),
        *structures(),
        *nulls(),
        *selections(),
        *tool_names(),
        *what_few_readers_take(),
    ]


# -- numbers --------------------------------------------------------------------------------------

NUMBERS = {
    "1.0": "Python, Java, Ruby, Swift and PHP keep the fraction of 1.0; ECMAScript writes 1.",
    "-1.0": "The fraction goes from negative numbers too.",
    "0.0": "Zero has no fraction either.",
    "-0.0": "Negative zero is written 0: languages that print its sign write -0 or -0.0.",
    "-0": "Negative zero as an integer literal: a reader of doubles keeps the sign, one of "
    "integers loses it, and the text is 0 for both.",
    "0e10": "Zero with an exponent is 0.",
    "-0e-5": "Negative zero with an exponent is 0.",
    "0.00": "Digits after the point of a zero are dropped.",
    "10.50": "Trailing zeros of the literal are not kept: readers of decimals do keep them.",
    "100e-2": "An exponent that makes an integer: 1, not 100e-2 and not 1.0.",
    "1e2": "A literal with an exponent that is an integer below 1e21 is written out: 100.",
    "1E2": "The capital E of a literal is not kept.",
    "1e+2": "The plus sign of a literal's exponent is not kept.",
    "1.5e3": "1500: no exponent below 1e21.",
    "123456789": "From 1e7 on Java's Double.toString writes 1.23456789E8.",
    "10000000.0": "From 1e7 on Java's Double.toString writes 1.0E7.",
    "1e15": "From 1e15 on .NET writes 1E+15.",
    "1e16": "From 1e16 on Python's repr writes 1e+16 and Ruby 1.0e+16.",
    "123456789012345.6": "16 digits with a fraction: printers of 15 digits round it to an integer.",
    "1e17": "From 1e17 on C's %.17g writes 1e+17.",
    "1e20": "The last power of ten without an exponent: 100000000000000000000.",
    "1e21": "The first one with an exponent, which has a sign: 1e+21, not 1e21 or 1E+21.",
    "-1e21": "The threshold holds for the magnitude: -1e+21.",
    "999999999999999900000": "The largest double below 1e21 has 21 digits and no exponent.",
    "1.5e21": "A mantissa with a fraction keeps its point: 1.5e+21.",
    "1e22": "1e22 is the largest power of ten that a double holds exactly.",
    "1e23": "1e23 is no double; the nearest one is written 1e+23, not 9.999999999999999e+22.",
    "9.999999999999999e22": "The neighbour below 1e23 has 16 digits.",
    "1e100": "An exponent of three digits: 1e+100.",
    "1.5e300": "Rust's {} writes a 1, a 5 and 299 zeros.",
    "0.1": "Printing 17 digits gives 0.10000000000000001.",
    "0.5": "The zero before the point is written: not .5.",
    "-0.5": "The zero before the point of a negative number: not -.5.",
    "0.01": "Haskell switches to an exponent below 0.1: 1.0e-2.",
    "0.001": "Java's Double.toString switches to an exponent below 0.001, ECMAScript does not.",
    "0.0001": "The last one that Python's repr, C's %g and Ruby write without an exponent.",
    "0.00001": "Python's repr writes 1e-05, ECMAScript 0.00001.",
    "0.000001": "The last power of ten without an exponent: 0.000001.",
    "1e-6": "The same number written with an exponent is written out.",
    "0.0000012": "Above the threshold with two digits: 0.0000012.",
    "0.0000001": "The first with an exponent: 1e-7, not 1e-07 (Python, C, Go's strconv) or 1E-07.",
    "1e-7": "The same number with its exponent: one digit suffices.",
    "9.5e-7": "Just below the threshold of 1e-6, with a fraction in the mantissa.",
    "0.00000099": "Written out in the input, with an exponent in the output: 9.9e-7.",
    "-1.5e-9": "Sign, point and exponent together.",
    "123e-10": "The mantissa gets one digit before the point: 1.23e-8.",
    "1e-10": "An exponent of two digits needs no padding and gets none.",
    "1e-100": "An exponent of three digits.",
    "1.10": "Money with two decimals: 1.1.",
    "100": "An integer ending in zeros is no 1e2.",
    "3.0e0": "An exponent of zero disappears with the fraction: 3.",
    "12e-1": "1.2: the exponent moves the point.",
}


def numbers() -> Iterator[Case]:
    for literal, reason in NUMBERS.items():
        yield Case(f"number {literal}", f'{{"n":{literal}}}', reason)


HARD_DOUBLES = {
    "0.30000000000000004": "the sum 0.1 + 0.2, which 15 or 16 digits turn into 0.3",
    "0.3333333333333333": "a third",
    "0.6666666666666666": "two thirds, where the 17th digit rounds up",
    "1.1": "17 digits show the error",
    "4.35": "4.35 * 100 is not 435 in doubles",
    "1.005": "rounding it to cents fails in doubles",
    "2.675": "the literal lies below the tie",
    "5.684341886080802e-14": "2**-44: two shortest candidates, the closer one counts",
    "9.5367431640625e-7": "2**-20 is exact in 14 digits",
    "1.1102230246251565e-16": "2**-53",
    "2.220446049250313e-16": "2**-52, the machine epsilon",
    "1.7976931348623157e308": "the largest double",
    "-1.7976931348623157e308": "the smallest double",
    "2.2250738585072014e-308": "the smallest normal double",
    "2.225073858507201e-308": "the largest subnormal double",
    "2.2250738585072011e-308": "a literal that has sent readers into endless loops",
    "5e-324": "the smallest double",
    "4.9406564584124654e-324": "the smallest double with 17 digits, of which one suffices",
    "1e-323": "twice the smallest double: subnormals have few digits",
    "1.5e-323": "three times the smallest double",
    "1.2345e-320": "a subnormal loses the digits that it cannot hold",
    "3e-324": "nearer to the smallest double than to zero",
    "2e-324": "nearer to zero: an underflow, not an error",
    "-1e-400": "an underflow of a negative number, which is 0 and not -0",
    "9.5e15": "an integer of 16 digits",
    "9007199254740991.0": "2**53 - 1 with a fraction",
    "4503599627370496.5": "the largest magnitude where halves exist",
    "4503599627370497.5": "a half that is a tie for even digits",
    "9007199254740993.0": "a tie between two doubles: the even one, 2**53, is read",
    "9007199254740995.0": "a tie where the even double lies above",
    "1.0000000000000002": "the double after 1",
    "0.9999999999999999": "the double before 1",
    "1.7800590868057611e-307": "17 digits are needed",
    "2.8480945388892178e-306": "17 digits are needed",
    "2.98023223876953125e-8": "2**-25 in full: the shortest digits are fewer",
    "6.189700196426902e26": "2**89: a short form that ends above the exact value",
    "8.41e21": "printers that stop at the first digits in range give 8.409999999999999e21",
    "1.8531501765868567e21": "a printer with too little precision gets the last digit wrong",
    "2.0919495182368195e19": "20 digits before the point, of which 17 count",
    "4.708356024711512e18": "a boundary case of shortest printers",
    "9.409340012568248e18": "a boundary case of shortest printers",
    "5.764607523034235e39": "2**132: the interval below a power of two is half as wide",
    "1.152921504606847e40": "2**133: the interval below a power of two is half as wide",
    "9.0608011534336e15": "the exact digits are shorter than 17",
    "1.2999999999999999e154": "the neighbour of a short number",
    "1.3076943502543608e87": "17 digits are needed",
    "7.0385307e-26": "few digits far below one",
    "1.448997445238699": "16 digits suffice",
}


def shortest_digits() -> Iterator[Case]:
    for literal, what in HARD_DOUBLES.items():
        seventeen = f"{float(literal):.17g}"
        reason = f"Shortest digits that round-trip: {what}. Printing 17 digits gives {seventeen}."
        yield Case(f"double {literal}", f'{{"n":{literal}}}', reason)


BIG_INTEGERS = {
    "2147483648": "2**31 overflows a 32-bit int.",
    "-2147483649": "-2**31 - 1 overflows a 32-bit int.",
    "4294967296": "2**32 overflows an unsigned 32-bit int.",
    "9007199254740991": "2**53 - 1, the largest integer that every JSON reader agrees on.",
    "-9007199254740991": "-(2**53 - 1), the smallest one.",
    "9007199254740992": "2**53: two integers have this double.",
    "9007199254740993": "2**53 + 1 is no double: RFC 8785 writes ...992, exact integers ...993.",
    "-9007199254740993": "The same below zero.",
    "9007199254740995": "A tie that is rounded up to ...996 as a double.",
    "36028797018963969": "2**55 + 1: as a double 36028797018963970, for the digits are padded.",
    "9223372036854775807": "2**63 - 1, the largest 64-bit int: as a double 9223372036854775808.",
    "9223372036854775808": "2**63 overflows a 64-bit int.",
    "-9223372036854775808": "-2**63, which has no positive counterpart.",
    "-9223372036854775809": "-2**63 - 1 overflows a 64-bit int.",
    "18446744073709551615": "2**64 - 1, the largest unsigned 64-bit int.",
    "18446744073709551616": "2**64 overflows an unsigned 64-bit int.",
    "100000000000000000001": "21 digits: the last one is lost in a double.",
    "123456789012345680000": "An integer literal that is a double of other exact digits.",
    "123456789012345680000.0": "As a fraction: Overturn writes the exact value of the double, "
    "RFC 8785 the shortest digits padded with zeros.",
    "999999999999999999999": "The last integer below 1e21; as a double it is 1e+21.",
    "1000000000000000000000": "10**21 as an integer literal gets an exponent.",
    "-1000000000000000000000": "-10**21 as an integer literal gets an exponent.",
    "123456789012345678901234567890": "An integer past 64 bits becomes 1.2345678901234568e+29.",
    "1" + "0" * 308: "10**308 as an integer literal is still in the range of doubles.",
}


def big_numbers() -> Iterator[Case]:
    for literal, reason in BIG_INTEGERS.items():
        name = literal if len(literal) < 40 else f"1 and {len(literal) - 1} zeros"
        yield Case(f"integer {name}", f'{{"n":{literal}}}', reason)
    yield Case(
        "integer past the range of doubles",
        f'{{"n":1{"0" * 309}}}',
        "10**309 is no double: an error for RFC 8785, null for Overturn.",
        as_text=True,
    )
    for literal in ("1e309", "-1e309", "1.7976931348623159e308"):
        yield Case(
            f"number {literal} past the range of doubles",
            f'{{"n":{literal}}}',
            "Reads as an infinity in many languages: an error for RFC 8785, null for Overturn.",
            as_text=True,
        )
    yield Case(
        "the largest literal that is read as a finite double",
        '{"n":1.7976931348623158e308}',
        "Rounds down to the largest double; readers that round wrongly give an infinity.",
    )
    yield Case(
        "a literal of 400 digits",
        f'{{"n":0.{"3" * 400}}}',
        "All digits of a literal count when it is read, and 16 remain.",
    )
    yield Case(
        "a literal that only its 30th digit takes from a tie",
        '{"n":9007199254740993.00000000000001}',
        "Readers that stop at 17 or 19 digits see a tie and give ...992; it is ...994.",
    )


# -- strings --------------------------------------------------------------------------------------


def quoted(content: str) -> str:
    """An object with one string, of which ``content`` is the text between the quotes."""
    return f'{{"s":"{content}"}}'


ESCAPES = {
    "backspace": (
        r"\u0008",
        r"Has the short escape \b; JSON libraries that know only \n, \r and \t"
        r" write \u0008.",
    ),
    "tab": (r"\u0009", r"Has the short escape \t."),
    "line feed": (r"\u000A", r"Has the short escape \n."),
    "form feed": (r"\u000c", r"Has the short escape \f; some libraries write \u000c."),
    "carriage return": (r"\u000d", r"Has the short escape \r."),
    "quote": (r"\u0022", r"Has the short escape \"; some libraries write \u0022."),
    "backslash": (r"\u005c", r"Has the short escape \\; some libraries write \u005c."),
    "NUL": (r"a\u0000b", "Ends a C string; written as an escape of four lower-case digits."),
    "U+0001": (r"\u0001", "Control characters without a short escape have one of four digits."),
    "vertical tab": (r"\u000b", r"JSON has no \v: \u000b."),
    "U+000E": (r"\u000E", r"The digits of an escape are lower-case: \u000e."),
    "escape": (r"\u001b[0m", r"The start of a terminal's colour code: \u001b."),
    "U+001F": (r"a\u001fb", "The last control character that is escaped."),
    "DEL": (r"\u007f", r"U+007F is written as it is; many libraries escape it as \u007f."),
    "U+0080": (r"\u0080", "C1 control characters are written as they are, in two bytes."),
    "NEL inside": (r"a\u0085b", "A C1 control character and a line end for some, not escaped."),
    "U+009F": (r"\u009f", "The last C1 control character is written as it is."),
    "solidus": ("a/b", r"PHP escapes it as \/ unless told otherwise."),
    "escaped solidus": (r"a\/b", "The escape of a solidus is not kept."),
    "closing script tag": (r"<\/script>", r"Libraries made for HTML write <\/script>."),
    "less-than sign": ("a<b", r"Go and .NET escape it as \u003c."),
    "greater-than sign": ("a>b", r"Go and .NET escape it as \u003e."),
    "ampersand": ("a&b", r"Go and .NET escape it as \u0026."),
    "apostrophe": ("it's", r".NET escapes it as \u0027."),
    "plus sign": ("1+1", r".NET escapes it as \u002B."),
    "grave accent": ("`code`", r".NET escapes it as \u0060."),
    "equals sign": ("a=b", r"Gson escapes it as \u003d."),
    "line separator": (r"a\u2028b", r"Go and JavaScript libraries escape it as \u2028."),
    "paragraph separator": (r"a\u2029b", r"Go and JavaScript libraries escape it as \u2029."),
    "escapes of printable characters": (
        r"\u0041\u007a\u0030",
        "Escapes in the input are not kept: Az0.",
    ),
    "a backslash before a u": (
        r"\\u0041",
        "An escaped backslash and then u0041: not the letter A, and escaped again.",
    ),
    "two backslashes": (r"C:\\\\x", "Backslashes are escaped one by one."),
    "all short escapes": (r"\b\t\n\f\r\"\\", "In one string, in the order of their code points."),
    "a windows line end": (r"a\r\nb", "Is not normalised to one line feed."),
}


def strings() -> Iterator[Case]:
    for what, (content, reason) in ESCAPES.items():
        yield Case(f"string with {what}", quoted(content), reason)


CHARACTERS = {
    "é of Latin-1": (r"caf\u00e9", r"Not escaped: Python's json and PHP write \u00e9."),
    "é as it is": ("café", r"Not escaped: Python's json and PHP write \u00e9."),
    "ÿ": ("ÿ", "The last character of Latin-1 takes two bytes in UTF-8."),
    "U+0100": ("Ā", "The first one past Latin-1."),
    "Greek": ("λόγος", "Two bytes a character in UTF-8."),
    "CJK": ("東京", "Three bytes a character in UTF-8."),
    "the euro sign": (
        r"\u20AC",
        "Upper-case digits in the escape of the input; raw in the output.",
    ),
    "an emoji": ("😀", r"Four bytes in UTF-8, one character; Java and C# may write \ud83d\ude00."),
    "an emoji from a surrogate pair": (
        r"\ud83d\ude00",
        "Two escapes make one character of four bytes; CESU-8 would be six.",
    ),
    "an emoji from an upper-case pair": (r"\uD83D\uDE80", "The same with upper-case digits."),
    "U+10000": (r"\ud800\udc00", "The first character past the Basic Multilingual Plane."),
    "U+10FFFF": (
        r"\udbff\udfff",
        "The last code point: no UTF-8 goes past it, some tables do not reach it.",
    ),
    "U+FFFF": (r"\uffff", "A noncharacter is a code point like any other."),
    "U+FFFE": (r"\ufffe", "A noncharacter that looks like a swapped byte order mark."),
    "U+FFFD": ("\ufffd", "The replacement character may stand in a text by itself."),
    "U+E000": (r"\ue000", "Private use, the first after the surrogates."),
    "U+D7FF": (r"\ud7ff", "The last code point before the surrogates."),
    "a byte order mark in front": (r"\ufeffa", "Is a character here; decoders may swallow it."),
    "a byte order mark inside": (
        r"a\ufeffb",
        "Decoders that look for a mark in the middle of a stream swallow it.",
    ),
    "a soft hyphen": (r"a\u00adb", "Format characters are written as they are."),
    "a zero-width space": (r"a\u200bb", "Format characters are written as they are."),
    "a right-to-left override": (r"a\u202eb", "Format characters are written as they are."),
    "é as two code points": (r"e\u0301", "Not composed: no Unicode normalisation (NFC)."),
    "é as one code point": (r"\u00e9", "Not decomposed: no Unicode normalisation (NFD)."),
    "the angstrom sign": (r"\u212b", "NFC would turn U+212B into U+00C5."),
    "Hangul jamo": (r"\u1112\u1161\u11ab", "NFC would compose one syllable."),
    "a ligature": (r"\ufb01", "NFKC would write fi."),
    "full-width letters": (r"\uff21", "NFKC would write A."),
    "a composition exclusion": (r"\u0958", "NFC would decompose U+0958."),
    "a family of emoji": ("👩‍👩‍👧", "Joined by U+200D: five code points stay five."),
    "a flag": ("🇪🇺", "Two regional indicators."),
    "a variation selector": (r"\u2764\ufe0f", "Cleaning that drops invisible characters loses it."),
    "an emoji beside a control character": (
        r"😀\u0001",
        "One escape does not turn on all of them.",
    ),
}


def characters() -> Iterator[Case]:
    for what, (content, reason) in CHARACTERS.items():
        yield Case(f"string with {what}", quoted(content), reason)


LOOK_ALIKES = {
    "1.0": "A string of digits stays a string with all its digits.",
    "true": "Languages that guess types from texts (YAML, PHP) read a boolean here.",
    "null": "Is no null, and not dropped as one.",
    "": "The empty string is no null, and not dropped as one.",
    "2026-01-02T03:04:05.000+02:00": "Readers that find dates in strings (Newtonsoft.Json) write "
    "them anew.",
    "NaN": "A reader that knows NaN as a word must not see it in a string.",
    "{}": "JSON inside a string is text.",
    "0x1F": "Languages that guess types from texts read a number here.",
    "1e21": "PHP takes a text of this form for a number.",
    "/Date(1767312000000)/": "A date of old .NET libraries stays text.",
}


def texts_that_look_like_something_else() -> Iterator[Case]:
    for content, reason in LOOK_ALIKES.items():
        yield Case(f"string {content or 'without characters'}", quoted(content), reason)


PYTHON_ONLY = "Python's str.strip removes it, JavaScript's trim does not; the contract does."
BOTH_TRIM = "White space by Unicode: ASCII-only trimming (Go's cutsets, C's isspace) leaves it."
TRIMMED = {
    **dict.fromkeys(range(0x09, 0x0E), "White space in ASCII."),
    **dict.fromkeys(range(0x1C, 0x20), PYTHON_ONLY),
    0x20: "The space itself.",
    0x85: PYTHON_ONLY,
    0xA0: BOTH_TRIM,
    0x1680: BOTH_TRIM,
    **dict.fromkeys(range(0x2000, 0x200B), BOTH_TRIM),
    **dict.fromkeys((0x2028, 0x2029, 0x202F, 0x205F, 0x3000), BOTH_TRIM),
}
NOT_TRIMMED = {
    0x00: "PHP's trim removes NUL; the contract does not.",
    0x08: "Trimming of all control characters (Java's trim) removes it; the contract does not.",
    0x1B: "Trimming of all control characters (Java's trim) removes it; the contract does not.",
    0x7F: "DEL is no white space.",
    0x180E: "Was white space until Unicode 6.3.",
    0x200B: "The zero-width space is no white space.",
    0x2060: "The word joiner is no white space.",
    0xFEFF: "JavaScript's trim removes it, Python's str.strip does not; the contract does not.",
}


def trimming() -> Iterator[Case]:
    overturn = ("overturn",)
    for point, reason in TRIMMED.items():
        escape = f"\\u{point:04x}"
        name = f"U+{point:04X} around a string is trimmed"
        yield Case(name, quoted(f"{escape}a{escape}b{escape}"), reason, overturn)
    for point, reason in NOT_TRIMMED.items():
        escape = f"\\u{point:04x}"
        yield Case(
            f"U+{point:04X} around a string stays", quoted(f"{escape}a{escape}"), reason, overturn
        )
    for what, content in {
        "spaces around text": "  a b  ",
        "nothing but spaces": "   ",
        "a line feed at the end": r"a\n",
        "no-break spaces around text": r"\u00a0a\u00a0",
        "mixed white space": r" \t\r\n\u3000a\u2003 ",
    }.items():
        yield Case(
            f"string with {what}",
            quoted(content),
            "Overturn trims strings, RFC 8785 leaves them as they are.",
        )
    yield Case(
        "strings in arrays are trimmed",
        '[" a ",["\\tb"]]',
        "Trimming reaches strings at every depth.",
        overturn,
    )
    yield Case(
        "a string at the top is trimmed",
        '" a "',
        "Trimming reaches the outermost value too.",
        overturn,
    )
    yield Case(
        "a key is not trimmed",
        '{" a ":1,"a":2}',
        "Only values are trimmed: these are two keys.",
        overturn,
    )
    yield Case(
        "white space between characters stays",
        quoted(r"a \t  b"),
        "Trimming is not collapsing.",
        overturn,
    )


# -- keys -----------------------------------------------------------------------------------------


def object_text(keys: Iterable[str]) -> str:
    """An object with these keys, in this order."""
    members = (f"{json.dumps(key, ensure_ascii=False)}:{at}" for at, key in enumerate(keys, 1))
    return "{" + ",".join(members) + "}"


SURROGATES_SORT = (
    "By UTF-16 code unit an emoji (D83D) comes before it; by code point and by UTF-8 byte after."
)
ORDERS = {
    "letters": ("cab", "Insertion order is not kept."),
    "an emoji and U+FFFD": (["\ufffd", "🚀"], SURROGATES_SORT),
    "an emoji and a full-width letter": (["ａ", "😀"], SURROGATES_SORT),
    "an emoji and a presentation form": (["\ufb33", "😀"], SURROGATES_SORT),
    "an emoji and private use": (["\ue000", "\U0001f600"], SURROGATES_SORT),
    "a musical symbol and U+FFFF": (["\uffff", "𝄞"], SURROGATES_SORT),
    "U+D7FF, U+10000 and U+E000": (["\ue000", "\U00010000", "\ud7ff"], SURROGATES_SORT),
    "two emoji": (["😁", "😀"], "Both halves of the pair decide."),
    "characters of different planes": (
        ["\U00020000", "\U0001f600", "\U00010000"],
        "Past the Basic Multilingual Plane both orders agree.",
    ),
    "emoji after a common beginning": (
        ["a\ufb33", "a😀", "a"],
        "The order of the first differing unit decides, wherever it stands.",
    ),
    "a common beginning": (["ab", "a", "abc", "aa"], "A key comes before those it begins."),
    "the empty key": (["a", ""], "The empty key comes first; some languages refuse it."),
    "upper and lower case": (["a", "B", "A", "b"], "By code unit: all capitals come first."),
    "an underscore between the cases": (["a", "_", "Z"], "U+005F lies between them."),
    "digits": (
        ["10", "9", "1"],
        "Keys are texts. JavaScript lists integer-like keys first and by value, whatever the "
        "order of insertion.",
    ),
    "digits and letters": (["b", "2", "a", "1"], "Digits come before letters as texts."),
    "zero-padded digits": (["2", "01", "1"], "Only 01 is no array index in JavaScript."),
    "a minus sign": (["1", "-1"], "U+002D comes before digits."),
    "accents": (
        ["z", "é", "e", "f"],
        "Collation by language puts é after e; by code unit it comes after z.",
    ),
    "umlauts": (["ö", "o", "z", "ß", "ss"], "Collation by language would sort ö with o."),
    "dotted and dotless i": (["İ", "ı", "i", "I"], "Case folding by language changes these."),
    "Latin-1 and ASCII": (
        ["ÿ", "\x7f", "\x80", "a"],
        "Where char is signed, comparing it as it is puts bytes above 7F first.",
    ),
    "characters that are escaped": (
        ["A", '"', "#", "\\", "]", "\n"],
        "Sorted by the keys themselves: escaped, a quote would begin with a backslash.",
    ),
    "a control character and a space": ([" ", "\x01", "\t"], "Sorted before they are escaped."),
    "one character in two normal forms": (
        ["é", "e\u0301"],
        "Two different keys, the decomposed one first.",
    ),
    "spaces": (["a b", "a", "ab", "a "], "A space comes before letters."),
    "punctuation": (["a.b", "a-b", "a_b", "a/b", "ab"], "Collations ignore punctuation at first."),
    "long common beginnings": (
        ["x" * 70 + "b", "x" * 70 + "a", "x" * 70],
        "Comparison must not stop after a fixed number of bytes.",
    ),
    "a zero character": (["a\0b", "a", "a\0a"], "NUL does not end a key."),
    "many keys": (
        [f"k{(number * 7) % 41}" for number in range(41)],
        "More keys than small maps keep in order; k10 comes before k2.",
    ),
    "Hebrew and Arabic": (["ש", "א", "ع"], "Display order is of no account."),
    "Hangul and Han": (["한", "漢", "カ"], "By code unit: katakana, Han, Hangul."),
}


def key_order() -> Iterator[Case]:
    for what, (keys, reason) in ORDERS.items():
        yield Case(f"key order of {what}", object_text(keys), reason)
    yield Case(
        "key order inside arrays and objects",
        '{"b":[{"d":1,"c":2},[{"f":1,"e":2}]],"a":{"z":1,"y":{"x":1,"w":2}}}',
        "Keys are sorted at every depth, arrays keep their order.",
    )


KEYS = {
    "__proto__": "Assigning it in JavaScript sets the prototype and loses the member.",
    "constructor": "Is inherited by every JavaScript object.",
    "toString": "Is inherited by every JavaScript object.",
    "length": "Makes some JavaScript code take the object for an array.",
    "$ref": "Has a meaning in JSON Schema and none here.",
    "@type": "Has a meaning in JSON-LD and in some readers, none here.",
    "class": "Is a reserved word in many languages.",
    "\n": "Is escaped as in values.",
    '"': "Is escaped as in values.",
    "\\": "Is escaped as in values.",
    "/": "Is not escaped, as in values.",
    "\x7f": "Is not escaped, as in values.",
    "\u2028": "Is not escaped, as in values.",
    "a\x00": "Is escaped as in values.",
    "clé": "Is not escaped, as in values.",
    "1.0": "A key is a text: not shortened to 1 as a number would be.",
    "-0": "A key is a text: JavaScript and PHP make numbers of some.",
    "null": "A key is a text, whatever it looks like.",
}


def keys() -> Iterator[Case]:
    for key, reason in KEYS.items():
        yield Case(f"key {json.dumps(key)}", object_text([key]), reason)
    yield Case("key from an escape", r'{"\u0061":1}', "The key is a; the escape is not kept.")
    yield Case("key from a surrogate pair", r'{"\ud83d\ude00":1}', "The key is one character.")


# -- structures -----------------------------------------------------------------------------------

STRUCTURES = {
    "empty object": ("{}", "PHP's arrays and Lua's tables cannot tell it from an empty array."),
    "empty array": ("[]", "PHP's arrays and Lua's tables cannot tell it from an empty object."),
    "nested emptiness": (
        '{"a":{},"b":[],"c":[{}],"d":[[]],"e":{"f":{}}}',
        "Nothing that is empty is left out.",
    ),
    "white space in the input": (
        ' { "a" : [ 1 , 2 ] ,\t"b" : { } } ',
        "No white space is written, not even after a colon or a comma.",
    ),
    "booleans": (
        '{"t":true,"f":false}',
        "Bridged numbers (Swift on Linux, Perl) write 1 and 0.",
    ),
    "a boolean beside a number": (
        "[true,1,false,0]",
        "In Python True == 1: a cache or a set keyed by value mixes them up.",
    ),
    "equal numbers of two types": (
        "[1,1.0,1e0,10e-1]",
        "An integer and a double of one value are written alike.",
    ),
    "array order": ('{"ids":[3,1,2]}', "Arrays are not sorted."),
    "repeated array items": ("[1,1,1]", "Arrays are no sets: repetition is kept."),
    "array of arrays": ("[[1,2],[3],[]]", "Arrays are not flattened."),
    "an array of one item": ('{"a":[1]}', "Is not unwrapped."),
    "a number at the top": ("1.0", "Any value may be outermost."),
    "a string at the top": ('"text"', "Any value may be outermost."),
    "true at the top": ("true", "Any value may be outermost."),
    "false at the top": ("false", "Any value may be outermost."),
    "an array at the top": ("[1]", "Any value may be outermost."),
    "an object with one key a hundred deep": (
        '{"a":' * 100 + "1" + "}" * 100,
        "Some readers stop at 64 or 100 levels.",
    ),
    "a realistic call": (
        '{"query":"quarterly revenue","limit":25.0,"filters":{"region":"EMEA","active":true}}',
        "25.0 and 25 are the same argument.",
    ),
    "strings, numbers and booleans of one look": (
        '["1",1,"true",true]',
        "Types are not guessed from texts.",
    ),
}


def structures() -> Iterator[Case]:
    for what, (text, reason) in STRUCTURES.items():
        yield Case(what, text, reason)


NULLS = {
    "null in an object": ('{"a":null,"b":1}', "Overturn leaves it out, RFC 8785 writes it."),
    "null alone in an object": ('{"a":null}', "Overturn writes {}, which the object itself stays."),
    "null in an array": ("[null,1,null]", "Overturn leaves it out there too: indices move."),
    "nothing but null in an array": ('{"a":[null]}', "Overturn writes an empty array."),
    "null at a depth": ('{"a":{"b":[{"c":null}]}}', "Dropping is not repeated upwards."),
    "null beside its look-alikes": (
        '{"a":null,"b":"","c":0,"d":false,"e":[],"f":{}}',
        "Only null is dropped: not what is merely falsy or empty.",
    ),
    "null in an array of objects": ('[{"a":null},null,{"b":1}]', "Each level drops its own."),
}


def nulls() -> Iterator[Case]:
    for what, (text, reason) in NULLS.items():
        yield Case(what, text, reason)
    yield Case(
        "null at the top",
        "null",
        "Overturn and RFC 8785 write null.",
        ("overturn", "jcs"),
    )
    yield Case(
        "no arguments",
        "null",
        "The canonical form is null, but absent arguments hash as the empty object {}.",
        ("mcpulse",),
    )


# -- Overturn's selection -------------------------------------------------------------------------


def selections() -> Iterator[Case]:
    args = '{"ticketId":"T-1","priority":"P0","requestId":"x","meta":{"requestId":"y","n":1.0}}'

    def case(name: str, reason: str, text: str = args, **lists: tuple[str, ...]) -> Case:
        return Case(name, text, reason, ("overturn",), **lists)  # type: ignore[arg-type]

    yield case("matchOn keeps one key", "All others are left out.", match_on=("ticketId",))
    yield case(
        "matchOn keeps two keys",
        "The order of the list is of no account.",
        match_on=("ticketId", "priority"),
    )
    yield case(
        "matchOn in another order",
        "The same fingerprint as with the list turned around.",
        match_on=("priority", "ticketId"),
    )
    yield case("matchOn names a key twice", "It is kept once.", match_on=("ticketId", "ticketId"))
    yield case(
        "matchOn names a key that is missing",
        "It is left out, not null.",
        match_on=("ticketId", "absent"),
    )
    yield case("matchOn names only missing keys", "Nothing is kept: {}.", match_on=("absent",))
    yield case(
        "matchOn is empty", "An empty list counts as not declared: all keys are kept.", match_on=()
    )
    yield case(
        "matchOn keeps a whole object", "Selection works at the top level only.", match_on=("meta",)
    )
    yield case(
        "matchOn does not reach inside",
        "requestId of meta is not selected by its name.",
        match_on=("n",),
    )
    yield case("ignoreArgs drops one key", "All others are kept.", ignore_args=("requestId",))
    yield case(
        "ignoreArgs does not reach inside",
        "requestId of meta stays.",
        ignore_args=("requestId", "priority"),
    )
    yield case("ignoreArgs names a missing key", "Nothing is dropped.", ignore_args=("absent",))
    yield case(
        "ignoreArgs drops everything",
        "An empty object is left: {}.",
        ignore_args=("ticketId", "priority", "requestId", "meta"),
    )
    yield case("ignoreArgs is empty", "Nothing is dropped.", ignore_args=())
    yield case(
        "matchOn wins over ignoreArgs",
        "ignoreArgs has no effect where matchOn names keys.",
        match_on=("ticketId",),
        ignore_args=("ticketId",),
    )
    yield case(
        "an empty matchOn does not win over ignoreArgs",
        "It counts as not declared, so ignoreArgs has its effect.",
        match_on=(),
        ignore_args=("requestId",),
    )
    yield case(
        "matchOn keeps a key whose value is null",
        "The null is then dropped as any other.",
        '{"a":null,"b":1}',
        match_on=("a",),
    )
    yield case("matchOn is case-sensitive", "TicketID is another key.", match_on=("TicketID",))
    yield case(
        "matchOn does not trim names",
        "A name with a space is another key.",
        match_on=(" ticketId",),
    )
    yield case(
        "matchOn with a name past ASCII",
        "Names are compared code point by code point.",
        '{"clé":1,"cle\u0301":2}',
        match_on=("clé",),
    )
    yield case(
        "matchOn with an emoji",
        "Names are compared as characters, not as bytes.",
        '{"🚀":1,"a":2}',
        match_on=("🚀",),
    )
    yield case(
        "matchOn on an array",
        "Only objects are selected from; an array stays whole.",
        "[1,2]",
        match_on=("0",),
    )
    yield case(
        "matchOn on a string",
        "Only objects are selected from; a string stays whole.",
        '"abc"',
        match_on=("a",),
    )
    yield case(
        "ignoreArgs on null",
        "Only objects are selected from; null stays null.",
        "null",
        ignore_args=("a",),
    )
    yield case(
        "matchOn with an empty name", "The empty name is a name.", '{"":1,"a":2}', match_on=("",)
    )


def tool_names() -> Iterator[Case]:
    for name, reason in {
        "lookup_customer": "The name is hashed too: another tool is another fingerprint.",
        " t ": "A tool's name is not trimmed.",
        "": "The empty name leaves an empty line.",
        "größe": "A name past ASCII is hashed in UTF-8.",
        "🚀": "A name past the Basic Multilingual Plane is hashed in UTF-8, not in CESU-8.",
        "a\nb": "A name is hashed as it is, line feeds too.",
        "T": "Names are case-sensitive.",
        "e\u0301": "Names are not normalised.",
    }.items():
        yield Case(f"tool name {json.dumps(name)}", '{"a":1}', reason, ("overturn",), tool=name)


# -- texts that many readers refuse or change -----------------------------------------------------

LONE = "JSON can carry a lone surrogate, UTF-8 cannot: an error for RFC 8785, an escape with "
LONE += "lower-case digits (as JSON.stringify has it) for the others."
LONE_SURROGATES = {
    "a high surrogate": r"\ud800",
    "an upper-case high surrogate": r"\uD83D",
    "a low surrogate": r"\udc00",
    "a high surrogate before a letter": r"\ud83da",
    "a high surrogate before another escape": r"\ud83d\u0041",
    "two surrogates in the wrong order": r"\ude00\ud83d",
    "two high surrogates": r"\ud83d\ud83d",
    "a high surrogate before a pair": r"\ud83d\ud83d\ude00",
    "a low surrogate after a pair": r"\ud83d\ude00\ude00",
}


def what_few_readers_take() -> Iterator[Case]:
    for what, content in LONE_SURROGATES.items():
        yield Case(f"string with {what}", quoted(content), LONE, as_text=True)
    yield Case("key with a lone surrogate", r'{"\udead":1}', LONE, as_text=True)
    yield Case(
        "key order of a lone surrogate",
        r'{"\ue000":1,"\udfff":2,"\ud83d\ude00":3,"\ud83d":4}',
        "A lone surrogate is sorted by its own value. " + LONE,
        as_text=True,
    )
    twice = "Of two members with one name Overturn takes the last; RFC 8785 wants an error."
    for what, text in {
        "a name twice": '{"a":1,"a":2}',
        "a name twice with an escape": r'{"a":1,"\u0061":2}',
        "a name twice at a depth": '[{"a":{"b":1,"c":2,"b":null}}]',
        "a name twice with one value": '{"a":1,"a":1}',
    }.items():
        yield Case(what, text, twice, ("overturn", "jcs"), as_text=True)
    yield Case(
        "two hundred arrays in each other",
        "[" * 200 + "]" * 200,
        "Some readers stop at 100 or 128 levels.",
        as_text=True,
    )
    yield Case(
        "numbers of all thresholds in one array",
        "[1e-7,1e-6,1e20,1e21,-1e-7,-1e21,5e-324,-0.0]",
        "Order is kept and each number is written by itself.",
    )


assert all(math.isfinite(float(literal)) for literal in HARD_DOUBLES)
