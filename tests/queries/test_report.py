"""The report: it needs no network, says what the store says, and stays well-formed whatever a study says."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pyarrow as pa
import pytest

from destage.errors import QueryError
from destage.queries import Session
from destage.queries.formats import rows_as_json
from destage.queries.report import draw_figure, write_report
from destage.queries.report.answer import compose_answer
from destage.queries.report.axis import choose_x_scale, choose_y_scale
from destage.queries.report.labels import Box, place_label
from destage.queries.report.page import render_page

CAPACITY = "controller.cache.capacity"
SVG = "{http://www.w3.org/2000/svg}"


class Page(HTMLParser):
    """What a page refers to, and the figures of its table."""

    def __init__(self) -> None:
        super().__init__()
        self.references: list[str] = []
        self.values: list[float] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name in {"src", "href", "srcset", "data", "action", "poster"} and value:
                self.references.append(value)
            if name == "data-value" and value:
                self.values.append(float(value))


def parse(html: str) -> Page:
    page = Page()
    page.feed(html)
    return page


def test_it_refers_to_nothing_outside_itself(seek_session: Session) -> None:
    html = render_page(seek_session)
    page = parse(html)
    assert page.references == []
    assert not re.search(r"url\(|@import|https?://|fetch\(|XMLHttpRequest|import\(", html)
    assert not {"link", "iframe", "img", "object", "embed"} & set(page.tags)


def test_its_rows_are_the_stores(seek_session: Session) -> None:
    html = render_page(seek_session)
    rows = rows_as_json(seek_session.query("design_space"))
    found = re.search(r'<script type="application/json" id="rows">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    assert json.loads(found[1]) == rows
    values = parse(html).values
    for row in rows:
        for name in ("users_supported", "response_p95_us", "write_hit_ratio", CAPACITY, "published"):
            assert row[name] in values


def test_it_answers_first_and_in_words(seek_session: Session) -> None:
    sentences = compose_answer(seek_session)
    assert sentences[0] == (
        "64 MiB of cache, RAID 5 carries 42 (37 .. 47) users, 31 % more than the 32 of no cache (RAID 5) "
        "(published: 51, +31 % over the published 39; the prediction does not meet it)."
    )
    assert sentences[-1] == (
        "The baseline is no cache (RAID 5): 32 (27 .. 37) users "
        "(published: 39; the workload was fitted on it)."
    )
    html = render_page(seek_session)
    assert html.index("42 (37 .. 47) users") < html.index("<svg")


def test_a_hostile_text_stays_text(seek_session: Session) -> None:
    seek_session.spec["question"] = "</script><script>alert(1)</script>"
    html = render_page(seek_session)
    assert "<script>alert" not in html
    assert parse(html).tags.count("script") == 2


def test_the_sql_and_the_provenance_are_there(seek_session: Session) -> None:
    html = render_page(seek_session)
    assert html.count("The SQL behind it") == 4
    for term in (
        "12: 12 ok",
        "root seed 1",
        "results version",
        "a paper, p. 1",
        "2 points, 12 distinct runs",
    ):
        assert term in html, term


def test_what_is_missing_is_said(make_session: Any) -> None:
    runs = [
        {
            "point_id": "p",
            "replicate": 0,
            "run_id": "a",
            CAPACITY: 1,
            "status": "failed",
            "error": "it <broke>",
        },
        {"point_id": "q", "replicate": 0, "run_id": "b", CAPACITY: 2, "status": "not_stationary"},
    ]
    html = render_page(make_session(runs, axes={CAPACITY: pa.int64()}))
    assert "it &lt;broke&gt;" in html
    assert "1 runs of 1 points: shown, never averaged" in html
    assert "The rows do not answer it yet" in html


def test_a_sweep_before_its_plan_has_a_report_too(make_session: Any) -> None:
    assert "none yet" in render_page(make_session())


def test_it_goes_where_it_is_told(seek_session: Session, tmp_path: Path) -> None:
    assert write_report(seek_session) == seek_session.sweep.path / "report" / "report.html"
    assert write_report(seek_session, tmp_path / "deep" / "r.html").read_text() == render_page(seek_session)


def test_a_figure_is_a_file_of_its_own(seek_session: Session) -> None:
    root = ET.fromstring(draw_figure(seek_session, "users_against_cache"))  # noqa: S314 - our own text
    assert root.tag == f"{SVG}svg"
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    for wanted in (
        "32 MiB",
        "64 MiB",
        "users supported",
        "cache capacity (nominal)",
        "published 39",
        "published 51",
    ):
        assert wanted in texts
    assert "prefers-color-scheme: dark" in draw_figure(seek_session, "users_against_cache")


def test_a_figure_shows_the_stores_figures(seek_session: Session) -> None:
    svg = draw_figure(seek_session, "users_against_cache")
    notes = re.findall(r"<title>(.*?)</title>", svg)
    assert "capacity 64 MiB: users supported 42 (37 .. 47)" in notes
    assert "no cache, capacity 32 MiB: users supported 32 (27 .. 37)" in notes


def test_an_unknown_figure_lists_the_known(seek_session: Session) -> None:
    with pytest.raises(QueryError) as caught:
        draw_figure(seek_session, "nope")
    assert caught.value.code == "query.unknown-plot"
    assert caught.value.data["available"] == [
        "users_against_cache",
        "hit_ratio_against_cache",
        "timeline",
        "published_against_simulated",
    ]


def test_a_figure_without_rows_is_an_error(seek_session: Session) -> None:
    with pytest.raises(QueryError) as caught:
        draw_figure(seek_session, "timeline")
    assert (caught.value.code, caught.value.place) == ("query.no-rows", "timeline")


def test_zero_has_a_place_on_a_doubling_axis() -> None:
    scale = choose_x_scale([0, 64, 128, 512])
    places = [scale.place(value) for value in (0, 64, 128, 512)]
    assert places == sorted(places)
    assert 0 < places[0] < places[1]
    assert scale.place(128) - scale.place(64) == pytest.approx((scale.place(512) - scale.place(128)) / 2)


@pytest.mark.parametrize("values", [[0.0], [3.0, 97.2], [1e-9], [5e6, 7e6], [100.0]])
def test_a_linear_axis_starts_at_zero_and_holds_all(values: list[float]) -> None:
    scale = choose_y_scale(values, is_log=False)
    assert scale.ticks[0] == 0
    assert scale.ticks[-1] >= max(values)
    assert 2 <= len(scale.ticks) <= 9


@pytest.mark.parametrize("values", [[0.22, 145.0], [3.0, 3.1], [1.0, 1.0], [1e-3, 1e6]])
def test_a_logarithmic_axis_holds_all(values: list[float]) -> None:
    scale = choose_y_scale(values, is_log=True)
    assert scale.ticks[0] <= min(values) <= max(values) <= scale.ticks[-1]
    assert 2 <= len(scale.ticks) <= 10


def test_a_ratio_axis_ends_at_one() -> None:
    assert choose_y_scale([0.98], is_log=False, most=1.0).ticks[-1] == 1.0


def test_labels_avoid_what_is_there() -> None:
    bounds = Box(0, 0, 300, 200)
    taken: list[Box] = [Box(93, 93, 14, 14)]
    for _ in range(4):
        box = place_label("a label", 100, 100, taken, bounds)
        assert all(box.overlap(other) == 0 for other in taken)
        assert box.overlap(bounds) == pytest.approx(box.width * box.height)
        taken.append(box)
