"""The outcome of a comparison for those who act on it: people, pipelines and other services."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any, Final
from xml.etree import ElementTree

from overturn_fast.shape.compare import SEVERITIES, Comparison, DriftEvent, shown_path
from overturn_fast.shape.incidents import Incident

__all__ = ["FORMATS", "exit_code", "summary", "written"]

NO_DRIFT: Final = 0
ERROR: Final = 4
TOO_FEW: Final = 5

_COMMANDS: Final = {"info": "notice", "warning": "warning", "breaking": "error"}
_UNPRINTABLE: Final = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def exit_code(comparison: Comparison, fail_on: str = "info") -> int:
    """The exit status of a comparison: 0 no drift, 1 info, 2 warning, 3 breaking, 5 too few.

    Args:
        comparison: What was found.
        fail_on: The least severity that counts; ``"never"`` for none, and for too few responses.

    >>> exit_code(Comparison([], "search", 18402, 3, True, ()))
    5
    """
    if fail_on == "never":
        return NO_DRIFT
    if comparison.has_too_few:
        return TOO_FEW
    worst = comparison.worst
    if worst is None or SEVERITIES.index(worst) < SEVERITIES.index(fail_on):
        return NO_DRIFT
    return SEVERITIES.index(worst) + 1


def summary(comparison: Comparison) -> str:
    """The outcome in one line.

    >>> summary(Comparison([], "search", 18402, 311, False, ()))
    'search: no drift (311 responses against 18,402)'
    """
    tool = printable(comparison.tool) or "tool"
    against = (
        f"({comparison.current_observations:,} responses "
        f"against {comparison.baseline_observations:,})"
    )
    if comparison.has_too_few:
        return f"{tool}: too few responses to tell {against}"
    counts = [
        f"{sum(event.severity == severity for event in comparison)} {severity}"
        for severity in reversed(SEVERITIES)
        if any(event.severity == severity for event in comparison)
    ]
    return f"{tool}: {', '.join(counts) or 'no drift'} {against}"


# -- formats ----------------------------------------------------------------------------------


def _text(comparison: Comparison, incidents: Iterable[Incident]) -> str:
    blocks = [summary(comparison)]
    blocks += [f"[{event.severity}] {event.text()}" for event in comparison]
    if comparison.undecided and not comparison.has_too_few:
        paths = len(comparison.undecided)
        blocks.append(f"too few to tell at {paths} path{'s' * (paths != 1)}:")
        blocks[-1] += "".join(f"\n  {shown_path(path)}" for path in comparison.undecided)
    incidents = list(incidents)
    if incidents:
        blocks.append("\n".join(["incidents:", *(f"  {one.text()}" for one in incidents)]))
    return printable("\n\n".join(blocks)) + "\n"


def _json(comparison: Comparison, incidents: Iterable[Incident]) -> str:
    return json.dumps(_plain(comparison, incidents), indent=1) + "\n"


def _plain(comparison: Comparison, incidents: Iterable[Incident]) -> dict[str, Any]:
    return {
        "tool": comparison.tool,
        "outcome": _outcome(comparison),
        "baseline_observations": comparison.baseline_observations,
        "current_observations": comparison.current_observations,
        "events": [event.as_dict() for event in comparison],
        "undecided": list(comparison.undecided),
        "incidents": [incident.as_dict() for incident in incidents],
    }


def _outcome(comparison: Comparison) -> str:
    if comparison.has_too_few:
        return "too_few_samples"
    return comparison.worst or "no_drift"


def _github(comparison: Comparison, incidents: Iterable[Incident]) -> str:
    """Workflow commands, which GitHub shows as annotations of a run."""
    if comparison.has_too_few:
        return _command("warning", "Too few responses", summary(comparison))
    lines = [
        _command(_COMMANDS[event.severity], _title(event), f"{comparison.tool}: {event.text()}")
        for event in comparison
    ]
    return "".join(lines) or _command("notice", "No drift", summary(comparison))


def _command(command: str, title: str, message: str) -> str:
    def escaped(text: str, characters: str) -> str:
        return "".join(f"%{ord(one):02X}" if one in characters else one for one in text)

    title = escaped(printable(title), "%\r\n:,")
    return (
        f"::{command} title={title}::{escaped(printable(message), chr(37) + chr(13) + chr(10))}\n"
    )


def _title(event: DriftEvent) -> str:
    return f"{event.kind} {event.path} ({event.severity})"


def _junit(comparison: Comparison, incidents: Iterable[Incident], fail_on: str = "warning") -> str:
    """A test suite in which every change of at least that severity is a failure."""
    failing = () if fail_on == "never" else SEVERITIES[SEVERITIES.index(fail_on) :]
    failures = [event for event in comparison if event.severity in failing]
    tests = max(1, len(comparison))
    suite = ElementTree.Element(
        "testsuite",
        name=f"drift of {printable(comparison.tool)}",
        tests=str(tests),
        failures=str(len(failures)),
        errors="0",
        skipped=str(int(comparison.has_too_few)),
    )
    name = f"drift.{printable(comparison.tool)}"
    if comparison.has_too_few or not comparison:
        case = ElementTree.SubElement(suite, "testcase", classname=name, name="contract")
        if comparison.has_too_few:
            ElementTree.SubElement(case, "skipped", message=summary(comparison))
    for event in comparison:
        case = ElementTree.SubElement(
            suite, "testcase", classname=name, name=printable(f"{event.kind} {event.path}")
        )
        tag = "failure" if event.severity in failing else "system-out"
        element = ElementTree.SubElement(case, tag)
        element.text = printable(event.text())
        if tag == "failure":
            element.attrib |= {"type": event.severity, "message": printable(event.headline())}
    ElementTree.indent(suite, " ")
    declaration = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return declaration + ElementTree.tostring(suite, encoding="unicode") + "\n"


def _webhook(comparison: Comparison, incidents: Iterable[Incident]) -> str:
    """The body of a request: what a chat shows in ``text``, and everything else beside it."""
    lines = [summary(comparison), *(printable(event.headline()) for event in comparison)]
    body = {"text": "\n".join(lines), "severity": comparison.worst}
    return json.dumps(body | _plain(comparison, incidents)) + "\n"


FORMATS: Final[dict[str, Callable[[Comparison, Iterable[Incident]], str]]] = {
    "text": _text,
    "json": _json,
    "github": _github,
    "junit": _junit,
    "webhook": _webhook,
}
"""How a comparison and the incidents it belongs to are written, by the name of the format."""


def written(
    form: str, comparison: Comparison, incidents: Iterable[Incident], fail_on: str = "info"
) -> str:
    """The outcome in one of the formats.

    Args:
        form: The name of the format.
        comparison: What was found.
        incidents: Those of which something has changed.
        fail_on: The least severity that is a failure of a JUnit report, which information never is;
            ``"never"`` for none.
    """
    if form == "junit":
        return _junit(comparison, incidents, "warning" if fail_on == "info" else fail_on)
    return FORMATS[form](comparison, incidents)


def printable(text: str) -> str:
    """``text`` with an escape for each character that steers terminals or that XML has not."""
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def printable_line(text: str) -> str:
    """The same, and what would end the line too."""
    return printable(text).replace("\n", "\\u000a")
