"""The runs of one point in the order of their planning, and what each was for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from destage.queries.presentation import format_count, format_number
from destage.queries.session import Session
from destage.spec.objective import Objective
from destage.sql import quote

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
    probe = "NULL" if session.seek is None else quote(session.seek)
    rows = session.sql(
        f"SELECT plan.replicate, plan.round, plan.{probe} AS probe, plan.run_id AS planned_run, "  # noqa: S608
        "stored_rows.* FROM plan LEFT JOIN stored_rows ON plan.run_id = stored_rows.run_id "
        "WHERE point_id = $point ORDER BY plan.round, probe, plan.replicate".replace("plan.NULL", "NULL"),
        {"point": point_id},
    ).to_pylist()
    return [
        HistoryRun(
            run_id=row["planned_run"],
            replicate=row["replicate"],
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
    if not met or not missed:
        return Bracket(_pick(met, is_minimum), _pick(missed, not is_minimum))
    if is_minimum:
        return Bracket(min(met), max(missed), is_mixed=min(met) <= max(missed))
    return Bracket(max(met), min(missed), is_mixed=max(met) >= min(missed))


def describe_progress(runs: Sequence[HistoryRun], bounds: Sequence[Objective], *, is_minimum: bool) -> str:
    """Return what runs show: the bracket, or of a search for the smallest value, the replicates at each."""
    if not is_minimum:
        return find_bracket(runs, bounds, is_minimum=False).describe()
    values = sorted({run.probe for run in runs if run.probe is not None})
    return "; ".join(f"{count_met(runs, bounds, value)} met the objectives at {value}" for value in values)


def describe_replicates(history: Sequence[HistoryRun], bounds: Sequence[Objective], most: int) -> list[str]:
    """Return the bracket of each of the first replicates of a search for the largest value, if several."""
    replicates = sorted({run.replicate for run in history})
    if len(replicates) == 1:
        return []
    sentences = []
    for replicate in replicates[:most]:
        runs = [run for run in history if run.replicate == replicate]
        sentences.append(f"Replicate {replicate}: {describe_progress(runs, bounds, is_minimum=False)}.")
    return sentences


def count_met(runs: Sequence[HistoryRun], bounds: Sequence[Objective], value: int) -> str:
    """Return how many replicates meet the objectives at a value."""
    verdicts = [run.judge(bounds) for run in runs if run.probe == value]
    return f"{verdicts.count(MET)} of {format_count(len(verdicts), 'replicate')}"


def _pick(values: Sequence[int], is_least: bool) -> int | None:
    return min(values, default=None) if is_least else max(values, default=None)


def explain_planning(
    run: HistoryRun, history: Sequence[HistoryRun], bounds: Sequence[Objective], *, is_minimum: bool
) -> str:
    """Return why a run was planned, from what the earlier rounds of its point had shown."""
    earlier = [one for one in history if one.round < run.round]
    beside = [one for one in history if one.round == run.round]
    if run.probe is None:
        return _explain_replicate(len(earlier), len(beside))
    value = format_number(run.probe)
    if not earlier:
        is_only = len({one.probe for one in beside}) == 1
        which = "the first value" if is_only else "one of the first values"
        return f"{value} is {which} that the search tries"
    known = {one.replicate for one in earlier if one.probe == run.probe and one.replicate != run.replicate}
    together = {one.replicate for one in beside if one.probe == run.probe}
    before = f"before, {describe_progress(earlier, bounds, is_minimum=is_minimum)}"
    if is_minimum:
        if known:
            return (
                f"a further replicate at {value}: {len(known)} had not shown whether it meets the objectives"
            )
        return f"one of {format_count(len(together), 'replicate')} that try {value}; {before}"
    if len(known) > 1:
        return (
            f"a further replicate at {value}, which {len(known)} replicates had run: their interval was "
            "wider than the study asks for"
        )
    what = f"{len(together)} replicates run {value}, near the expected answer"
    if len(together) == 1:
        what = f"replicate {run.replicate} searches for the answer"
    return f"{what}; {before}"


def _explain_replicate(earlier: int, beside: int) -> str:
    """Return why a replicate of a study without a seek was planned."""
    if not earlier:
        return f"one of {format_count(beside, 'replicate')} that the study asks for at every point"
    return (
        f"one of {format_count(beside, 'further replicate')}, as the interval over {earlier} earlier ones "
        "was wider than the study asks for"
    )
