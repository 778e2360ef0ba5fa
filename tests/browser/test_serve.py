"""`destage report --serve` in a real browser: rows appear, and the reader keeps filter, order and place."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Frame, Page
from served_sweep import ENDLESS, Served, run_users, serve

pytestmark = pytest.mark.browser
SOON_MS = 300_000
SIZES = {"phone": (390, 844), "desk": (1440, 900)}


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a finished sweep over two numbers of users."""
    return run_users(tmp_path_factory.mktemp("store"), 5, 10)


@pytest.fixture(scope="module")
def served(sweep: Path) -> Iterator[Served]:
    """Serve the sweep to the tests that leave it and the server as they are."""
    with serve(sweep, "--timeout", "5min") as found:
        yield found


@contextmanager
def _open(browser: Browser, served: Served, size: str) -> Iterator[Page]:
    """Open the server in a window of a size; a script that fails fails the test."""
    width, height = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme="light")
    context.set_default_timeout(SOON_MS)
    page, failures = context.new_page(), []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.on(
        "console",
        lambda message: failures.append(message.text) if "Content Security Policy" in message.text else None,
    )
    page.goto(served.url)
    page.wait_for_selector("iframe:not(.pending)")
    yield page
    context.close()
    assert not failures


@contextmanager
def _open_all(browser: Browser, sweep: Path) -> Iterator[tuple[Served, list[Page]]]:
    """Open a server of its own in a window of each size at the same time."""
    with serve(sweep, "--timeout", "5min") as served, ExitStack() as windows:
        yield served, [windows.enter_context(_open(browser, served, size)) for size in SIZES]


@pytest.fixture(params=SIZES)
def page(request: pytest.FixtureRequest, browser: Browser, served: Served) -> Iterator[Page]:
    """Open the shared server in a window of each size."""
    with _open(browser, served, request.param) as page:
        yield page


def _report(page: Page, number: int = 1) -> Frame:
    """Return a page of the report as soon as it is shown."""
    shown = page.wait_for_selector(f'iframe:not(.pending)[src$="page={number}"]')
    found = shown and shown.content_frame()
    assert found is not None
    return found


def test_the_page_shows_progress_and_report(page: Page, served: Served) -> None:
    assert "token" not in page.url
    assert page.inner_text("#counts") == "4 of 4 runs, finished"
    assert page.title() == page.inner_text("#sweep")
    assert page.inner_text("#sweep").startswith("small-")
    assert not page.is_visible("#error")
    assert "How fast is a small array?" in _report(page).inner_text("h1")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert served.token not in page.content()


def _take_place(page: Page) -> float:
    """Filter and sort a table, and scroll to it; return where it is."""
    report = _report(page)
    assert report.locator("#design_space tbody tr").count() == 2
    report.fill("#filter", "10")
    report.locator("#design_space th button").first.click()
    report.locator("#design_space th button").first.click()
    report.locator("#design_space details summary").first.click()
    report.click("#theme")
    report.evaluate("document.getElementById('design_space').scrollIntoView()")
    top: float = report.evaluate("document.getElementById('design_space').getBoundingClientRect().top")
    report.focus("#filter")
    assert report.locator("#design_space th").first.get_attribute("aria-sort") == "descending"
    return top


def _check_place(page: Page, number: int, top: float) -> None:
    """Assert that a page of the report has more rows, and all that the reader chose."""
    report = _report(page, number)
    page.wait_for_selector("#counts:has-text('8 of 8 runs, finished')")
    assert page.locator("iframe").count() == 1
    assert report.input_value("#filter") == "10"
    assert report.locator("#design_space tbody tr").count() == 4
    assert 0 < report.locator("#design_space tbody tr:visible").count() < 4
    assert report.locator("#design_space th").first.get_attribute("aria-sort") == "descending"
    assert report.locator("#design_space details").first.get_attribute("open") is not None
    assert report.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    now = report.evaluate("document.getElementById('design_space').getBoundingClientRect().top")
    assert now == pytest.approx(top, abs=2)
    assert report.evaluate("document.activeElement.id") == "filter"


def test_new_rows_appear_and_the_reader_keeps_the_place(browser: Browser, tmp_path: Path) -> None:
    with _open_all(browser, run_users(tmp_path, 5, 10)) as (served, pages):
        tops = [_take_place(page) for page in pages]
        run_users(tmp_path, 5, 10, 20, 110)
        state = served.await_state(
            lambda state: (
                state["counts"]["finished"] and state["counts"]["planned"] == 8 and state["is_report_current"]
            )
        )
        for page, top in zip(pages, tops, strict=True):
            _check_place(page, state["report"], top)


def test_a_statement_is_run_and_an_error_is_one_line(page: Page) -> None:
    page.click("#show_sql")
    page.fill("#statements", "SELECT users, count(*) AS runs FROM runs GROUP BY users ORDER BY users")
    page.press("#statements", "Control+Enter")
    page.wait_for_selector("#results td")
    assert page.locator("#results tr").all_inner_texts() == ["users\truns", "5\t2", "10\t2"]
    page.fill("#statements", "SELECT '<img src=x onerror=alert(1)>' AS html")
    page.click("#run")
    page.wait_for_selector("#results td:has-text('onerror')")
    assert page.locator("#results img").count() == 0
    page.fill("#statements", "DROP TABLE runs")
    page.click("#run")
    page.wait_for_selector("#outcome.failure")
    assert page.inner_text("#outcome").startswith("query.statement-not-allowed: ")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_running_statement_is_cancelled(page: Page, served: Served) -> None:
    page.click("#show_sql")
    page.fill("#statements", ENDLESS)
    page.click("#run")
    page.click("#cancel")
    page.wait_for_selector("#outcome:has-text('cancelled')")
    page.fill("#statements", "SELECT 42 AS answer")
    page.click("#run")
    page.wait_for_selector("#results td:has-text('42')")
    assert served.sql("SELECT 1").status == 200


def test_a_server_that_ends_is_reported(browser: Browser, sweep: Path) -> None:
    with _open_all(browser, sweep) as (served, pages):
        shown = [_report(page).inner_text("h1") for page in pages]
        served.process.terminate()
        for page, title in zip(pages, shown, strict=True):
            page.wait_for_selector("#error:has-text('The server has ended')")
            assert _report(page).inner_text("h1") == title
