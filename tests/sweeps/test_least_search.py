"""The search for the smallest value: its certificate, its errors, and the cheapest of many points."""

import math
import random
from collections.abc import Callable, Iterator, Mapping

import pytest

from destage.spec.objective import Objective
from destage.sweeps.seek.largest_search import PointResult
from destage.sweeps.seek.probes import Probe, ProbeVerdict, SearchState, ValueVerdict
from destage.sweeps.seek.smallest_search import (
    Candidate,
    Evidence,
    LookSchedule,
    choose_points,
    choose_value,
    conclude,
    examine,
    schedule_looks,
)

MEETS, MISSES = ValueVerdict.MEETS, ValueVerdict.MISSES
ONCE = LookSchedule((2,))
"""Enough replicates where they do not scatter."""
SCOUTED = LookSchedule((2,), has_scout=True)
"""The same where one replicate decides what is far from enough."""


def probe(*margins: float) -> Probe:
    """Return a run with the margins of its objectives."""
    met = all(margin <= 0 for margin in margins)
    return Probe(ProbeVerdict.PASS if met else ProbeVerdict.FAIL, margins)


class Point:
    """A point that meets its objective from a value on, without noise."""

    def __init__(self, values: list[int], least: int, looks: LookSchedule = ONCE) -> None:
        self.values = values
        self.least = least
        self.looks = looks
        self.probed: set[int] = set()

    def look(self, _replicate: int, value: int) -> Probe | None:
        """Return a run, if it was planned."""
        return probe(math.log((self.least - 0.5) / value)) if value in self.probed else None

    def examine(self) -> Evidence:
        """Return what the runs so far say."""
        return examine(self.values, self.probed, self.looks, self.look)


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
    looks = schedule_looks(3, 12)
    assert looks.counts == (3, 5, 8, 12)
    assert looks.confidence == pytest.approx(1 - 0.05 / 4)
    assert schedule_looks(5, 5) == LookSchedule((5,))


@pytest.mark.parametrize("margin", [0.02, 0.1, 0.5])
def test_a_value_that_misses_is_taken_at_most_once_in_twenty(margin: float) -> None:
    """Replicates scatter by 10 %; the mean misses the bound by 2 to 50 %."""
    looks = schedule_looks(3, 12)
    wrong = sum(
        judge(looks, [probe(draw.gauss(margin, 0.1)) for _ in range(12)]) is MEETS for draw in draws()
    )
    assert wrong <= 50


@pytest.mark.parametrize("margin", [-0.5, -0.1, -0.02, 0.02, 0.1, 0.5])
@pytest.mark.parametrize("most", [2, 8, 12])
@pytest.mark.parametrize("least", [1, 2, 3])
def test_a_verdict_is_wrong_at_most_once_in_twenty(margin: float, least: int, most: int) -> None:
    """In both directions, with any number of replicates; a value that is not decided is not called a miss."""
    looks = schedule_looks(min(least, most), most)
    found = [judge(looks, [probe(draw.gauss(margin, 0.1)) for _ in range(12)]) for draw in draws()]
    assert found.count(MISSES if margin < 0 else MEETS) <= 50
    assert set(found) <= {MEETS, MISSES, ValueVerdict.UNDECIDED}


def test_one_replicate_decides_nothing() -> None:
    """{min: 1, max: 8}: after the first one come another one, 4, 7 and 8, which share 5 % of errors."""
    looks = schedule_looks(1, 8)
    assert looks.counts == (1, 2, 4, 7, 8)
    assert looks.confidence == pytest.approx(1 - 0.05 / 4)
    runs = {0: probe(-1.0)}
    assert examine([4], [4], looks, lambda replicate, _: runs.get(replicate)).missing == ((1, 4),)
    assert judge(LookSchedule((1,)), [probe(-1.0)]) is ValueVerdict.UNDECIDED
    assert judge(LookSchedule((1,)), [Probe(ProbeVerdict.FAIL)]) is MISSES


def test_values_of_zero_count_beside_others() -> None:
    """Four of five replicates have 0 stalls and one has 5 % more than allowed: not a miss.

    As fractions of the bound, the mean is -0.79 and half of its interval 0.83 with three looks.
    """
    runs = dict(enumerate([*[probe(-math.inf)] * 4, probe(0.05)]))
    found = examine([4], [4], LookSchedule((5, 8, 12)), lambda replicate, _: runs.get(replicate))
    assert [replicate for replicate, _ in found.missing] == [5, 6, 7]
    # The mean is -0.9, the deviation 0.35, and so half of the interval 0.22.
    assert judge(LookSchedule((12,)), [*[probe(-math.inf)] * 11, probe(0.2)]) is MEETS
    assert judge(LookSchedule((2,)), [probe(-math.inf)] * 2) is MEETS


