"""The runs of one point in the order of their planning, and what each was for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from destage.queries.opening.session import Session
from destage.queries.text.presentation import format_count, format_number
from destage.spec.objective import Objective

MET, MISSED, UNDECIDED, FAILED, PENDING = "met", "missed", "undecided", "failed", "pending"
"""The verdicts of a run on the objectives of a seek."""
_MISSING_LOAD = ("overloaded", "array_failed")


@dataclass(frozen=True, slots=True)
class HistoryRun:
    """A planned run of a point.

    Attributes:
        probe: The value of the sought parameter; None if the study seeks nothing.
        status: Its status; None before it has been executed.
        row: Its results; empty before it has been executed.
    """

    run_id: str
    replicate: int
    round: int
    probe: int | None
    status: str | None
    row: Mapping[str, Any]

    def judge(self, bounds: Sequence[Objective]) -> str:
        """Return its verdict on the objectives of a seek."""
        if self.status is None:
            return PENDING
        if self.status in _MISSING_LOAD:
            return MISSED
        if self.status == "failed":
            return FAILED
        values = [value for bound in bounds if (value := self.row.get(bound.column)) is not None]
        if self.status != "ok" or len(values) < len(bounds):
            return UNDECIDED
        is_met = all(bound.is_met(value) for bound, value in zip(bounds, values, strict=True))
        return MET if is_met else MISSED


@dataclass(frozen=True, slots=True)
class Bracket:
    """The values of a seek between which the answer is, as far as some runs show.

    Attributes:
        met: The value nearest to the answer at which the objectives are met, if any.
        missed: The value nearest to the answer at which they are missed, if any.
        is_mixed: Whether a value beyond `missed`, or that value, is met in another replicate.
    """

    met: int | None
    missed: int | None
    is_mixed: bool = False

    def describe(self) -> str:
        """Return it in words."""
        if self.met is None and self.missed is None:
            return "no run has met or missed the objectives yet"
        if self.missed is None:
            return f"{format_number(self.met or 0)} met them, and no value has missed them yet"
        if self.met is None:
            return f"{format_number(self.missed)} missed them, and no value has met them yet"
        if self.is_mixed:
            low, high = sorted((self.met, self.missed))
            values = format_number(low) if low == high else f"{format_number(low)} to {format_number(high)}"
            return f"at {values} some replicates met them and others missed them"
        return f"{format_number(self.met)} met them and {format_number(self.missed)} missed them"


def list_history(session: Session, point_id: str) -> list[HistoryRun]:
    """Return the planned runs of a point by round, value and replicate."""
    rows = session.sql(
        "SELECT planned.*, stored_rows.* FROM (SELECT replicate AS planned_replicate, round, "  # noqa: S608
        f"{session.probe} AS probe, run_id AS planned_run FROM plan WHERE point_id = $point) AS planned "
        "LEFT JOIN stored_rows ON planned_run = stored_rows.run_id "
        "ORDER BY planned.round, probe, planned_replicate",
        {"point": point_id},
    ).to_pylist()
    return [
        HistoryRun(
            run_id=row["planned_run"],
            replicate=row["planned_replicate"],
            round=row["round"],
            probe=row["probe"],
            status=row["status"],
            row=row if row["status"] is not None else {},
        )
        for row in rows
    ]


def find_bracket(runs: Sequence[HistoryRun], bounds: Sequence[Objective], *, is_minimum: bool) -> Bracket:
    """Return the bracket that runs show; in noise, the met value may be beyond the missed one."""
    met = [run.probe for run in runs if run.probe is not None and run.judge(bounds) == MET]
    missed = [run.probe for run in runs if run.probe is not None and run.judge(bounds) == MISSED]
    if is_minimum:
        least, most = min(met, default=None), max(missed, default=None)
    else:
        least, most = min(missed, default=None), max(met, default=None)
    is_mixed = least is not None and most is not None and least <= most
    return Bracket(*((least, most) if is_minimum else (most, least)), is_mixed)


def list_probes(runs: Sequence[HistoryRun]) -> list[int]:
    """Return the values that runs try, ascending."""
    return sorted({run.probe for run in runs if run.probe is not None})


def count_met(runs: Sequence[HistoryRun], bounds: Sequence[Objective], value: int) -> str:
    """Return how many replicates meet the objectives at a value."""
    verdicts = [run.judge(bounds) for run in runs if run.probe == value]
    return f"{verdicts.count(MET)} of {format_count(len(verdicts), 'replicate')}"
