"""Explanations of runs and points: sentences and a small table."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from destage.queries.findings.resource_use import describe_use, find_means, list_uses
from destage.queries.opening.session import Session
from destage.queries.pairs.explained_kinds import KINDS, RESULTS, ListBounds
from destage.queries.pairs.point_choice import describe_point, list_values
from destage.queries.pairs.run_history import (
    PENDING,
    HistoryRun,
    list_history,
)
from destage.queries.text.presentation import (
    begin_sentence,
    find_scale,
    format_count,
    format_number,
    format_rounded,
    split_title,
    title_axis,
)
from destage.spec.objective import Objective
from destage.store.schemas.figure_places import LABEL

_NEEDED = "requests_needed"
_UNSETTLED: Mapping[str, str] = {
    "response": "the response times did not become steady",
    "write_cache": "the write cache did not complete its cycles of filling and destaging",
    "input": "the arrivals did not become steady",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """An explained run or point.

    Attributes:
        title: What is explained, in words.
        sentences: Why it ran, how it ended, what bounds it, and what to change.
        facts: The same as values, for JSON.
    """

    title: str
    sentences: Sequence[str]
    headings: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


class Explainer:
    """Explains the runs and points of an open sweep."""

    def __init__(
        self,
        session: Session,
        list_bounds: ListBounds,
        explain_unsteady: Callable[[Sequence[float]], str],
    ) -> None:
        """Take a sweep.

        Args:
            explain_unsteady: Returns the cause and the remedy of an answer without a steady state, given the
                `requests_needed` of its runs.
        """
        self._session = session
        self._kind = KINDS[session.kind.name](session, list_bounds)
        self._explain_unsteady = explain_unsteady
        self._values = list_values(session)

    def find_runs(self, start: str) -> list[str]:
        """Return the ids of the planned runs that begin with a text."""
        table = self._session.sql(
            "SELECT DISTINCT run_id FROM plan WHERE starts_with(run_id, $start) ORDER BY run_id LIMIT 10",
            {"start": start},
        )
        ids: list[str] = table["run_id"].to_pylist()
        return ids

    def list_unanswered(self) -> list[str]:
        """Return the points without a result; for a seek, those with neither an answer nor a bound.

        An overloaded or failed array is a result.
        """
        answered = {*self._kind.list_answered()}
        return [point for point in self._values if point not in answered]

    def explain_run(self, run_id: str) -> Explanation:
        """Explain a planned run."""
        session = self._session
        points = session.sql(
            "SELECT DISTINCT point_id FROM plan WHERE run_id = $run ORDER BY point_id", {"run": run_id}
        )["point_id"].to_pylist()
        point = points[0]
        history, bounds = list_history(session, point), self._bounds_of(point)
        run = next(run for run in history if run.run_id == run_id)
        rounds = 1 + max(run.round for run in history)
        why = self._kind.explain_planning(run, history, bounds)
        sentences = [f"Planned in round {run.round} (its point has runs up to round {rounds - 1}): {why}."]
        if len(points) > 1:
            others = "; ".join(self._name(other) for other in points[1:4])
            sentences.append(f"It is shared with {format_count(len(points) - 1, 'other point')}: {others}.")
        sentences += self._describe_status(run)
        sentences += [self._judge(run, bound) for bound in bounds if run.status == "ok"]
        if run.status == "ok":
            sentences += describe_use(run.row, self._config(point))
        probe = "" if run.probe is None else f", {title_axis(str(session.seek))} {format_number(run.probe)}"
        return Explanation(
            f"Run {run_id}: replicate {run.replicate}{probe}, of {self._name(point)}",
            sentences,
            ("resource", "in use"),
            [(name, f"{use:.1%}") for name, use in list_uses(run.row)] if run.status == "ok" else (),
            {
                "run_id": run_id,
                "point_ids": points,
                "replicate": run.replicate,
                "round": run.round,
                "value": run.probe,
                "status": run.status,
                "verdict": run.judge(bounds) if session.probed else None,
                "uses": dict(list_uses(run.row)),
            },
        )

    def explain_point(self, point: str) -> Explanation:
        """Explain a planned point."""
        session = self._session
        history, bounds = list_history(session, point), self._bounds_of(point)
        facts: dict[str, Any] = {
            "point_id": point,
            "runs": len(history),
            "statuses": dict(Counter(run.status or PENDING for run in history)),
        }
        statuses = Counter(run.status or "not executed" for run in history)
        listed = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in statuses.most_common())
        rounds = format_count(len({run.round for run in history}), "round")
        sentences = [f"{format_count(len(history), 'run')} in {rounds}: {listed}."]
        answers = session.sql("SELECT * FROM answers WHERE point_id = $point", {"point": point}).to_pylist()
        answer = next(iter(answers), None)
        near = self._kind.choose_runs(history, bounds, answer)
        described, values = self._kind.describe_result(point, history, bounds, answer)
        sentences += described
        facts |= values
        sentences += self._describe_lack(history, answer)
        means = find_means([run.row for run in near])
        facts["uses"] = dict(list_uses(means))
        bounding = describe_use(means, self._config(point))
        if bounding and near and near[0].probe is not None:
            bounding[0] = f"At {title_axis(str(session.seek))} {format_number(near[0].probe)}: {bounding[0]}"
        sentences += bounding
        headings, rows = self._kind.tabulate(history, bounds)
        return Explanation(self._name(point, is_first=True), sentences, headings, rows, facts)

    def _bounds_of(self, point: str) -> Sequence[Objective]:
        label = self._values[point].get(LABEL)
        return self._kind.find_bounds(None if label is None else str(label))

    def _name(self, point: str, *, is_first: bool = False) -> str:
        named = describe_point(self._session, self._values[point], [LABEL, *self._session.axes])
        text = f"point {named}" if named else "the only point"
        return begin_sentence(text) if is_first else text

    def _config(self, point: str) -> Mapping[str, Any]:
        rows = self._session.sql(
            "SELECT plan_row FROM plan WHERE point_id = $point LIMIT 1", {"point": point}
        )
        return self._session.sweep.configuration(rows["plan_row"][0].as_py())

    def _describe_lack(self, history: Sequence[HistoryRun], answer: Mapping[str, Any] | None) -> list[str]:
        """Return why a point has no answer, and what to change."""
        sentences = []
        pending = sum(run.status is None for run in history)
        if pending:
            name = self._session.sweep.path.name
            sentences.append(
                f"{format_count(pending, 'run')} not executed; continue with: destage run {name}."
            )
        errors = Counter(str(run.row.get("error")) for run in history if run.status == "failed")
        sentences += [f"{format_count(count, 'run')} failed: {error}." for error, count in errors.items()]
        unsteady = [run for run in history if run.status == "not_stationary"]
        if unsteady and not self._kind.has_result(history, answer):
            needed = [run.row[_NEEDED] for run in unsteady if run.row.get(_NEEDED) is not None]
            sentences.append(f"{begin_sentence(self._explain_unsteady(needed))}.")
        return sentences

    def _describe_status(self, run: HistoryRun) -> list[str]:
        if run.status is None:
            name = self._session.sweep.path.name
            return [f"It has not been executed; continue with: destage run {name}."]
        row = run.row
        units = {"prov_engine_s": "s in the engine", "events": "events"}
        costs = [
            f"{format_rounded(row[name])} {unit}" for name, unit in units.items() if row.get(name) is not None
        ]
        host = f" on {row['prov_host']}" if row.get("prov_host") else ""
        cost = f" ({', '.join(costs)})" if costs else ""
        sentences = [f"Status {run.status.replace('_', ' ')}{host}{cost}."]
        if run.status == "failed":
            sentences.append(f"The run failed ({row.get('error_kind')}): {row.get('error')}.")
        elif run.status == "not_stationary":
            cause = _UNSETTLED.get(str(row.get("unsettled")), "the run did not become steady")
            needed = [row[_NEEDED]] if row.get(_NEEDED) is not None else []
            sentences.append(f"{begin_sentence(cause)}: {self._explain_unsteady(needed)}.")
        elif run.status in RESULTS:
            sentences.append(RESULTS[run.status])
        return sentences

    @staticmethod
    def _judge(run: HistoryRun, bound: Objective) -> str:
        value = run.row.get(bound.column)
        title, unit = split_title(bound.column)
        if value is None:
            return f"It measured no {title}."
        shown = f"{title} {format_number(value * find_scale(bound.column))} {unit}".rstrip()
        verdict = "meets" if bound.is_met(value) else "misses"
        factor = f" ({format_rounded(value / bound.bound)} of it)" if bound.bound else ""
        return f"{begin_sentence(shown)} {verdict} {bound.text}{factor}."
