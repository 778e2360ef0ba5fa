"""The rows of a statement for the page: as in a table on a terminal, and no more than a browser can show."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from destage.errors import QueryError
from destage.queries.text.presentation import present

MOST_ROWS = 1_000
"""Rows of a result that the page shows."""
MOST_BYTES = 4 << 20
"""The size in memory of the rows that the page shows, of all statements of a request [bytes]."""
_LONGEST = 2_000
"""Longest text of a cell [characters]."""


def encode_result(table: pa.Table, units: Mapping[str, str], room: int) -> tuple[dict[str, Any], int]:
    """Return headings, cells and what was left out as JSON values, and the size of the rows [bytes].

    Args:
        room: The size that the rows may have [bytes].

    Raises:
        QueryError: Not even the first row fits, or a value has no text.
    """
    count = min(table.num_rows, MOST_ROWS)
    while count > 1 and table.slice(0, count).nbytes > room:
        count //= 2
    shown = table.slice(0, count)
    if shown.nbytes > room:
        message = f"the rows need more than {MOST_BYTES >> 20} MiB; select fewer or shorter values"
        raise QueryError("query.row-too-large", message, data={"limit_bytes": MOST_BYTES})
    cells = present(shown, units)
    result = {
        "headings": [
            {"title": heading.title, "name": heading.column, "is_number": heading.is_number}
            for heading in cells.headings
        ],
        "rows": [[_shorten(cell) for cell in row] for row in cells.rows],
        "row_count": table.num_rows,
        "left_out": table.num_rows - count,
    }
    return result, shown.nbytes


def _shorten(cell: str) -> str:
    return cell if len(cell) <= _LONGEST else f"{cell[: _LONGEST - 1]}…"
