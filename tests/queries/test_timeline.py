"""The picture of what happened and when: states become lanes, everything else a moment."""

import json
from typing import Any

import pyarrow as pa
import pytest

from destage.queries import Session
from destage.queries.report.drawing.chart import DotPlot, StateTimeline
from destage.queries.report.figures import build_figures
from destage.queries.report.page import draw_figure, render_page
from destage.queries.report.reported_kinds import compose_answer

ALLOW = "controller.battery.allow_without_battery"
MIB = 2**20
FAULTS = [{"kind": "battery_fails", "at": 60 * 10**9}]

# A battery that fails and is drained in 30 s; a disk that is rebuilt from 100 to 300 s.
TIMELINE = [
    (5.0, "window_begins", "", 0.0),
    (60.0, "battery_failed", "", 0.9),
    (60.0, "write_back_disabled", "", 80.0 * MIB),
    (90.0, "drained", "", 80.0 * MIB),
    (100.0, "disk_failed", "array/1", 0.0),
    (100.0, "array_degraded", "array", 0.0),
    (100.0, "spare_taken", "array/1", 0.0),
    (100.0, "rebuild_started", "array/1", 0.0),
    (200.0, "rebuild_progress", "array/1", 0.5),
    (300.0, "rebuild_done", "array/1", 200.0),
    (300.0, "array_optimal", "array", 0.0),
    (400.0, "window_ends", "", 0.0),
]


def _run(point: str, replicate: int, timeline: list[tuple[float, str, str, float]]) -> dict[str, Any]:
    lists = zip(*timeline, strict=True)
    names = ("timeline_s", "timeline_event", "timeline_subject", "timeline_value")
    return {
        "point_id": point,
        "replicate": replicate,
        "run_id": f"{point}-{replicate}",
        "faults": json.dumps(FAULTS if point == "fails" else []),
        ALLOW: False,
        "response_p95_us": 1e4,
        "throughput_iops": 100.0,
        "dirty_lost_bytes": 3 * MIB if point == "fails" else 0,
        **{name: list(values) for name, values in zip(names, lists, strict=True)},
    }


@pytest.fixture
def session(make_session: Any) -> Session:
    """Return two points of two replicates; in one of them nothing happens."""
    quiet = [entry for entry in TIMELINE if entry[1].startswith("window_")]
    runs = [
        _run(point, replicate, timeline)
        for point, timeline in [("quiet", quiet), ("fails", TIMELINE)]
        for replicate in range(2)
    ]
    made: Session = make_session(runs, axes={"faults": pa.string(), ALLOW: pa.bool_()})
    return made


def test_states_last_until_the_next_and_to_the_end(session: Session) -> None:
    rows = session.query("states_over_time").to_pylist()
    assert {row["run_id"] for row in rows} == {"fails-0"}, "the first replicate, where something happened"
    states = {
        lane: [
            (row["state"], row["condition"], row["from_s"], row["until_s"])
            for row in rows
            if row["lane"] == lane
        ]
        for lane in {row["lane"] for row in rows}
    }
    assert states == {
        "battery": [("charged", "good", 0, 60), ("failed", "bad", 60, 400)],
        "write cache": [("write-back", "good", 0, 60), ("write-through", "bad", 60, 400)],
        "dirty data": [
            ("protected", "good", 0, 60),
            ("at risk", "bad", 60, 90),
            ("drained", "good", 90, 400),
        ],
        "array": [
            ("optimal", "good", 0, 100),
            ("degraded", "wait", 100, 300),
            ("optimal", "good", 300, 400),
        ],
        "disk 1": [
            ("working", "good", 0, 100),
            ("rebuilding", "wait", 100, 200),
            ("rebuilding", "wait", 200, 300),
            ("rebuilt", "good", 300, 400),
        ],
        "events": [("drained", "good", 90, None), ("spare taken", "good", 100, None)],
    }


def test_states_that_begin_at_the_same_time_keep_their_order(make_session: Any) -> None:
    timeline = [
        (0.0, "battery_discharging", "", 1.0),
        (5.0, "battery_empty", "", 0.0),
        (5.0, "battery_charging", "", 0.0),
        (9.0, "window_ends", "", 0.0),
    ]
    session = make_session([_run("p", 0, timeline)], axes={"faults": pa.string(), ALLOW: pa.bool_()})
    rows = session.query("states_over_time").to_pylist()
    states = [(row["state"], row["until_s"]) for row in rows if row["lane"] == "battery"]
    assert states == [("discharging", 5), ("charging", 9)]


def test_lanes_show_dirty_data_and_rebuild_progress(session: Session) -> None:
    (figure,) = [one for one in build_figures(session) if one.name == "timeline"]
    assert isinstance(figure.chart, StateTimeline)
    (run,) = figure.chart.runs
    assert run.title == "faults: battery fails at 60 s, allow without battery: no"
    assert [name for name, _ in run.states] == [
        "battery",
        "write cache",
        "dirty data",
        "array",
        "disk 1",
    ]
    assert run.states[1][1][1].name == "write-through, 80 MiB dirty"
    assert [state.progress for state in run.states[4][1]] == [None, 0.0, 0.5, None]
    assert [event.name for event in run.events] == ["drained, 80 MiB", "spare taken"]
    svg = draw_figure(session, "timeline")
    assert "disk 1: rebuilding, 50 % done, 200 s to 300 s" in svg
    assert svg.count('class="progress wait"') == 2
    html = render_page(session)
    assert 'id="timeline"' in html
    assert "states_over_time" in html


def test_text_and_boolean_axes_are_not_drawn_along(session: Session) -> None:
    named, timeline = build_figures(session)
    assert (named.name, timeline.name) == ("result_by_configuration", "timeline")
    assert isinstance(named.chart, DotPlot)


def test_lost_data_is_part_of_the_answer(session: Session) -> None:
    sentence = "Acknowledged data lost: 3 MiB with battery fails at 60 s, allow without battery no."
    assert sentence in compose_answer(session)


def test_a_sweep_without_transitions_has_no_timeline(seek_session: Session) -> None:
    assert "timeline" not in {figure.name for figure in build_figures(seek_session)}
