"""The report in a browser, at the widths of a phone, a tablet and a desk, from a file and without a network.

The tests need Chromium; DESTAGE_TEST_BROWSER is its path, where it is not found by its usual names.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright
from seek_grids import seek_grid

from destage.queries.report.page import write_report
from destage.queries.report.sentences.design_space import ROWS_AT_FIRST

CHROMIUM = os.environ.get("DESTAGE_TEST_BROWSER") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None
)
WIDTHS = (390, 768, 1440)
OpenReport = Callable[..., Page]

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium; DESTAGE_TEST_BROWSER is its path")

_TEXTS = """() => [...document.querySelectorAll("svg.chart")]
  .filter((svg) => svg.getBoundingClientRect().width)
  .map((svg) => [svg, ...svg.querySelectorAll("text")]
    .map((one) => one.getBoundingClientRect())
    .map((box) => [box.left, box.top, box.right, box.bottom]))"""
_VISIBLE = """() => [...document.querySelectorAll("#points tbody tr")].filter((row) => !row.hidden)
  .map((row) => row.textContent)"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the reports that tests have written, by name."""
    return {"": tmp_path_factory.mktemp("reports")}


@pytest.fixture
def report(reports: dict[str, Path], request: pytest.FixtureRequest) -> Path:
    """Return the report of a seek of two RAID levels with a bound and a point without an answer."""
    if "seek" not in reports:

        def find(raid: str, mib: int, fraction: float) -> Any:
            if (raid, mib, fraction) == ("5", 128, 1.0):
                return None
            users = 40.0 + mib * (2 if raid == "10" else 1) + 5 * fraction * (mib > 0)
            return (users, "at_least") if mib == 128 else users

        session = seek_grid(request.getfixturevalue("make_session"), find)
        reports["seek"] = Path(str(write_report(session, reports[""] / "seek.html")))
    return reports["seek"]


@pytest.fixture
def open_report(browser: Browser) -> Iterator[OpenReport]:
    """Give a function that opens a report; messages of the console fail the test."""
    messages: list[str] = []
    pages: list[Page] = []

    def open_page(file: Path, width: int = 1440, scheme: str = "light") -> Page:
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
        pages.append(page)
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.on("request", lambda each: each.url.startswith(("file:", "data:")) or messages.append(each.url))
        page.goto(f"file://{file}")
        page.wait_for_selector("#explore-plot circle")
        return page

    yield open_page
    for page in pages:
        page.close()
    # What the content-security policy refuses is a message, too.
    assert messages == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_focus_and_names_pass_axe(
    report: Path, open_report: OpenReport, width: int, scheme: str
) -> None:
    page = open_report(report, width, scheme)
    found = Axe().run(page).response["violations"]
    assert [(each["id"], each["nodes"][0]["target"]) for each in found] == []


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_beyond_the_edge_and_no_texts_overlap(
    report: Path, open_report: OpenReport, width: int
) -> None:
    page = open_report(report, width)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    for svg, *texts in page.evaluate(_TEXTS):
        for at, one in enumerate(texts):
            assert one[0] >= svg[0] - 1
            assert one[2] <= svg[2] + 1
            for other in texts[at + 1 :]:
                across = min(one[2], other[2]) - max(one[0], other[0])
                assert across <= 1 or min(one[3], other[3]) - max(one[1], other[1]) <= 4


def test_on_a_phone_every_column_of_a_row_is_visible(report: Path, open_report: OpenReport) -> None:
    page = open_report(report, 390)
    edges = page.evaluate(
        """() => [...document.querySelectorAll("#points td:not(.none)")].map((cell) => {
             const box = cell.getBoundingClientRect(); return [box.left, box.right, box.width]; })"""
    )
    assert edges
    assert all(left >= 0 and right <= 390 and width > 0 for left, right, width in edges)


def test_on_paper_every_column_is_within_the_page(report: Path, open_report: OpenReport) -> None:
    page = open_report(report, 700)  # A4 without its margins, 186 mm, at 96 px to the inch.
    page.emulate_media(media="print")
    right = page.evaluate(
        'Math.max(...[...document.querySelectorAll("#points td, #points th")]'
        ".map((cell) => cell.getBoundingClientRect().right))"
    )
    assert 0 < right <= 703


