"""An array under a load, as the replicates of a search for the smallest number of disks judge it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from destage.queries.findings import resource_use
from destage.queries.findings.candidates import Measured, measure
from destage.queries.opening.session import Session
from destage.spec.objective import Objective
from destage.sql import quote
from destage.student import half_width

HIT_RATIO = "hit_ratio"
_DISKS = "array.disks"


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
        measured: The results at `disks`, one per objective; none if a run reached no steady state.
        hit_ratio: Its mean and half of its 95 % interval; None where no request could hit.
        means: The means of the use of each resource.
    """

    label: str | None
    disks: int
    is_met: bool
    failing: int | None
    verdict: str | None
    binding: str | None
    measured: tuple[Measured, ...]
    hit_ratio: tuple[float, float] | None
    means: Mapping[str, float | None]

    @property
    def excess(self) -> float:
        """How many times a result is beyond its bound, of the objective that is missed by most."""
        factors = [result.factor for result in self.measured if result.factor is not None]
        least = min(factors, default=0.0)
        return 1 / least if least else math.inf


def list_judged(session: Session, objectives: Sequence[Objective]) -> list[JudgedArray]:
    """Return the points of a search, in the order of the study."""
    columns = dict.fromkeys([*(each.column for each in objectives), HIT_RATIO, *resource_use.COLUMNS])
    listed = ", ".join(["point_id", f"{quote(_DISKS)} AS disks", "status", *columns])
    runs = session.sql(f"SELECT {listed} FROM runs ORDER BY point_id, replicate").to_pylist()  # noqa: S608
    answers = session.sql("SELECT * FROM answers ORDER BY plan_row").to_pylist()
    return [_judge(answer, runs, objectives) for answer in answers]


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
        measured=tuple(
            measure(objective, [run[objective.column] for run in mine])
            for objective in objectives
            if is_measured
        ),
        hit_ratio=(math.fsum(hits) / len(hits), half_width(hits)) if hits else None,
        means=resource_use.find_means(mine),
    )
