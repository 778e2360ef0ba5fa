"""Laws of the search: it finds and certifies the largest passing value, or reports why it cannot."""

import math
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from destage.sweeps.seek_search import ProbeVerdict, SearchResult, SearchState, search
from destage.sweeps.study import Seek

MOST = 2000


def _seek(start: int = 32, least: int = 1, most: int = MOST, confirm: int = 2) -> Seek:
    return Seek("workload.users", (), start, least, most, confirm)


def _solve(seek: Seek, judge: Callable[[int], ProbeVerdict]) -> tuple[SearchResult, dict[int, ProbeVerdict]]:
    """Run a search to its end; a value has a verdict only after the search asked for it."""
    known: dict[int, ProbeVerdict] = {}
    while True:
        outcome = search(seek, known.get)
        if isinstance(outcome, SearchResult):
            return outcome, known
        assert outcome
        for value in outcome:
            assert value not in known
            assert seek.least <= value <= seek.most
            known[value] = judge(value)


def _up_to(limit: int) -> Callable[[int], ProbeVerdict]:
    return lambda value: ProbeVerdict.PASS if value <= limit else ProbeVerdict.FAIL


@given(st.integers(1, MOST - 1), st.integers(1, MOST), st.integers(0, 4))
def test_a_monotone_answer_is_certified_from_any_start(limit: int, start: int, confirm: int) -> None:
    found, known = _solve(_seek(start=start, confirm=confirm), _up_to(limit))
    assert found == SearchResult(SearchState.CERTIFIED, limit, monotone=True)
    assert known[limit] is ProbeVerdict.PASS
    assert known[limit + 1] is ProbeVerdict.FAIL
    assert len(known) <= 2 * math.ceil(math.log2(MOST)) + confirm + 2


@given(st.integers(1, MOST))
def test_answers_beyond_the_bounds_are_censored(start: int) -> None:
    assert _solve(_seek(start=start), _up_to(MOST))[0] == SearchResult(
        SearchState.AT_LEAST, MOST, monotone=True
    )
    assert _solve(_seek(start=start), _up_to(0))[0] == SearchResult(SearchState.BELOW, 0, monotone=True)
    least = min(start, 10)
    found, known = _solve(_seek(start=start, least=least), _up_to(least - 1))
    assert found == SearchResult(SearchState.BELOW, least - 1, monotone=True)
    assert known[least] is ProbeVerdict.FAIL


_VALUES = st.sets(st.integers(1, 220), max_size=30)


@given(st.integers(20, 200), _VALUES, _VALUES)
def test_any_answer_is_a_crossing_with_confirmed_values_below(
    limit: int, holes: set[int], islands: set[int]
) -> None:
    def judge(value: int) -> ProbeVerdict:
        if value in holes:
            return ProbeVerdict.FAIL
        return ProbeVerdict.PASS if value <= limit or value in islands else ProbeVerdict.FAIL

    seek = _seek()
    found, known = _solve(seek, judge)
    passed = [value for value, verdict in known.items() if verdict is ProbeVerdict.PASS]
    failed = [value for value, verdict in known.items() if verdict is ProbeVerdict.FAIL]
    assert found.monotone == (not passed or not failed or max(passed) < min(failed))
    assert found.value is not None
    if found.state is SearchState.CERTIFIED:
        below = range(max(found.value - seek.confirm, seek.least), found.value + 1)
        assert all(known[value] is ProbeVerdict.PASS for value in below)
        assert known[found.value + 1] is ProbeVerdict.FAIL
    else:
        assert found == SearchResult(SearchState.BELOW, 0, found.monotone)
        assert known[seek.least] is ProbeVerdict.FAIL


def test_the_lowest_of_two_crossings_is_taken() -> None:
    found, _ = _solve(
        _seek(), lambda value: ProbeVerdict.PASS if value <= 50 and value != 49 else ProbeVerdict.FAIL
    )
    assert found == SearchResult(SearchState.CERTIFIED, 48, monotone=False)


def test_verdicts_not_asked_for_change_nothing() -> None:
    judge = _up_to(41)
    expected, _ = _solve(_seek(), judge)
    assert search(_seek(), judge) == expected


def test_an_undecided_value_above_the_answer_bounds_it() -> None:
    def judge(value: int) -> ProbeVerdict:
        return ProbeVerdict.PASS if value <= 40 else ProbeVerdict.UNDECIDED

    assert _solve(_seek(), judge)[0] == SearchResult(SearchState.UNDECIDED, 40, monotone=True)


def test_an_undecided_value_elsewhere_does_not_matter() -> None:
    def judge(value: int) -> ProbeVerdict:
        return ProbeVerdict.UNDECIDED if value >= 60 else _up_to(40)(value)

    assert _solve(_seek(), judge)[0] == SearchResult(SearchState.CERTIFIED, 40, monotone=True)


def test_a_failed_run_ends_the_search_without_a_value() -> None:
    def judge(value: int) -> ProbeVerdict:
        return ProbeVerdict.BROKEN if value == 48 else _up_to(40)(value)

    assert _solve(_seek(), judge)[0].state is SearchState.FAILED


def test_a_typical_search_takes_about_ten_runs() -> None:
    probes = [len(_solve(_seek(start=48), _up_to(limit))[1]) for limit in range(30, 130)]
    assert sum(probes) / len(probes) < 11
