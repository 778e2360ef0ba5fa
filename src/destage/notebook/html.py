"""Tables in HTML for notebooks."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape

import pyarrow as pa

from destage.queries.text.presentation import present

MOST_ROWS = 100
"""Maximum rows of a table in a notebook."""


def render_table(rows: pa.Table, units: Mapping[str, str]) -> str:
    """Return rows as an HTML table, as people read them.

    Args:
        units: The base unit of each axis, by its dotted path.
    """
    shown = present(rows.slice(0, MOST_ROWS), units)
    table = render_cells([heading.title for heading in shown.headings], shown.rows)
    if rows.num_rows <= MOST_ROWS:
        return table
    return f"{table}<p>First {MOST_ROWS} of {rows.num_rows:,} rows.</p>"


def render_cells(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return texts as an HTML table."""
    head = "".join(f"<th>{escape(title)}</th>" for title in titles)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def render_sentences(sentences: Iterable[str]) -> str:
    """Return sentences as HTML paragraphs."""
    return "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
