"""Published against simulated as a picture: the ratios are the verdicts' figures, and none is left out."""

from typing import Any

import pyarrow as pa
import pytest

from destage.queries import Session
from destage.queries.published.verdicts import judge_figures
from destage.queries.report.charts.ratio_plot import build_ratio_plot
from destage.queries.report.drawing.chart import DotPlot
from destage.queries.report.page import draw_figure, render_page

DISKS = "array.disks"
RUNS = [
    {
        "point_id": f"p{disks}",
        "replicate": replicate,
        "run_id": f"p{disks}-{replicate}",
        DISKS: disks,
        "response_mean_us": 1000.0 * disks + 100 * replicate,
    }
    for disks in (4, 8)
    for replicate in (0, 1, 2)
]


@pytest.fixture
def judge(make_session: Any) -> Any:
    """Give a function that opens a study with published figures."""

    def open_session(*figures: dict[str, Any], **spec: Any) -> Session:
        published = [{"figure": f"f{at}", "source": "p. 1", **figure} for at, figure in enumerate(figures)]
        places = {"four": {DISKS: 4}, "eight": {DISKS: 8}}
        session: Session = make_session(
            RUNS, axes={DISKS: pa.int64()}, published=published, places=places, **spec
        )
        return session

    return open_session


def draw_plot(session: Session) -> DotPlot:
    figure = build_ratio_plot(session)
    assert figure is not None
    assert isinstance(figure.chart, DotPlot)
    return figure.chart


FOUR = {"compute": "four.response_mean_us / 1000", "kind": "predicted"}


def test_a_ratio_is_the_verdicts_estimate_over_the_published(judge: Any) -> None:
    session = judge({**FOUR, "value": 4.1}, {**FOUR, "value": 10})
    rows = judge_figures(session).to_pylist()
    dots = [row.dots[0] for row in draw_plot(session).rows]
    for row, dot in zip(rows, dots, strict=True):
        expected = [
            row[name] / row["published_value"] for name in ("simulated", "simulated_low", "simulated_high")
        ]
        assert [dot.value, dot.low, dot.high] == pytest.approx(expected)
    assert [dot.kind for dot in dots] == ["reproduced blind", "not reproduced"]
    assert dots[1].label == "0.41"


def test_figures_without_a_number_are_last_and_text(judge: Any) -> None:
    session = judge(
        {"value": "faster", "compute": "eight.response_mean_us", "kind": "ordering", "expect": {"above": 1}},
        {**FOUR, "value": 4.1},
        {"value": "two <drives>", "kind": "input"},
        {"value": 0, "compute": "1.0 - 1.0", "kind": "arithmetic"},
    )
    chart = draw_plot(session)
    assert [row.title for row in chart.rows] == ["f1", "f0", "f2", "f3"]
    assert [row.remark for row in chart.rows] == [
        "reproduced blind",
        "reproduced blind",
        "input",
        "arithmetic of the paper",
    ]
    assert chart.rows[1].text == "simulated 8100 (95 % CI 7852 to 8348); published “faster”"
    assert "two &lt;drives&gt;" in draw_figure(session, "published_against_simulated")


@pytest.mark.parametrize(
    ("value", "label", "last"),
    [(4.1, "1", 1.1), (3, "1.37", 2.0), (0.01, "410 →", 10.0), (4100, "← 0.001", 10.0)],
)
def test_one_is_in_the_middle_and_far_ratios_at_the_edge(
    judge: Any, value: float, label: str, last: float
) -> None:
    chart = draw_plot(judge({"value": value, "compute": "4.1", "kind": "arithmetic"}))
    assert chart.scale is not None
    assert chart.scale.place(1.0) == pytest.approx(0.5)
    assert chart.scale.ticks[-1] == last
    assert chart.rows[0].dots[0].label == label


def test_a_range_has_no_middle_and_signs_are_compared(judge: Any) -> None:
    session = judge(
        {**FOUR, "value": 10, "compute": "any.response_mean_us / 1000", "for_each": [DISKS]},
        {**FOUR, "value": -8, "compute": "(four.response_mean_us - eight.response_mean_us) / 1000"},
        {**FOUR, "value": 8, "compute": "(four.response_mean_us - eight.response_mean_us) / 1000"},
    )
    session.spec["places"]["any"] = {}
    ranged, falling, against = draw_plot(session).rows
    assert (ranged.dots[0].is_range, ranged.dots[0].label) == (True, "0.41 to 0.81")
    assert (falling.dots[0].value, falling.dots[0].is_range) == (pytest.approx(0.5), False)
    assert against.dots == ()
    assert against.text.startswith("simulated -4")
    assert 'class="range missed"' in draw_figure(session, "published_against_simulated")


def test_fitted_and_predicted_figures_have_different_symbols(judge: Any) -> None:
    figures = [{**FOUR, "value": value} for value in (4.1, 99)]
    session = judge(
        *figures,
        {**FOUR, "value": 4.1, "kind": "calibrated"},
        fitted=[{"parameter": "x", "value": 1, "on": "f2"}],
    )
    assert [row.dots[0].kind for row in draw_plot(session).rows] == [
        "reproduced after a stated fit",
        "not reproduced",
        "input",
    ]


def test_without_two_numbers_there_is_no_plot(judge: Any, make_session: Any) -> None:
    assert build_ratio_plot(judge({"value": "two drives", "kind": "input"})) is None
    assert build_ratio_plot(judge({**FOUR, "value": 4, "compute": "four.commits_per_s"})) is None
    assert build_ratio_plot(make_session()) is None


def test_the_plot_is_before_the_table_and_its_sql_runs(judge: Any) -> None:
    session = judge({**FOUR, "value": 4.1}, {"value": "two drives", "kind": "input"})
    figure = build_ratio_plot(session)
    assert figure is not None
    assert [row["value"] for row in session.sql(figure.sql).to_pylist()] == pytest.approx([4.0, 4.1, 4.2])
    html = render_page(session)
    assert html.index('id="published_against_simulated"') < html.index('id="published"')
