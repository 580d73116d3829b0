"""``python -m benchmarks.plot``: draw the newest result as the chart that the README shows."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.targets import HEADLINES, Headline

__all__ = ["Bars", "bars", "draw", "newest"]

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
CHART = ROOT / "docs" / "images" / "performance"

WARM, COLD, DUMPED = "#2563eb", "#93b8f8", "#0f9d76"
INK, SOFT, LINE, PAPER = "#1f2937", "#6b7280", "#e5e7eb", "#ffffff"

PANELS: Mapping[str, Sequence[tuple[Headline, str, str]]] = {
    "hash_json, against orjson sorted + hashlib": (
        (HEADLINES[0], "values seen before", WARM),
        (HEADLINES[1], "fresh values for every call", COLD),
    ),
    "jcs.dumps, against orjson sorted": ((HEADLINES[2], "values seen before", DUMPED),),
}
"""What is drawn: the title of each panel, and its comparisons with a name and a colour."""


@dataclass(frozen=True)
class Bars:
    """One comparison on every workload."""

    label: str
    colour: str
    ratios: Mapping[str, float]
    """How many times as long the peer takes, by workload."""


def newest(folder: Path = RESULTS) -> Path:
    """Return the result that was measured last; those of a part are passed over.

    Raises:
        FileNotFoundError: There is none.
    """
    found = {
        json.loads(path.read_text(encoding="utf-8"))["measured_at"]: path
        for path in folder.glob("*.json")
        if path.name != "partial.json"
    }
    if not found:
        raise FileNotFoundError(f"there is no result in {folder}: run make bench first")
    return found[max(found)]


def bars(result: Mapping[str, Any], panel: str) -> list[Bars]:
    """Return the comparisons of a panel, as far as they were measured."""
    found = []
    for line, label, colour in PANELS[panel]:
        measured = {
            name: each["ratios"][line.subject][line.peer]["median"]
            for name, each in result["results"].get(line.mode, {}).items()
            if line.peer in each["ratios"].get(line.subject, {})
        }
        if measured:
            found.append(Bars(label, colour, measured))
    return found


def ratio_text(ratio: float) -> str:
    """Write a ratio."""
    return f"{ratio:.1f}×" if ratio >= 10 else f"{ratio:.2f}×"


def draw_bars(axes: Any, groups: Sequence[Bars], names: Sequence[str], longest: float) -> None:
    """Draw horizontal bars with their ratios, a group for each comparison."""
    thickness = 0.76 / max(len(groups), 1.5)
    for number, group in enumerate(groups):
        offset = (number - (len(groups) - 1) / 2) * thickness
        for row, name in enumerate(names):
            ratio = group.ratios.get(name)
            if ratio is None:
                continue
            is_slower = ratio < 1
            axes.barh(
                row + offset,
                ratio,
                height=thickness * 0.92,
                color=group.colour,
                label=group.label if row == 0 else None,
            )
            axes.text(
                ratio + longest * 0.012,
                row + offset,
                ratio_text(ratio),
                va="center",
                fontsize=8.5,
                color=SOFT if is_slower else INK,
                fontweight="normal" if is_slower else "bold",
                bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 0.8},
                zorder=5,
            )


def draw_panel(axes: Any, title: str, groups: Sequence[Bars], names: Sequence[str]) -> None:
    """Draw one panel, with a line where both are equally fast."""
    longest = max(max(group.ratios.values()) for group in groups)
    draw_bars(axes, groups, names, longest)
    axes.axvline(1, color=INK, linewidth=1.1, linestyle=(0, (4, 3)), zorder=3)
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold", color=INK, pad=24)
    axes.set_xlim(0, longest * 1.14)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel("times as fast; 1× is orjson", color=SOFT, fontsize=9)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}×")
    axes.grid(axis="x", color=LINE, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, colors=INK, labelsize=9.5)
    axes.tick_params(axis="x", colors=SOFT, labelsize=8.5)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(-0.01, 1.0),
        ncols=len(groups),
        frameon=False,
        fontsize=9,
        labelcolor=INK,
        handlelength=1.1,
        handleheight=0.9,
        borderaxespad=0.1,
        columnspacing=1.4,
    )


def source_text(result: Mapping[str, Any]) -> str:
    """Say what was measured on what."""
    machine = result["environment"]
    versions = machine["versions"]
    ours = versions["overturn_fast"].partition(",")[0]
    return (
        f"{machine['cpu']}, {machine['python']}, overturn_fast {ours}, "
        f"orjson {versions['orjson']}; medians of {result['rounds']} interleaved rounds, "
        f"{result['measured_at'][:10]}. orjson writes other numbers and keeps nulls."
    )


def draw(result: Mapping[str, Any], output: Path) -> list[Path]:
    """Draw a result as SVG and PNG; return the two files.

    Args:
        result: What ``python -m benchmarks`` wrote.
        output: The path of both files, without their suffixes.

    Raises:
        ValueError: The result lacks what the chart shows.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot

    panels = {title: bars(result, title) for title in PANELS}
    if not all(panels.values()):
        raise ValueError("the result has no comparison with orjson, or none in one of the modes")
    first, *_ = panels.values()
    names = list(first[0].ratios)
    settings: dict[Any, Any] = {
        "font.family": "DejaVu Sans",
        "svg.fonttype": "path",
        "svg.hashsalt": "overturn_fast",
        "figure.facecolor": PAPER,
        "axes.facecolor": PAPER,
    }
    with matplotlib.rc_context(settings):
        figure, axes = matplotlib.pyplot.subplots(
            1, 2, figsize=(11, 1.7 + 0.46 * len(names)), sharey=True, width_ratios=(1.55, 1)
        )
        for each, (title, groups) in zip(axes, panels.items(), strict=True):
            draw_panel(each, title, groups, names)
        axes[0].set_yticks(range(len(names)), names)
        figure.text(0.012, 0.012, source_text(result), fontsize=7.5, color=SOFT)
        figure.tight_layout(rect=(0, 0.035, 1, 1), w_pad=2.5)
        output.parent.mkdir(parents=True, exist_ok=True)
        files = [output.with_name(f"{output.name}.{suffix}") for suffix in ("svg", "png")]
        figure.savefig(files[0], metadata={"Date": None})
        figure.savefig(files[1], dpi=160, metadata={"Software": None})
        matplotlib.pyplot.close(figure)
    return files


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw the chart; return the exit status."""
    described = argparse.ArgumentParser(
        prog="python -m benchmarks.plot", description="Draw a result of python -m benchmarks."
    )
    described.add_argument(
        "result", type=Path, nargs="?", help="a JSON file (default: the newest of all full runs)"
    )
    described.add_argument(
        "--output",
        type=Path,
        default=CHART,
        metavar="PATH",
        help="where to draw, without the suffixes .svg and .png (default %(default)s)",
    )
    options = described.parse_args(arguments)
    try:
        path = options.result or newest()
        drawn = draw(json.loads(path.read_text(encoding="utf-8")), options.output)
    except ImportError as error:
        print(f"{error}; it comes with the extra bench", file=sys.stderr)
        return 1
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{path} is drawn in", *drawn)
    return 0


if __name__ == "__main__":
    sys.exit(main())
