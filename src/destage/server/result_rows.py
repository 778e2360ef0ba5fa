"""The rows of a statement for the page: as in a table on a terminal, and no more than a browser can show."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from destage.errors import QueryError
from destage.queries.presentation import present

MOST_ROWS = 1_000
"""Rows of a result that the page shows."""
_MOST_BYTES = 4 << 20
"""Their size in memory [bytes]."""
_LONGEST = 2_000
"""Longest text of a cell [characters]."""


def encode_result(table: pa.Table, units: Mapping[str, str]) -> dict[str, Any]:
    """Return headings and cells as JSON values, and how many rows were left out.

    Raises:
        QueryError: Not even the first row fits.
    """
    count = min(table.num_rows, MOST_ROWS)
    while count > 1 and table.slice(0, count).nbytes > _MOST_BYTES:
        count //= 2
    shown = table.slice(0, count)
    if shown.nbytes > _MOST_BYTES:
        message = f"a row needs more than {_MOST_BYTES >> 20} MiB; select fewer or shorter values"
        raise QueryError("query.row-too-large", message, data={"limit_bytes": _MOST_BYTES})
    cells = present(shown, units)
    return {
        "headings": [
            {"title": heading.title, "name": heading.column, "is_number": heading.is_number}
            for heading in cells.headings
        ],
        "rows": [[_shorten(cell) for cell in row] for row in cells.rows],
        "row_count": table.num_rows,
        "left_out": table.num_rows - count,
    }


def _shorten(cell: str) -> str:
    return cell if len(cell) <= _LONGEST else f"{cell[: _LONGEST - 1]}…"
