"""Laws that hold for every valid scenario, over random small ones (hypothesis)."""

import os
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings
from small_scenarios import Scenario, constant_server

from destage.engine import simulate_batch

EXAMPLES = int(os.environ.get("DESTAGE_EXAMPLES", "0"))
"""Examples of a deep search with new random scenarios; without it, a few fixed ones run."""

QUICK = settings(
    max_examples=EXAMPLES or 60,
    deadline=None,
    derandomize=not EXAMPLES,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

Draw = st.DrawFn

MILLISECOND = 1_000_000


def _optional(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), strategy)


times = st.one_of(
    st.builds(lambda value: {"kind": "constant", "value": value}, st.integers(0, 10 * MILLISECOND)),
    st.builds(lambda mean: {"kind": "exponential", "mean": mean}, st.integers(1, 10 * MILLISECOND)),
    st.just({"kind": "uniform", "low": 0, "high": 5 * MILLISECOND}),
    st.just({"kind": "lognormal", "mean": MILLISECOND, "cv": 2.0}),
)


@st.composite
def disks(draw: Draw) -> Scenario:
    """Draw a small disk of up to three zones with any queue, or a server."""
    if draw(st.booleans()):
        return {
            "kind": "server",
            "servers": draw(st.integers(1, 4)),
            "service": draw(times),
            "capacity": draw(st.integers(1 << 20, 1 << 26)),
        }
    zones = [
        {"cylinders": draw(st.integers(30, 150)), "sectors_per_track": draw(st.integers(60, 300))}
        for _ in range(draw(st.integers(1, 3)))
    ]
    return {
        "kind": "disk",
        "rpm": draw(st.sampled_from([4002.0, 10_000.0, 15_000.0])),
        "geometry": {"kind": "zones", "surfaces": draw(st.integers(1, 4)), "zones": zones},
        "seek": draw(
            st.sampled_from(
                [
                    {
                        "kind": "figures",
                        "track_to_track": 200_000,
                        "average": 2_000_000,
                        "full_stroke": 5_000_000,
                    },
                    {
                        "kind": "two_piece",
                        "boundary": 100,
                        "a": 3_240_000,
                        "b": 400_000,
                        "c": 7_000_000,
                        "e": 8_000,
                    },
                    {
                        "kind": "table",
                        "points": [{"distance": 1, "time": 500_000}, {"distance": 50, "time": 3_000_000}],
                    },
                ]
            )
        ),
        "write_settle": draw(st.sampled_from([0, 400_000])),
        "head_switch": draw(st.sampled_from([0, 300_000])),
        "command_time": draw(st.sampled_from([0, 250_000])),
        "bus_rate": draw(_optional(st.just(100_000_000))),
        "queue": {
            "policy": draw(st.sampled_from(["sptf", "sstf", "c_look", "fcfs"])),
            "depth": draw(st.sampled_from([1, 2, 16])),
            "age_limit": draw(st.sampled_from([None, 10 * MILLISECOND, 1_000 * MILLISECOND])),
        },
    }


@st.composite
def arrays(draw: Draw, line: int) -> Scenario:
    """Draw a RAID level with a number of disks that it allows."""
    raid, least, step = draw(
        st.sampled_from([("0", 1, 1), ("1", 2, 0), ("10", 2, 2), ("5", 3, 1), ("6", 4, 1)])
    )
    return {
        "raid": raid,
        "disks": least + step * draw(st.integers(0, 4)),
        "disk": draw(disks()),
        "stripe_unit": line * draw(st.sampled_from([1, 2, 4, 16])),
        "parity_update": draw(st.sampled_from(["fewest_ios", "rmw"])),
    }


