"""Charts of a study: their marks equal the views, with published figures."""

import re
from typing import Any

import pyarrow as pa
import pytest

from destage.queries import Session
from destage.queries.report.charts.facets import MOST_LINES
from destage.queries.report.charts.standard_charts import build_study_charts
from destage.queries.report.drawing.chart import DotPlot, LineChart
from destage.queries.report.figures import build_figures
from destage.queries.report.page import draw_figure, render_page

CAPACITY = "controller.cache.capacity"
CONTROLLER = "controller.use"
USERS = "workload.users"
RAID = "array.raid"
MIB = 2**20


def run(users: int, controller: str, replicate: int, response_us: float, **other: Any) -> dict[str, Any]:
    point = f"{controller}-{users}-{other.get('label')}-{other.get(RAID)}"
    return {
        "point_id": point,
        "replicate": replicate,
        "run_id": f"{point}-{replicate}",
        USERS: users,
        CONTROLLER: controller,
        "response_mean_us": response_us,
        "throughput_iops": 10.0 * users,
        **other,
    }


RUNS = [
    run(users, controller, replicate, factor * users * 1000.0 + replicate * 200)
    for controller, factor in (("small", 3), ("large", 1))
    for users in (40, 10, 160)
    for replicate in (0, 1)
]
AXES = {USERS: pa.int64(), CONTROLLER: pa.string(), RAID: pa.string()}


def chart(**keys: Any) -> dict[str, Any]:
    return {"title": "Growth", "x": USERS, "y": "response_mean_us", **keys}


@pytest.fixture
def draw(make_session: Any) -> Any:
    """Give a function that returns the first chart over the runs above, and its caption."""

    def draw_chart(entry: dict[str, Any], runs: Any = RUNS, **spec: Any) -> tuple[Any, str]:
        (figure,) = build_study_charts(make_session(runs, axes=AXES, charts=[entry], **spec))
        return figure.chart, figure.caption

    return draw_chart


def test_the_marks_are_the_means_and_intervals_of_the_view(make_session: Any) -> None:
    session = make_session(RUNS, axes=AXES, charts=[chart(by=CONTROLLER)])
    (figure,) = build_study_charts(session)
    assert isinstance(figure.chart, LineChart)
    rows = session.sql("SELECT * FROM points ORDER BY users").to_pylist()
    for series in figure.chart.panels[0].series:
        expected = [
            tuple(row[f"response_mean_us{end}"] / 1000 for end in ("", "_low", "_high"))
            for row in rows
            if row[CONTROLLER] == series.name
        ]
        assert [(mark.y, mark.low, mark.high) for mark in series.marks] == [
            pytest.approx(triple) for triple in expected
        ]
        assert [mark.x for mark in series.marks] == [10, 40, 160]
    assert figure.chart.legend == ("small", "large")
    assert (figure.chart.x_title, figure.chart.y_title) == ("users", "response mean [ms]")


def test_a_charts_sql_returns_the_rows_drawn(make_session: Any) -> None:
    session = make_session(
        RUNS, axes=AXES, charts=[chart(where="users > 10 AND \"controller.use\" = 'large'")]
    )
    (figure,) = build_study_charts(session)
    rows = session.sql(figure.sql).to_pylist()
    assert [row[USERS] for row in rows] == [40, 160]
    (pasted,) = session.split(session.name_paths(figure.sql))
    assert session.run(pasted)["users"].to_pylist() == [40, 160]
    assert "users &gt; 10" in render_page(session)


def test_a_study_can_name_its_axes(draw: Any) -> None:
    chart_data, _ = draw(chart(x_title="agents", y_title="wait [ms]"))
    assert (chart_data.x_title, chart_data.y_title) == ("agents", "wait [ms]")
    dots, _ = draw(chart(x=CONTROLLER, y_title="wait [ms]"))
    assert (dots.x_title, dots.row_title) == ("wait [ms]", "controller")


def test_an_axis_is_logarithmic_only_on_request(draw: Any) -> None:
    assert not draw(chart())[0].x_log
    assert draw(chart(x_log=True))[0].x_log
    assert draw(chart(y_log=True))[0].y_log


def test_names_along_x_are_rows_in_the_order_of_the_plan(draw: Any) -> None:
    dots, caption = draw(chart(x=CONTROLLER, by=USERS, where="users < 100"))
    assert isinstance(dots, DotPlot)
    assert [row.title for row in dots.rows] == ["small", "large"]
    assert [(dot.kind, dot.value) for dot in dots.rows[0].dots] == [
        ("40 users", pytest.approx(120.1)),
        ("10 users", pytest.approx(30.1)),
    ]
    assert "95 % confidence intervals" in caption


