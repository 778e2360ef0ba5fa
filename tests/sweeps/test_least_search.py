"""The search for the smallest value: its certificate, its errors, and the cheapest of many points."""

import math
import random
from collections.abc import Callable, Mapping

import pytest

from destage.sweeps.cheapest_search import Candidate, choose_points
from destage.sweeps.least_search import Looks, Standing, choose_value, conclude, examine, make_looks
from destage.sweeps.seek_probes import Probe, ProbeVerdict, SearchState
from destage.sweeps.seek_search import PointResult

ONE = Looks((1,))


def probe(*margins: float) -> Probe:
    """Return a run with the margins of its objectives."""
    met = all(margin <= 0 for margin in margins)
    return Probe(ProbeVerdict.PASS if met else ProbeVerdict.FAIL, margins)


class Point:
    """A point that meets its objective from a value on, without noise."""

    def __init__(self, values: list[int], least: int) -> None:
        self.values = values
        self.least = least
        self.probed: set[int] = set()

    def look(self, _replicate: int, value: int) -> Probe | None:
        """Return a run, if it was planned."""
        return probe(math.log((self.least - 0.5) / value)) if value in self.probed else None

    def examine(self) -> Standing:
        """Return what the runs so far say."""
        return examine(self.values, self.probed, ONE, self.look)


def search(point: Point, first: int) -> PointResult:
    """Search one point to its end."""
    while (position := choose_value(point.examine(), len(point.values), first)) is not None:
        assert point.values[position] not in point.probed
        point.probed.add(point.values[position])
    return conclude(point.values, point.examine(), 1)


