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
    mean, half = _three(mean * scale), _three(half * scale)
    text = f"{format_number(mean)} {unit}".rstrip()
    low, high = _three(mean - half), _three(mean + half)
    if half and format_number(low) != format_number(high):
        text += f" ({CONFIDENCE} {format_number(low)} to {format_number(high)})"
    return text


def show_bound(objective: Objective) -> str:
    """Return the bound of an objective: `at most 30 ms`."""
    word = "at most" if objective.is_upper else "at least"
    return f"{word} {show_result(objective.column, objective.bound)}"


def _three(value: float) -> float:
    return float(f"{value:.3g}")
