"""The table that a search prints: the points of its Pareto front, and how many others there are."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from destage.queries import Session
from destage.queries.report.drawing.chart import LineChart
from destage.queries.report.figures import find_figure
from destage.queries.report.reported_kinds import find_reported, summarize
from destage.queries.report.sentences.front_answer import list_objectives, tabulate_front
from destage.store.schemas.analysis_schema import analysis_column, analysis_schema

DISKS = "array.disks"
SEARCH = {"objectives": [{"maximize": "response_p99"}, {"minimize": DISKS}, {"minimize": "response_p999"}]}
# Point, objectives, and whether it is on the front; the same point twice, and one without a result.
TRIALS: list[tuple[str | None, Any, Any, Any, bool]] = [
    ("a", 5.0, 2.0, 9.0, True),
    ("b", 1.0, 3.0, 9.0, False),
    (None, None, None, None, False),
    ("c", 8.0, 4.0, 9.0, True),
    ("a", 5.0, 2.0, 9.0, True),
]


def _make(
    make_session: Callable[..., Session], trials: list[tuple[str | None, Any, Any, Any, bool]]
) -> Session:
    # The columns of objectives as stored; the name of the first begins that of the last.
    schema = analysis_schema(
        "one row per trial",
        [
            analysis_column("trial", pa.int64(), "number"),
            analysis_column("batch", pa.int64(), "number"),
            analysis_column("point_id", pa.string(), "point"),
            analysis_column("response_p99_us", pa.float64(), "mean"),
            analysis_column("disks", pa.float64(), "axis"),
            analysis_column("response_p999_us", pa.float64(), "mean"),
            analysis_column("on_front", pa.bool_(), "front"),
        ],
    )
    rows = [dict(zip(schema.names, (at, 0, *trial), strict=True)) for at, trial in enumerate(trials)]
    runs = [
        {"point_id": point, "replicate": 0, "run_id": f"run {point}", DISKS: disks, "response_p99_us": 1.0}
        for point, disks in (("a", 2), ("b", 3), ("c", 4))
    ]
    return make_session(
        runs,
        axes={DISKS: pa.int64()},
        analyses={"trials": pa.Table.from_pylist(rows, schema)},
        search=SEARCH,
    )


@pytest.fixture
def session(make_session: Callable[..., Session]) -> Session:
    return _make(make_session, TRIALS)


def test_objectives_are_those_of_the_study(session: Session) -> None:
    found = [(one.column, one.is_maximum) for one in list_objectives(session)]
    assert found == [("response_p99_us", True), ("disks", False), ("response_p999_us", False)]


def test_the_table_has_the_front_and_counts_the_others(session: Session) -> None:
    found = tabulate_front(session)
    assert found is not None
    rows, sentence = found
    assert rows["disks"].to_pylist() == [2, 4]
    assert sentence == "2 points of 3 shown: the Pareto front; 1 point left out."
    assert summarize(session).left_out == sentence


def test_the_figure_has_the_front_and_the_other_trials(session: Session) -> None:
    """By the first two objectives, a p99 in ms and a number of disks, each point once."""
    chart = find_figure(session, "pareto_front").chart
    assert isinstance(chart, LineChart)
    marks = {
        series.name: [(mark.x, mark.y) for mark in series.marks]
        for panel in chart.panels
        for series in panel.series
    }
    assert marks == {"other trials": [(0.001, 3.0)], "Pareto front": [(0.005, 2.0), (0.008, 4.0)]}


def test_without_a_front_all_points_are_shown(make_session: Callable[..., Session]) -> None:
    session = _make(make_session, [("a", None, None, None, False), ("b", None, None, None, False)])
    assert tabulate_front(session) is None
    summary = summarize(session)
    assert len(summary.points.rows) == 3
    assert summary.left_out == ""
    assert summary.answer[:2] == (
        "None of 2 trials has a value of every objective.",
        "Response p99 has no value in any trial.",
    )


def test_an_ordinary_sweep_has_no_front(make_session: Callable[..., Session]) -> None:
    run = {"point_id": "p", "replicate": 0, "run_id": "r", DISKS: 2}
    rows, _ = find_reported(make_session([run], axes={DISKS: pa.int64()})).tabulate()
    assert rows["disks"].to_pylist() == [2]
