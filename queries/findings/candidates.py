"""The arrays that `destage size` judges: candidates with what rules them out, and an array at hand."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from destage.engine import catalog, result_columns
from destage.queries.findings import resource_use
from destage.queries.opening.session import Session
from destage.queries.text.presentation import format_axis_value
from destage.spec.objective import DURING_REBUILD, NORMAL, Objective
from destage.sql import quote
from destage.student import half_width, share_below

CONTROLLER, DISK, RAID, DISKS = "controller.use", "array.disk.use", "array.raid", "array.disks"
_PARTS = (CONTROLLER, DISK, RAID)
_EXPOSURE = "dirty_high_bytes"
MORE_EXPENSIVE = "more_expensive"
"""How the search of a candidate ends that costs more than what was to be found."""
REBUILD_ENDED = "rebuild_ended"
"""The verdict on runs that do not measure a rebuild, as it has ended."""
HIT_RATIO = "hit_ratio"
_REBUILT = "rebuild_s"
"""How long a rebuild took that has ended."""


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


def _join_odds(measured: Sequence[Measured]) -> float:
    """Return the probability that all objectives are met, at least."""
    return max(0.0, 1 - sum(1 - result.odds for result in measured))


@dataclass(frozen=True, slots=True)
class JudgedArray:
    """A point of a search, at its answer; at the most disks if it has none.

    Attributes:
        label: The label of the point.
        disks: The number of disks.
        is_met: Whether the objectives are met with these disks.
        failing: The most disks below that have runs and are not shown to meet the objectives.
        verdict: What the replicates of the failing number show, as `failing_verdict` in `answers`.
        binding: The objective that they miss, are not shown to meet or have no value for.
        objectives: What its results are to meet, whether it has them or not.
        measured: The results at `disks`, one per objective; none if a run reached no steady state.
        hit_ratio: Its mean and half of its 95 % interval; None where no request could hit.
        means: The means of the use of each resource.
        state: `normal`, or a state of failure: `during_rebuild` or `dead_battery`.
        is_always: Whether it is in this state in normal operation, too, so that the runs are the same.
        states: The same array in the states of failure that it was examined in, if this is normal operation.
    """

    label: str | None
    disks: int
    is_met: bool
    failing: int | None
    verdict: str | None
    binding: str | None
    objectives: tuple[Objective, ...]
    measured: tuple[Measured, ...]
    hit_ratio: tuple[float, float] | None
    means: Mapping[str, float | None]
    state: str = NORMAL
    is_always: bool = False
    states: tuple["JudgedArray", ...] = ()

    @property
    def missed(self) -> list["JudgedArray"]:
        """The states, with normal operation, in which an objective is not met."""
        return [one for one in (self, *self.states) if not one.is_met]

    @property
    def fits(self) -> bool:
        """Whether the objectives of all states are met."""
        return not self.missed

    @property
    def excess(self) -> float:
        """How many times a result is beyond its bound, of the objective that is missed by most."""
        factors = [result.factor for result in self.measured if result.factor is not None]
        least = min(factors, default=0.0)
        return max([1 / least if least else math.inf, *(one.excess for one in self.states)])

    @property
    def odds(self) -> float:
        """The probability that all objectives of all states are met, at least; 0 without results."""
        measured = [one.measured for one in (self, *self.states)]
        return _join_odds([result for each in measured for result in each]) if all(measured) else 0.0


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
    states: tuple[JudgedArray, ...] = ()

    @property
    def odds(self) -> float:
        """The probability that all objectives are met, at least."""
        return _join_odds([*self.measured, *(result for each in self.states for result in each.measured)])


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
    cases: dict[str, dict[str, Any]] = {}
    for row in _read_compared(session, parts, battery, [*columns, _EXPOSURE]):
        cases.setdefault(row[battery], row)
    if "present" not in cases or "absent" not in cases:
        return None
    return BatteryCase(
        {column: cases["present"][column] for column in columns},
        {} if cases["absent"]["n_overloaded"] else {column: cases["absent"][column] for column in columns},
        cases["present"][_EXPOSURE] or 0.0,
    )


def find_destages(
    session: Session, parts: Mapping[str, Any], depth: str, columns: Sequence[str]
) -> dict[int, dict[str, float]]:
    """Return the bounded results of a configuration with other numbers of destages in flight than its own.

    They are empty where the array cannot carry the load.

    Args:
        parts: The values of its axes, by dotted path.
        depth: The dotted path of the number of destages.
    """
    rows = _read_compared(session, parts, depth, columns) if depth in session.axes else []
    return {
        row[depth]: {} if row["n_overloaded"] else {column: row[column] for column in columns}
        for row in rows
        if row[depth] != rows[0][depth]
    }


def _read_compared(
    session: Session, parts: Mapping[str, Any], axis: str, columns: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the points of a configuration with an axis, its own values first."""
    listed = ", ".join(map(quote, dict.fromkeys([*parts, axis, "n_overloaded", *columns])))
    rows = session.sql_of_named_columns(f"SELECT {listed} FROM points ORDER BY plan_row").to_pylist()  # noqa: S608
    return [row for row in rows if all(row[path] == value for path, value in parts.items())]


