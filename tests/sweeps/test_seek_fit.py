"""The fitted crossing against lines that are known exactly, and a case worked by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from destage.sweeps.seek.crossing_fit import cross_line, fit_crossing
from destage.sweeps.seek.intervals import t_interval
from destage.sweeps.seek.probes import Points


def _line(crossing: float, slope: float, values: list[int]) -> Points:
    """Return runs whose column is (value / crossing) ** slope times its bound."""
    return [(value, (slope * math.log(value / crossing),)) for value in values]


@given(st.lists(st.floats(90, 110), min_size=2, max_size=9), st.floats(0.3, 8))
def test_exact_lines_give_their_crossings(crossings: list[float], slope: float) -> None:
    bracket = _line(crossings[0], slope, [91, 108])
    full = {number: _line(one, slope, [97, 103]) for number, one in enumerate(crossings)}
    fit = fit_crossing(bracket, full)
    assert fit is not None
    assert list(fit.crossings.values()) == pytest.approx(crossings)
    assert fit.interval.mean == pytest.approx(math.fsum(crossings) / len(crossings))
    assert fit.spread == pytest.approx(t_interval(crossings).half_width, abs=1e-6)


def test_an_interval_by_hand() -> None:
    # Slope 2 by the bracket: log margins -0.2 and 0.2 over a distance of 0.2 in the log of the value.
    bracket = [(1000, (-0.2,)), (round(1000 * math.exp(0.2)), (0.2,))]
    # At 1100, margins 0.1 and -0.1: the crossings are 1100 exp(-0.05) and 1100 exp(0.05).
    fit = fit_crossing(bracket, {0: [(1100, (0.1,))], 1: [(1100, (-0.1,))]})
    assert fit is not None
    assert fit.crossings[0] == pytest.approx(1046.35, rel=1e-3)
    assert fit.crossings[1] == pytest.approx(1156.40, rel=1e-3)
    # t(0.975, 1) = 12.706 times the standard error, half of the difference.
    assert fit.interval.half_width == pytest.approx(12.706 * (1156.40 - 1046.35) / 2, rel=2e-3)


def test_an_objective_that_hardly_grows_has_no_crossing() -> None:
    """A latency that is all but constant reaches its bound nowhere near the runs."""
    flat = _line(100, 2, [91, 108])
    bracket = [(value, (*margins, -3 + at * 5e-4)) for at, (value, margins) in enumerate(flat)]
    assert cross_line(bracket) == pytest.approx(100)
    fit = fit_crossing(bracket, {0: [(100, (0.0, -3.0))], 1: [(100, (0.02, -3.0))]})
    assert fit is not None
    assert fit.mean == pytest.approx(100, rel=0.01)
    alone = [(value, margins[1:]) for value, margins in bracket]
    assert cross_line(alone) is None
    assert fit_crossing(alone, {0: [(100, (-3.0,))]}) is None


def test_an_error_of_the_slope_widens_a_distant_answer() -> None:
    bracket = _line(100, 2, [91, 108])
    near = fit_crossing(bracket, {number: _line(100 + number, 2, [99, 103]) for number in range(3)})
    far = fit_crossing(bracket, {number: _line(100 + number, 2, [89, 92]) for number in range(3)})
    assert near is not None
    assert far is not None
    assert near.interval.mean == pytest.approx(far.interval.mean)
    assert near.spread == pytest.approx(far.spread)
    assert far.interval.half_width > 2 * near.interval.half_width  # type: ignore[operator]


def test_the_objective_that_is_reached_first_counts() -> None:
    def both(runs: Points, others: Points) -> Points:
        return [(value, (*one, *other)) for (value, one), (_, other) in zip(runs, others, strict=True)]

    bracket = both(_line(100, 2, [91, 108]), _line(120, 5, [91, 108]))
    assert cross_line(bracket) == pytest.approx(100)
    fit = fit_crossing(bracket, {0: both(_line(99, 2, [99]), _line(120, 5, [99]))})
    assert fit is not None
    assert list(fit.crossings.values()) == pytest.approx([99])


def test_no_line_fits_what_was_not_measured() -> None:
    assert cross_line([(91, (-math.inf,)), (108, (1.0,))]) is None
    assert cross_line([(91, (-1.0,)), (108, (math.inf,))]) is None
    assert fit_crossing([(91, (-1.0,)), (108, (1.0,))], {0: [(99, (math.inf,))]}) is None
    # An objective that is met without a log, such as no stalls at all, does not matter.
    fit = fit_crossing([(91, (-1.0, -math.inf)), (108, (1.0, -math.inf))], {0: [(99, (0.0, -math.inf))]})
    assert fit is not None
    assert fit.interval.mean == pytest.approx(99)
