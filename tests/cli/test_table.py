"""Columns that a narrow terminal shows."""

import os
import re

import pyarrow as pa
import pytest

from destage.cli.table import choose_columns, print_table
from destage.queries.presentation import Heading

NAMES = ["label", "raid", "controller", "hit_ratio", "limiting", "users_supported", "n", "binding"]
HEADINGS = [Heading(name, name, is_number=False) for name in NAMES]
WIDTHS = [16, 4, 19, 5, 8, 12, 1, 20]


def columns(room: int) -> list[str]:
    return [NAMES[at] for at in choose_columns(WIDTHS, HEADINGS, room)]


def test_a_wide_terminal_shows_all_columns() -> None:
    assert columns(sum(WIDTHS) + 2 * (len(WIDTHS) - 1)) == NAMES


@pytest.mark.parametrize(("room", "gone"), [(98, {"binding"}), (76, {"binding", "controller"})])
def test_the_least_important_columns_are_hidden_first(room: int, gone: set[str]) -> None:
    assert set(NAMES) - set(columns(room)) == gone


def test_the_answer_is_never_hidden() -> None:
    assert "users_supported" in columns(10)
    assert len(columns(10)) == 4


def test_sentences_are_broken_into_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((60, 24)))
    meaning = " ".join(["word"] * 30)
    print_table(pa.table({"column_name": ["response_p95_us_high"], "meaning": [meaning]}), {})
    lines = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
    assert lines[1].startswith("response_p95_us_high  word")
    assert max(map(len, lines)) <= 60
    assert sum(line.count("word") for line in lines) == 30
