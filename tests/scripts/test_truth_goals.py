"""The sections on goals say what their figures say."""

import pytest
from truth_goals import format_ladder

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
