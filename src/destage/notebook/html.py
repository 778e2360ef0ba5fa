"""What a notebook shows: tables in HTML, and figures drawn by Destage itself, without a plotting library."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

import pyarrow as pa

from destage.errors import UsageError
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


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure, which a notebook shows.

    Attributes:
        svg: The figure as an SVG document.
    """

    svg: str

    def save(self, file: str | Path) -> Path:
        """Write the figure to an SVG file and return its path."""
        place = Path(file)
        if place.suffix != ".svg":
            message = f"{file}: the file name must end in .svg; figures are SVG"
            raise UsageError("usage.bad-file-type", message, "file")
        place.write_text(self.svg, encoding="utf-8")
        return place

    def _repr_svg_(self) -> str:
        return self.svg
