"""Tables, bars and paragraphs in the width of the terminal.

Headings of tables break at words, and columns that do not fit are hidden. Cells are whole, except for long
texts, such as lists of faults and the sentences of DESCRIBE. A bar stands for each row, or a sparkline for a
course of time. Lines break at words, with the text of a named fact below its beginning.
"""

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from destage.cli.terminal.output import print_data, print_note
from destage.spec.axis_names import is_answer

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.table import Table

    from destage.queries.findings.answer_bars import AnswerBars
    from destage.queries.text.presentation import Heading, Presentation


UNBOUNDED = 4096
"""The width of a table that is not printed on a terminal, unless COLUMNS is set [characters]."""
GAP = 2
_LABEL_WIDTH = 16
_PROSE = "meaning"
"""The column of sentences, which are broken into lines."""
_PROSE_WIDTH, _TEXT_WIDTH = 36, 28
"""What such a column and one of other texts need at least [characters]."""
_EXPENDABLE = (
    "binding",
    "controller",
    "n",
    "passing",
    "failing",
    "write_stall_mean_us",
    "throughput_iops",
    "monotone",
    "interval_met",
    "response_mean_us",
    "response_p99_us",
    "published",
    "read_hit_ratio",
    "write_hit_ratio",
    "limiting",
)
"""Columns to hide first on a narrow terminal, in this order; then other results, then those at the right."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
"""Characters of a text that takes more than one line, or another width than its letters."""
_ANSWERS = ("completion_time_s", "response_p95_us")
"""What studies that seek nothing are run for."""


def print_table(table: "pa.Table", units: Mapping[str, str]) -> None:
    """Print rows; `units` has the base unit of each axis by its dotted path."""
    from destage.queries.text.presentation import present

    print_presentation(present(table, units))


def find_width() -> int:
    """Return the width of tables on stdout: of the terminal, or COLUMNS, otherwise any [characters]."""
    is_bounded = sys.stdout.isatty() or "COLUMNS" in os.environ
    return shutil.get_terminal_size().columns if is_bounded else UNBOUNDED


def print_presentation(shown: "Presentation") -> None:
    """Print a table as shown; a note lists the columns that a narrow terminal hides."""
    from destage.queries.text.presentation import fold_constants

    is_terminal = sys.stdout.isatty()
    width = find_width()
    folded: tuple[str, ...] = ()
    if sum(_widths(shown)) + GAP * (len(shown.headings) - 1) > width:
        answers = [shown.headings[index].column for index in find_answers(shown.headings)]
        shown, folded = fold_constants(shown, answers)
    chosen = choose_columns(_widths(shown), shown.headings, width)
    widths = _spread(shown, chosen, width)
    _print_columns(shown, widths, width, is_terminal=is_terminal)
    if folded:
        print_note(f"the same for all rows: {', '.join(folded)}")
    hidden = [heading.title for index, heading in enumerate(shown.headings) if index not in chosen]
    if hidden:
        print_note(f"hidden columns: {', '.join(hidden)}; --format markdown or csv prints all")
    if not shown.rows:
        print_note("no rows")


def note_left_out(sentence: str, sweep: str) -> None:
    """Print which points of a large sweep a table shows, if not all, and how to see all."""
    if sentence:
        print_note(f"{sentence} All: destage query {sweep} design_space --format csv")


def make_grid() -> "Table":
    """Return a table without rows, in the style of all tables on a terminal."""
    from rich.table import Table

    return Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")


def _print_columns(shown: "Presentation", widths: Mapping[int, int], room: int, *, is_terminal: bool) -> None:
    """Print the columns that have a width; not on a terminal, as wide as their longest texts if these fit."""
    from rich.cells import cell_len
    from rich.console import Console

    columns = {index: cells for index, cells in _columns(shown) if index in widths}
    is_broken = any(max(map(len, cells), default=0) > widths[index] for index, cells in columns.items())
    needed = {index: max(map(cell_len, cells), default=0) for index, cells in columns.items()}
    unbroken = {index: max(cell_len(shown.headings[index].title), most) for index, most in needed.items()}
    is_unbroken = not is_terminal and sum(unbroken.values()) + GAP * (len(unbroken) - 1) <= room
    widths = unbroken if is_unbroken else widths
    is_simple = (
        all(needed[index] <= width for index, width in widths.items())
        and sum(widths.values()) + GAP * (len(widths) - 1) <= room
        and not any(_CONTROL.search(cell) for cells in columns.values() for cell in cells)
    )
    grid = make_grid()
    for index, width in widths.items():
        heading = shown.headings[index]
        grid.add_column(
            heading.title,
            justify="right" if heading.is_number else "left",
            vertical="top" if is_broken else "bottom",
            width=None if is_unbroken and not is_simple else width,
        )
    for row in () if is_simple else shown.rows:
        grid.add_row(*(row[index] for index in widths))
    Console(highlight=False, width=room).print(grid, markup=False)
    if is_simple:
        # Rich takes two milliseconds for each row.
        padded = [
            [
                _pad(cell, width - cell_len(cell), to_right=shown.headings[index].is_number)
                for cell in columns[index]
            ]
            for index, width in widths.items()
        ]
        print_data("".join((" " * GAP).join(row) + "\n" for row in zip(*padded, strict=True)))


def _pad(cell: str, spaces: int, *, to_right: bool) -> str:
    return " " * spaces + cell if to_right else cell + " " * spaces


def choose_columns(widths: Sequence[int], headings: Sequence["Heading"], room: int) -> list[int]:
    """Return the indices of the columns that fit, given their widths and the terminal's [characters]."""
    chosen = list(range(len(widths)))
    names = [heading.column for heading in headings]
    answers = find_answers(headings)
    order = [names.index(name) for name in _EXPENDABLE if name in names]
    rest = [index for index in reversed(chosen) if index not in order and index not in answers]
    # The names of a row tell more than its further results.
    order += sorted(rest, key=lambda index: not _is_result(names[index]))
    for index in order:
        if sum(widths[kept] + GAP for kept in chosen) - GAP <= room or len(chosen) <= 1 + len(answers):
            break
        chosen.remove(index)
    return chosen


