"""The candidates of `destage size`: the cheapest configurations, and what rules the others out."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from destage.engine import result_columns
from destage.queries.opening.session import Session
from destage.spec.objective import Objective
from destage.sql import quote
from destage.student import half_width, share_below

CONTROLLER, DISK, RAID, DISKS = "controller.use", "array.disk.use", "array.raid", "array.disks"
_PARTS = (CONTROLLER, DISK, RAID)
_EXPOSURE = "dirty_high_bytes"
MORE_EXPENSIVE = "more_expensive"
"""How the search of a candidate ends that costs more than what was to be found."""
REBUILD_ENDED = "rebuild_ended"
"""The verdict on runs that do not measure a rebuild, as it has ended."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A result of a configuration against an objective.

    Attributes:
        mean: The mean over replicates [the column's unit].
        half_width: Half of its 95 % interval.
        factor: How many times the value may still grow (or fall) up to the bound; None without a ratio.
        odds: The probability that the bound is met, from the spread of the replicates.
    """

    objective: Objective
    mean: float
    half_width: float
    factor: float | None
    odds: float


@dataclass(frozen=True, slots=True)
class StateResult:
    """The results of a configuration in a state of failure.

    Attributes:
        state: `during_rebuild` or `dead_battery`.
        disks: The number of disks.
        is_met: Whether the objectives of the state are met with these disks.
        is_always: Whether it is in the state in normal operation, too, so that the runs are the same.
        measured: The results, one per objective; none if a run reached no steady state.
    """

    state: str
    disks: int
    is_met: bool
    is_always: bool
    measured: tuple[Measured, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A family of configurations, and its number of disks.

    Attributes:
        disks: The fewest disks that meet the objectives; None if that is unknown, or none do.
        price: Its price with these disks [currency].
        failing: The most disks below that have runs.
        verdict: What their replicates show together, as `failing_verdict` in `answers`.
        censored: `above` or `more_expensive`, if the search ended with a bound.
        binding: The objective that `failing` disks miss, are not shown to meet or have no value for.
        measured: The results at `disks`, one per objective.
        limiting: The most used resource at `disks`.
        use: Its use, as a fraction.
        states: The results in the states of failure that were asked for; the last one is the one that fails.
    """

    parts: Mapping[str, str]
    disks: int | None
    price: float | None
    failing: int | None
    verdict: str | None
    censored: str | None
    binding: str | None
    measured: tuple[Measured, ...]
    limiting: str | None
    use: float | None
    states: tuple[StateResult, ...] = ()

    @property
    def odds(self) -> float:
        """The probability that all objectives are met, at least."""
        measured = [*self.measured, *(result for each in self.states for result in each.measured)]
        return max(0.0, 1 - sum(1 - result.odds for result in measured))


@dataclass(frozen=True, slots=True)
class BatteryCase:
    """A configuration with its battery and without.

    Attributes:
        columns: The bounded results with the battery, by column.
        without: The same without it; empty if the array cannot carry the load then.
        exposed_bytes: The most dirty data in the protected cache, which a failing battery exposes.
    """

    columns: Mapping[str, float]
    without: Mapping[str, float]
    exposed_bytes: float


def list_candidates(session: Session, objectives: Sequence[Objective]) -> list[Candidate]:
    """Return the candidates of a search: those with a price first, the cheapest at the top."""
    columns = list(
        dict.fromkeys([*(objective.column for objective in objectives), *result_columns.columns_needed()])
    )
    listed = ", ".join(f"replicates.{column}" for column in columns)
    runs = session.sql(
        f"SELECT point_id, {listed} FROM replicates ORDER BY point_id, replicate"  # noqa: S608
    ).to_pylist()
    by_point: dict[str, list[dict[str, Any]]] = {}
    for run in runs:
        by_point.setdefault(run["point_id"], []).append(run)
    answers = session.sql("SELECT * FROM answers ORDER BY price NULLS LAST, passing").to_pylist()
    return [_read_candidate(row, by_point.get(row["point_id"], []), objectives) for row in answers]


def find_battery_case(
    session: Session, parts: Mapping[str, Any], battery: str, columns: Sequence[str]
) -> BatteryCase | None:
    """Return a configuration with its battery and without; None if it has no protected cache.

    Args:
        parts: The values of its axes, by dotted path.
        battery: The dotted path of the state of the battery.
    """
    if battery not in session.axes:
        return None
    listed = ", ".join(
        [f"{quote(battery)} AS battery", *map(quote, [*parts, "n_overloaded", *{*columns, _EXPOSURE}])]
    )
    rows = session.sql_of_named_columns(f"SELECT {listed} FROM points").to_pylist()  # noqa: S608
    cases = {row["battery"]: row for row in rows if all(row[path] == value for path, value in parts.items())}
    if "present" not in cases or "absent" not in cases:
        return None
    return BatteryCase(
        {column: cases["present"][column] for column in columns},
        {} if cases["absent"]["n_overloaded"] else {column: cases["absent"][column] for column in columns},
        cases["present"][_EXPOSURE] or 0.0,
    )


def _read_candidate(
    row: Mapping[str, Any], runs: Sequence[Mapping[str, Any]], objectives: Sequence[Objective]
) -> Candidate:
    is_known = row["censored"] is None and row["passing"] is not None and row["n"]
    runs = runs if is_known else []
    means = _find_means(runs)
    use = _find_use(means)
    return Candidate(
        parts={path: row[path] for path in _PARTS},
        disks=row["passing"] if is_known else None,
        price=row["price"],
        failing=row["failing"],
        verdict=row["failing_verdict"],
        censored=row["censored"],
        binding=row["binding"],
        measured=tuple(
            measure(objective, [run[objective.column] for run in runs]) for objective in objectives if runs
        ),
        limiting=None if use is None else use[0],
        use=None if use is None else use[1],
    )


def _find_means(runs: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    if not runs:
        return {}
    means: dict[str, float | None] = {}
    for column in result_columns.columns_needed():
        values = [run[column] for run in runs if run[column] is not None]
        means[column] = math.fsum(values) / len(values) if values else None
    return means


def _find_use(means: Mapping[str, float | None]) -> tuple[str, float] | None:
    """Return the most used resource and its use."""
    uses = result_columns.list_uses(means)
    return max(uses.items(), key=lambda item: item[1]) if uses else None


def measure(objective: Objective, values: Sequence[float]) -> Measured:
    """Return the results of the replicates of a configuration against an objective."""
    mean, bound = math.fsum(values) / len(values), objective.bound
    factor = None
    if mean > 0 and bound > 0:
        factor = bound / mean if objective.is_upper else mean / bound
    spread = half_width(values)
    if spread:
        below = share_below(values, bound)
        odds = below if objective.is_upper else 1 - below
    else:
        odds = float(objective.is_met(mean))
    return Measured(objective, mean, spread, factor, odds)
