"""Aligned columns of plain texts."""

from typing import Any

import pytest

from destage.spec.printed_text import align_cells

ROWS = [("name", "n", "why"), ("a", "100", ""), ("longer", "7", "it is so")]


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ({}, ["  name    n       why", "     a  100", "longer    7  it is so"]),
        ({"left": 1}, ["name      n       why", "a       100", "longer    7  it is so"]),
        ({"left": 1, "ends_in_text": True}, ["name      n  why", "a       100", "longer    7  it is so"]),
        ({"left": 3}, ["name    n    why", "a       100", "longer  7    it is so"]),
    ],
)
def test_columns_are_aligned_without_blanks_at_the_end(options: dict[str, Any], lines: list[str]) -> None:
    assert align_cells(ROWS, **options).splitlines() == lines


def test_no_rows_are_no_text() -> None:
    assert align_cells([]) == ""
