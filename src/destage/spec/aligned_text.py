"""Rows of texts with aligned columns."""

from collections.abc import Sequence


def align_cells(rows: Sequence[Sequence[str]], left: int = 0, *, ends_in_text: bool = False) -> str:
    """Return rows as text with aligned columns, the first `left` of them to the left.

    Args:
        ends_in_text: Whether the last column is to the left, too.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    last = len(widths) - 1 if ends_in_text else len(widths)
    lines = (
        "  ".join(
            cell.ljust(width) if place < left or place == last else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return "".join(f"{line.rstrip()}\n" for line in lines)
