"""The XP12000 studies: the curve computed for a simulated cache, and the response times that follow."""

import math
from itertools import pairwise
from typing import Any

import pytest

from destage import engine
from destage.spec.quantities import parse
from destage.sweeps import studies
from destage.sweeps.reading.expansion import expand

GB = 100 * 2**20
"""Simulated size of 1 GB of the first example [bytes]."""
HIT_MS, MISS_MS = 0.9, 11.0


def _shared_size(curve: list[dict[str, Any]], share: float) -> float:
    """Return the LRU cache [bytes] that holds the curve's last size with other blocks in between.

    Args:
        curve: The hit ratio of a stream by itself, linear between its points.
        share: New blocks of others for each request of the stream.
    """
    size = 0.0
    points = [(0, 0.0), *((int(parse(point["size"], "bytes")), point["hit_ratio"]) for point in curve)]
    for (start, low), (end, high) in pairwise(points):
        # Requests that touch end - start different blocks: the integral of dD / (1 - h(D)).
        requests = (end - start) * math.log((1 - low) / (1 - high)) / (high - low)
        size += end - start + share * requests
    return size


def test_the_curve_leaves_room_for_the_sequential_quarter() -> None:
    mix = studies.load("xp12000").scenario["workload"]["streams"][0]["mix"]
    random, sequential = mix
    curve = random["address"]["curve"]
    of_all = random["weight"] / (random["weight"] + sequential["weight"])
    share = sequential["weight"] / random["weight"]
    for count, (hit_ratio, size) in enumerate([(0.18, 4.8), (0.27, 9.6)], start=1):
        assert curve[count - 1]["hit_ratio"] * of_all == pytest.approx(hit_ratio)
        assert _shared_size(curve[:count], share) / GB == pytest.approx(size, abs=32 * 1024 / GB)


@pytest.mark.parametrize("name", ["xp12000", "xp12000_mix"])
def test_one_request_at_a_time_follows_the_formula(name: str) -> None:
    for point in expand(studies.load(name)).points[:2]:
        config = {**point.config, "run": {"warm_up": {"requests": 2000}, "window": {"requests": 5000}}}
        row = engine.simulate(config)
        rho = row["read_hit_ratio"]
        assert 0 < rho < 1
        expected = rho * HIT_MS + (1 - rho) * MISS_MS
        assert row["read_response_mean_us"] / 1000 == pytest.approx(expected, rel=1e-6)
