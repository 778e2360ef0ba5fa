"""The report needs no network, has the figures of the store, and is well-formed for any study."""

import json
import re
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pyarrow as pa
import pytest

from destage.errors import QueryError
from destage.queries import Session
from destage.queries.report.charts.standard_charts import build_standard_chart, fitting_charts
from destage.queries.report.drawing.canvas import choose_x_scale, choose_y_scale
from destage.queries.report.page import draw_figure, render_page, write_report
from destage.queries.report.reported_kinds import compose_answer
from destage.queries.text.plain_values import rows_as_json

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


def test_a_report_has_no_external_references(seek_session: Session) -> None:
    html = render_page(seek_session)
    page = parse(html)
    assert page.references == []
    library = (files("destage.queries.report") / "vendor" / "plot.js").read_text()
    assert library in html
    own = html.replace(library, "")
    assert not re.search(r"url\(|@import|https?://|fetch\(|XMLHttpRequest|import\(", own)
    assert not {"link", "iframe", "img", "object", "embed"} & set(page.tags)


def test_a_reports_rows_are_the_stores(seek_session: Session) -> None:
    html = render_page(seek_session)
    rows = rows_as_json(seek_session.query("design_space"))
    found = re.search(r'<script type="application/json" id="rows">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    assert json.loads(found[1]) == rows
    values = parse(html).values
    folded = re.search(r"The same for all points: (.*?)</p>", html)
    assert folded is not None
    assert "response p95 [ms] 29" in folded[1]
    for row in rows:
        for name in ("users_supported", "write_hit_ratio", CAPACITY, "published"):
            assert row[name] in values


def test_a_report_starts_with_the_answer_in_words(seek_session: Session) -> None:
    sentences = compose_answer(seek_session)
    assert " ".join(sentences) == (
        "42 users (95 % CI 37 to 47) with 64 MiB of cache, RAID 5: 31 % more than the baseline, limited by "
        "the disks (response_p95 <= 30ms). "
        "Published: 51, 31 % more than the published baseline; uninformative. "
        "Baseline: 32 users (95 % CI 27 to 37) with no cache (RAID 5). "
        "Published: 39; input. "
        "Rests on an assumed locality: Zipf 0.9 over 8 GB (preset call_center)."
    )
    html = render_page(seek_session)
    assert html.index("42 users (95 % CI 37 to 47)") < html.index("<svg")


def test_html_in_a_study_is_escaped(seek_session: Session) -> None:
    seek_session.spec["question"] = "</script><script>alert(1)</script>"
    html = render_page(seek_session)
    assert "<script>alert" not in html
    assert parse(html).tags.count("script") == 5


def test_a_report_has_sql_and_provenance(seek_session: Session) -> None:
    html = render_page(seek_session)
    assert html.count("<summary>SQL</summary>") == 4
    for term in (
        "12 runs: 12 ok",
        "root seed 1",
        "results version",
        "a paper, p. 1",
        "2 points, 12 distinct runs",
    ):
        assert term in html, term


def test_a_report_states_failures_and_missing_answers(make_session: Any) -> None:
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
    session = make_session(runs, axes={CAPACITY: pa.int64()})
    html = render_page(session)
    assert "it &lt;broke&gt;" in html
    assert "1 run of 1 point, excluded from means" in html
    assert '<p class="answer">2 points have no answer; the list below' in html
    section = html[html.index('id="unanswered"') :]
    assert "1 run failed: it &lt;broke&gt;" in section
    assert "response times did not become steady" in section
    assert compose_answer(session)[-1].startswith("No answer with")


def test_a_sweep_without_a_plan_has_a_report(make_session: Any) -> None:
    assert "none yet" in render_page(make_session())


def test_a_report_is_written_to_the_given_file(seek_session: Session, tmp_path: Path) -> None:
    assert write_report(seek_session) == seek_session.sweep.path / "report" / "report.html"
    assert write_report(seek_session, tmp_path / "deep" / "r.html").read_text() == render_page(seek_session)


def test_a_figure_is_a_complete_svg_file(seek_session: Session) -> None:
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


def test_a_figures_notes_have_the_stores_values(seek_session: Session) -> None:
    svg = draw_figure(seek_session, "users_against_cache")
    notes = re.findall(r"<title>(.*?)</title>", svg)
    assert "cache capacity 64 MiB: users supported 42 (95 % CI 37 to 47)" in notes
    assert "no cache, cache capacity 32 MiB: users supported 32 (95 % CI 27 to 37)" in notes


def test_an_unknown_figure_is_an_error_with_the_available_ones(seek_session: Session) -> None:
    with pytest.raises(QueryError) as caught:
        draw_figure(seek_session, "nope")
    assert caught.value.code == "query.unknown-plot"
    assert caught.value.data["available"] == [
        "users_against_cache",
        "hit_ratio_against_cache",
        "result_by_configuration",
        "timeline",
        "published_against_simulated",
        "what_matters",
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
def test_a_linear_axis_includes_zero_and_all_values(values: list[float]) -> None:
    scale = choose_y_scale(values, is_log=False)
    assert scale.ticks[0] == 0
    assert scale.ticks[-1] >= max(values)
    assert 2 <= len(scale.ticks) <= 9


@pytest.mark.parametrize("values", [[0.22, 145.0], [3.0, 3.1], [1.0, 1.0], [1e-3, 1e6]])
def test_a_logarithmic_axis_includes_all_values(values: list[float]) -> None:
    scale = choose_y_scale(values, is_log=True)
    assert scale.ticks[0] <= min(values) <= max(values) <= scale.ticks[-1]
    assert 2 <= len(scale.ticks) <= 10


def test_a_ratio_axis_ends_at_one() -> None:
    assert choose_y_scale([0.98], is_log=False, most=1.0).ticks[-1] == 1.0


def test_a_chart_that_no_point_fits_is_left_out(make_session: Any) -> None:
    """The values at which the other axes are held may be of different points."""
    axes = [CAPACITY, "array.a", "array.b", "array.c", "array.d", "array.e"]
    runs = [
        {
            "point_id": f"p{point}",
            "replicate": 0,
            "run_id": f"p{point}-0",
            "response_p95_us": 1.0,
            **dict.fromkeys(axes, point),
        }
        for point in (1, 2, 3)
    ]
    session = make_session(runs, axes=dict.fromkeys(axes, pa.int64()))
    session.spec["scenario"] = {"array": {"a": 1, "b": 2, "c": 3, "d": 1, "e": 2}}
    chart = fitting_charts(session)["response_against_cache"]
    assert build_standard_chart(chart, session) is None
