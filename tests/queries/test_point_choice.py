"""Conditions that choose points: several in one text, and values that look like conditions."""

from collections.abc import Callable

import pyarrow as pa
import pytest

from destage.errors import QueryError
from destage.queries import Session
from destage.queries.pairs.point_choice import choose_points

RAID, DISKS, TRACE = "array.raid", "array.disks", "workload.streams.0.arrival.file"


@pytest.fixture
def session(make_session: Callable[..., Session]) -> Session:
    points = [
        ("a", "old, disks=4", "5", 4, "day=1, raid=5.trace"),
        ("b", "old", "5", 4, "day=1"),
        ("c", "old", "10", 4, "x, y"),
        ("d", "a=b", "10", 8, "x"),
    ]
    runs = [
        {
            "point_id": name,
            "label": label,
            "run_id": name,
            "replicate": 0,
            RAID: raid,
            DISKS: disks,
            TRACE: file,
        }
        for name, label, raid, disks, file in points
    ]
    return make_session(runs, axes={RAID: pa.string(), DISKS: pa.int64(), TRACE: pa.string()})


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("raid=5, disks=4", ["a", "b"]),
        ("label=old, disks=4", ["a"]),
        ("label=old, raid=10", ["c"]),
        ("label=old, disks=4, raid=5", ["a"]),
        ("disks=4, label=old, disks=4", ["a"]),
        ("label=a=b,disks=8", ["d"]),
        ("file=day=1, raid=5.trace", ["a"]),
        ("file=day=1, raid=5", ["b"]),
        ("file=x, y", ["c"]),
        ("raid=10, file=x, y, disks=4", ["c"]),
    ],
)
def test_a_value_may_look_like_a_condition(session: Session, text: str, points: list[str]) -> None:
    assert list(choose_points(session, [text], "--a").points) == points


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("raid=5, raid=10", "query.bad-condition"),
        ("raid", "query.bad-condition"),
        ("raid=", "query.bad-condition"),
        ("raid=5, disks=9", "query.no-such-point"),
        ("file=none, nothing=4", "query.unknown-axis"),
    ],
)
def test_a_mistaken_condition_is_named(session: Session, text: str, code: str) -> None:
    with pytest.raises(QueryError) as raised:
        choose_points(session, [text], "--a")
    assert raised.value.code == code
