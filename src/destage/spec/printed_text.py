"""Texts as they are printed: rows with aligned columns, and control characters escaped.

Control characters of texts from studies and files would command the terminal that shows them.
"""

import re
from collections.abc import Sequence

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""All but newline and tab, with those that change the direction of the text beside them."""


def escape_controls(text: str) -> str:
    r"""Return a text with control characters as JSON has them, `\u001b`; newlines and tabs stay."""
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


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
