"""The means that a named query reads are those of the view `points`, bit for bit."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from destage.errors import QueryError
from destage.queries import Session, open_session
from destage.queries.tables import point_means
from destage.sql import Database, QueryLimits

MakeSession = Callable[..., Session]
RESULTS = ("response_p95_us", "throughput_iops", "requests")
ENDS = tuple(f"{name}{end}" for name in RESULTS for end in ("", "_low", "_high"))
COUNTS = ("n", "n_not_stationary", "n_overloaded", "n_array_failed", "n_failed", "n_missing")
STATEMENT = f"SELECT point_id, label, {', '.join([*COUNTS, *ENDS])} FROM points ORDER BY plan_row"  # noqa: S608 - names of columns
STATUSES = ["ok"] * 6 + ["not_stationary", "overloaded", "array_failed", "failed"]


def write_runs(points: int, replicates: int) -> list[dict[str, object]]:
    """Return runs whose values range from 1e-9 to 1e18, of either sign, with nulls, NaN and infinities."""
    random = np.random.default_rng(3)
    special = [None, math.nan, math.inf, -0.0, 0.0, 1e18, 1e-9]

    def draw() -> float | None:
        if random.random() < 0.2:
            return special[random.integers(len(special))]
        return float(random.choice([-1, 1]) * 10 ** random.uniform(-9, 18))

    return [
        {
            "point_id": f"p{point:02}",
            "replicate": replicate,
            "run_id": f"{random.integers(1 << 60):x}",
            "status": STATUSES[random.integers(len(STATUSES))],
            "response_p95_us": draw(),
            "throughput_iops": draw() if point else None,
            "requests": int(random.integers(1 << 62)) if random.random() < 0.9 else None,
        }
        for point in range(points)
        for replicate in range(replicates)
    ]


def as_bits(rows: pa.Table) -> list[tuple[object, ...]]:
    """Return rows whose numbers are equal only if all their digits are; zeros have one sign, NaN is one."""
    return [
        tuple(value.hex() if isinstance(value, float) and value else value or 0 for value in row.values())
        for row in rows.to_pylist()
    ]


def compare(session: Session) -> list[tuple[object, ...]]:
    """Return the rows of `points` after comparing those of a named query with those of the view."""
    computed = session.sql_of_named_columns(STATEMENT)
    view = session.sql(STATEMENT)
    assert computed.schema.equals(view.schema)
    assert as_bits(computed) == as_bits(view)
    return as_bits(computed)


@pytest.mark.parametrize("replicates", [1, 2, 5, 12])
def test_computed_means_have_every_digit_of_the_view(make_session: MakeSession, replicates: int) -> None:
    runs = write_runs(40, replicates)
    # The last point lacks all of its runs, and the one before it one.
    stored = len(runs) - replicates - 1
    session = make_session(runs[:stored], planned_only=runs[stored:])
    assert session.relations.facts.rows_per_point == replicates
    rows = compare(session)
    assert len(rows) == 40
    assert rows[-1][2:8] == (0, 0, 0, 0, 0, replicates)
    assert rows[-2][7] == 1


def test_a_mean_is_the_rounded_sum_in_ascending_order(make_session: MakeSession) -> None:
    """The order of addition decides the digits of these values."""
    values = [1e18, 1e-9, 1.0, 64.0, 3e17]
    runs = [
        {"point_id": "p", "replicate": at, "run_id": f"r{at}", "response_p95_us": value}
        for at, value in enumerate(values)
    ]
    session = make_session(runs)
    found = session.sql_of_named_columns("SELECT response_p95_us FROM points")["response_p95_us"][0].as_py()
    total = 0.0
    for value in sorted(values):
        total += value
    assert found == total / 5
    assert abs(Fraction(found) - sum(map(Fraction, values)) / 5) <= Fraction(math.ulp(found))


def test_a_shared_run_counts_at_each_of_its_points(make_session: MakeSession) -> None:
    """Points with the same runs and different labels are two."""
    runs = [
        {"point_id": label, "label": label, "replicate": at, "run_id": f"r{at}", "response_p95_us": at + 1.0}
        for label in ("a", "b")
        for at in range(3)
    ]
    session = make_session(runs[:3], planned_only=runs[3:])
    assert session.relations.facts.shares_runs
    rows = compare(session)
    assert [row[0] for row in rows] == ["a", "b"]
    assert len({row[2:] for row in rows}) == 1


def test_some_points_have_the_means_of_the_whole(make_session: MakeSession) -> None:
    session = make_session(write_runs(40, 3))
    whole = compare(session)
    with session.select_points(["p07", "p31"]) as some:
        assert compare(some) == [whole[7], whole[31]]


def test_columns_read_in_portions_are_the_same(
    make_session: MakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = write_runs(40, 3)
    whole = compare(make_session(runs))
    monkeypatch.setattr(point_means, "_PORTION_BYTES", 1)
    monkeypatch.setattr(point_means, "_MOST_KEPT_BYTES", 0)
    assert compare(make_session(runs)) == whole


def test_an_interval_is_added_to_a_mean_that_is_known(make_session: MakeSession) -> None:
    session = make_session(write_runs(10, 4))
    session.sql_of_named_columns("SELECT response_p95_us FROM points")
    compare(session)


def test_means_that_exceed_the_memory_are_refused(
    make_session: MakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The arrays of the means are not DuckDB's, whose own limit does not bound them."""
    path = make_session(write_runs(40, 3)).sweep.path
    with open_session(path, QueryLimits(memory_bytes=256 << 20)) as session:
        compare(session)
        monkeypatch.setattr(Database, "memory_bytes", 1_000)
        with pytest.raises(QueryError) as caught:
            session.sql_of_named_columns(STATEMENT)
    assert caught.value.code == "query.out-of-memory"