@pytest.mark.parametrize("seed", range(300))
def test_the_answer_is_the_smallest_allowed_value_that_meets_the_objective(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - not for cryptography
    values = sorted(draw.sample(range(1, 200), draw.randint(1, 60)))
    point = Point(values, draw.randint(1, 220))
    found = search(point, draw.randrange(len(values)))
    meets = [value for value in values if value >= point.least]
    misses = [value for value in values if value < point.least]
    assert found.monotone
    assert found.failing == max(misses, default=None)
    assert len(point.probed) <= 2 * math.log2(len(values)) + 3
    if meets:
        assert (found.censored, found.passing) == (None, meets[0])
        assert found.interval.mean == meets[0]
    else:
        assert found.censored is SearchState.ABOVE
        assert (found.passing, found.interval.mean) == (None, values[-1])


def test_looks_grow_to_the_most_replicates_and_share_the_errors() -> None:
    looks = make_looks(3, 12)
    assert looks.counts == (3, 5, 8, 12)
    assert looks.confidence == pytest.approx(1 - 0.05 / 4)
    assert make_looks(5, 5) == Looks((5,))


@pytest.mark.parametrize("margin", [0.02, 0.1, 0.5])
def test_a_value_that_misses_is_taken_at_most_once_in_twenty(margin: float) -> None:
    """Replicates scatter by 10 %; the mean misses the bound by 2 to 50 %."""
    looks = make_looks(3, 12)
    wrong = 0
    for seed in range(1_000):
        draw = random.Random(seed)  # noqa: S311 - not for cryptography
        runs = [probe(draw.gauss(margin, 0.1)) for _ in range(12)]
        wrong += examine([4], [4], looks, lambda replicate, _, runs=runs: runs[replicate]).upper == 0
    assert wrong <= 50 + 3 * math.sqrt(50)


def test_a_value_far_from_the_bound_needs_the_fewest_replicates() -> None:
    looks = make_looks(3, 12)
    runs = [probe(-1.0), probe(-1.02), probe(-0.98)]

    def look(replicate: int, _value: int) -> Probe | None:
        return runs[replicate] if replicate < len(runs) else None

    assert examine([4], [4], looks, look).replicates == {4: 3}
    near = [probe(-0.01), probe(-0.05), probe(0.04)]
    runs[:] = near
    assert examine([4], [4], looks, look).missing == ((3, 4), (4, 4))


def test_a_replicate_that_cannot_carry_the_load_is_enough() -> None:
    runs = [probe(-1.0), Probe(ProbeVerdict.FAIL), probe(-1.0)]
    found = examine([4, 5], [4], Looks((3,)), lambda replicate, _: runs[replicate])
    assert found.lower == 0


def test_a_failed_run_ends_the_search() -> None:
    found = examine([4, 5], [4], ONE, lambda *_: Probe(ProbeVerdict.BROKEN))
    assert found.is_closed
    (one,) = conclude([4, 5], found, 1).replicates.values()
    assert one.state is SearchState.FAILED


def test_a_smaller_value_that_meets_the_objectives_is_not_taken() -> None:
    """4 disks meet the objectives, 6 do not: the answer is above 6 and is marked as not monotone."""
    met = {4: -1.0, 6: 0.5, 8: -0.5}
    standing = examine([4, 6, 8], met, ONE, lambda _, value: probe(met[value]))
    assert (standing.lower, standing.upper, standing.is_monotone) == (1, 2, False)


def brute_force(points: list[Point], prices: list[Callable[[int], float]]) -> list[float]:
    """Return the price of each point that meets its objective."""
    found = []
    for point, price in zip(points, prices, strict=True):
        position = next((at for at, value in enumerate(point.values) if value >= point.least), None)
        if position is not None:
            found.append(price(position))
    return sorted(found)


@pytest.mark.parametrize("seed", range(200))
def test_the_cheapest_points_are_those_of_a_full_search(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - not for cryptography
    points, prices = [], []
    for _ in range(draw.randint(1, 30)):
        values = list(range(draw.randint(1, 4), draw.randint(5, 25)))
        points.append(Point(values, draw.randint(1, 30)))
        base, each = draw.uniform(0, 500), draw.uniform(10, 300)
        prices.append(lambda at, values=values, base=base, each=each: base + each * values[at])
    most = draw.randint(1, 3)
    highest = draw.choice([math.inf, draw.uniform(100, 3_000)])
    expensive = run_cheapest(points, prices, most, highest)
    known = {
        at: prices[at](standing.upper)
        for at, standing in enumerate(point.examine() for point in points)
        if at not in expensive and standing.upper < len(points[at].values)
    }
    exact = [price for price in brute_force(points, prices) if price <= highest]
    found = sorted(price for price in known.values() if price <= highest)
    assert found[:most] == pytest.approx(exact[:most])
    for at in sorted(known, key=lambda at: known[at])[: len(found[:most])]:
        assert points[at].examine().is_closed
    limit = found[most - 1] if len(found) >= most else highest
    assert all(price >= limit for price in expensive.values())


def test_most_points_need_few_runs() -> None:
    """A hundred points of 24 values, one cheap: the others are tried once, or not at all."""
    points = [Point(list(range(1, 25)), 3 + at % 20) for at in range(100)]
    prices = [lambda position, at=at: 100.0 * at + 10.0 * position for at in range(100)]
    run_cheapest(points, prices, 1)
    assert sum(len(point.probed) for point in points) < 40


def run_cheapest(
    points: list[Point], prices: list[Callable[[int], float]], most: int, highest: float = math.inf
) -> Mapping[int, float]:
    """Search the cheapest points to the end; return the least possible price of the others."""
    expensive: dict[int, float] = {}
    while True:
        left = [at for at in range(len(points)) if at not in expensive]
        candidates = [Candidate(len(points[at].values), points[at].examine(), prices[at]) for at in left]
        choice = choose_points(candidates, most, highest)
        expensive |= {left[at]: candidates[at].least_price for at in choice.expensive}
        if not choice.values:
            return expensive
        for at, position in choice.values.items():
            assert left[at] not in expensive
            points[left[at]].probed.add(points[left[at]].values[position])
