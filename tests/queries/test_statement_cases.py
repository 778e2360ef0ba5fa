"""Statements over points: alone, against another point of the same state, and what is found of them."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from destage.discovery.choice import Rule
from destage.errors import QueryError
from destage.queries import Session
from destage.queries.pairs.discovered_box import collect_cases, discover
from destage.queries.report.drawing.box_picture import draw_box

CAPACITY, RAID, DISKS = "controller.cache.capacity", "array.raid", "array.disks"
MIB = 2**20


def _respond(capacity: int, disks: int) -> float:
    if capacity == 0:
        return 100_000.0
    return 40_000.0 if disks >= 6 else 90_000.0


@pytest.fixture
def session(make_session: Callable[..., Session]) -> Session:
    """A grid whose response is 100 ms without a cache, and with one 40 ms from 6 disks on, else 90 ms."""
    cells = product([0, 64, 128], ["5", "10"], range(4, 10))
    runs = [
        {
            "point_id": f"p{at}",
            "replicate": replicate,
            "run_id": f"r{at}-{replicate}",
            CAPACITY: capacity * MIB,
            RAID: raid,
            DISKS: disks,
            "response_p95_us": _respond(capacity, disks) + replicate,
            "status": "overloaded" if (capacity, disks) == (128, 4) else "ok",
        }
        for at, (capacity, raid, disks) in enumerate(cells)
        for replicate in (0, 1)
    ]
    return make_session(runs, axes={CAPACITY: pa.int64(), RAID: pa.string(), DISKS: pa.int64()})


def test_a_statement_about_each_point(session: Session) -> None:
    cases = collect_cases(session, "response_p95_us < 50000 AND raid = '5'")
    assert (cases.points.num_rows, int(cases.holds.sum()), cases.unknown) == (35, 8, 1)
    held = cases.points.filter(pa.array(cases.holds)).to_pylist()
    assert {row[RAID] for row in held} == {"5"}
    assert {row[CAPACITY] for row in held} == {64 * MIB, 128 * MIB}
    assert min(row[DISKS] for row in held) == 6


def test_a_statement_that_compares_with_a_point_equal_in_all_other_axes(session: Session) -> None:
    cases = collect_cases(session, "response_p95_us <= 0.5 * base.response_p95_us", ["cache_capacity = 0"])
    assert set(cases.points[CAPACITY].to_pylist()) == {64 * MIB, 128 * MIB}
    assert (cases.unknown, cases.unmatched) == (2, 0)
    assert np.array_equal(cases.holds, [disks >= 6 for disks in cases.points[DISKS].to_pylist()])
    own = collect_cases(session, "base.disks = disks AND base.raid = raid", ["cache_capacity = 0"])
    assert own.holds.all()


def test_points_without_a_partner_are_counted(session: Session) -> None:
    cases = collect_cases(session, "raid <> base.raid", ["cache_capacity = 0 AND disks = 4 AND raid = '5'"])
    assert (len(cases.holds), cases.unmatched) == (35, 0)
    part = collect_cases(session, "raid = base.raid", ["cache_capacity = 0", "raid = '5'"])
    assert (len(part.holds), part.unmatched) == (30, 0)
    some = collect_cases(session, "true", ["cache_capacity = 0 AND disks = 4"])
    assert (len(some.holds), some.unmatched) == (34, 0)


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("response_p95_us <", "query.bad-syntax"),
        ("true); DROP TABLE plan; SELECT (1", "query.bad-syntax"),
        ("respons_p95_us < 1", "query.unknown-name"),
        ("base.disks = 4", "query.unknown-name"),
    ],
)
def test_a_statement_that_cannot_be_evaluated(session: Session, statement: str, code: str) -> None:
    with pytest.raises(QueryError) as caught:
        collect_cases(session, statement)
    assert (caught.value.code, caught.value.place) == (code, "--where")


def test_the_ranges_are_found_and_said(session: Session) -> None:
    found = discover(session, "response_p95_us <= 0.5 * base.response_p95_us", ["cache_capacity = 0"])
    assert [limit.text for limit in found.limits] == ["disks ≥ 6"]
    assert found.box is not None
    assert (found.box.density, found.box.coverage) == (1.0, 1.0)
    assert found.answer == (
        "response_p95_us <= 0.5 * base.response_p95_us where disks ≥ 6: at 100 % of the points inside "
        "(16 of 16 points), which are 100 % of all 16 cases"
    )
    picture = draw_box(found, session.units)
    assert picture.startswith("<svg")
    assert "64 MiB" not in picture or "disks" in picture
    alone = discover(session, "response_p95_us < 50000")
    assert {limit.axis: (limit.low, limit.high) for limit in alone.limits} == {
        DISKS: (6, None),
        CAPACITY: (64 * MIB, None),
    }


def test_no_box_is_made_of_few_points_or_of_nothing(session: Session) -> None:
    assert "holds at none of 34 points" in discover(session, "response_p95_us < 0").answer
    assert "holds at all 34 points" in discover(session, "response_p95_us > 0").answer
    few = discover(session, "disks = 4 AND cache_capacity = 0 AND response_p95_us > 0")
    assert few.box is None
    assert "too few" in few.answer


def test_a_demand_that_no_box_meets_is_said(session: Session) -> None:
    """At 4 and 8 disks only: no range of neighbours has more than half of them."""
    statement = "disks IN (4, 6, 8) AND raid = '5' AND response_p95_us > 0"
    found = discover(session, statement, rule=Rule(density=0.99, coverage=None))
    assert found.box is None or found.box.density >= 0.99
    assert discover(session, statement, rule=Rule(coverage=1.0)).box is not None


def test_a_point_is_counted_once_also_where_the_statement_is_random(session: Session) -> None:
    for _ in range(3):
        cases = collect_cases(session, "random() * response_p95_us > 20000")
        assert (cases.points.num_rows, len(cases.holds), cases.unknown) == (34, 34, 2)


def test_a_statement_without_a_compared_point_names_the_option(session: Session) -> None:
    with pytest.raises(QueryError, match="--against chooses"):
        collect_cases(session, "response_p95_us < base.response_p95_us")


def test_a_result_without_its_unit_is_suggested_with_it(session: Session) -> None:
    with pytest.raises(QueryError, match="did you mean 'response_p95_us'"):
        collect_cases(session, "response_p95 < 50000")
