"""The named questions, with results worked by hand.

All sweeps here have two replicates; with one degree of freedom, the half-width of a 95 % interval is 12.706
times half of the difference between the two values.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest

from destage.errors import QueryError
from destage.queries import Session

CAPACITY = "controller.cache.capacity"
FRACTION = "controller.cache.write_fraction"
BATTERY = "controller.battery.state"
RAID = "array.raid"
DISKS = "array.disks"
USERS = "workload.users"
MIB = 2**20
T = 12.7062047
TYPES = {
    CAPACITY: pa.int64(),
    FRACTION: pa.float64(),
    BATTERY: pa.string(),
    RAID: pa.string(),
    DISKS: pa.int64(),
    USERS: pa.int64(),
    "controller.use": pa.string(),
}
Point = tuple[Mapping[str, Any], Sequence[float]]
"""The axes of a point, and the value of its result in each replicate."""


def measure(make_session: Any, *points: Point, column: str = "response_p95_us", **more: Any) -> Session:
    """Return a sweep at a fixed load, with a result of each point in each replicate."""
    runs = [
        {
            "point_id": f"p{place}",
            "replicate": replicate,
            "run_id": more.get("run_ids", {}).get(place, f"p{place}") + f"-{replicate}",
            **axes,
            column: value,
            **{name: values[place] for name, values in more.get("columns", {}).items()},
        }
        for place, (axes, results) in enumerate(points)
        for replicate, value in enumerate(results)
    ]
    session: Session = make_session(runs, axes={name: TYPES[name] for name in points[0][0]})
    return session


def seek_users(make_session: Any, *points: Point, bounds: Mapping[int, str] | None = None) -> Session:
    """Return a sweep that seeks users, with the users supported by each point in each replicate."""
    runs, certificates, answers = [], [], []
    for place, (axes, found) in enumerate(points):
        mean = sum(found) / len(found)
        half = T * abs(found[0] - found[1]) / 2
        censored = (bounds or {}).get(place)
        answers.append(
            {
                "point_id": f"p{place}",
                **axes,
                "metric": "users_supported",
                "answer_mean": mean,
                "answer_low": None if censored else mean - half,
                "answer_high": None if censored else mean + half,
                "n": len(found),
                "answers": list(found),
                "censored": censored,
                "limiting": "disk",
            }
        )
        for replicate, value in enumerate(found):
            run = f"p{place}-{replicate}"
            runs.append(
                {"point_id": f"p{place}", "replicate": replicate, "run_id": run, USERS: int(value), **axes}
            )
            certificates.append(
                {
                    "point_id": f"p{place}",
                    "replicate": replicate,
                    "n": value,
                    "run_id_pass": run,
                    "state": "certified",
                }
            )
    session: Session = make_session(
        runs,
        axes={name: TYPES[name] for name in points[0][0]},
        seek=USERS,
        answers=answers,
        certificates=certificates,
    )
    return session


def rows(session: Session, name: str, **parameters: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = session.name_columns(session.query(name, parameters)).to_pylist()
    return found


def test_the_next_megabyte_of_a_seek(make_session: Any) -> None:
    """32 MiB more carry 8 and 12 users more: 10 in the mean, 0.3125 per MiB."""
    session = seek_users(make_session, ({CAPACITY: 32 * MIB}, [30, 34]), ({CAPACITY: 64 * MIB}, [38, 46]))
    (row,) = rows(session, "next_megabyte")
    assert (row["cache_capacity"], row["from_capacity_bytes"], row["pairs"]) == (64 * MIB, 32 * MIB, 2)
    assert row["users_supported"] == 42
    assert row["gain_users_supported"] == 10
    assert row["gain_users_supported_high"] == pytest.approx(10 + T * 2)
    assert row["gain_per_mib_users_supported"] == 10 / 32
    assert row["gain_per_mib_users_supported_low"] == pytest.approx((10 - T * 2) / 32)


def test_a_shorter_response_is_a_gain(make_session: Any) -> None:
    """From no cache, 10 ms and 12 ms become 4 ms and 8 ms: 5 ms gained."""
    session = measure(make_session, ({CAPACITY: 0}, [10e3, 12e3]), ({CAPACITY: 8 * MIB}, [4e3, 8e3]))
    (row,) = rows(session, "next_megabyte")
    assert (row["gain_response_p95_us"], row["gain_per_mib_response_p95_us"]) == (5e3, 5e3 / 8)


def test_every_battery_starts_without_a_cache(make_session: Any) -> None:
    """Without a cache, the plan has only the battery state `absent`, of two points with the same runs."""
    session = measure(
        make_session,
        ({CAPACITY: 0, BATTERY: "absent"}, [20, 20]),
        ({CAPACITY: 0, BATTERY: "absent"}, [20, 20]),
        ({CAPACITY: MIB, BATTERY: "absent"}, [19, 19]),
        ({CAPACITY: MIB, BATTERY: "present"}, [5, 5]),
        run_ids={1: "p0"},
    )
    found = [(row["battery_state"], row["gain_response_p95_us"]) for row in rows(session, "next_megabyte")]
    assert found == [("absent", 1), ("present", 15)]


@pytest.mark.parametrize(("third", "is_clear"), [([30, 36], False), ([40, 41], True)])
def test_the_best_split(make_session: Any, third: list[float], is_clear: bool) -> None:
    """Half of the cache for writes carries most; its lead is within its interval or not."""
    session = seek_users(
        make_session,
        ({FRACTION: 0.0}, [10, 12]),
        ({FRACTION: 0.5}, [50, 52]),
        ({FRACTION: 1.0}, third),
    )
    (row,) = rows(session, "split_optimum")
    assert (row["best_write_fraction"], row["second_write_fraction"]) == (0.5, 1.0)
    ahead = 51 - sum(third) / 2
    assert row["lead_users_supported"] == ahead
    half = T * abs((50 - third[0]) - (52 - third[1])) / 2
    assert row["lead_users_supported_low"] == pytest.approx(ahead - half)
    assert row["is_clear"] is (ahead > half)
    assert row["is_clear"] is is_clear


def test_the_raid_penalty(make_session: Any) -> None:
    """RAID 5 takes 2 and 3 times as long as RAID 1+0 with two disk I/Os per request instead of one."""
    session = measure(
        make_session,
        ({RAID: "10"}, [10, 10]),
        ({RAID: "5"}, [20, 30]),
        columns={"requests": [100, 100], "disk_reads": [50, 100], "disk_writes": [50, 100]},
    )
    ten, five = rows(session, "raid_penalty")
    assert (ten["penalty_ratio"], five["penalty_ratio"], five["reference_raid"]) == (1, 2.5, "10")
    assert five["penalty_ratio_high"] == pytest.approx(2.5 + T * 0.5)
    assert (ten["disk_ios_per_request"], five["disk_ios_per_request"]) == (1, 2)
    (again, _) = rows(session, "raid_penalty", reference="5")
    assert again["penalty_ratio"] == pytest.approx((1 / 2 + 1 / 3) / 2)
    # The study has no RAID 6; the best level is the reference.
    assert [row["reference_raid"] for row in rows(session, "raid_penalty", reference="6")] == ["10", "10"]


def test_the_raid_penalty_of_users(make_session: Any) -> None:
    """Half and a quarter of the users are a penalty of 2 and 4."""
    session = seek_users(make_session, ({RAID: "10"}, [40, 40]), ({RAID: "5"}, [20, 10]))
    assert [row["penalty_ratio"] for row in rows(session, "raid_penalty")] == [1, 3]


def test_the_write_through_penalty(make_session: Any) -> None:
    """Without the battery, 4 ms and 5 ms become 40 ms and 100 ms: 10 and 20 times as long."""
    session = measure(
        make_session,
        ({CAPACITY: MIB, BATTERY: "absent"}, [40e3, 100e3]),
        ({CAPACITY: MIB, BATTERY: "present"}, [4e3, 5e3]),
    )
    (row,) = rows(session, "write_through_penalty")
    assert "battery_state" not in row
    assert (row["response_p95_us"], row["without_battery_response_p95_us"]) == (4.5e3, 70e3)
    assert row["penalty_ratio"] == 15
    assert row["penalty_ratio_low"] == pytest.approx(15 - T * 5)


def test_a_dead_battery_has_no_write_fraction(make_session: Any) -> None:
    """The plan has the write fraction 0 for both points without a battery, which share their runs."""
    session = measure(
        make_session,
        ({CAPACITY: MIB, FRACTION: 0.5, BATTERY: "present"}, [4, 4]),
        ({CAPACITY: MIB, FRACTION: 1.0, BATTERY: "present"}, [2, 2]),
        ({CAPACITY: MIB, FRACTION: 0.0, BATTERY: "absent"}, [8, 8]),
        ({CAPACITY: MIB, FRACTION: 0.0, BATTERY: "absent"}, [8, 8]),
        ({CAPACITY: 2 * MIB, FRACTION: 0.0, BATTERY: "absent"}, [6, 6]),
        ({CAPACITY: 2 * MIB, FRACTION: 0.0, BATTERY: "absent"}, [6, 6]),
        run_ids={3: "p2", 5: "p4"},
    )
    found = [(row["write_fraction"], row["penalty_ratio"]) for row in rows(session, "write_through_penalty")]
    assert found == [(0.5, 2), (1.0, 4)]
    assert [row["gain_response_p95_us"] for row in rows(session, "next_megabyte")] == [2]
    splits = [(row["cache_capacity"], row["best_write_fraction"]) for row in rows(session, "split_optimum")]
    assert splits == [(MIB, 1.0), (MIB, 0.0), (2 * MIB, 0.0)]


def test_exposure_against_speed(make_session: Any) -> None:
    """The third point is slower than the second with more at risk; the last one is under another load."""
    session = measure(
        make_session,
        ({CAPACITY: 0, USERS: 1}, [20, 20]),
        ({CAPACITY: 1, USERS: 1}, [10, 10]),
        ({CAPACITY: 2, USERS: 1}, [11, 11]),
        ({CAPACITY: 3, USERS: 1}, [5, 5]),
        ({CAPACITY: 3, USERS: 9}, [99, 99]),
        columns={"dirty_high_bytes": [0, 100, 200, 300, 400], "unprotected_s": [0.0] * 5},
    )
    found = [(row["dirty_high_bytes"], row["is_on_front"]) for row in rows(session, "exposure")]
    assert found == [(0, True), (100, True), (200, False), (300, True), (400, True)]


def test_the_cheapest_for_a_load(make_session: Any) -> None:
    """4 and 6 disks at 10 each, 1 GiB at 30: what carries 35 with its whole interval costs 60 or 90.

    The cheapest point carries 36 in the mean, but its interval begins below 35. A bound above 35 is enough.
    """
    session = seek_users(
        make_session,
        ({DISKS: 4, CAPACITY: 0}, [35.5, 36.5]),
        ({DISKS: 6, CAPACITY: 0}, [40, 40.5]),
        ({DISKS: 6, CAPACITY: 2**30}, [100, 100]),
        ({DISKS: 6, CAPACITY: 2**31}, [10, 10]),
        bounds={2: "at_least", 3: "below"},
    )
    found = rows(session, "cheapest", load="35", disk_price="10", cache_price="30")
    assert [row["price"] for row in found] == [60, 90]
    assert found[0]["margin_fraction"] == pytest.approx((40.25 - T * 0.25) / 35 - 1)
    assert found[1]["margin_fraction"] == pytest.approx(100 / 35 - 1)


def test_prices_need_what_they_are_for(make_session: Any) -> None:
    """The scenario has four disks; the controller decides the cache, if it is an axis."""
    session = seek_users(make_session, ({CAPACITY: 0}, [35, 35]))
    assert [row["price"] for row in rows(session, "cheapest", disk_price="10")] == [40]
    session = seek_users(make_session, ({"controller.use": "p400_512"}, [35, 35]))
    with pytest.raises(QueryError) as caught:
        session.query("cheapest")
    assert (caught.value.code, caught.value.place) == ("query.missing-setting", "cheapest")
    assert caught.value.data == {"setting": CAPACITY}


def test_the_pareto_front(make_session: Any) -> None:
    """The second point of 64 MiB is slower than the first; 128 MiB gain nothing."""
    session = measure(
        make_session,
        ({CAPACITY: 0, RAID: "5"}, [30, 30]),
        ({CAPACITY: 64, RAID: "10"}, [10, 12]),
        ({CAPACITY: 64, RAID: "5"}, [20, 20]),
        ({CAPACITY: 128, RAID: "5"}, [11, 11]),
        ({CAPACITY: 256, RAID: "5"}, [5, 5]),
    )
    found = [(row["cost"], row["gain_response_p95_us"]) for row in rows(session, "pareto")]
    assert found == [(0, None), (64, 19), (256, 6)]
    assert [row["cost"] for row in rows(session, "pareto", cost="response_p95_us")] == [5]


def test_the_knee(make_session: Any) -> None:
    """Of a gain of 100, 80 are reached with a quarter of the cache; one replicate bends at half of it."""
    curve = {0: [100, 100], 1: [20, 60], 2: [15, 15], 4: [0, 0]}
    session = measure(make_session, *(({CAPACITY: x}, found) for x, found in curve.items()))
    (row,) = rows(session, "knee")
    # Means 100, 40, 15, 0: shares 0.6, 0.85 above 0.25, 0.5.
    assert (row["knee"], row["knee_least"], row["knee_most"], row["values"]) == (1, 1, 2, 4)
    assert (row["gained_fraction"], row["response_p95_us"]) == (pytest.approx(0.6), 40)


def test_a_curve_that_gains_nothing_has_no_knee(make_session: Any) -> None:
    session = measure(make_session, *(({CAPACITY: x}, [7, 7]) for x in (1, 2, 3)))
    assert rows(session, "knee") == []


def test_marginals(make_session: Any) -> None:
    """The mean of each replicate is 25 and 35; RAID 5 is 10 above it, whatever the disks."""
    session = measure(
        make_session,
        ({RAID: "10", DISKS: 4}, [20, 30]),
        ({RAID: "10", DISKS: 6}, [10, 20]),
        ({RAID: "5", DISKS: 4}, [40, 50]),
        ({RAID: "5", DISKS: 6}, [30, 40]),
    )
    found = {(row["axis"], row["value"]): row for row in rows(session, "marginals")}
    assert {key: row["effect_response_p95_us"] for key, row in found.items()} == {
        ("raid", "10"): -10,
        ("raid", "5"): 10,
        ("disks", "4"): 5,
        ("disks", "6"): -5,
    }
    five = found["raid", "5"]
    assert (five["response_p95_us"], five["points"], five["n"]) == (40, 2, 2)
    assert five["response_p95_us_high"] == pytest.approx(40 + T * 5)
    # The replicates differ by 10 everywhere, which cancels in an effect.
    assert five["effect_response_p95_us_high"] == pytest.approx(10)


def test_a_point_that_lacks_a_replicate_is_in_no_marginal(make_session: Any) -> None:
    session = measure(
        make_session,
        ({RAID: "10", DISKS: 4}, [20, 30]),
        ({RAID: "5", DISKS: 4}, [40, 50]),
        ({RAID: "5", DISKS: 6}, [99]),
    )
    found = [(row["axis"], row["response_p95_us"], row["points"]) for row in rows(session, "marginals")]
    assert found == [("raid", 25, 1), ("raid", 45, 1)]


def test_a_query_without_its_axis_is_an_error(make_session: Any) -> None:
    session = measure(make_session, ({RAID: "10"}, [20, 20]))
    with pytest.raises(QueryError) as caught:
        session.query("split_optimum")
    assert (caught.value.code, caught.value.place) == ("query.missing-axis", "split_optimum")
    assert caught.value.data == {"axis": FRACTION}


@pytest.mark.parametrize(("name", "value"), [("x", "hit_ratio"), ("of", "hit_rato"), ("of", "1); DROP")])
def test_a_column_parameter_is_an_axis_or_a_result(make_session: Any, name: str, value: str) -> None:
    session = measure(make_session, ({CAPACITY: 0}, [20, 20]))
    with pytest.raises(QueryError) as caught:
        session.query("knee", {name: value})
    assert (caught.value.code, caught.value.place) == ("query.unknown-column", f"knee.{name}")


def test_a_column_parameter_takes_each_name_of_an_axis(make_session: Any) -> None:
    session = measure(make_session, *(({CAPACITY: x}, [100 - x**2 % 7, 0]) for x in (1, 2, 3)))
    assert rows(session, "knee", x="cache_capacity") == rows(session, "knee", x=CAPACITY)


@pytest.mark.parametrize(("name", "params"), [("exposure", {"risk": "response_p95_us"}), ("pareto", {})])
def test_an_answer_has_one_interval(seek_session: Session, name: str, params: dict[str, str]) -> None:
    """That of the fitted line, which is wider than the scatter of the replicates alone."""
    ends = ["users_supported", "users_supported_low", "users_supported_high"]
    listed = seek_session.sql("FROM answers").select(ends).to_pylist()
    answers = {row["users_supported"]: row for row in listed}
    rows = seek_session.query(name, params).select(ends).to_pylist()
    assert rows
    for row in rows:
        assert row == pytest.approx(answers[row["users_supported"]])
