"""Bars in text, worked by hand."""

import pytest

from destage.cli.text_bars import bar, sparkline


def test_the_largest_value_is_full_and_zero_is_blank() -> None:
    assert sparkline([0, 1, 4, 8]) == " ▁▄█"
    assert sparkline([0, 0]) == "  "
    assert sparkline([]) == ""
    # A small value is still visible.
    assert sparkline([0.001, 1000]) == "▁█"


@pytest.mark.parametrize(
    ("share", "drawn"), [(1.0, "████"), (0.5, "██"), (0.625, "██▌"), (0.0, ""), (1e-9, "▏"), (7.0, "████")]
)
def test_a_bar_is_as_long_as_its_share(share: float, drawn: str) -> None:
    assert bar(share, 4) == drawn