def test_a_strict_bound_is_not_met_by_its_own_value() -> None:
    below, at_most = (Objective("", "write_stalls", comparison, 5.0) for comparison in ("<", "<="))
    assert below.margin(5.0) > 0 == at_most.margin(5.0)
    above = Objective("", "write_stalls", ">", 0.0)
    for objective in (below, at_most, above):
        for value in (0.0, 5.0, math.nextafter(5.0, 6.0)):
            assert (objective.margin(value) <= 0) is objective.is_met(value)
            same = [probe(objective.margin(value))] * 3
            assert judge(LookSchedule((3,)), same) is (MEETS if objective.is_met(value) else MISSES)


def test_a_value_between_bounds_is_undecided_and_not_above() -> None:
    """The largest value is neither shown to meet nor to miss: the point has no answer and no bound."""
    margins = [-0.03, 0.02, -0.01, 0.03, -0.02]
    found = examine([4], [4], LookSchedule((5,)), lambda replicate, _: probe(margins[replicate]))
    result = conclude([4], found, 5)
    assert (result.failing, result.failing_verdict) == (4, ValueVerdict.UNDECIDED)
    assert (result.censored, result.interval.mean) == (None, None)
    assert {one.state for one in result.replicates.values()} == {SearchState.UNDECIDED}


def test_an_unsteady_run_is_no_miss() -> None:
    unsteady = Probe(ProbeVerdict.UNDECIDED)
    assert judge(LookSchedule((3,)), [probe(-1.0), unsteady, probe(-1.0)]) is ValueVerdict.UNSTEADY
    assert judge(LookSchedule((2,)), [Probe(ProbeVerdict.FAIL), unsteady]) is MISSES
    found = examine([4], [4], LookSchedule((1,)), lambda *_: unsteady)
    assert conclude([4], found, 1).censored is None
    runs = {4: unsteady, 6: probe(-1.0)}
    result = conclude([4, 6], examine([4, 6], runs, ONCE, lambda _, value: runs[value]), 2)
    assert (result.passing, result.failing, result.failing_verdict) == (6, 4, ValueVerdict.UNSTEADY)


def test_a_column_that_no_run_measures_ends_the_search() -> None:
    """No larger value would measure it: there is no verdict by other objectives."""
    unmeasured = Probe(ProbeVerdict.UNDECIDED, lacks_value=True)
    found = examine([4, 6], [4], LookSchedule((1,)), lambda *_: unmeasured)
    assert choose_value(found, 2, 0) is None
    result = conclude([4, 6], found, 1)
    assert (result.censored, result.passing, result.failing_verdict) == (None, None, ValueVerdict.UNMEASURED)


def judge(looks: LookSchedule, runs: list[Probe]) -> ValueVerdict:
    """Return the verdict of a value, given its replicates."""
    return examine([4], [4], looks, lambda replicate, _: runs[replicate]).verdicts[0]


def draws() -> Iterator[random.Random]:
    """Yield a thousand independent sources of numbers."""
    return (random.Random(seed) for seed in range(1_000))  # noqa: S311 - not for cryptography


def test_a_value_far_from_the_bound_needs_the_fewest_replicates() -> None:
    looks = schedule_looks(3, 12)
    runs = [probe(-1.0), probe(-1.02), probe(-0.98)]

    def look(replicate: int, _value: int) -> Probe | None:
        return runs[replicate] if replicate < len(runs) else None

    assert examine([4], [4], looks, look).replicates == {0: 3}
    near = [probe(-0.01), probe(-0.05), probe(0.04)]
    runs[:] = near
    assert examine([4], [4], looks, look).missing == ((3, 4), (4, 4))


def test_one_replicate_decides_what_is_far_from_enough() -> None:
    """Beyond three times the bound, and for an overloaded array, no second replicate runs."""
    looks = schedule_looks(3, 12, has_scout=True)
    assert looks.first == 1
    far, near = probe(-1.0, math.log(3.1)), probe(-1.0, math.log(2.9))
    for scout, missing in (
        (far, ()),
        (Probe(ProbeVerdict.FAIL), ()),
        (near, ((1, 4), (2, 4))),
        (Probe(ProbeVerdict.UNDECIDED), ((1, 4), (2, 4))),
        (None, ((0, 4),)),
    ):
        evidence = examine([4, 5], [4], looks, lambda replicate, _, it=scout: None if replicate else it)
        assert evidence.missing == missing
        assert evidence.verdicts == ({} if missing else {0: MISSES})
    result = conclude([4, 5], examine([4, 5], [4], looks, lambda *_: far), 3, is_expensive=True)
    assert (result.failing, result.failing_verdict, len(result.replicates)) == (4, MISSES, 1)


