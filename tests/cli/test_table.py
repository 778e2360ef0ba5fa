"""Columns that a narrow terminal shows."""

import io
import os
import re
from collections.abc import Sequence

import pyarrow as pa
import pytest
from rich.console import Console
from rich.table import Table

from destage.cli.terminal.terminal_text import GAP, UNBOUNDED, choose_columns, print_table
from destage.queries.text.presentation import Heading, Presentation, present

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
    assert columns(10) == ["label", "users_supported"]
    sought = columns(10)
    assert "response_p95_us" not in sought


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


def test_a_pipe_of_eighty_columns_breaks_headings_and_no_number(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With all headings in a line, the table is wider."""
    monkeypatch.setenv("COLUMNS", "80")
    rows = {
        "response_p95_us": [16_920.0, 15_670.0],
        "response_p95_us_low": [16_090.0, 14_180.0],
        "response_p95_us_high": [17_760.0, 17_170.0],
        "hit_ratio": [0.25, 0.5],
        "controller.cache.write.destage_policy": ["c_scan", "wow"],
        "response_mean_us": [4_582.0, 4_219.0],
        "response_p99_us": [23_880.0, 22_740.0],
        **{f"{name}_hit_ratio": [0.25, 0.5] for name in ("read", "write")},
    }
    print_table(pa.table(rows), {})
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    cells = [line.strip().partition("  ")[0] for line in lines[-2:]]
    assert cells == ["16.92 (16.09 to 17.76)", "15.67 (14.18 to 17.17)"]


def test_eighty_columns_keep_the_answer_and_name_what_is_constant(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A seek over three axes, of which one has the same value everywhere, as has the resource."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((80, 24)))
    rows = [
        {
            "label": f"named controller {at}",
            "hit_ratio": 0.1 * at,
            "response_p95_us": 29_000.0 + 100 * at,
            "limiting": "disk",
            "array.disk.use": "a_disk_with_a_very_long_name_of_the_catalogue",
            "array.raid": "10" if at else "5",
            "controller.cache.capacity": at * 2**26,
            "users_supported": 600.5 + at,
            "users_supported_low": 512.25,
            "users_supported_high": 702.75,
            "n": 5,
        }
        for at in range(4)
    ]
    print_table(pa.Table.from_pylist(rows), {"controller.cache.capacity": "bytes"})
    found = capsys.readouterr()
    lines = re.sub(r"\x1b\[[0-9;]*m", "", found.out).splitlines()
    assert max(map(len, lines)) <= 80
    assert all(f"{600.5 + at:g} (512.2 to 702.8)" in found.out for at in range(4))
    assert "the same for all rows: limiting resource disk, disk a_disk_with" in found.err
    assert "replicates 5" in found.err


def print_with_rich(shown: Presentation, width: int, columns: Sequence[int]) -> str:
    """Return a table as Rich draws it, with columns as wide as they need."""
    grid = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for at in columns:
        heading = shown.headings[at]
        grid.add_column(heading.title, justify="right" if heading.is_number else "left", vertical="bottom")
    for row in shown.rows:
        grid.add_row(*(row[at] for at in columns))
    out = io.StringIO()
    Console(highlight=False, emoji=False, width=width, file=out).print(grid, markup=False)
    return out.getvalue()


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "longer than a heading"],
        ["\u4e2d\u6587", "e\u0301"],
        ["≥ 1\u202f000", "[b]x[/b]"],
        ["two\nlines", "x"],
        [],
    ],
)
def test_a_table_is_as_rich_draws_it(labels: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    table = pa.table({"label": pa.array(labels, pa.string()), "n": pa.array(range(len(labels)), pa.int64())})
    print_table(table, {})
    shown = present(table, {})
    assert capsys.readouterr().out == print_with_rich(shown, UNBOUNDED, range(len(shown.headings)))
