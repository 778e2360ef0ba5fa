"""What a terminal shows where it is narrow."""

import pytest

from destage.cli.table import fit
from destage.queries.presentation import Heading

NAMES = ["label", "array.raid", "controller.use", "hit_ratio", "limiting", "users_supported", "n", "binding"]
HEADINGS = [Heading(name, name, is_number=False) for name in NAMES]
WIDTHS = [16, 4, 19, 5, 8, 12, 1, 20]


def columns(room: int) -> list[str]:
    return [NAMES[at] for at in fit(WIDTHS, HEADINGS, room)]


def test_all_columns_where_there_is_room() -> None:
    assert columns(sum(WIDTHS) + 2 * (len(WIDTHS) - 1)) == NAMES


@pytest.mark.parametrize(("room", "gone"), [(98, {"binding"}), (76, {"binding", "controller.use"})])
def test_what_says_least_goes_first(room: int, gone: set[str]) -> None:
    assert set(NAMES) - set(columns(room)) == gone


def test_the_answer_stays_however_narrow() -> None:
    assert "users_supported" in columns(10)
    assert len(columns(10)) == 4