def test_another_axis_that_varies_splits_the_line(draw: Any) -> None:
    chart_data, _ = draw(chart())
    assert [series.name for series in chart_data.panels[0].series] == ["small", "large"]
    assert all(len(series.marks) == 3 for series in chart_data.panels[0].series)


def test_a_result_along_x_is_scaled_and_follows_the_plan(draw: Any) -> None:
    chart_data, _ = draw(chart(x="throughput_iops", by=CONTROLLER))
    small = chart_data.panels[0].series[0]
    assert (small.name, small.style, [mark.x for mark in small.marks]) == ("small", "line", [400, 100, 1600])
    assert chart_data.x_title == "throughput [IO/s]"


def test_marks_of_several_axes_are_not_joined_by_a_line(draw: Any) -> None:
    chart_data, _ = draw(chart(x="throughput_iops"))
    assert [series.style for series in chart_data.panels[0].series] == ["scattered"]


def test_lines_above_the_limit_are_left_out_with_a_remark(draw: Any) -> None:
    runs = [run(users, f"c{kind}", 0, 1000.0 * (kind + 1) + users) for kind in range(11) for users in (1, 2)]
    chart_data, caption = draw(chart(by=CONTROLLER), runs)
    assert len(chart_data.panels[0].series) == MOST_LINES
    assert "Only the first 8 of 11 lines are shown." in caption


def test_labelled_points_are_drawn_apart_from_the_grid(draw: Any) -> None:
    runs = [*RUNS, run(40, "other", 0, 5000.0, label="the named")]
    chart_data, _ = draw(chart(by=CONTROLLER), runs)
    named = chart_data.panels[0].series[-1]
    assert (named.style, named.marks[0].label, named.marks[0].y) == ("labelled", "the named", 5.0)
    by_label, _ = draw(chart(by="label", where="label IS NOT NULL"), runs)
    assert [series.name for series in by_label.panels[0].series] == ["the named"]


PLACES = {"here": {USERS: 40, CONTROLLER: "large"}, "there": {USERS: 10, CONTROLLER: "large"}}
PUBLISHED = [
    {
        "figure": "a",
        "compute": "here.response_mean_us",
        "value": 33_000,
        "source": "p. 1",
        "kind": "predicted",
    }
]


def test_a_published_figure_is_a_mark_at_its_point(draw: Any) -> None:
    chart_data, caption = draw(chart(by=CONTROLLER), published=PUBLISHED, places=PLACES)
    published = chart_data.panels[0].series[-1]
    assert (published.style, [(mark.x, mark.y) for mark in published.marks]) == ("published", [(40, 33.0)])
    assert "Hollow diamonds are published figures" in caption
    assert [mark.line for mark in published.marks] == ["large"]
    dots, _ = draw(chart(x=CONTROLLER, where="users = 40"), published=PUBLISHED, places=PLACES)
    assert [[dot.kind for dot in row.dots] for row in dots.rows] == [[""], ["", "published"]]
    without, _ = draw(chart(by=CONTROLLER, published=False), published=PUBLISHED, places=PLACES)
    assert all(series.style == "line" for series in without.panels[0].series)


@pytest.mark.parametrize(
    ("compute", "value", "drawn_at"),
    [
        ("here.response_mean_us", 33_000, [(40, 33.0)]),
        ('"here"."response_mean_us" / 1000', 33, [(40, 33.0)]),
        ("here.response_mean_us * 1e-3", 33, [(40, 33.0)]),
        ("here.response_p95_us / 1000", 33, []),
        ("here.response_mean_us / there.response_mean_us", 3, []),
        ("here.response_mean_us", "fast", []),
    ],
)
def test_a_published_figure_of_one_column_is_a_mark(
    draw: Any, compute: str, value: object, drawn_at: list[tuple[float, float]]
) -> None:
    figure = {"figure": "a", "source": "p. 1", "kind": "predicted", "value": value, "compute": compute}
    chart_data, _ = draw(chart(by=CONTROLLER), published=[figure], places=PLACES)
    marks = [mark for one in chart_data.panels[0].series if one.style == "published" for mark in one.marks]
    assert [(mark.x, pytest.approx(mark.y)) for mark in marks] == drawn_at


def test_points_without_a_value_are_counted(draw: Any) -> None:
    runs = [*RUNS, {**run(20, "small", 0, 1.0), "status": "overloaded"}]
    chart_data, caption = draw(chart(by=CONTROLLER), runs)
    assert [mark.x for mark in chart_data.panels[0].series[0].marks] == [10, 40, 160]
    assert "1 point without response mean [ms]: not drawn." in caption


def test_a_sweep_without_rows_has_no_chart(make_session: Any) -> None:
    for runs in ([], [{**RUNS[0], "status": "failed"}]):
        session = make_session(runs, axes=AXES, charts=[chart()])
        assert build_study_charts(session) == []
        assert "Growth" not in re.sub("<details>.*?</details>", "", render_page(session), flags=re.DOTALL)


