"""Descriptions of workloads, worked by hand: each kind of arrival, request and address."""

from typing import Any

import pytest

from destage.engine import catalog
from destage.engine import workload_description as description


@pytest.mark.parametrize(
    ("arrival", "expected"),
    [
        ({"kind": "fixed_outstanding", "depth": 8}, "8 always outstanding"),
        ({"kind": "fixed_outstanding", "depth": 8, "per_user": True}, "5 users, each 8 always outstanding"),
        ({"kind": "poisson", "rate": "9/s"}, "9/s on average, at random (Poisson)"),
        ({"kind": "constant", "rate": "9/s"}, "9/s, at equal gaps"),
        (
            {"kind": "mmpp", "rate": "9/s", "burst_factor": 4, "burst_fraction": 0.1, "burst_time": "1s"},
            "9/s on average, 4 times as many 10% of the time",
        ),
        (
            {"kind": "b_model", "rate": "9/s", "bias": 0.7, "window": "1h"},
            "9/s on average, bursty at every scale (bias 0.7)",
        ),
        ({"kind": "trace", "file": "a.parquet", "mode": "open"}, "replay of a.parquet, open"),
        (
            {"kind": "closed", "think_time": {"kind": "exponential", "mean": "5s"}, "ios": 15},
            "5 users, each thinks 5s (exponential), then 15 I/Os",
        ),
        (
            {
                "kind": "closed",
                "think_time": {"kind": "constant", "value": "1s"},
                "ios": 8,
                "order": "parallel",
                "depth": 2,
                "times": 1,
            },
            "5 users, each thinks 1s, then 8 I/Os, 2 at a time, once",
        ),
    ],
)
def test_arrival(arrival: dict[str, Any], expected: str) -> None:
    assert description.describe_arrival({"arrival": arrival}, 5) == expected


def test_processor_time_of_interactions() -> None:
    demand = {"kind": "exponential", "mean": "60ms"}
    think = {"kind": "constant", "value": "1s"}
    user = {"arrival": {"kind": "closed", "think_time": think}, "processor_time": demand}
    assert description.describe_arrival(user, 1) == (
        "one user thinks 1s, computes 60ms (exponential), then one I/O"
    )
    load = {"arrival": {"kind": "poisson", "rate": "9/s"}, "processor_time": demand}
    assert description.describe_arrival(load, 1) == (
        "9/s on average, at random (Poisson), each after computing 60ms (exponential)"
    )


def test_an_interaction_of_steps() -> None:
    client = catalog.entry("workloads", "sql_bench_create").config["streams"][0]
    assert description.describe_arrival(client, 1) == "one user thinks 0.6ms, then 2 steps"
    assert description.describe_request_parts(client)[1] == (
        "2 x",
        "writes, 4KiB, forced to the media (FUA)",
        "sequential over 128MiB, in one piece from 1GB on",
    )


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ({"kind": "uniform"}, "uniformly random over the whole array, in one piece"),
        (
            {"kind": "zipf", "exponent": 0.9, "footprint": "1GB", "placement": {"kind": "spread"}},
            "Zipf 0.9 over 1GB, evenly spread in extents of 1MiB",
        ),
        (
            {"kind": "sequential", "jump_fraction": 0.3, "footprint": "1GB", "per_user": True},
            "sequential, jumping 0.3 of the time over 1GB of each user's own, in one piece",
        ),
        (
            {"kind": "sequential", "common": True, "footprint": "1GB"},
            "one sequence of all users over 1GB, in one piece",
        ),
        (
            {"kind": "zoned", "zones": [{"accesses": 80, "size": 20}, {"accesses": 20, "size": 80}]},
            "80/20 20/80 (accesses/size) over the whole array, in one piece",
        ),
        (
            {"kind": "hot_cold", "hot_fraction": 0.1, "access_fraction": 0.9},
            "0.9 of the accesses to the first 0.1 over the whole array, in one piece",
        ),
        (
            {"kind": "stack_distance", "curve": [], "footprint": "1GB"},
            "by a given hit ratio curve over 1GB, in one piece",
        ),
        ({"kind": "strided", "stride": "64KiB"}, "every 64KiB over the whole array, in one piece"),
        (
            {"kind": "strided_zones", "zone": "1MiB", "sampling": "independent"},
            "zone by zone of 1MiB, 1MiB in each, uniformly random over the whole array, in one piece",
        ),
        (
            {"kind": "uniform", "sampling": "cyclic"},
            "uniformly random, each place once per pass in the same order over the whole array, in one piece",
        ),
        ({"kind": "normal"}, "normally distributed over the blocks over the whole array, in one piece"),
    ],
)
def test_address(address: dict[str, Any], expected: str) -> None:
    assert description.describe_address(address) == expected


def test_times_of_a_stream() -> None:
    stream = {
        "start": {"after": "1s", "spread": "2s"},
        "lasts": "1h",
        "active": [{"phase": "a", "intensity": 2, "ramp_to": 1}, {"phase": "b"}],
    }
    assert (
        description.describe_times(stream)
        == "starts after 1s, users over 2s, lasts 1h, in 'a' at 2 to 1, in 'b'"
    )
    assert description.describe_times({}) == ""


@pytest.mark.parametrize("entry", catalog.entries("workloads"), ids=lambda entry: entry.name)
def test_every_preset_has_a_description(entry: catalog.Entry) -> None:
    for stream in entry.config["streams"]:
        assert description.describe_arrival(stream, 3)
        assert all(what and where for _, what, where in description.describe_request_parts(stream))
