"""Laws of the search of a point: its answer lies between runs of all replicates, or it reports why not."""

import math
from collections.abc import Callable, Mapping

from hypothesis import given
from hypothesis import strategies as st

from destage.sweeps.keys.seek_key import LargestSeek
from destage.sweeps.seek.ladder import make_ladder
from destage.sweeps.seek.largest_search import PointResult, search
from destage.sweeps.seek.probes import Probe, ProbeVerdict, SearchState

MOST = 2000
Run = Callable[[int, int], Probe]


def _solve(
    run: Run, base: int = 5, replicates: int | None = None, start: int = 32
) -> tuple[PointResult, dict[tuple[int, int], Probe]]:
    """Run a search to its end; a run is known only after the search asked for it."""
    ladder = make_ladder(LargestSeek(maximize="workload.users", objectives=(), start=start, most=MOST))
    known: dict[tuple[int, int], Probe] = {}

    def look(replicate: int, value: int) -> Probe | None:
        return known.get((replicate, value))

    while True:
        found = search(ladder, start, base, replicates or base, look)
        if isinstance(found, PointResult):
            return found, known
        assert found
        for replicate, value in found:
            assert (replicate, value) not in known
            assert 1 <= value <= MOST
            known[replicate, value] = run(replicate, value)


def _judge(margin: float) -> Probe:
    return Probe(ProbeVerdict.PASS if margin <= 0 else ProbeVerdict.FAIL, (margin,))


def _grow(limits: Mapping[int, float], slope: float = 3.0) -> Run:
    """Return runs that reach the bound at each replicate's limit."""
    return lambda replicate, value: _judge(slope * math.log(value / limits[replicate]))


def _up_to(limit: int, above: ProbeVerdict = ProbeVerdict.FAIL) -> Run:
    """Return runs that measure nothing above a limit."""

    def run(_: int, value: int) -> Probe:
        return Probe(ProbeVerdict.PASS, (-1.0,)) if value <= limit else Probe(above)

    return run


def _states(found: PointResult) -> set[SearchState]:
    return {one.state for one in found.replicates.values()}


@given(st.floats(1.5, MOST - 1), st.floats(0.3, 20), st.integers(1, 6))
def test_n_passes_and_the_next_fails_without_noise(limit: float, slope: float, replicates: int) -> None:
    found, known = _solve(_grow(dict.fromkeys(range(replicates), limit), slope), replicates)
    assert _states(found) == {SearchState.CERTIFIED}
    assert math.isclose(found.interval.mean or 0, limit, rel_tol=1e-6)
    passing, failing = found.passing, found.failing
    assert passing is not None
    assert failing == passing + 1
    for replicate in range(replicates):
        assert known[replicate, passing].verdict is ProbeVerdict.PASS
        assert known[replicate, failing].verdict is ProbeVerdict.FAIL
    assert found.monotone


@given(st.lists(st.floats(90, 110), min_size=5, max_size=5), st.floats(1, 5))
def test_runs_of_all_replicates_enclose_the_answer(limits: list[float], slope: float) -> None:
    found, known = _solve(_grow(dict(enumerate(limits)), slope))
    mean, half_width = found.interval.mean, found.interval.half_width
    assert mean is not None
    assert half_width is not None
    assert found.passing is not None
    assert found.failing is not None
    assert found.passing <= mean * (1 + 1e-9) < found.failing
    assert found.failing - found.passing <= max(1, 3 * half_width)
    assert all(
        (replicate, value) in known for replicate in range(5) for value in (found.passing, found.failing)
    )


@given(st.floats(30, 1500), st.lists(st.floats(-0.05, 0.05), min_size=5, max_size=5))
def test_a_search_takes_four_runs_per_replicate(limit: float, luck: list[float]) -> None:
    run = _grow({number: limit * math.exp(one) for number, one in enumerate(luck)})
    assert len(_solve(run)[1]) <= 8 + 4 * 5


def test_what_is_known_beforehand_changes_nothing() -> None:
    """Runs that the search did not ask for, as another order of execution leaves them, are not used."""
    run = _grow({0: 300, 1: 310, 2: 290})
    ladder = make_ladder(LargestSeek(maximize="workload.users", objectives=(), most=MOST))
    assert search(ladder, 32, 3, 3, run) == _solve(run, 3)[0]


def test_answers_beyond_the_bounds_are_censored() -> None:
    most, _ = _solve(_grow(dict.fromkeys(range(5), 3 * MOST)))
    assert (most.censored, most.interval.mean) == (SearchState.AT_LEAST, MOST)
    least, _ = _solve(_grow(dict.fromkeys(range(5), 0.5)))
    assert (least.censored, least.interval.mean) == (SearchState.BELOW, 0)
    mixed, _ = _solve(_grow({0: 0.9 * MOST, 1: 0.9 * MOST, 2: 1.5 * MOST, 3: 1.5 * MOST, 4: 1.5 * MOST}))
    assert mixed.censored is SearchState.AT_LEAST


@given(st.integers(2, MOST - 1))
def test_replicates_bisect_where_nothing_is_measured_above(limit: int) -> None:
    found, known = _solve(_up_to(limit), 2)
    assert _states(found) == {SearchState.CERTIFIED}
    assert [one.value for one in found.replicates.values()] == [limit, limit]
    assert (found.passing, found.failing) == (limit, limit + 1)
    assert known[1, limit].passes
    assert not known[1, limit + 1].passes


def test_an_undecided_value_above_the_answer_bounds_it() -> None:
    found, _ = _solve(_up_to(40, ProbeVerdict.UNDECIDED))
    assert _states(found) == {SearchState.UNDECIDED}
    assert found.interval.n == 0


def test_an_undecided_value_elsewhere_does_not_matter() -> None:
    grow = _grow(dict.fromkeys(range(5), 40.0))

    def run(replicate: int, value: int) -> Probe:
        return Probe(ProbeVerdict.UNDECIDED) if value >= 60 else grow(replicate, value)

    assert math.isclose(_solve(run)[0].interval.mean or 0, 40)


def test_other_replicates_go_on_without_a_broken_one() -> None:
    grow = _grow(dict.fromkeys(range(5), 40.0))
    for broken in range(5):

        def run(replicate: int, value: int, broken: int = broken) -> Probe:
            return Probe(ProbeVerdict.BROKEN) if replicate == broken else grow(replicate, value)

        found, _ = _solve(run)
        assert found.replicates[broken].state is SearchState.FAILED
        assert (found.interval.n, round(found.interval.mean or 0, 6)) == (4, 40)
    nothing, _ = _solve(lambda *_: Probe(ProbeVerdict.BROKEN))
    assert _states(nothing) == {SearchState.FAILED}


def test_further_replicates_run_the_same_values() -> None:
    limits = dict(enumerate([96.0, 104.0, 99.0, 101.0, 100.0, 98.0, 103.0, 100.0]))
    few, known = _solve(_grow(limits), 5)
    more, all_known = _solve(_grow(limits), 5, 8)
    assert known.items() <= all_known.items()
    assert few.interval.n == 5
    assert more.interval.n == 8


def test_a_run_that_passes_far_above_is_not_monotone() -> None:
    grow = _grow(dict.fromkeys(range(5), 40.0))

    def run(replicate: int, value: int) -> Probe:
        return _judge(-1.0) if value > 100 else grow(replicate, value)

    # Starting above the island, the search meets it first.
    found, _ = _solve(run, start=128)
    assert found.censored is SearchState.AT_LEAST
    found, _ = _solve(run, start=32)
    assert math.isclose(found.interval.mean or 0, 40)
