"""``overturn-fast verify``: vectors files against what this package computes."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator

import click

import overturn_fast
from overturn_fast import CanonicalizationError, jcs, mcpulse
from overturn_fast.cli.cases import (
    CONTRACTS,
    DIGESTS,
    Case,
    CasesError,
    has_a_name_twice,
    read_cases,
)
from overturn_fast.cli.differences import difference, visible
from overturn_fast.cli.lines import lines_of
from overturn_fast.cli.options import files_argument
from overturn_fast.cli.output import FileFailure, ending_cleanly
from overturn_fast.cli.terminal import Report

__all__ = ["verify"]

_EPILOG = """\
\b
Examples:
  overturn-fast verify canonical.json
  overturn-fast verify --contract jcs cases.ndjson
  overturn-fast vectors --contract mcpulse | overturn-fast verify -

\b
Exit status:
  0    everything is as the files say
  1    something differs
  2    wrong usage, or a file that is no vectors file
"""


@click.command(short_help="Check test vectors, and print what differs.", epilog=_EPILOG)
@files_argument
@click.option(
    "--contract",
    type=click.Choice(CONTRACTS),
    help="What to check the cases against. By default the file or each case says it: "
    '"args_hash" means mcpulse, "fingerprint", "tool" and "args" mean overturn, and a case that '
    "says nothing is checked against jcs.",
)
def verify(files: tuple[str, ...], contract: str | None) -> None:
    """Check the cases of each vectors FILE, and print what differs.

    FILE is a JSON array of cases, an object that has one under "cases", "vectors" or "fixtures",
    or one case a line; "-" is standard input. A case has its input under "input" or "args" (or, as
    JSON text in a string, under "input_json" or "args_json") and what should come out of it:
    "canonical", "fingerprint", "args_hash", "sha256", or "error": true if nothing should.
    """
    differing = 0
    with ending_cleanly(None), Report() as report:
        for path in files:
            name = "<stdin>" if path == "-" else path
            try:
                cases = read_cases(b"".join(lines_of(path)), contract)
            except CasesError as error:
                raise FileFailure(f"Cannot read '{name}': {error}") from error
            differing += _check_all(visible(name), cases, report)
    if differing:
        raise click.exceptions.Exit(1)


def _check_all(name: str, cases: list[Case], report: Report) -> int:
    """Report what differs and a summary; return how many cases do."""
    differing = 0
    for case in cases:
        findings = list(_check(case))
        differing += bool(findings)
        for what, lines in findings:
            label = "" if case.label is None else f" {case.label}"
            report.line(f"{name}: case {case.number}{label}: {what}", "bold")
            for line, style in lines:
                report.line(f"  {line}", style)
    counts = Counter(case.contract for case in cases)
    contracts = ", ".join(f"{count:,} {contract}" for contract, count in counts.items())
    outcome = f"{differing:,} differ" if differing else "all agree"
    report.line(f"{name}: {contracts}: {outcome}", "red" if differing else "green")
    return differing


# -- one case ---------------------------------------------------------------------------------

Line = tuple[str, "str | None"]
"""Text, and the style that it has on a terminal."""

Finding = tuple[str, list[Line]]
"""What is wrong in a few words, and the lines that show it."""


def _check(case: Case) -> Iterator[Finding]:
    """What differs in a case."""
    try:
        computed = _computed(case)
    except CanonicalizationError as error:
        if not case.is_error:
            yield f"no canonical form: {visible(str(error))}", []
        computed = {"args_hash": mcpulse.UNHASHABLE} if case.contract == "mcpulse" else {}
    else:
        if case.is_error:
            yield "has a canonical form", [(f"computed {visible(computed['canonical'])}", "red")]
    for field, expected in case.expected.items():
        text = computed.get(field, expected)
        if text != expected:
            yield _finding(field, expected, text)


def _finding(field: str, expected: str, computed: str) -> Finding:
    found = difference(expected, computed)
    return f"{field} differs at byte {found.at}", [
        (f"expected {found.expected}", "green"),
        (f"computed {found.computed}", "red"),
        (" " * (len("expected ") + found.column) + "^", "bold"),
    ]


def _computed(case: Case) -> dict[str, str]:
    """The texts of a case, by the names of their fields.

    Raises:
        CanonicalizationError: There is no canonical form.
    """
    if case.contract == "overturn":
        selection = (case.match_on, case.ignore_args)
        kept = overturn_fast.select_args(case.value, *selection)
        canonical = overturn_fast.canonical_json(kept)
        digest = overturn_fast.fingerprint(case.kind, case.tool, case.value, *selection)
        return {"canonical": canonical, DIGESTS["overturn"]: digest}
    if has_a_name_twice(case.value):
        raise CanonicalizationError("$: a name stands twice in an object")
    if case.contract == "mcpulse":
        canonical = mcpulse.canonicalize(case.value)
        return {"canonical": canonical, DIGESTS["mcpulse"]: mcpulse.args_hash(case.value)}
    # Every number of JSON text is a double in RFC 8785.
    encoded = jcs.dumps(case.value, integers="double")
    return {"canonical": encoded.decode(), DIGESTS["jcs"]: hashlib.sha256(encoded).hexdigest()}
