"""Of a large sweep, tables and reports show named points, the frontier and the best, and say what is left."""

from typing import Any

import pyarrow as pa
import pytest
from seek_grids import seek_grid

from destage.queries import Session
from destage.queries.report.page import render_page
from destage.queries.report.reported_kinds import compose_answer
from destage.queries.report.sentences.excerpt import describe_excerpt, open_excerpt, open_slice, rank_points

CAPACITY = "controller.cache.capacity"
DISKS = "array.disks"
MIB = 2**20
RESULTS = {  # point: capacity [MiB], disks, response [us], throughput
    "cheap": (32, 4, 900.0, 10.0),
    "cheap, slow": (32, 4, 950.0, 10.0),
    "large": (64, 4, 500.0, 10.0),
    "beaten": (64, 6, 600.0, 10.0),
    "best": (64, 8, 100.0, 10.0),
    "busy": (64, 8, 700.0, 99.0),
    "second": (64, 8, 110.0, 10.0),
    "worst": (32, 4, 999.0, 1.0),
    "named": (64, 8, 990.0, 2.0),
}


@pytest.fixture
def session(make_session: Any) -> Session:
    """A sweep with a point of each kind."""
    runs = [
        {
            "point_id": point,
            "label": "the named one" if point == "named" else None,
            "replicate": replicate,
            "run_id": f"{point}-{replicate}",
            CAPACITY: capacity * MIB,
            DISKS: disks,
            "response_p95_us": response,
            "throughput_iops": throughput,
        }
        for point, (capacity, disks, response, throughput) in RESULTS.items()
        for replicate in range(2)
    ]
    unmeasured = {**runs[0], "point_id": "missing", "run_id": "missing"}
    made: Session = make_session(
        runs, planned_only=[unmeasured], axes={CAPACITY: pa.int64(), DISKS: pa.int64()}
    )
    return made


def test_named_points_come_first_then_the_frontier_then_the_best(session: Session) -> None:
    ranked = rank_points(session, 100)
    assert ranked[0] == "named"
    assert ranked[1:6] == ["best", "large", "busy", "cheap", "worst"]
    assert ranked[6:] == ["second", "beaten", "cheap, slow", "missing"]


def test_an_excerpt_has_the_results_of_the_whole(session: Session) -> None:
    shown = open_excerpt(session, 3)
    assert (shown.point_count, shown.left_out) == (3, 7)
    whole = {row["response_p95_us"]: row for row in _rows(session)}
    assert [row["response_p95_us"] for row in _rows(shown)] == [500.0, 100.0, 990.0]
    assert all(row == whole[row["response_p95_us"]] for row in _rows(shown))


def test_a_small_sweep_is_its_own_excerpt(session: Session) -> None:
    assert open_excerpt(session, 10) is session
    assert describe_excerpt(session) == ""


def test_the_report_says_what_is_left_out(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("destage.queries.report.reported_kinds.MOST_DRAWN", 4)
    sentence = "4 points of 10 shown"
    assert sentence in compose_answer(session)[-1]
    assert "6 points left out" in compose_answer(session)[-1]
    assert sentence in render_page(session)


def test_a_seek_is_ranked_by_its_answers(seek_session: Session) -> None:
    assert rank_points(seek_session, 2) == ["p0", "p1"]  # p0 has a label
    shown = open_excerpt(seek_session, 1)
    assert (shown.point_count, shown.left_out) == (1, 1)
    assert shown.query("design_space").num_rows == 1
    assert "largest load" in describe_excerpt(shown)


@pytest.fixture
def grid(make_session: Any) -> Session:
    """A grid of 4 RAID levels, 16 caches and 12 write fractions."""
    made: Session = seek_grid(
        make_session,
        lambda _, mib, fraction: 40.0 + mib * fraction,
        raids=("0", "5", "6", "10"),
        capacities=range(8, 136, 8),
        fractions=[at / 12 for at in range(1, 13)],
    )
    return made


def test_a_report_has_an_even_sample_of_the_plan(grid: Session) -> None:
    ids = [row["point_id"] for row in grid.sql("FROM configurations ORDER BY plan_row").to_pylist()]
    ranked = rank_points(grid, 200)
    assert len(set(ranked)) == 200
    places = sorted(ids.index(point) for point in ranked)
    for first in range(0, 768, 96):
        assert 18 <= sum(first <= place < first + 96 for place in places) <= 45
    assert "even sample" in describe_excerpt(open_excerpt(grid, 200))


def test_charts_of_a_large_sweep_have_every_point_of_a_slice(grid: Session) -> None:
    drawn, sentence = open_slice(grid, 100)
    rows = drawn.query("users_against_cache").to_pylist()
    assert len(rows) == 64
    assert len({row["controller.cache.write_fraction"] for row in rows}) == 1
    assert len({(row["array.raid"], row[CAPACITY]) for row in rows}) == 64
    assert sentence.startswith("64 of 768 points are drawn, those with write fraction ")
    assert sentence.endswith("704 are left out.")
    assert open_slice(grid, 768) == (grid, "")


def _rows(session: Session) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = session.query("design_space").to_pylist()
    return rows
