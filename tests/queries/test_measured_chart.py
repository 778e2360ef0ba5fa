"""The chart of measured and simulated figures, of points whose every figure the test chose."""

import json
from typing import Any

import pyarrow as pa
from measured_loads import CAPACITY, DEPTH, canonical, line, workload

from destage.measured.sets import MeasuredSet
from destage.queries.report.charts.measured_chart import MEASURED, build_measured_chart
from destage.queries.report.drawing.chart import LineChart
from destage.queries.report.page import render_page

READS = "workload.streams.0.operations.read_fraction"


def make(make_session: Any, capacities: Any = (0,)) -> Any:
    """Return a session of two depths and two shares of reads at each capacity."""
    runs = []
    for depth in (8, 2):  # the axis is not in order
        for share in (0.7, 1.0):
            config = json.dumps(canonical(workload(depth, share)))
            runs += [
                {
                    "point_id": f"{depth}-{share}-{capacity}",
                    "replicate": 0,
                    "run_id": f"{depth}-{share}-{capacity}",
                    "config": config,
                    DEPTH: depth,
                    READS: share,
                    CAPACITY: capacity,
                    "throughput_iops": 100.0 * depth,
                    "response_mean_us": 1000.0 * depth + capacity,
                }
                for capacity in capacities
            ]
    return make_session(runs, axes={DEPTH: pa.int64(), READS: pa.float64(), CAPACITY: pa.int64()})


LINES = (line(8), line(2, read_fraction=1.0), line(4, request_bytes=4096.0), line(8, response_mean_us=None))


def test_each_mix_has_a_line_and_its_measured_points(make_session: Any) -> None:
    session = make(make_session)
    figure = build_measured_chart(session, MeasuredSet("lab", LINES))
    assert figure is not None
    assert isinstance(figure.chart, LineChart)
    (panel,) = figure.chart.panels
    mixed, reads, measured = panel.series
    assert (mixed.name, reads.name) == ("70 % reads, random, 8 KiB", "reads, random, 8 KiB")
    assert [(mark.x, mark.y) for mark in mixed.marks] == [(200.0, 2.0), (800.0, 8.0)]
    assert measured.name == MEASURED
    assert [mark.line for mark in measured.marks] == [mixed.name, reads.name, None]
    assert "3 of 4 measured lines have one simulated point" in figure.caption
    assert "0.125 to 0.5" not in figure.caption
    assert "2 to 8 times the measured one" in figure.caption
    assert "Not drawn: line 4 (response mean unknown, not in the results of fio)." in figure.caption
    (statement,) = session.split(session.name_paths(figure.sql))
    assert set(session.run(statement)["source"].to_pylist()) == {"simulated"}  # the set is not in the store


def test_many_lines_have_a_panel_per_mix(make_session: Any) -> None:
    figure = build_measured_chart(make(make_session, (0, 2**20, 2**21, 2**22)), MeasuredSet("lab", LINES))
    assert figure is not None
    assert isinstance(figure.chart, LineChart)
    first, second, other = figure.chart.panels
    assert [series.name for series in first.series][:4] == [
        "cache capacity 0 B",
        "cache capacity 1 MiB",
        "cache capacity 2 MiB",
        "cache capacity 4 MiB",
    ]
    assert [len(panel.series[-1].marks) for panel in (first, second, other)] == [1, 1, 1]
    assert [series.name for series in other.series] == [MEASURED]


def test_a_report_draws_a_measured_set_only_when_named(make_session: Any) -> None:
    session = make(make_session)
    assert 'id="measured"' in render_page(session, MeasuredSet("lab", LINES))
    assert 'id="measured"' not in render_page(session)
    assert build_measured_chart(session, MeasuredSet("lab", LINES[3:])) is None
