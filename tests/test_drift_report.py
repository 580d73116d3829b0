"""The report: one page that loads nothing, shows what there is, and trusts no key."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jinja2")

from overturn_fast.shape import Incidents, ShapeStats, compare
from overturn_fast.shape.report import html_report
from overturn_fast.shape.traffic import START, traffic

DAY = 86_400_000
VOID = {"meta", "br", "rect", "line"}
HOSTILE = [
    "<script>alert(1)</script>", "</style><img src=x onerror=alert(1)>", "\"><svg onload='x'>",
    "{{ 7 * 7 }}", "{% raw %}", "javascript:alert(1)", "\u202egnp.exe", "\x1b[31m", "&lt;b&gt;",
    "a" * 120, "\ud800", "", "]]>", "<!--",
]  # fmt: skip


def recorded(first: int, days: int, *drifts: str) -> ShapeStats:
    stats = ShapeStats("search")
    for time, response in traffic(
        "search", days, 40, seed=first, start=START + first * DAY, drifts=drifts
    ):
        stats.observe(response, time / 1000)
    return stats


@pytest.fixture(scope="module")
def page() -> str:
    """A page with changes, incidents and charts."""
    before, since = recorded(0, 10), recorded(10, 2, "rename", "string", "gone")
    incidents = Incidents()
    incidents.update(compare(before, since), (START + 12 * DAY) / 1000)
    return html_report(before, since, incidents=incidents.all())


class Page(HTMLParser):
    """Reads a page, and sees to it that what is opened is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text += f" {data}"


def test_a_page_loads_nothing_and_runs_nothing(page: str) -> None:
    tags = Page(page).tags
    assert {tag for tag, _ in tags}.isdisjoint(
        {"script", "link", "img", "iframe", "object", "embed", "base", "form", "a", "use"}
    )
    for _, attributes in tags:
        assert not {name for name in attributes if name.startswith("on")}
        assert {"src", "href", "xlink:href", "action"}.isdisjoint(attributes)
    assert "url(" not in page
    assert "@import" not in page
    assert "default-src 'none'" in page


def test_a_page_has_the_changes_by_severity_with_their_counts(page: str) -> None:
    text = re.sub(r"\s+", " ", Page(page).text)
    assert "3 breaking, 1 warning (80 responses against 400)" in text
    assert text.index("breaking 3 changes") < text.index("warning 1 change")
    assert "results[].price changed number → string" in text
    assert "renamed to results[].link" in text
    assert "first seen 2026-06-11T00:00:00Z" in text
    assert "new search" in text


def test_a_page_has_charts_of_presence_and_of_type_shares(page: str) -> None:
    labels = [attributes.get("aria-label") for tag, attributes in Page(page).tags if tag == "svg"]
    assert "Presence of results[].snippet over time" in labels
    assert "Types of results[].price over time" in labels
    assert re.search(r"2026-06-11: in 0% of \d+", page)
    assert re.search(r"2026-06-11: string 100% of \d+", page)
    assert re.search(r"2026-06-01: number 100% of \d+", page)


def test_without_times_a_page_says_so() -> None:
    stats = ShapeStats("t")
    stats.observe({"a": 1}, count=100)
    text = Page(html_report(stats)).text
    assert "nothing to show over time" in text
    assert "Presence" not in text


def test_too_few_responses_are_no_calm() -> None:
    before, since = ShapeStats("t"), ShapeStats("t")
    before.observe({}, count=100)
    since.observe({})
    page = html_report(before, since)
    assert 'class="verdict few"' in page
    assert "too few responses to tell" in page


def test_the_same_statistics_make_the_same_page(page: str) -> None:
    before, since = recorded(0, 10), recorded(10, 2, "rename", "string", "gone")
    assert html_report(before, since) == html_report(before, since)


def hostile(value: Any, tool: str = "<b>t</b>") -> ShapeStats:
    stats = ShapeStats(tool)
    for number in range(60):
        stats.observe({key: {key: value} for key in HOSTILE}, at=number * 86_400.0)
    return stats


def test_hostile_keys_are_text() -> None:
    page = html_report(hostile(1), hostile("x"))
    parsed = Page(page)
    assert {tag for tag, _ in parsed.tags}.isdisjoint({"script", "img", "b"})
    assert not [a for _, a in parsed.tags if any(name.startswith("on") for name in a)]
    assert "{{ 7 * 7 }}" in parsed.text
    assert "\u202e" not in page
    assert "\x1b" not in page
    page.encode()  # there is no lone surrogate


def test_a_page_of_many_paths_stays_readable() -> None:
    stats = ShapeStats("t")
    for first in range(40):
        names = {
            f"{chr(97 + first % 26)}{first // 26}_{chr(97 + i % 26)}{i // 26}": i for i in range(60)
        }
        stats.observe({f"g{chr(97 + first % 26)}_{first % 2}": names}, at=1.0)
    page = html_report(stats)
    assert page.count("<details") == len(list(stats.paths())) or "more paths are not shown" in page
    assert page.count("<svg") <= 400


# -- in a browser ----------------------------------------------------------------------------------

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium, if playwright and a browser are there."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = os.environ.get("OVERTURN_FAST_CHROMIUM") or next(
        (found for name in BROWSERS if (found := shutil.which(name))), None
    )
    with api.sync_playwright() as playwright:
        try:
            opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        except api.Error as error:
            pytest.skip(f"there is no Chromium to run: {error.message.splitlines()[0]}")
        yield opened
        opened.close()


VIEWS = {
    "light": {"viewport": {"width": 1200, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1200, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
    "phone-dark": {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark"},
}
"""Screenshots of these go to the folder OVERTURN_FAST_SCREENSHOTS, if it is set."""


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("content", ["changes", "hostile"])
def test_a_browser_shows_the_page_without_network_or_errors(
    browser: Any, page: str, tmp_path: Path, view: str, content: str
) -> None:
    path = tmp_path / "report.html"
    text = page if content == "changes" else html_report(hostile(1), hostile("x"))
    path.write_text(text, "utf-8")
    context = browser.new_context(**VIEWS[view], offline=True)
    try:
        tab = context.new_page()
        requests: list[str] = []
        problems: list[str] = []
        tab.on("request", lambda request: requests.append(request.url))
        tab.on("console", lambda message: problems.append(message.text))
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.on("dialog", lambda dialog: problems.append(dialog.message))
        tab.goto(path.as_uri())
        assert requests == [path.as_uri()]
        assert problems == []
        widths = tab.evaluate(
            "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        )
        assert widths[0] <= widths[1], "the page has to be scrolled sideways"
        row = tab.locator(".tree > details:not([open]) > summary").first
        row.click()
        assert tab.locator(".tree > details[open]").count() > 0
        assert tab.locator("svg rect").first.bounding_box()["width"] > 1
        back = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (back == "rgb(18, 22, 27)") == ("dark" in view)
        if folder := os.environ.get("OVERTURN_FAST_SCREENSHOTS"):
            tab.screenshot(path=str(Path(folder) / f"{content}-{view}.png"), full_page=True)
    finally:
        context.close()
