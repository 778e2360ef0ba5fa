"""Results, the bounds of objectives, and what misses them, as sentences and facts have them."""

import math

from destage.engine.result_columns import is_share
from destage.queries.text.presentation import find_scale, format_estimate, format_rounded, split_title
from destage.spec.objective import Objective


def name_result(column: str) -> str:
    """Return a result column in words, without its unit."""
    return split_title(column)[0].removesuffix(" fraction")


def name_state(state: str) -> str:
    """Return a state of failure in words: `dead battery`."""
    return state.replace("_", " ")


def show_result(column: str, mean: float, half: float = 0.0) -> str:
    """Return a result with its interval: `8.1 ms (95 % CI 7.9 to 8.3)`.

    Args:
        half: Half of the interval [the column's unit].
    """
    scale, unit = find_scale(column), split_title(column)[1]
    ends = (-math.inf, math.inf)
    if is_share(column):
        scale, unit, ends = 100.0, "%", (0.0, 100.0)
    mean, half = (float(f"{value * scale:.3g}") for value in (mean, half))
    return format_estimate(mean, max(mean - half, ends[0]), min(mean + half, ends[1]), unit, digits=3)


def show_bound(objective: Objective) -> str:
    """Return the bound of an objective: `at most 30 ms`."""
    word = "at most" if objective.is_upper else "at least"
    return f"{word} {show_result(objective.column, objective.bound)}"


def show_bytes(size: int) -> str:
    """Return the size of some data: `40 TB`."""
    for unit, factor in (("TB", 1e12), ("GB", 1e9)):
        if size >= factor:
            return f"{format_rounded(size / factor, 4)} {unit}"
    return f"{format_rounded(size / 1e6)} MB"


def is_overload(binding: str | None) -> bool:
    """Return whether runs are overloaded, by their binding objective or status."""
    return (binding or "").startswith("overloaded")


def describe_failing(verdict: str | None, binding: str | None) -> str:
    """Return why a value is not the answer, as in `miss response_p95 <= 30ms`.

    Args:
        verdict: What all its replicates show, as in `answers`; None for a miss.
        binding: The binding objective, or the status of its runs.
    """
    if verdict == "undecided":
        return f"are not shown to meet {binding}"
    if verdict == "not_stationary":
        return "reach no steady state"
    if verdict == "not_measured":
        return f"have no value for {binding}"
    if verdict == "rebuild_ended":
        return "end the rebuild before the window ends (--set run.window makes it shorter)"
    if binding == "array_failed":
        return "lose more disks than the RAID level tolerates"
    return f"are {binding}" if is_overload(binding) else f"miss {binding}"
