"""The sections of a report on all points: the Explore panel, and the table with results first."""

import json
from collections.abc import Sequence
from html import escape

import pyarrow as pa

from destage.queries.named.named_queries import find_query
from destage.queries.opening.session import Session
from destage.queries.report.charts.facets import CAPACITY, RAID
from destage.queries.report.sentences.excerpt import describe_excerpt
from destage.queries.text.plain_values import is_number, rows_as_json
from destage.queries.text.presentation import (
    Heading,
    Presentation,
    find_scale,
    fold_constants,
    format_count,
    format_number,
    present,
)

ROWS_AT_FIRST, ROWS_ON_A_PHONE = 50, 20
"""Rows that are visible before a reader asks for all of them; the first is also the number on paper."""
_MOST_EXAMPLES = 2
_LONG = 28
"""Letters above which a cell is broken into lines."""
_LEAST_EXPLORED = 2
"""Points and columns below which there is nothing to explore."""


def render_design_space(session: Session, sql: str) -> str:
    """Return the sections in HTML: the Explore panel; the table, its filter, and its rows as data.

    Args:
        sql: The statement behind it, in HTML.
    """
    rows = session.query("design_space")
    whole = present(rows, session.units)
    shown, folded = fold_constants(whole, [session.result])
    query = find_query("design_space", session.kind)
    caption = " ".join(filter(None, [query.purpose, describe_excerpt(session)]))
    same = f'<p id="folded">The same for all points: {escape(", ".join(folded))}.</p>' if folded else ""
    hint = f"Filter rows, for example: {' or '.join(_examples(shown, session))}"
    return (
        f"{_render_explore(shown, session)}"
        '<section id="design_space"><h2>Design space</h2>'
        f'<p class="caption">{escape(caption)}</p>{same}'
        f'<p class="controls"><input id="filter" type="search" placeholder="{escape(hint, quote=True)}" '
        'aria-label="Filter rows"> <span id="count" role="status"></span>'
        ' <button id="clear" type="button" hidden>Clear selection</button></p>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="Table of all points">'
        f"{_table(shown, rows)}</div>{_more(len(shown.rows))}{sql}"
        f"{_data('rows', rows_as_json(rows))}{_data('columns', _describe_columns(shown, rows, session))}"
        "</section>\n"
    )


def _data(name: str, value: object) -> str:
    """Return a script element that holds a value as JSON."""
    # "</script>" inside the data would end the element, and "<!--<script>" would keep it open.
    text = json.dumps(value, ensure_ascii=False)
    safe = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return f'<script type="application/json" id="{name}">{safe}</script>'


def _examples(shown: Presentation, session: Session) -> list[str]:
    """Return filters that find rows: a heading with a value of it, as `RAID 5`."""
    if not shown.rows:
        return ["RAID 5"]
    axes = {"label", *session.axes}
    places = [index for index, heading in enumerate(shown.headings) if heading.column in axes]
    row = shown.rows[len(shown.rows) // 2]
    chosen = [index for index in places if row[index] not in {"", "–"} and len(row[index]) <= _LONG] or [0]
    return [f"{shown.headings[index].title} {row[index]}" for index in chosen[:_MOST_EXAMPLES]]


def _table(shown: Presentation, rows: pa.Table) -> str:
    values = [rows[heading.column].to_pylist() for heading in shown.headings]
    heads = "".join(
        f'<th scope="col" class="{_kind(heading)}">'
        f'<button type="button">{escape(heading.title)}</button></th>'
        for heading in shown.headings
    )
    body = []
    for index, cells in enumerate(shown.rows):
        line = "".join(
            f'<td class="{_kind(heading, cell)}"{_sort_key(values[place][index])}>{escape(cell)}</td>'
            for place, (heading, cell) in enumerate(zip(shown.headings, cells, strict=True))
        )
        body.append(f"<tr>{line}</tr>\n")
    titles = write_cell_titles("points", [heading.title for heading in shown.headings])
    return f'{titles}<table id="points"><thead><tr>{heads}</tr></thead><tbody>{"".join(body)}</tbody></table>'


def write_cell_titles(table: str, titles: Sequence[str]) -> str:
    """Return the style that writes the heading before each cell where a row is a paragraph, as on a phone."""
    rules = "".join(
        f'#{table} td:nth-child({position})::before{{content:"{_css_text(title)} "}}'
        for position, title in enumerate(titles, 1)
    )
    return f"<style>@media screen and (max-width:640px){{{rules}}}</style>"


def _css_text(text: str) -> str:
    """Return a text that can stand in a string of a style sheet within HTML."""
    plain = " .,()[]%/"
    return "".join(mark if mark.isalnum() or mark in plain else f"\\{ord(mark):x} " for mark in text)


def _more(count: int) -> str:
    """Return the sentence on the rows that are not visible at first, with a button for them."""
    if count <= ROWS_AT_FIRST:
        return ""
    return (
        f'<p id="more" hidden data-first="{ROWS_AT_FIRST}" data-phone="{ROWS_ON_A_PHONE}">'
        f"The first <b>{ROWS_AT_FIRST}</b> of {format_count(count, 'row')} are shown. "
        f'<button id="all" type="button">Show all {format_number(count)}</button></p>'
    )


def _describe_columns(shown: Presentation, rows: pa.Table, session: Session) -> list[dict[str, object]]:
    """Return what the Explore panel needs of each column of the table, at its place `cell`."""
    axes = set(session.axes)
    return [
        {
            "name": heading.column,
            "title": heading.title,
            "cell": index,
            "scale": 1.0 if heading.column in axes else find_scale(heading.column),
            "isNumber": is_number(rows.schema.field(heading.column).type),
            "isAxis": heading.column in axes,
        }
        for index, heading in enumerate(shown.headings)
    ]


def _render_explore(shown: Presentation, session: Session) -> str:
    """Return the panel that plots any column against any other; it is hidden unless scripts run."""
    columns = [heading.column for heading in shown.headings]
    axes = [column for column in columns if column in session.axes]
    if len(shown.rows) < _LEAST_EXPLORED or len(columns) < _LEAST_EXPLORED:
        return ""
    x = CAPACITY if CAPACITY in axes else next(iter(axes), columns[-1])
    others = sorted((column for column in axes if column != x), key=lambda column: column != RAID)
    choices = "".join(
        f'<label>{label} <select id="explore-{name}"></select></label>'
        for name, label in (("y", "Draw"), ("x", "against"), ("colour", "coloured by"))
    )
    chosen = {"x": x, "y": session.result, "colour": next(iter(others), "")}
    data = "".join(f' data-{name}="{escape(column, quote=True)}"' for name, column in chosen.items())
    return (
        f'<section id="explore" hidden{data}><h2>Explore</h2>'
        '<p class="caption">Hover over a dot to see its row. Drag a rectangle or click dots to select; the '
        "table below shows only the selected rows. The filter of the table dims the other dots here. "
        f"{escape(describe_excerpt(session))}</p>"
        f'<p class="controls">{choices}</p><div id="explore-plot"></div>'
        '<p class="caption" id="explore-status" role="status"></p></section>\n'
    )


def _kind(heading: Heading, cell: str = "") -> str:
    """Return the CSS classes of a cell: whether it is a number, empty, or so long that it is broken."""
    kind = "number" if heading.is_number else "text"
    extra = " none" if cell == "–" else " long" if len(cell) > _LONG else ""
    return f"{kind}{extra}"


def _sort_key(value: object) -> str:
    is_quantity = isinstance(value, int | float) and not isinstance(value, bool)
    return f' data-value="{value!r}"' if is_quantity else ""