def test_the_filter_finds_what_its_placeholder_names(report: Path, open_report: OpenReport) -> None:
    page = open_report(report)
    hint = page.get_attribute("#filter", "placeholder") or ""
    examples = hint.partition("for example: ")[2].split(" or ")
    assert examples[0].startswith("RAID ")
    counts = []
    for example in [*examples, " or ".join(examples)]:
        page.fill("#filter", example)
        counts.append(len(page.evaluate(_VISIBLE)))
    assert 0 < counts[0] < 14
    assert 0 < counts[1] < 14
    assert max(counts[:2]) <= counts[2] <= sum(counts[:2])


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("raid 5", 7),
        ("RAID 1+0 64 MiB", 2),
        ("raid 5 or raid 1+0", 14),
        ("write fraction 1", 6),
        ("64", 4),
        ("limiting resource disk", 13),
        ("no such thing", 0),
        ("", 14),
    ],
)
def test_a_filter_takes_headings_with_their_values(
    report: Path, open_report: OpenReport, query: str, rows: int
) -> None:
    page = open_report(report)
    page.fill("#filter", query)
    assert len(page.evaluate(_VISIBLE)) == rows
    assert page.inner_text("#count").startswith(f"{rows} of 14 rows")


def test_rows_are_sorted_by_a_heading(report: Path, open_report: OpenReport) -> None:
    page = open_report(report)
    page.click("#points th button >> text=cache capacity")
    sizes = page.evaluate(
        """() => { const heads = [...document.querySelectorAll("#points th")].map((head) => head.textContent);
             const at = heads.indexOf("cache capacity");
             return [...document.querySelectorAll("#points tbody tr")]
               .map((row) => Number(row.cells[at].dataset.value)); }"""
    )
    assert sizes == sorted(sizes)


def test_any_column_is_drawn_against_any(report: Path, open_report: OpenReport) -> None:
    page = open_report(report)
    columns = page.locator("#explore-x option").count()
    assert columns == page.locator("#points th").count()
    assert page.locator("#explore-plot circle").count() == 13
    for at in range(columns):
        page.select_option("#explore-x", str(at))
        page.select_option("#explore-y", str(columns - 1 - at))
        page.select_option("#explore-colour", str(at))
        assert page.locator("#explore-plot circle").count() > 0


def test_points_selected_in_the_panel_are_the_rows_of_the_table(
    report: Path, open_report: OpenReport
) -> None:
    page = open_report(report)
    page.locator("#explore-plot").scroll_into_view_if_needed()
    box = page.locator("#explore-plot .brush .overlay").bounding_box()
    assert box is not None
    # The left part of the plot has the points without cache.
    page.mouse.move(box["x"] + 2, box["y"] + 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 4, box["y"] + box["height"] - 2, steps=4)
    page.mouse.up()
    rows = page.evaluate(_VISIBLE)
    assert len(rows) == 2
    assert all("0 B" in row for row in rows)
    assert page.locator("#explore-plot circle.dimmed").count() == 11
    page.click("#clear")
    assert len(page.evaluate(_VISIBLE)) == 14
    assert page.locator("#explore-plot circle.dimmed").count() == 0


def test_the_filter_dims_the_other_points(report: Path, open_report: OpenReport) -> None:
    page = open_report(report)
    page.fill("#filter", "raid 5")
    assert page.locator("#explore-plot circle:not(.dimmed)").count() == 6


def test_a_pointer_over_a_point_shows_its_row(report: Path, open_report: OpenReport) -> None:
    page = open_report(report)
    page.locator("#explore-plot").scroll_into_view_if_needed()
    page.locator("#explore-plot circle").first.hover(force=True)
    assert "cache capacity" in (page.text_content('#explore-plot g[aria-label="tip"]') or "")


def test_a_long_table_shows_its_beginning_and_all_on_request(
    make_session: Any, open_report: OpenReport, tmp_path: Path
) -> None:
    many = seek_grid(
        make_session, lambda _, mib, fraction: 10.0 + mib + fraction, capacities=range(8, 248, 8)
    )
    page = open_report(write_report(many, tmp_path / "many.html"))
    assert len(page.evaluate(_VISIBLE)) == ROWS_AT_FIRST
    assert "The first 50 of 120 rows are shown." in page.inner_text("#more")
    page.fill("#filter", "240 MiB")
    assert len(page.evaluate(_VISIBLE)) == 4
    page.fill("#filter", "")
    page.click("#all")
    assert len(page.evaluate(_VISIBLE)) == 120