def _read_candidate(
    row: Mapping[str, Any], runs: Sequence[Mapping[str, Any]], objectives: Sequence[Objective]
) -> Candidate:
    is_known = row["censored"] is None and row["passing"] is not None and row["n"]
    runs = runs if is_known else []
    means = resource_use.find_means(runs)
    uses = result_columns.list_uses(means)
    limiting = max(uses, key=lambda resource: uses[resource], default=None)
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
        limiting=limiting,
        use=None if limiting is None else uses[limiting],
    )


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


def list_judged(session: Session, objectives: Sequence[Objective], state: str = NORMAL) -> list[JudgedArray]:
    """Return the points of a search in a state, in the order of the study; no rebuild may end in its runs."""
    columns = dict.fromkeys(
        [*(each.column for each in objectives), HIT_RATIO, _REBUILT, *resource_use.COLUMNS]
    )
    listed = ", ".join(["point_id", f"{quote(DISKS)} AS disks", "status", *columns])
    runs = session.sql(f"SELECT {listed} FROM runs ORDER BY point_id, replicate").to_pylist()  # noqa: S608
    answers = session.sql("SELECT * FROM answers ORDER BY plan_row").to_pylist()
    judged = [_judge(answer, runs, objectives) for answer in answers]
    ended = {(run["point_id"], run["disks"]) for run in runs if run[_REBUILT] is not None}
    return [
        replace(array, state=state, is_met=False, verdict=REBUILD_ENDED)
        if state == DURING_REBUILD and (answer["point_id"], array.disks) in ended
        else replace(array, state=state)
        for answer, array in zip(answers, judged, strict=True)
    ]


def _judge(
    answer: Mapping[str, Any], runs: Sequence[Mapping[str, Any]], objectives: Sequence[Objective]
) -> JudgedArray:
    is_met = answer["censored"] is None and answer["passing"] is not None
    disks = answer["passing"] if is_met else answer["failing"]
    mine = [run for run in runs if run["point_id"] == answer["point_id"] and run["disks"] == disks]
    columns = {objective.column for objective in objectives}
    is_measured = mine and all(
        run["status"] == "ok" and all(run[column] is not None for column in columns) for run in mine
    )
    hits = [run[HIT_RATIO] for run in mine if run[HIT_RATIO] is not None]
    return JudgedArray(
        label=answer["label"],
        disks=disks,
        is_met=is_met,
        failing=answer["failing"],
        verdict=answer["failing_verdict"],
        binding=answer["binding"],
        objectives=tuple(objectives),
        measured=tuple(
            measure(objective, [run[objective.column] for run in mine])
            for objective in objectives
            if is_measured
        ),
        hit_ratio=(math.fsum(hits) / len(hits), half_width(hits)) if hits else None,
        means=resource_use.find_means(mine),
    )


def name_parts(parts: Mapping[str, object], disks: int | None, spares: int = 0) -> str:
    """Return parts by their product names."""
    count = "" if disks is None else f"{disks} x "
    disk = catalog.entry("disks", str(parts[DISK])).title
    controller = catalog.entry("controllers", str(parts[CONTROLLER])).title
    spare = f"{spares} hot spare{'s' if spares > 1 else ''}, " if spares else ""
    return f"{count}{disk}, RAID {format_axis_value(RAID, parts[RAID], None)}, {spare}{controller}"