def find_answers(headings: Sequence["Heading"]) -> list[int]:
    """Return the indices of the columns that a sweep was run for, which are never hidden."""
    sought = [index for index, heading in enumerate(headings) if is_answer(heading.column)]
    return sought or [index for index, heading in enumerate(headings) if heading.column in _ANSWERS][:1]


def _widths(shown: "Presentation") -> list[int]:
    return [_width(shown, index) for index in range(len(shown.headings))]


def _is_result(column: str) -> bool:
    from destage.engine import results_schema

    return column in results_schema().names


def _spread(shown: "Presentation", chosen: Sequence[int], room: int) -> dict[int, int]:
    """Return the width of each column: what it needs at least, and more while there is room."""
    widths = {index: _width(shown, index) for index in chosen}
    spare = room - sum(widths.values()) - GAP * (len(chosen) - 1)
    for index, cells in _columns(shown):
        if index in widths:
            longest = max(map(len, [shown.headings[index].title, *cells]))
            most = _LABEL_WIDTH if shown.headings[index].column == "label" else longest
            more = max(0, min(spare, most - widths[index]))
            widths[index] += more
            spare -= more
    return widths


def _columns(shown: "Presentation") -> list[tuple[int, list[str]]]:
    return [(index, [row[index] for row in shown.rows]) for index in range(len(shown.headings))]


def _width(shown: "Presentation", index: int) -> int:
    heading = shown.headings[index]
    words = max(map(len, heading.title.split()), default=0)
    cells = max((len(row[index]) for row in shown.rows), default=0)
    texts = cells if heading.is_number else _TEXT_WIDTH
    most = {"label": _LABEL_WIDTH, _PROSE: _PROSE_WIDTH}.get(heading.column, texts)
    return max(words, min(cells, most))


_LEVELS = " ▁▂▃▄▅▆▇█"
_PARTS = " ▏▎▍▌▋▊▉"
_FULL = "█"
_WIDTH = 36
"""The width of the longest bar of a chart of answers, which fits 80 columns [characters]."""


def sparkline(values: Sequence[float]) -> str:
    """Return non-negative values as a line of bars; the largest value is a full bar, zero is blank."""
    most = max(values, default=0.0)
    if not most:
        return " " * len(values)
    top = len(_LEVELS) - 1
    return "".join(_LEVELS[0 if value <= 0 else max(1, round(value / most * top))] for value in values)


def bar(share: float, width: int) -> str:
    """Return a bar that fills a share (0 to 1) of a width [characters]."""
    eighths = round(min(max(share, 0.0), 1.0) * width * len(_PARTS))
    full, rest = divmod(eighths, len(_PARTS))
    return (_FULL * full + (_PARTS[rest] if rest else "")) or ("▏" if share > 0 else "")


def draw_answers(chart: "AnswerBars") -> str:
    """Return the answers against the size of the cache: a bar per point, with its value and hit ratio."""
    left = max(len(point.label) for point in chart.bars)
    middle = max(len(point.answer) for point in chart.bars)
    lines = [chart.title]
    for series, bars in groupby(chart.bars, key=lambda point: point.series):
        lines += ["", series] if series else [""]
        for point in bars:
            drawn = f"{bar(point.share, _WIDTH):<{_WIDTH}}  {point.answer:>{middle}}  {point.hit_ratio}"
            lines.append(f"  {point.label:>{left}}  {drawn}".rstrip())
    return "".join(f"{line}\n" for line in lines)


_FACT = re.compile(r" +\S+(?: \S+)* {2,}(?=\S)")
"""The name of a fact, as in `  dead battery   no effect`."""


def wrap_lines(lines: Iterable[str]) -> str:
    """Return lines as a text that fits the terminal; as they are where there is none."""
    width = find_width()
    return "".join(f"{_wrap(line, width)}\n" for line in lines)


def _wrap(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    name = _FACT.match(line)
    indent = 0 if name is None else name.end()
    return textwrap.fill(
        line[indent:],
        width,
        initial_indent=line[:indent],
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