@st.composite
def controllers(draw: Draw, line: int) -> Scenario:
    """Draw a controller: no cache, one line, or up to 1 MiB; any battery; with or without costs."""
    capacity = draw(st.sampled_from([0, line, 2 * line, 10 * line, 100 * line, 1 << 20]))
    low, high = sorted(draw(st.tuples(*[st.sampled_from([0.0, 0.3, 0.6, 0.8, 1.0])] * 2)))
    return {
        "cache": {
            "capacity": capacity,
            "usable": capacity,
            "write_fraction": draw(st.sampled_from([0.0, 0.5, 1.0])),
            "line": line,
            "read": {
                "mode": draw(st.sampled_from(["prefetch_only", "cached"])),
                "read_ahead": draw(
                    _optional(
                        st.builds(
                            lambda trigger, size: {"trigger": trigger, "size": size},
                            st.sampled_from([1, 2, 5]),
                            st.sampled_from([512, 4096, 131_072]),
                        )
                    )
                ),
            },
            "write": {
                "policy": draw(st.sampled_from(["write_back", "write_back", "write_through"])),
                "when_full": draw(st.sampled_from(["wait", "write_through"])),
                "high_water": high,
                "low_water": low,
                "destage_depth": draw(st.sampled_from([1, 4, 64])),
                "yield_to_reads": draw(st.booleans()),
            },
        },
        "battery": {
            "state": draw(st.sampled_from(["present", "present", "absent", "charging"])),
            "charge": draw(st.sampled_from([0.0, 0.5, 0.789999])),
            "charge_time": draw(st.sampled_from([0, 1_000 * MILLISECOND, 1_000_000 * MILLISECOND])),
            "kind": draw(st.sampled_from(["battery", "flash"])),
            "holdup": draw(st.sampled_from([1, 100 * MILLISECOND, 10_000_000 * MILLISECOND])),
            "hysteresis": draw(st.sampled_from([0.0, 0.3])),
            "learn_discharge_time": draw(st.sampled_from([1, 100 * MILLISECOND])),
            "allow_without_battery": draw(st.booleans()),
        },
        "link": {
            "bandwidth": draw(st.sampled_from([None, 10_000_000, 1_000_000_000])),
            "command_overhead": draw(st.sampled_from([0, 10_000])),
            "latency": draw(st.sampled_from([0, 30_000])),
        },
        "firmware": {"command_time": draw(st.sampled_from([0, 50_000]))},
        "outstanding_limit": draw(st.sampled_from([None, 1, 4, 512])),
    }


@st.composite
def power_faults(draw: Draw) -> list[Scenario]:
    """Draw losses of mains, a battery failure and learn cycles; often none."""
    moments = st.sampled_from([0, 1, 50, 300, 2_000]).map(lambda moment: moment * MILLISECOND)
    faults = []
    if draw(st.booleans()):
        outage = draw(st.sampled_from([1, 20 * MILLISECOND, 500 * MILLISECOND, 100_000 * MILLISECOND]))
        faults.append({"kind": "mains_lost", "at": draw(moments), "duration": outage})
    kinds = draw(st.lists(st.sampled_from(["battery_fails", "learn_cycle"]), max_size=2))
    return faults + [{"kind": kind, "at": draw(moments)} for kind in kinds]


arrivals = st.one_of(
    st.builds(
        lambda think, ios, order: {"kind": "closed", "think_time": think, "ios": ios, "order": order},
        times,
        st.sampled_from([1, 3, 20]),
        st.sampled_from(["serial", "parallel"]),
    ),
    st.builds(
        lambda depth, each: {"kind": "fixed_outstanding", "depth": depth, "per_user": each},
        st.sampled_from([1, 8, 64]),
        st.booleans(),
    ),
    st.builds(
        lambda rate, each: {"kind": "poisson", "rate": rate, "per_user": each},
        st.sampled_from([1.0, 50.0, 400.0]),
        st.booleans(),
    ),
)