def test_one_point_makes_a_chart(draw: Any) -> None:
    chart_data, _ = draw(chart(x_log=True, y_log=True), RUNS[:1])
    assert [len(series.marks) for series in chart_data.panels[0].series] == [1]


def test_a_seeks_answers_are_drawn_with_published_figures(seek_session: Session) -> None:
    seek_session.spec["charts"] = [
        {"title": "Users", "x": CAPACITY, "y": "users_supported", "published": True},
        {"title": "Response there", "x": CAPACITY, "y": "response_p95_us", "where": "users_supported > 40"},
    ]
    users, response = build_study_charts(seek_session)
    assert isinstance(users.chart, LineChart)
    marks = [mark for series in users.chart.panels[0].series for mark in series.marks]
    assert {(mark.x / MIB, mark.y, mark.low, mark.high) for mark in marks} == {
        (32, 32, 27, 37),
        (64, 42, 37, 47),
        (32, 39, None, None),
        (64, 51, None, None),
    }
    assert isinstance(response.chart, LineChart)
    # Of each replicate the certified run counts, not the probes beside it.
    assert [mark.y for mark in response.chart.panels[0].series[0].marks] == [pytest.approx(29.0005)]


def test_an_answer_that_is_a_bound_is_labelled(seek_session: Session, make_session: Any) -> None:
    answers = seek_session.sweep.answers().to_pylist()
    for answer in answers:
        answer |= {"censored": "at_least", "answer_low": None, "answer_high": None}
    session = make_session(
        [{"point_id": answers[0]["point_id"], "replicate": 0, "run_id": "r", USERS: 30, CAPACITY: 32 * MIB}],
        axes={CAPACITY: pa.int64(), RAID: pa.string()},
        seek=USERS,
        answers=answers[:1],
        charts=[{"title": "Users", "x": CAPACITY, "y": "users_supported"}],
    )
    (figure,) = build_study_charts(session)
    assert isinstance(figure.chart, LineChart)
    assert [mark.label for series in figure.chart.panels[0].series for mark in series.marks] == ["≥ 32"]


def test_own_charts_are_first_and_replace_standard_ones(make_session: Any) -> None:
    session = make_session(RUNS, axes=AXES, charts=[chart()])
    assert [figure.name for figure in build_figures(session)] == ["growth"]
    runs = [
        {
            **run(10, "small", 0, 1000.0 * size),
            "run_id": str(size),
            "point_id": str(size),
            CAPACITY: size * MIB,
        }
        | {"read_hit_ratio": 0.1 * size, "write_hit_ratio": 0.1}
        for size in (1, 2, 4)
    ]
    axes: dict[str, pa.DataType] = {CAPACITY: pa.int64(), CONTROLLER: pa.string()}
    beside = make_session(runs, axes=axes, charts=[chart(x=CAPACITY)])
    assert [figure.name for figure in build_figures(beside)] == ["growth", "hit_ratio_against_cache"]
    beside.spec["charts"] = [chart(title="Hit ratio against cache", x=CAPACITY, y="read_hit_ratio")]
    assert [figure.name for figure in build_figures(beside)] == ["hit_ratio_against_cache"]


def test_standard_charts_with_many_labels_are_left_out(make_session: Any) -> None:
    runs = [
        run(10, f"c{at}", 0, 1000.0, label=f"point {at}", read_hit_ratio=0.1, **{CAPACITY: at * MIB})
        for at in range(1, 13)
    ]
    axes: dict[str, pa.DataType] = {CAPACITY: pa.int64(), CONTROLLER: pa.string()}
    session = make_session(runs, axes=axes, charts=[chart(x="label")])
    assert [figure.name for figure in build_figures(session)] == ["growth"]
    del session.spec["charts"]
    assert [figure.name for figure in build_figures(session)] == ["hit_ratio_against_cache"]


def test_each_chart_has_a_unique_file_name(make_session: Any) -> None:
    entries = [chart(title="A <b>"), chart(title="A (b)"), chart(title="???", x=CONTROLLER)]
    session = make_session(RUNS, axes=AXES, charts=entries)
    assert [figure.name for figure in build_study_charts(session)] == ["a_b", "a_b_2", "chart"]
    assert "A &lt;b&gt;" in draw_figure(session, "a_b")
    assert "40 users, small: response mean 120.1 (95 % CI 118.8 to 121.4) ms" in draw_figure(session, "chart")
    session.spec["charts"] = [chart(title="Timeline"), chart(title="Published!"), chart(title="What matters")]
    names = [figure.name for figure in build_figures(session)]
    assert names[:3] == ["timeline_2", "published_2", "what_matters_2"]
