"""Why no array can be found for a load, where `destage size` knows it without a search."""

from collections.abc import Mapping

from destage.queries.findings.candidates import name_parts
from destage.queries.text.presentation import split_title
from destage.queries.text.shown_results import show_bytes, show_result
from destage.spec.objective import Objective


def describe_unreachable(
    objective: Objective, value: float, family: Mapping[str, object], disks: int, load: str
) -> str:
    """Return why an objective is out of reach: `even one user misses response_p95 <= 0.1ms with every ...`.

    Args:
        value: The result of one user with one of the arrays [the column's unit].
        family: Controller, disk and RAID level of this array, by dotted path.
        disks: Its number of disks.
        load: The load of that user in words.
    """
    reached = f"{split_title(objective.column)[0]} {show_result(objective.column, value)}"
    return (
        f"even {load} misses {objective.text} with every array considered; for example, it has {reached} "
        f"with {name_parts(family, disks)}"
    )


def describe_not_built(count: int) -> str:
    """Return the end of a reason: how many families are not among those that were examined.

    Args:
        count: The number of families that cannot be built with any number of disks considered.
    """
    combinations = "1 other combination does" if count == 1 else f"{count} other combinations do"
    too_small = "not hold the data with the most disks, or cannot be built; --count allows more disks"
    return f"; {combinations} {too_small}"


def describe_outclassed(
    count: int,
    far: float,
    objective: Objective | None,
    value: float | None,
    family: Mapping[str, object],
    disks: int,
) -> str:
    """Return why no family carries the load, from one run of each with the most disks.

    Args:
        count: The number of families.
        far: How many times a result must be beyond its bound.
        objective: The objective that the best family misses; None if it is overloaded.
        value: Its result [the column's unit].
        family: Controller, disk and RAID level of the best family, by dotted path.
        disks: Its number of disks.
    """
    runs = f"in one run each with the most disks, all {count} combinations of controller, disk and RAID level"
    if objective is None or value is None:
        return f"{runs} are overloaded"
    reached = f"{split_title(objective.column)[0]} {show_result(objective.column, value)}"
    best = f"the best has {reached} ({name_parts(family, disks)})"
    return f"{runs} are overloaded or miss an objective by more than a factor of {far:g}; {best}"


def describe_too_small(data: int, usable: int, family: Mapping[str, object], disks: int) -> str:
    """Return why no configuration holds the data.

    Args:
        data: The size of the data [bytes].
        usable: The largest usable capacity of all that are considered [bytes].
        family: Controller, disk and RAID level of the configuration that has it, by dotted path.
        disks: Its number of disks.
    """
    largest = f"the largest configuration holds {show_bytes(usable)} ({name_parts(family, disks)})"
    asked = f"{show_bytes(data)} of data were asked for"
    return f"{asked}, and {largest}; --count, --disks and --raid allow larger ones"
