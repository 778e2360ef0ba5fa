"""Conditions that choose points: SQL over labels, axes, results and the sought parameter."""

from collections.abc import Callable

import pyarrow as pa
import pytest

from destage.errors import QueryError
from destage.queries import Session
from destage.queries.pairs.point_choice import choose_points

RAID, CAPACITY, TRACE = "array.raid", "controller.cache.capacity", "workload.streams.0.arrival.file"
MIB = 2**20


@pytest.fixture
def session(make_session: Callable[..., Session]) -> Session:
    points = [
        ("a", "old, disks=4", "5", 64, "day=1", 1000.0),
        ("b", "007", "5", 128, "it's", 2000.0),
        ("c", "old", "10", 64, "x, y", 3000.0),
        ("d", "a=b", "10", 0, "64MiB", 4000.0),
    ]
    runs = [
        {
            "point_id": name,
            "label": label,
            "run_id": name,
            "replicate": 0,
            RAID: raid,
            CAPACITY: size * MIB,
            TRACE: file,
            "response_p95_us": response,
        }
        for name, label, raid, size, file, response in points
    ]
    return make_session(runs, axes={RAID: pa.string(), CAPACITY: pa.int64(), TRACE: pa.string()})


@pytest.mark.parametrize(
    ("conditions", "points", "named"),
    [
        ([], ["a", "b", "c", "d"], set()),
        (["raid = '5' AND cache_capacity = '64MiB'"], ["a"], {RAID, CAPACITY}),
        (["raid = '5'", "cache_capacity = '64MiB'"], ["a"], {RAID, CAPACITY}),
        (["RAID = '10' OR false"], ["c", "d"], {RAID}),
        (["cache_capacity BETWEEN '1KiB' AND '64MiB'"], ["a", "c"], {CAPACITY}),
        (["cache_capacity IN ('0B', '128MiB')"], ["b", "d"], {CAPACITY}),
        (["'64MiB' < capacity"], ["b"], {CAPACITY}),
        (["cache_capacity = 64 * 1024 * 1024 -- in bytes"], ["a", "c"], {CAPACITY}),
        (["\"array.raid\" = '10'"], ["c", "d"], {RAID}),
        (["label = '007'"], ["b"], {"label"}),
        (["label = 'old, disks=4'"], ["a"], {"label"}),
        (["file = 'it''s'"], ["b"], {TRACE}),
        (["file = '64MiB'"], ["d"], {TRACE}),
        (["response_p95_us > '2ms'"], ["c", "d"], set()),
        (["response_p95_us > '2ms' AND raid = '10' AND cache_capacity > 0"], ["c"], {RAID, CAPACITY}),
        (["cache_capacity > (SELECT 67108864)"], ["b"], {CAPACITY}),
    ],
)
def test_a_condition_chooses_points(
    session: Session, conditions: list[str], points: list[str], named: set[str]
) -> None:
    found = choose_points(session, conditions, "--a")
    assert (list(found.points), set(found.named), found.probe) == (points, named, None)


@pytest.mark.parametrize(
    ("condition", "code", "part"),
    [
        ("raid=5,cache_capacity=0", "query.bad-syntax", "cache_capacity = '64MiB' AND raid = '5'"),
        ("cache_capacity=64MiB", "query.bad-syntax", "cache_capacity = '64MiB' AND raid = '5'"),
        ("true); DROP TABLE plan; SELECT (1", "query.bad-syntax", "write SQL"),
        ("raid", "query.bad-condition", "true or false"),
        ("ride = '5'", "query.unknown-name", "did you mean"),
        ("response_p95 > 1", "query.unknown-name", "did you mean 'response_p95_us'"),
        ("cache_capacity = '64Mib'", "query.failed", "64Mib"),
        ("raid = '7'", "query.no-such-point", "raid: 5, 10"),
        ("cache_capacity = '1KiB'", "query.no-such-point", "cache_capacity: 64MiB, 128MiB, 0"),
        ("raid = '5' AND cache_capacity = 0", "query.no-such-point", "raid: 5, 10"),
    ],
)
def test_a_mistaken_condition_is_named(session: Session, condition: str, code: str, part: str) -> None:
    with pytest.raises(QueryError) as raised:
        choose_points(session, [condition], "--a")
    assert (raised.value.code, raised.value.place) == (code, "--a")
    assert part in raised.value.message


def test_a_query_reads_the_same_quantities(session: Session) -> None:
    for text in ("cache_capacity = '64MiB'", "capacity BETWEEN '1MiB' AND '64MiB'"):
        (statement,) = session.split(f"SELECT point_id FROM configurations WHERE {text}")  # noqa: S608
        assert session.run(statement)["point_id"].to_pylist() == ["a", "c"]
    (statement,) = session.split("SELECT label AS é, '64MiB' AS t FROM points WHERE response_p95_us <= '1ms'")
    assert session.run(statement).to_pylist() == [{"é": "old, disks=4", "t": "64MiB"}]


def test_a_seek_is_chosen_at_one_load(seek_session: Session) -> None:
    """The sought parameter is no axis: it chooses the runs at one of its values."""
    users = seek_session.names[str(seek_session.seek)]
    statement = f"SELECT max(n) AS n FROM (SELECT {seek_session.probe} AS n FROM plan)"  # noqa: S608
    most = seek_session.sql(statement)["n"][0].as_py()
    found = choose_points(seek_session, [f"{users} = {most}"], "--a")
    assert (found.probe, set(found.named)) == (most, set())
    planned = seek_session.sql(f"SELECT DISTINCT point_id FROM plan WHERE {seek_session.probe} = {most}")  # noqa: S608
    assert set(found.points) == set(planned["point_id"].to_pylist())
    with pytest.raises(QueryError) as raised:
        choose_points(seek_session, [f"{users} > 0"], "--a")
    assert raised.value.code == "query.bad-condition"


def test_answers_choose_points(seek_session: Session) -> None:
    rows = seek_session.sql("FROM answers").to_pylist()
    metric = str(seek_session.metric)
    most = max(row[metric] for row in rows)
    found = choose_points(seek_session, [f"{metric} >= {most!r}", "response_p95_us > 0 OR true"], "--a")
    assert list(found.points) == [row["point_id"] for row in rows if row[metric] == most]
