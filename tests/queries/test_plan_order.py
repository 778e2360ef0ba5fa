"""Means do not depend on how the rows of a plan are ordered, nor on whether points have equally many."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from destage.queries import Session

DISKS = "array.disks"
AXES = {DISKS: pa.int64()}


def planned_runs(points: int, replicates: int) -> list[dict[str, Any]]:
    """Return runs point by point, some of which have no result, or none that counts."""
    draw = np.random.default_rng(points)
    return [
        {
            "point_id": f"p{point}",
            "replicate": replicate,
            "run_id": f"{point}-{replicate}",
            DISKS: point,
            "response_p95_us": None if draw.random() < 0.3 else draw.uniform(1, 9),
            "status": "ok" if draw.random() < 0.7 else "overloaded",
        }
        for point in range(points)
        for replicate in range(replicates)
    ]


def read_points(session: Session) -> dict[str, dict[str, Any]]:
    rows = session.sql("SELECT * EXCLUDE (plan_row) FROM points").to_pylist()
    return {row["point_id"]: row for row in rows}


@pytest.mark.parametrize(("points", "replicates"), [(1, 1), (1, 4), (5, 1), (7, 3), (40, 5)])
def test_shuffled_rows_give_the_same_points(make_session: Any, points: int, replicates: int) -> None:
    runs = planned_runs(points, replicates)
    ordered = make_session(runs, axes=AXES)
    assert ordered.relations.facts.rows_per_point == replicates
    order = np.random.default_rng(1).permutation(len(runs))
    shuffled = make_session([runs[at] for at in order], axes=AXES)
    if replicates > 1 and points > 1:
        assert shuffled.relations.facts.rows_per_point is None
    found = read_points(shuffled)
    for point, row in read_points(ordered).items():
        assert row == pytest.approx(found[point], nan_ok=True)


@pytest.mark.parametrize(
    ("order", "expected"),
    [("aabb", 2), ("abab", None), ("aabbb", None), ("aabbaa", None), ("abba", None), ("abc", 1), ("aaa", 3)],
)
def test_rows_of_a_point_are_counted_only_where_all_are_together(
    make_session: Any, order: str, expected: int | None
) -> None:
    runs = [
        {"point_id": point, "replicate": at, "run_id": str(at), DISKS: ord(point)}
        for at, point in enumerate(order)
    ]
    assert make_session(planned_only=runs, axes=AXES).relations.facts.rows_per_point == expected


def test_some_points_of_a_plan_have_their_own_rows(make_session: Any) -> None:
    """Points chosen from a plan keep their places, between which others are missing."""
    whole = make_session(planned_runs(9, 3), axes=AXES)
    everything = read_points(whole)
    with whole.select_points(["p7", "p2"]) as some:
        assert read_points(some) == {point: everything[point] for point in ("p2", "p7")}
