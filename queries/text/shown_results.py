"""Results with their intervals, and the bounds of objectives, as sentences and facts have them."""

from destage.queries.text.presentation import CONFIDENCE, find_scale, format_number, split_title
from destage.spec.objective import Objective


def name_result(column: str) -> str:
    """Return a result column in words, without its unit."""
    return split_title(column)[0].removesuffix(" fraction")


def show_result(column: str, mean: float, half: float = 0.0) -> str:
    """Return a result with its interval: `8.1 ms (95 % CI 7.9 to 8.3)`.

    Args:
        half: Half of the interval [the column's unit].
    """
    scale, unit = find_scale(column), split_title(column)[1]
    if column.endswith(("_fraction", "_ratio")):
        scale, unit = 100.0, "%"
    mean, half = round_to(mean * scale, 3), round_to(half * scale, 3)
    text = f"{format_number(mean)} {unit}".rstrip()
    low, high = round_to(mean - half, 3), round_to(mean + half, 3)
    if half and format_number(low) != format_number(high):
        text += f" ({CONFIDENCE} {format_number(low)} to {format_number(high)})"
    return text


def show_bound(objective: Objective) -> str:
    """Return the bound of an objective: `at most 30 ms`."""
    word = "at most" if objective.is_upper else "at least"
    return f"{word} {show_result(objective.column, objective.bound)}"


def show_bytes(size: int) -> str:
    """Return the size of some data: `40 TB`."""
    for unit, factor in (("TB", 1e12), ("GB", 1e9)):
        if size >= factor:
            return f"{format_number(round_to(size / factor, 4))} {unit}"
    return f"{format_number(round_to(size / 1e6, 3))} MB"


def round_to(value: float, digits: int) -> float:
    """Return a value with a number of significant digits."""
    return float(f"{value:.{digits}g}")