def test_dearer_values_wait_for_those_that_may_be_enough() -> None:
    """A scout at 150 has met the objectives: 120 may be cheaper, 190 waits for its other replicates."""
    hopeful = Candidate(8, Evidence(-1, 8, ((1, 2),), {}, {}, pending=0), lambda _: 150.0)
    others = [
        Candidate(8, Evidence(-1, 8, (), {}, {}), lambda _, price=price: price) for price in (120.0, 190.0)
    ]
    assert choose_points([hopeful, *others], 1).values == {1: 0}
    assert choose_points([hopeful, *others], 2).values == {1: 0, 2: 0}


def test_after_a_miss_comes_the_value_of_at_most_twice_the_price() -> None:
    """100 and 10 for each: two cost 120, 14 cost 240, 38 cost 480; all positions are two less."""
    missed = Evidence(0, 40, (), {0: MISSES}, {0: 1})
    candidate = Candidate(40, missed, lambda position: 100.0 + 10 * (position + 2))
    assert choose_points([candidate], 1).values == {0: 12}
    further = Evidence(12, 40, (), {12: MISSES}, {12: 1})
    assert choose_points([Candidate(40, further, candidate.price)], 1).values == {0: 36}
    # The next value is tried even if it costs more than twice as much.
    steep = Candidate(40, missed, lambda position: 10.0**position)
    assert choose_points([steep], 1).values == {0: 1}


def test_a_replicate_that_cannot_carry_the_load_is_enough() -> None:
    runs = [probe(-1.0), Probe(ProbeVerdict.FAIL), probe(-1.0)]
    found = examine([4, 5], [4], LookSchedule((3,)), lambda replicate, _: runs[replicate])
    assert found.lower == 0


def test_a_failed_run_ends_the_search() -> None:
    found = examine([4, 5], [4], ONCE, lambda *_: Probe(ProbeVerdict.BROKEN))
    assert found.is_closed
    assert {one.state for one in conclude([4, 5], found, 1).replicates.values()} == {SearchState.FAILED}


def test_a_smaller_value_that_meets_the_objectives_is_not_taken() -> None:
    """4 disks meet the objectives, 6 do not: the answer is above 6 and is marked as not monotone."""
    met = {4: -1.0, 6: 0.5, 8: -0.5}
    evidence = examine([4, 6, 8], met, ONCE, lambda _, value: probe(met[value]))
    assert (evidence.lower, evidence.upper, evidence.is_monotone) == (1, 2, False)


def test_a_point_with_a_failed_run_is_none_of_the_cheapest() -> None:
    """The first point meets the objectives for 100, but another of its runs failed: the second is next."""
    faulty = Evidence(2, 5, (), {2: ValueVerdict.BROKEN, 5: MEETS}, {})
    other = Point(list(range(2, 10)), 4)
    candidates = [Candidate(8, faulty, lambda _: 100.0), Candidate(8, other.examine(), lambda _: 150.0)]
    choice = choose_points(candidates, 1)
    assert (choice.values, choice.expensive) == ({1: 0}, frozenset())


def brute_force(points: list[Point], prices: list[Callable[[int], float]]) -> list[float]:
    """Return the price of each point that meets its objective."""
    found = []
    for point, price in zip(points, prices, strict=True):
        position = next((at for at, value in enumerate(point.values) if value >= point.least), None)
        if position is not None:
            found.append(price(position))
    return sorted(found)


@pytest.mark.parametrize("looks", [ONCE, SCOUTED])
@pytest.mark.parametrize("seed", range(200))
def test_the_cheapest_points_are_those_of_a_full_search(seed: int, looks: LookSchedule) -> None:
    draw = random.Random(seed)  # noqa: S311 - not for cryptography
    points, prices = [], []
    for _ in range(draw.randint(1, 30)):
        values = list(range(draw.randint(1, 4), draw.randint(5, 25)))
        points.append(Point(values, draw.randint(1, 30), looks))
        base, each = draw.uniform(0, 500), draw.uniform(10, 300)
        prices.append(lambda at, values=values, base=base, each=each: base + each * values[at])
    most = draw.randint(1, 3)
    highest = draw.choice([math.inf, draw.uniform(100, 3_000)])
    expensive = run_cheapest(points, prices, most, highest)
    known = {
        at: prices[at](evidence.upper)
        for at, evidence in enumerate(point.examine() for point in points)
        if at not in expensive and evidence.upper < len(points[at].values)
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
