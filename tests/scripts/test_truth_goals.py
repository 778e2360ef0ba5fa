"""The sections on goals say what their figures say."""

import pytest
from truth_goals import format_gains, format_ladder

from destage.measured_systems.bank import rates
from destage.measured_systems.prediction import Prediction


@pytest.mark.parametrize(
    ("error", "verdict"), [(0.09, "met"), (-0.09, "met"), (0.11, "not met"), (-0.11, "not met")]
)
def test_a_goal_is_met_by_its_figures(error: float, verdict: str) -> None:
    """Arrays of 16 and more disks with this error, and smaller ones with none."""
    pairs = [
        (rate, Prediction(rate.iops * (1 + error if (rate.disks or 0) >= 16 else 1), 1.0)) for rate in rates()
    ]
    text, *_ = format_ladder(pairs)
    assert f"more disks one of {error:+.0%}." in text
    assert f"is **{verdict}**." in text.replace("\n", " ")


@pytest.mark.parametrize(
    ("error", "verdict"), [(0.14, "met"), (-0.14, "met"), (0.16, "not met"), (-0.16, "not met")]
)
def test_a_gain_is_over_the_rate_with_one_outstanding(error: float, verdict: str) -> None:
    """All rates are 1.3 times too high, and those with 32 outstanding have this error in addition."""
    pairs = [
        (rate, Prediction(rate.iops * 1.3 * (1 + error if rate.outstanding == 32 else 1), 1.0))
        for rate in rates()
    ]
    text, *rows = format_gains(pairs)
    assert f"is **{verdict}**" in text.replace("\n", " ")
    assert all(row.endswith(f"| +0% | {row.split('|')[-3].strip()} | {error:+.0%} |") for row in rows[2:])
    assert len(rows) > 2