@st.composite
def streams(draw: Draw, name: str) -> Scenario:
    """Draw streams of requests of one sector to 100 KB, aligned or not, at any address."""
    size = 512 * draw(st.sampled_from([1, 3, 8, 16, 17, 64, 200]))
    sizes = st.sampled_from(
        [
            {"kind": "constant", "value": size},
            {"kind": "choice", "options": [{"value": size, "weight": 1.0}, {"value": 512, "weight": 2.0}]},
        ]
    )
    address: Scenario = draw(
        st.sampled_from(
            [
                {"kind": "uniform"},
                {"kind": "zipf", "exponent": 0.0, "block": max(size, 8192)},
                {"kind": "zipf", "exponent": 1.0, "block": max(size, 8192)},
                {"kind": "sequential", "run": None},
                {"kind": "sequential", "run": max(size, 99_840)},
            ]
        )
    )
    return {
        "name": name,
        "arrival": draw(arrivals),
        "processor_time": draw(_optional(times)),
        "operations": {
            "read_fraction": draw(st.sampled_from([0.0, 0.3, 0.67, 1.0])),
            "fua_fraction": draw(st.sampled_from([0.0, 0.5])),
            "flush_every": draw(_optional(st.sampled_from([1, 7]))),
            "size": draw(sizes),
            "alignment": draw(st.sampled_from([None, 512, 4096])),
        },
        "address": {
            **address,
            "footprint": draw(st.sampled_from([None, max(size, 65_536), 1 << 19])),
            "placement": draw(
                st.sampled_from(
                    [
                        {"kind": "contiguous", "offset": 0},
                        {"kind": "contiguous", "offset": 512},
                        {"kind": "scattered", "extent": 1 << 17},
                        {"kind": "spread", "extent": 1 << 17},
                    ]
                )
            ),
        },
    }


@st.composite
def scenarios(draw: Draw) -> Scenario:
    """Draw any valid scenario that runs in milliseconds."""
    line = draw(st.sampled_from([512, 1024, 4096, 8192, 32_768]))
    return {
        "workload": {
            "users": draw(st.integers(1, 5)),
            "streams": [draw(streams(f"s{index}")) for index in range(draw(st.integers(1, 3)))],
        },
        "host": {
            "cores": draw(st.sampled_from([1, 4])),
            "scheduling": draw(st.sampled_from(["shared", "fcfs"])),
        },
        "controller": draw(controllers(line)),
        "array": draw(arrays(line)),
        "faults": draw(power_faults()),
        "run": {
            "seed": draw(st.integers(0, 1_000)),
            "warm_up": draw(
                st.sampled_from(["auto", "none", {"requests": 300}, {"duration": 1_000 * MILLISECOND}])
            ),
            "initial_dirty": draw(st.sampled_from([None, 0.0, 1.0])),
            "window": draw(st.sampled_from(["auto", {"requests": 1_500}, {"duration": 1_000 * MILLISECOND}])),
            "max_requests": 10_000,
            "drain": draw(st.booleans()),
        },
    }


def _run(*given_scenarios: Scenario) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = simulate_batch(given_scenarios).to_pylist()
    return rows


