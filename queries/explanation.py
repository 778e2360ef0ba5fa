"""Explanations of runs and points: sentences and a small table."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from destage.queries.failing_verdicts import describe_failing
from destage.queries.point_choice import describe_point, list_values
from destage.queries.presentation import (
    begin_sentence,
    find_scale,
    format_count,
    format_estimate,
    format_number,
    title_axis,
    title_column,
)
from destage.queries.resource_use import describe_use, find_means, list_uses
from destage.queries.run_history import (
    FAILED,
    MET,
    MISSED,
    PENDING,
    UNDECIDED,
    Bracket,
    HistoryRun,
    count_met,
    describe_progress,
    describe_replicates,
    explain_planning,
    find_bracket,
    list_history,
)
from destage.queries.session import Session
from destage.spec.axis_names import MINIMIZE
from destage.spec.objective import Objective
from destage.store.places import LABEL

_NEEDED = "requests_needed"
_MOST_BRACKETS = 8
_CENSORED: Mapping[str, str] = {
    "at_least": "The answer is only a bound: the objectives are met up to the largest value of the search; "
    "raise seek.max to find it.",
    "below": "The answer is only a bound: not even the smallest value of the search meets the objectives; "
    "relax them, change the configuration, or lower seek.min.",
    "above": "The answer is only a bound: not even the largest value of the search meets the objectives; "
    "raise seek.max or change the configuration.",
    "more_expensive": "The search ended without an answer: any possible answer costs more than other points.",
}
_RESULTS: Mapping[str, str] = {
    "overloaded": "The load exceeds what the array can carry: requests arrive faster than they are served.",
    "array_failed": "The array lost more disks than its RAID level tolerates.",
}
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
        headings: The headings of its table.
        rows: The rows of its table.
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
        list_bounds: Callable[[str | None], Sequence[Objective]],
        explain_unsteady: Callable[[Sequence[float]], str],
    ) -> None:
        """Take a sweep.

        Args:
            list_bounds: Returns the objectives of the point with a label.
            explain_unsteady: Returns the cause and the remedy of an answer without a steady state, given the
                `requests_needed` of its runs.
        """
        self._session = session
        self._list_bounds = list_bounds
        self._explain_unsteady = explain_unsteady
        self._values = list_values(session)
        self._is_minimum = MINIMIZE in (session.spec.get("seek") or {})

    def find_runs(self, start: str) -> list[str]:
        """Return the ids of the planned runs that begin with a text."""
        found = self._session.sql(
            "SELECT DISTINCT run_id FROM plan WHERE starts_with(run_id, $start) ORDER BY run_id LIMIT 10",
            {"start": start},
        )
        ids: list[str] = found["run_id"].to_pylist()
        return ids

    def list_unanswered(self) -> list[str]:
        """Return the points without a result; for a seek, those with neither an answer nor a bound.

        An overloaded or failed array is a result.
        """
        session = self._session
        if session.seek is None:
            rows = session.sql_of_named_columns(
                "SELECT point_id FROM points WHERE n = 0 AND n_overloaded = 0 AND n_array_failed = 0 "
                "ORDER BY plan_row"
            )
            ids: list[str] = rows["point_id"].to_pylist()
            return ids
        answered = {
            row["point_id"]
            for row in session.sql("SELECT * FROM answers").to_pylist()
            if row[session.answer] is not None or row["censored"] is not None
        }
        return [point for point in self._values if point not in answered]

    def explain_run(self, run_id: str) -> Explanation:
        """Explain a planned run."""
        session = self._session
        points = session.sql(
            "SELECT DISTINCT point_id FROM plan WHERE run_id = $run ORDER BY point_id", {"run": run_id}
        )["point_id"].to_pylist()
        point = points[0]
        history, bounds = list_history(session, point), self._bounds_of(point)
        run = next(one for one in history if one.run_id == run_id)
        rounds = 1 + max(one.round for one in history)
        why = explain_planning(run, history, bounds, is_minimum=self._is_minimum)
        sentences = [f"Planned in round {run.round} (its point has runs up to round {rounds - 1}): {why}."]
        if len(points) > 1:
            others = "; ".join(self._name(one) for one in points[1:4])
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
                "verdict": run.judge(bounds) if session.seek is not None else None,
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
        sentences = [self._count_runs(history)]
        answer = self._find_answer(point)
        bracket = find_bracket(history, bounds, is_minimum=self._is_minimum)
        near = self._choose_runs(history, bracket, answer)
        if session.seek is None:
            sentences += self._describe_result(point, facts["statuses"])
        else:
            facts |= {"met": bracket.met, "missed": bracket.missed, "answer": answer}
            sentences += self._describe_search(history, bounds, answer)
        sentences += self._describe_lack(history, answer)
        means = find_means([run.row for run in near])
        facts["uses"] = dict(list_uses(means))
        bounding = describe_use(means, self._config(point))
        if bounding and near and near[0].probe is not None:
            bounding[0] = f"At {title_axis(str(session.seek))} {format_number(near[0].probe)}: {bounding[0]}"
        sentences += bounding
        headings, rows = self._tabulate(history, bounds)
        return Explanation(self._name(point, is_first=True), sentences, headings, rows, facts)

    def _bounds_of(self, point: str) -> Sequence[Objective]:
        if self._session.seek is None:
            return ()
        label = self._values[point].get(LABEL)
        return self._list_bounds(None if label is None else str(label))

    def _name(self, point: str, *, is_first: bool = False) -> str:
        named = describe_point(self._session, self._values[point], [LABEL, *self._session.axes])
        text = f"point {named}" if named else "the only point"
        return text[0].upper() + text[1:] if is_first else text

    def _config(self, point: str) -> Mapping[str, Any]:
        rows = self._session.sql(
            "SELECT plan_row FROM plan WHERE point_id = $point LIMIT 1", {"point": point}
        )
        return self._session.sweep.configuration(rows["plan_row"][0].as_py())

    def _find_answer(self, point: str) -> dict[str, Any] | None:
        rows = self._session.sql(
            "SELECT * FROM answers WHERE point_id = $point", {"point": point}
        ).to_pylist()
        return rows[0] if rows else None

    def _choose_runs(
        self, history: Sequence[HistoryRun], bracket: Bracket, answer: Mapping[str, Any] | None
    ) -> list[HistoryRun]:
        """Return the runs that show what bounds a point; for a seek, those nearest to the answer."""
        done = [run for run in history if run.status == "ok"]
        if self._session.seek is None:
            return done
        found = {} if answer is None else answer
        nearest = (found.get("failing"), found.get("passing"), bracket.missed, bracket.met)
        for value in nearest:
            if runs := [run for run in done if value is not None and run.probe == value]:
                return runs
        return []

    @staticmethod
    def _count_runs(history: Sequence[HistoryRun]) -> str:
        statuses = Counter(run.status or "not executed" for run in history)
        listed = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in statuses.most_common())
        rounds = len({run.round for run in history})
        return f"{format_count(len(history), 'run')} in {format_count(rounds, 'round')}: {listed}."

    def _describe_result(self, point: str, statuses: Collection[str]) -> list[str]:
        """Return the result of a point of a study without a seek."""
        name = self._session.result
        rows = self._session.sql_of_named_columns(
            f"SELECT {name}, {name}_low AS low, {name}_high AS high FROM points WHERE point_id = $point",  # noqa: S608
            {"point": point},
        ).to_pylist()
        if not rows or rows[0][name] is None:
            return [_RESULTS[status] for status in _RESULTS if status in statuses]
        scale = find_scale(name)
        mean, low, high = (None if each is None else each * scale for each in rows[0].values())
        title, _, unit = title_column(name).partition(" [")
        estimate = format_estimate(mean or 0.0, low, high, unit.rstrip("]"))
        return [f"{title[0].upper()}{title[1:]}: {estimate}."]

    def _describe_search(
        self,
        history: Sequence[HistoryRun],
        bounds: Sequence[Objective],
        answer: Mapping[str, Any] | None,
    ) -> list[str]:
        objectives = " and ".join(bound.text for bound in bounds)
        if answer is None:
            shown = describe_progress(history, bounds, is_minimum=self._is_minimum)
            return [
                f"The search for {objectives} has not ended: {shown}.",
                *([] if self._is_minimum else describe_replicates(history, bounds, _MOST_BRACKETS)),
            ]
        name = self._session.answer
        title = begin_sentence(title_column(name))
        sentences = []
        if answer[name] is not None and answer["censored"] is None:
            estimate = format_estimate(answer[name], answer[f"{name}_low"], answer[f"{name}_high"])
            sentences.append(f"{title}: {estimate}, from {format_count(answer['n'], 'replicate')}.")
        if answer["censored"] is not None:
            sentences.append(_CENSORED[answer["censored"]])
        sides = [
            f"{count_met(history, bounds, value)} at {format_number(value)}"
            for value in (answer["passing"], answer["failing"])
            if value is not None
        ]
        if sides:
            sentences.append(f"Around the answer, the objectives are met by {' and '.join(sides)}.")
        if answer["failing_verdict"] is not None:
            verdict = describe_failing(answer["failing_verdict"], answer["binding"])
            what = title.split()[0].lower()
            sentences.append(f"{format_number(answer['failing'])} {what} {verdict}.")
        elif answer["binding"] is not None:
            sentences.append(f"The binding objective is {answer['binding']}.")
        if answer["monotone"] is False:
            sentences.append(
                "A run met the objectives well above the answer, or missed them well below it: see the table."
            )
        return sentences

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
        has_result = any(run.status == "ok" for run in history) and self._session.seek is None
        is_found = answer is not None and (answer["n"] or answer["censored"] is not None)
        if unsteady and not has_result and not is_found:
            needed = [run.row[_NEEDED] for run in unsteady if run.row.get(_NEEDED) is not None]
            text = self._explain_unsteady(needed)
            sentences.append(f"{text[0].upper()}{text[1:]}.")
        return sentences

    def _describe_status(self, run: HistoryRun) -> list[str]:
        if run.status is None:
            name = self._session.sweep.path.name
            return [f"It has not been executed; continue with: destage run {name}."]
        row = run.row
        cost = ", ".join(
            [
                f"{format_number(float(f'{row[name]:.3g}'))} {unit}"
                for name, unit in (("prov_engine_s", "s in the engine"), ("events", "events"))
                if row.get(name) is not None
            ]
        )
        host = f" on {row['prov_host']}" if row.get("prov_host") else ""
        text = f"Status {run.status.replace('_', ' ')}{host}" + (f" ({cost})" if cost else "") + "."
        details = []
        if run.status == "failed":
            details.append(f"The run failed ({row.get('error_kind')}): {row.get('error')}.")
        elif run.status == "not_stationary":
            cause = _UNSETTLED.get(str(row.get("unsettled")), "the run did not become steady")
            needed = [row[_NEEDED]] if row.get(_NEEDED) is not None else []
            details.append(f"{cause[0].upper()}{cause[1:]}: {self._explain_unsteady(needed)}.")
        elif run.status in _RESULTS:
            details.append(_RESULTS[run.status])
        return [text, *details]

    @staticmethod
    def _judge(run: HistoryRun, bound: Objective) -> str:
        value = run.row.get(bound.column)
        title, _, unit = title_column(bound.column).partition(" [")
        if value is None:
            return f"It measured no {title}."
        shown = f"{title} {format_number(value * find_scale(bound.column))} {unit.rstrip(']')}".rstrip()
        verdict = "meets" if bound.is_met(value) else "misses"
        factor = f" ({format_number(float(f'{value / bound.bound:.3g}'))} of it)" if bound.bound else ""
        return f"{shown[0].upper()}{shown[1:]} {verdict} {bound.text}{factor}."

    def _tabulate(
        self, history: Sequence[HistoryRun], bounds: Sequence[Objective]
    ) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return the table of a point: a row per value of a seek, otherwise a row per replicate."""
        session = self._session
        columns = [bound.column for bound in bounds] or [session.result]
        titles = [title_column(column) for column in dict.fromkeys(columns)]
        if session.seek is None:
            rows = [
                (str(run.replicate), run.run_id[:8], run.status or PENDING, *self._measure([run], columns))
                for run in history
            ]
            return ("replicate", "run", "status", *titles), rows
        values = sorted({run.probe for run in history if run.probe is not None})
        rows = []
        for value in values:
            runs = [run for run in history if run.probe == value]
            counts = Counter(run.judge(bounds) for run in runs)
            verdicts = [f"{counts[each]}" if counts[each] else "" for each in (MET, MISSED)]
            others = ", ".join(
                f"{counts[each]} {each}" for each in (UNDECIDED, FAILED, PENDING) if counts[each]
            )
            listed = sorted({run.round for run in runs})
            rounds = str(listed[0]) if len(listed) == 1 else f"{listed[0]}-{listed[-1]}"
            rows.append((format_number(value), rounds, *verdicts, others, *self._measure(runs, columns)))
        headings = (title_axis(session.seek), "round", MET, MISSED, "other", *titles)
        return headings, rows

    @staticmethod
    def _measure(runs: Sequence[HistoryRun], columns: Sequence[str]) -> list[str]:
        """Return the range of each column over runs."""
        cells = []
        for column in dict.fromkeys(columns):
            values = [run.row[column] * find_scale(column) for run in runs if run.row.get(column) is not None]
            ends = dict.fromkeys(format_number(end) for end in (min(values), max(values))) if values else {}
            cells.append(" to ".join(ends))
        return cells
