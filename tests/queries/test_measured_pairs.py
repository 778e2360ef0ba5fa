"""Measured lines paired with simulated points, with ratios worked by hand."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest
from error_codes import has_code
from measured_loads import CAPACITY, DEPTH, canonical, line, workload

from destage.errors import QueryError, StoreError
from destage.measured.line import MeasuredLine
from destage.measured.sets import MeasuredSet, find_store, write_set
from destage.queries import Session
from destage.queries.pairs.measured_pairs import MeasuredComparison, compare_measured
from destage.queries.pairs.measured_points import describe_load
from destage.queries.pairs.point_choice import choose_points

QUANTILE_2 = 12.706204736
"""The t-quantile of two values."""


@pytest.fixture
def session(make_session: Any) -> Session:
    """Two depths and two caches, with 110 ± 1 requests per second at depth 8, of two replicates."""
    runs = []
    for depth in (8, 16):
        config = json.dumps(canonical(workload(depth)))
        for capacity in (0, 64):
            for replicate in (0, 1):
                point = f"d{depth}c{capacity}"
                runs.append(
                    {
                        "point_id": point,
                        "replicate": replicate,
                        "run_id": f"{point}-{replicate}",
                        "config": config,
                        DEPTH: depth,
                        CAPACITY: capacity * 2**20,
                        "throughput_iops": 109.0 + 2 * replicate + depth - 8,
                        "response_mean_us": 1000.0,
                        "response_p99_us": 0.0,
                    }
                )
    found: Session = make_session(runs, axes={DEPTH: pa.int64(), CAPACITY: pa.int64()})
    return found


def compare(
    session: Session, *lines: MeasuredLine, a: Sequence[str] = (), **options: Any
) -> MeasuredComparison:
    """Compare lines with the points that conditions choose."""
    return compare_measured(session, MeasuredSet("set", lines), choose_points(session, a, "--a"), **options)


def test_unknown_figures_are_skipped_with_their_reason(session: Session) -> None:
    reason = "fio measured no latency (gtod_reduce or disable_lat)"
    given = line(response_mean_us=None, unknown_figures={"response_mean_us": reason})
    (pair,) = compare(session, given, a=["cache_capacity=0"]).pairs
    assert [one.column for one in pair.ratios] == ["throughput_iops"]
    assert pair.skipped == {"response_mean_us": reason}
    asked = {"columns": ["response_p99", "throughput"]}
    (pair,) = compare(session, given, a=["cache_capacity=0"], **asked).pairs
    assert pair.skipped == {"response_p99_us": f"not in the results of {given.tool or 'the tool'}"}


def test_ratios_and_their_intervals_are_those_worked_by_hand(session: Session) -> None:
    """110 against 100 measured, with deviations of both: sqrt(2) over two replicates, 2 over two samples."""
    found = compare(session, line(throughput_stddev_iops=2.0, samples=2), a=["cache_capacity=0"])
    (pair,) = found.pairs
    assert pair.point.point_id == "d8c0"
    by_column = {one.column: one for one in pair.ratios}
    rate, response = by_column["throughput_iops"], by_column["response_mean_us"]
    assert (rate.measured, rate.simulated, rate.ratio) == (100.0, 110.0, pytest.approx(1.1))
    simulated = QUANTILE_2 * math.sqrt(2) / math.sqrt(2)
    measured = QUANTILE_2 * 2 / math.sqrt(2)
    assert rate.high == pytest.approx(110 + simulated)
    spread = math.hypot(simulated / 110, measured / 100)
    assert rate.ratio_low == pytest.approx(1.1 * (1 - spread))
    assert rate.ratio_high == pytest.approx(1.1 * (1 + spread))
    assert (response.ratio, response.ratio_low, response.ratio_high) == (0.5, 0.5, 0.5)
    assert "response_p99_us" not in by_column  # not measured


def test_the_worst_are_furthest_from_one_in_either_direction(session: Session) -> None:
    found = compare(
        session,
        line(8, throughput_iops=55.0, response_mean_us=900.0),
        line(16, throughput_iops=118.0, response_mean_us=4000.0),
        a=["cache_capacity=0"],
    )
    worst = [(pair.number, one.column, round(one.ratio or 0, 2)) for pair, one in found.find_worst()]
    assert worst == [
        (2, "response_mean_us", 0.25),
        (1, "throughput_iops", 2.0),
        (1, "response_mean_us", 1.11),
    ]


def test_what_is_ambiguous_is_not_paired(session: Session) -> None:
    found = compare(session, line(8))
    assert not found.pairs
    (left,) = found.lines
    assert left.reason.startswith("2 points match, which differ in cache_capacity")
    assert [each.reason for each in found.points][:1] == ["line 1 may be of other points as well"]
    assert [each.reason for each in found.points][2:] == ["no line has outstanding I/Os 16"] * 2


@pytest.mark.parametrize(
    ("measured", "reason"),
    [
        (line(32), "no point has outstanding I/Os 32"),
        (line(8, read_fraction=0.5), "no point has read fraction 0.5"),
        (line(8, request_bytes=4096.0), "no point has request size 4 KiB"),
        (line(8, random_fraction=0.0, read_fraction=0.0), "no point has read fraction 0, random fraction 0"),
        (line(None), "outstanding I/Os and requests per second: not known of both"),
    ],
)
def test_a_line_without_a_point_says_why(session: Session, measured: MeasuredLine, reason: str) -> None:
    found = compare(session, measured, a=["cache_capacity=0"])
    assert not found.pairs
    assert found.lines[0].reason.startswith(reason)


def test_shares_differ_by_chance_in_few_requests(session: Session) -> None:
    """Of 100 requests, a share of 0.7 has a standard deviation of 0.046."""
    conditions = ["cache_capacity=0"]
    assert compare(session, line(8, read_fraction=0.6, requests=100), a=conditions).pairs
    assert not compare(session, line(8, read_fraction=0.6, requests=100_000), a=conditions).pairs


def test_pairs_are_stated_with_on(session: Session) -> None:
    unknown = line(None, depth=16, read_fraction=None)
    conditions = ["cache_capacity=0"]
    for stated in (
        "depth=depth",
        f"depth={DEPTH}",
        "depth=outstanding",
        "depth=workload.streams.0.arrival.depth",
    ):
        (pair,) = compare(session, unknown, a=conditions, on=[stated]).pairs
        assert pair.point.point_id == "d16c0"
    assert "2 points match" in compare(session, unknown, on=["depth=depth"]).lines[0].reason


@pytest.mark.parametrize(
    ("stated", "code"),
    [
        ("depth", "query.bad-condition"),
        ("depht=depth", "query.unknown-column"),
        ("depth=nothing", "query.unknown-axis"),
    ],
)
def test_a_wrong_pairing_is_an_error(session: Session, stated: str, code: str) -> None:
    with pytest.raises(QueryError, check=has_code(code)):
        compare(session, line(), on=[stated])


def test_a_figure_that_only_one_side_has_is_an_error(session: Session) -> None:
    with pytest.raises(QueryError, check=has_code("query.unknown-column")):
        compare(session, line(), columns=["hit_ratio"])
    (pair,) = compare(session, line(), a=["cache_capacity=0"], columns=["throughput"]).pairs
    assert [one.column for one in pair.ratios] == ["throughput_iops"]


def test_points_that_seek_are_paired_at_a_probe(make_session: Any) -> None:
    """Each probed number of users is a load of its own."""
    users = "workload.users"
    runs = [
        {
            "point_id": "p",
            "replicate": replicate,
            "run_id": f"{count}-{replicate}",
            "config": json.dumps(canonical({"users": count, **closed(0)})),
            users: count,
            "throughput_iops": 10.0 * count,
            "read_iops": 7.0 * count,
        }
        for count in (4, 8)
        for replicate in (0, 1)
    ]
    session = make_session(runs, axes={CAPACITY: pa.int64()}, seek=users)
    (pair,) = compare(session, line(8)).pairs
    assert pair.point.name.endswith("users 8")
    assert pair.ratios[0].ratio == pytest.approx(0.8)
    (pair,) = compare(session, line(None, threads=4), on=["threads=users"]).pairs
    assert pair.ratios[0].simulated == 40.0


def closed(think_ns: int) -> dict[str, Any]:
    """Return a workload of closed users with a think time."""
    think = {"kind": "constant", "value": think_ns}
    return workload(arrival={"kind": "closed", "think_time": think})


def test_loads_are_those_of_load_tests() -> None:
    def load(given: Mapping[str, Any]) -> Any:
        return describe_load(canonical(given)["workload"])

    both = workload(8, operations={"read_fraction": 0.5, "size": {"kind": "choice", "options": SIZES}})
    both["streams"][0]["address"] = {"kind": "sequential", "jump_fraction": 0.3}
    found = load(both)
    assert (found.outstanding, found.rate, found.request_bytes) == (8.0, None, 20480.0)
    assert (found.read_fraction, found.random_fraction, found.names) == (0.5, 0.3, ("oltp",))
    per_user = workload(arrival={"kind": "fixed_outstanding", "depth": 4, "per_user": True})
    assert load({"users": 3, **per_user}).outstanding == 12.0
    parallel = closed(0)
    parallel["streams"][0]["arrival"] |= {"ios": 6, "order": "parallel", "depth": 2}
    assert load({"users": 3, **parallel}).outstanding == 6.0
    assert load(closed(10**9)).outstanding is None
    poisson = workload(arrival={"kind": "poisson", "rate": "100/s", "per_user": True})
    assert (load({"users": 3, **poisson}).outstanding, load({"users": 3, **poisson}).rate) == (None, 300.0)
    two = workload()
    two["streams"].append({**workload(4, 0.0)["streams"][0], "name": "log"})
    assert (load(two).outstanding, load(two).read_fraction, load(two).random_fraction) == (12.0, None, 1.0)


def test_loads_know_every_kind_of_size_and_of_sequence() -> None:
    """Sizes of fio's `bsrange=4k-18k` are 4, 8, 12 and 16 KiB; `rw=read:4k` and zones are sequential."""
    given = workload(
        8, operations={"read_fraction": 1.0, "size": {"kind": "uniform", "min": 4096, "max": 18432}}
    )
    zones = {"kind": "strided_zones", "zone": "64KiB", "skip": "64KiB"}
    for address, random in ((zones, 0.0), (zones | {"sampling": "independent"}, 1.0)):
        given["streams"][0]["address"] = address
        found = describe_load(canonical(given)["workload"])
        assert (found.request_bytes, found.random_fraction) == (10240.0, random)


SIZES = [{"value": "8KiB", "weight": 3}, {"value": "56KiB", "weight": 1}]


def test_a_set_is_read_from_the_store_of_the_sweep(session: Session) -> None:
    store = find_store(session.sweep.path)
    assert store is not None
    write_set(store, "lab", [line()])
    assert session.read_measured("lab").lines == (line(),)
    with pytest.raises(StoreError, check=has_code("store.unknown-measured-set")):
        session.read_measured("bal")