def _write_capacity(scenario: Scenario) -> int:
    cache = scenario["controller"]["cache"]
    share = int(cache["usable"] * cache["write_fraction"])
    return int(share // cache["line"] * cache["line"])


@QUICK
@given(scenarios())
def test_every_valid_scenario_keeps_the_laws(scenario: Scenario) -> None:
    (row,) = _run(scenario)
    if row["status"] == "failed":
        # A configuration may be rejected if nothing in it takes time, or if the device is too small for
        # the requests; no other failure is allowed.
        assert row["error_kind"] == "configuration", row["error"]
        return
    assert row["status"] in {"ok", "not_stationary", "overloaded"}

    start, end = row["dirty_start_sectors"], row["dirty_end_sectors"]
    lost = row["dirty_lost_bytes"] // 512
    gone = row["destaged_sectors"] + row["absorbed_sectors"] + lost + end
    assert start + row["accepted_sectors"] == gone, "sectors are conserved"

    assert row["dirty_high_bytes"] <= _write_capacity(scenario), "dirty <= capacity"
    assert start * 512 <= row["dirty_high_bytes"] >= end * 512

    assert row["requests"] == row["reads"] + row["writes"]
    assert sum(row["array_requests"]) == row["requests"]
    for name, value in row.items():
        if name.endswith(("_fraction", "_ratio")) and isinstance(value, float):
            assert 0 <= value <= 1 + 1e-9, name
        if isinstance(value, int | float):
            assert value >= 0, name
    for family in ("response", "read_response", "write_response", "interaction_response", "commit"):
        order = [row[f"{family}_{point}_us"] for point in ("p50", "p90", "p95", "p99", "p999", "max")]
        if order[0] is not None:
            assert order == sorted(order), family
            assert row[f"{family}_mean_us"] <= row[f"{family}_max_us"]
    assert row["read_misses_random"] + row["read_misses_sequential"] + row["read_hits_late"] <= row["reads"]
    # A mean of equal shares may differ in its last digit.
    least, mean, most = (row[f"disk_busy_{name}_fraction"] for name in ("min", "mean", "max"))
    assert least <= mean * (1 + 1e-12) <= most * (1 + 2e-12)


@QUICK
@given(scenarios())
def test_a_run_can_be_repeated(scenario: Scenario) -> None:
    first, second = _run(scenario, scenario)
    assert first == second


@st.composite
def closed_scenarios(draw: Draw) -> tuple[Scenario, float]:
    """Draw users with a constant think time before one request, on any array; return that time [s] too."""
    scenario = {**draw(scenarios()), "faults": []}
    think = draw(st.sampled_from([1, 10, 200])) * MILLISECOND
    stream = scenario["workload"]["streams"][0]
    stream["arrival"] = {"kind": "closed", "think_time": {"kind": "constant", "value": think}}
    stream["operations"]["flush_every"] = None
    stream["processor_time"] = None
    scenario["workload"]["streams"] = [stream]
    scenario["run"].update(warm_up={"requests": 200}, window={"requests": 4_000}, drain=False)
    return scenario, think * 1e-9


@QUICK
@given(closed_scenarios())
def test_the_response_time_law_holds_for_closed_users(closed: tuple[Scenario, float]) -> None:
    """N = X (R + Z), except for the requests in flight when the window begins and ends."""
    scenario, think = closed
    (row,) = _run(scenario)
    if row["status"] == "failed":
        assert row["error_kind"] == "configuration", row["error"]
        return
    users = scenario["workload"]["users"]
    found = row["throughput_iops"] * (row["response_mean_us"] * 1e-6 + think)
    edge = (row["response_max_us"] * 1e-6 + think) / row["window_s"]
    assert found == pytest.approx(users, abs=users * (2 * edge + 1e-6))


@QUICK
@given(
    st.sampled_from(["0", "1", "10", "5", "6"]),
    st.integers(1, 12),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.integers(1, 20),
)
def test_more_users_never_lower_the_utilisation(
    raid: str, users: int, read_fraction: float, service_ms: int
) -> None:
    """First come, first served, no cache, constant service."""
    disks = {"0": 3, "1": 2, "10": 4, "5": 5, "6": 6}[raid]

    def scenario(count: int) -> Scenario:
        arrival = {"kind": "closed", "think_time": {"kind": "exponential", "mean": "100ms"}}
        operations = {"read_fraction": read_fraction, "size": {"kind": "constant", "value": "4KiB"}}
        return {
            "workload": {
                "users": count,
                "streams": [
                    {
                        "name": "u",
                        "arrival": arrival,
                        "operations": operations,
                        "address": {"kind": "uniform"},
                    }
                ],
            },
            "array": {"raid": raid, "disks": disks, "disk": constant_server(f"{service_ms}ms")},
            "run": {"warm_up": {"duration": "5s"}, "window": {"duration": "60s"}},
        }

    fewer, more = _run(scenario(users), scenario(users + 1))
    # A window of a minute is random: allow a difference of 2 %.
    assert more["disk_busy_mean_fraction"] >= fewer["disk_busy_mean_fraction"] * 0.98
    assert more["throughput_iops"] >= fewer["throughput_iops"] * 0.98
