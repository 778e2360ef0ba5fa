"""Student t-intervals against tabulated quantiles, and the replicates that a target needs."""

import math

import pytest
from scipy import stats

from destage.student import cumulative, half_width, quantile, share_below
from destage.sweeps.seek.intervals import Interval, replicates_needed, t_interval


def test_the_interval_of_five_values() -> None:
    interval = t_interval([51, 54, 54, 51, 53])
    assert interval.mean == pytest.approx(52.6)
    # t(0.975, 4) = 2.776445 by the tables; s = 1.516575.
    assert interval.half_width == pytest.approx(2.776445 * 1.516575 / math.sqrt(5), rel=1e-6)


def test_one_value_has_no_interval_and_none_has_no_mean() -> None:
    assert t_interval([7]) == Interval(7, None, 1)
    assert t_interval([]) == Interval(None, None, 0)


def test_fewer_than_five_values_never_meet_a_target() -> None:
    assert not t_interval([7, 7, 7, 7]).is_within(0.05)
    assert t_interval([7, 7, 7, 7, 7]).is_within(0.05)


@pytest.mark.parametrize(
    ("interval", "most", "wanted"),
    [
        (Interval(100.0, 4.0, 5), 20, 5),
        (Interval(100.0, 10.0, 5), 20, 10),  # twenty are enough, but the number at most doubles
        (Interval(100.0, 6.0, 5), 20, 8),
        (Interval(100.0, 10.0, 10), 12, 12),
        (Interval(0.0, 1.0, 5), 20, 10),
        (Interval(100.0, None, 1), 20, 5),
    ],
)
def test_replicates_needed(interval: Interval, most: int, wanted: int) -> None:
    assert replicates_needed(interval, 0.05, most) == wanted


def test_quantiles_equal_the_tables() -> None:
    # Closed forms for one and two degrees of freedom, printed tables for four, scipy for all.
    assert quantile(2) == pytest.approx(math.tan(math.pi * 0.475), rel=1e-14)
    assert quantile(3) == pytest.approx(0.95 * math.sqrt(2 / (1 - 0.95**2)), rel=1e-14)
    assert quantile(5) == pytest.approx(2.776445, abs=5e-7)
    for count in (*range(2, 300), 1000, 5000):
        assert quantile(count) == pytest.approx(stats.t.ppf(0.975, count - 1), rel=1e-12), count
    with pytest.raises(ValueError, match="at least 2"):
        quantile(1)


def test_half_of_an_interval_by_hand() -> None:
    # A mean of 3, a variance of 2.5 over five values.
    assert half_width([1, 2, 3, 4, 5]) == pytest.approx(2.776445 * math.sqrt(2.5 / 5), rel=1e-6)
    assert half_width([7]) == half_width([7, 7, 7]) == 0.0


@pytest.mark.parametrize("confidence", [0.95, 0.9875, 0.99, 0.999])
@pytest.mark.parametrize("count", [2, 3, 5, 12, 200])
def test_quantiles_of_other_confidences(count: int, confidence: float) -> None:
    assert quantile(count, confidence) == pytest.approx(
        stats.t.ppf((1 + confidence) / 2, count - 1), rel=1e-9
    )


@pytest.mark.parametrize("bound", [-3.0, 0.0, 0.9, 1.2, 4.0, 9.0])
def test_the_share_below_a_bound_is_that_of_students_distribution(bound: float) -> None:
    values = [0.5, 1.5, 1.0, 2.0, 0.8, 1.4]
    mean, error = 1.2, math.sqrt(sum((value - 1.2) ** 2 for value in values) / 5 / 6)
    assert share_below(values, bound) == pytest.approx(stats.t.cdf((bound - mean) / error, 5), abs=1e-12)


@pytest.mark.parametrize("degrees", [1, 2, 5, 30])
def test_the_distribution_is_scipys(degrees: int) -> None:
    for distance in (-3.0, -0.5, 0.0, 0.1, 8.0):
        assert cumulative(distance, degrees) == pytest.approx(stats.t.cdf(distance, degrees), rel=1e-9)
