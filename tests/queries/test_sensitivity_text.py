"""Shares of axes in words."""

import pytest

from destage.queries.text.sensitivity_text import describe_sensitivity


@pytest.mark.parametrize(
    ("share", "low", "high", "text"),
    [
        (0.874, 0.672, 1.062, " 87 % (95 % CI 67 to 106) "),
        (0.0314, -0.01, 0.107, " 3.1 % (95 % CI 0 to 11) "),
    ],
)
def test_a_share_has_two_digits_or_whole_per_cents(share: float, low: float, high: float, text: str) -> None:
    row = dict.fromkeys(("total_order", "mu_star")) | {"axis": "array.disks", "metric": "response_p95_us"}
    ends = {"first_order": share, "first_order_low": low, "first_order_high": high}
    (sentence,) = describe_sensitivity([row | ends])
    assert text in sentence
