"""Laws of the bracket: neighbouring rungs around the limit, from any start, in few runs."""

import math
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from destage.sweeps.keys.seek_key import LargestSeek
from destage.sweeps.seek.ladder import Bracket, find_bracket, make_ladder
from destage.sweeps.seek.probes import BrokenRun, MissingRun, Probe, ProbeVerdict

MOST = 2000
LADDER = make_ladder(LargestSeek(maximize="workload.users", objectives=(), most=MOST))


def _solve(run: Callable[[int], Probe], start: int = 32) -> tuple[Bracket, dict[int, Probe]]:
    """Walk to the end; a rung has a run only after the walk asked for it."""
    known: dict[int, Probe] = {}
    while True:
        try:
            return find_bracket(LADDER, known.get, start), known
        except MissingRun as missing:
            wanted = missing.value
        assert wanted in LADDER
        assert wanted not in known
        known[wanted] = run(wanted)


def _up_to(limit: float, slope: float | None = None) -> Callable[[int], Probe]:
    def run(value: int) -> Probe:
        verdict = ProbeVerdict.PASS if value <= limit else ProbeVerdict.FAIL
        return Probe(verdict, None if slope is None else (slope * math.log(value / limit),))

    return run


@given(st.integers(1, 500), st.integers(1, 500), st.integers(1, 500))
def test_rungs_cover_the_range_in_steps_of_a_fifth(first: int, second: int, third: int) -> None:
    least, start, most = sorted((first, second, third))
    ladder = make_ladder(
        LargestSeek(maximize="workload.users", objectives=(), start=start, least=least, most=most)
    )
    assert (ladder[0], ladder[-1]) == (least, most)
    assert start in ladder
    assert all(lower < upper <= lower * 2**0.25 + 1.5 for lower, upper in pairwise(ladder))


@given(st.integers(1, MOST - 1), st.sampled_from(LADDER), st.sampled_from([None, 0.1, 1.0, 5.0, 60.0]))
def test_the_bracket_does_not_depend_on_the_start(limit: int, start: int, slope: float | None) -> None:
    found, known = _solve(_up_to(limit, slope), start)
    assert found.upper == found.lower + 1
    assert LADDER[found.lower] <= limit < LADDER[found.upper]
    assert len(known) <= 2 * math.ceil(math.log2(len(LADDER))) + 2


@given(st.floats(20, 1000), st.floats(0.7, 6))
def test_a_line_is_bracketed_in_few_runs(limit: float, slope: float) -> None:
    assert len(_solve(_up_to(limit, slope))[1]) <= 8


def test_the_ends_of_the_range_are_brackets_too() -> None:
    assert _solve(_up_to(MOST))[0] == Bracket(len(LADDER) - 1, len(LADDER))
    assert _solve(_up_to(0.5))[0] == Bracket(-1, 0)


def test_the_search_continues_below_undecided_runs() -> None:
    def run(value: int) -> Probe:
        return Probe(ProbeVerdict.UNDECIDED) if value >= 60 else _up_to(40)(value)

    found, _ = _solve(run)
    assert LADDER[found.lower] <= 40 < LADDER[found.upper]


def test_a_broken_run_ends_the_walk() -> None:
    with pytest.raises(BrokenRun):
        _solve(lambda _: Probe(ProbeVerdict.BROKEN))
