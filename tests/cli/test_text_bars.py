"""Bars in text, worked by hand."""

import pytest

from destage.cli.terminal.terminal_text import bar, draw_answers, sparkline
from destage.queries.findings.answer_bars import AnswerBars, Bar


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


def test_answers_are_drawn_to_scale_within_80_columns() -> None:
    """Each series has a heading; the longest bar is that of the largest answer."""
    bars = (
        Bar("battery state present", "8 MiB", 0.5, "121.6 (109 to 134)", "0.154"),
        Bar("battery state present", "256 MiB", 1.0, "251.3 (238.6 to 263.4)", "0.449"),
        Bar("battery state absent", "8 MiB", 0.25, "38.9", ""),
    )
    lines = draw_answers(AnswerBars("Users supported", bars)).splitlines()
    assert [line for line in lines if not line.startswith(" ")] == [
        "Users supported",
        "",
        "battery state present",
        "",
        "battery state absent",
    ]
    assert [line.count("█") for line in lines if line.startswith(" ")] == [18, 36, 9]
    assert max(map(len, lines)) <= 80
