"""What explains the points of each kind of study: why runs were planned, the result, the table of runs."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from destage.queries.opening.session import Session
from destage.queries.pairs.run_history import (
    FAILED,
    MET,
    MISSED,
    PENDING,
    UNDECIDED,
    HistoryRun,
    count_met,
    find_bracket,
    list_probes,
)
from destage.queries.text.presentation import (
    begin_sentence,
    find_scale,
    format_count,
    format_estimate,
    format_number,
    split_title,
    title_axis,
    title_column,
)
from destage.queries.text.shown_results import describe_failing
from destage.spec.objective import Objective

Answer = Mapping[str, Any]
ListBounds = Callable[[str | None], Sequence[Objective]]
"""Returns the objectives of the point with a label."""
Table = tuple[tuple[str, ...], list[tuple[str, ...]]]
"""Headings and rows."""
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
RESULTS: Mapping[str, str] = {
    "overloaded": "The load exceeds what the array can carry: requests arrive faster than they are served.",
    "array_failed": "The array lost more disks than its RAID level tolerates.",
}
"""The statuses that are results, as sentences."""


class Means:
    """A study that seeks nothing: all runs of a point give its result."""

    def __init__(self, session: Session, list_bounds: ListBounds) -> None:
        self._session = session
        self._list_bounds = list_bounds

    def find_bounds(self, label: str | None) -> Sequence[Objective]:
        """Return the objectives of the point with a label."""
        del label
        return ()

    def list_answered(self) -> list[str]:
        """Return the points with a mean, an overload or a failed array."""
        rows = self._session.sql_of_named_columns(
            "SELECT point_id FROM points WHERE n > 0 OR n_overloaded > 0 OR n_array_failed > 0"
        )
        ids: list[str] = rows["point_id"].to_pylist()
        return ids

    def explain_planning(
        self, run: HistoryRun, history: Sequence[HistoryRun], bounds: Sequence[Objective]
    ) -> str:
        """Return why a run was planned, from what the earlier rounds of its point had shown."""
        del bounds
        earlier = sum(other.round < run.round for other in history)
        beside = sum(other.round == run.round for other in history)
        if not earlier:
            return f"one of {format_count(beside, 'replicate')} that the study asks for at every point"
        return (
            f"one of {format_count(beside, 'further replicate')}, as the interval over {earlier} earlier "
            "ones was wider than the study asks for"
        )

    def describe_result(
        self, point: str, history: Sequence[HistoryRun], bounds: Sequence[Objective], answer: Answer | None
    ) -> tuple[list[str], dict[str, Any]]:
        """Return sentences on the result of a point, and the same as values."""
        del bounds, answer
        name = self._session.result
        rows = self._session.sql_of_named_columns(
            f"SELECT {name}, {name}_low AS low, {name}_high AS high FROM points WHERE point_id = $point",  # noqa: S608
            {"point": point},
        ).to_pylist()
        if not rows or rows[0][name] is None:
            statuses = {run.status for run in history}
            return [text for status, text in RESULTS.items() if status in statuses], {}
        scale = find_scale(name)
        mean, low, high = (None if value is None else value * scale for value in rows[0].values())
        title, unit = split_title(name)
        return [f"{begin_sentence(title)}: {format_estimate(mean or 0.0, low, high, unit)}."], {}

    def choose_runs(
        self, history: Sequence[HistoryRun], bounds: Sequence[Objective], answer: Answer | None
    ) -> list[HistoryRun]:
        """Return the finished runs that show what bounds a point."""
        del bounds, answer
        return [run for run in history if run.status == "ok"]

    def has_result(self, history: Sequence[HistoryRun], answer: Answer | None) -> bool:
        """Return whether a point has a result, or a bound of it."""
        del answer
        return any(run.status == "ok" for run in history)

    def tabulate(self, history: Sequence[HistoryRun], bounds: Sequence[Objective]) -> Table:
        """Return the table of a point's runs."""
        del bounds
        column = self._session.result
        rows = [
            (str(run.replicate), run.run_id[:8], run.status or PENDING, *_measure([run], [column]))
            for run in history
        ]
        return ("replicate", "run", "status", title_column(column)), rows


class LargestValue(Means):
    """A search of each point for the largest value that meets the objectives."""

    _find_bracket = staticmethod(partial(find_bracket, is_minimum=False))

    def find_bounds(self, label: str | None) -> Sequence[Objective]:
        """Return the objectives of the point with a label."""
        return self._list_bounds(label)

    def list_answered(self) -> list[str]:
        """Return the points with an answer or a bound of it."""
        rows = self._session.sql("SELECT * FROM answers").to_pylist()
        name = self._session.answer
        return [row["point_id"] for row in rows if row[name] is not None or row["censored"] is not None]

    def explain_planning(
        self, run: HistoryRun, history: Sequence[HistoryRun], bounds: Sequence[Objective]
    ) -> str:
        """Return why the search tried a value."""
        earlier = [other for other in history if other.round < run.round]
        beside = [other for other in history if other.round == run.round]
        value = format_number(run.probe or 0)
        if not earlier:
            is_only = len(list_probes(beside)) == 1
            which = "the first value" if is_only else "one of the first values"
            return f"{value} is {which} that the search tries"
        tried = {
            other.replicate
            for other in earlier
            if other.probe == run.probe and other.replicate != run.replicate
        }
        together = {other.replicate for other in beside if other.probe == run.probe}
        before = f"before, {self._describe_progress(earlier, bounds)}"
        return self._explain_value(run, value, len(tried), len(together), before)

    def _explain_value(self, run: HistoryRun, value: str, tried: int, together: int, before: str) -> str:
        """Return why a later round tried a value.

        Args:
            tried: Other replicates that had run the value.
            together: The replicates that run it in this round.
        """
        if tried > 1:
            return (
                f"a further replicate at {value}, which {tried} replicates had run: their interval was "
                "wider than the study asks for"
            )
        if together == 1:
            return f"replicate {run.replicate} searches for the answer; {before}"
        return f"{together} replicates run {value}, near the expected answer; {before}"

    def describe_result(
        self, point: str, history: Sequence[HistoryRun], bounds: Sequence[Objective], answer: Answer | None
    ) -> tuple[list[str], dict[str, Any]]:
        """Return the answer and what is around it, or how far the search is."""
        del point
        bracket = self._find_bracket(history, bounds)
        facts = {"met": bracket.met, "missed": bracket.missed, "answer": answer}
        if answer is None:
            objectives = " and ".join(bound.text for bound in bounds)
            shown = self._describe_progress(history, bounds)
            open_text = f"The search for {objectives} has not ended: {shown}."
            return [open_text, *self._describe_replicates(history, bounds)], facts
        return [*self._describe_answer(history, bounds, answer)], facts

    def choose_runs(
        self, history: Sequence[HistoryRun], bounds: Sequence[Objective], answer: Answer | None
    ) -> list[HistoryRun]:
        """Return the finished runs nearest to the answer."""
        stored = {} if answer is None else answer
        bracket = self._find_bracket(history, bounds)
        for value in (stored.get("failing"), stored.get("passing"), bracket.missed, bracket.met):
            runs = [run for run in history if run.status == "ok" and run.probe == value is not None]
            if runs:
                return runs
        return []

    def has_result(self, history: Sequence[HistoryRun], answer: Answer | None) -> bool:
        """Return whether there is an answer or a bound of it."""
        del history
        return answer is not None and (bool(answer["n"]) or answer["censored"] is not None)

    def tabulate(self, history: Sequence[HistoryRun], bounds: Sequence[Objective]) -> Table:
        """Return a row per value."""
        columns = list(dict.fromkeys(bound.column for bound in bounds)) or [self._session.result]
        rows = []
        for value in list_probes(history):
            runs = [run for run in history if run.probe == value]
            counts = Counter(run.judge(bounds) for run in runs)
            verdicts = [f"{counts[verdict]}" if counts[verdict] else "" for verdict in (MET, MISSED)]
            others = ", ".join(
                f"{counts[verdict]} {verdict}" for verdict in (UNDECIDED, FAILED, PENDING) if counts[verdict]
            )
            listed = sorted({run.round for run in runs})
            rounds = str(listed[0]) if len(listed) == 1 else f"{listed[0]}-{listed[-1]}"
            rows.append((format_number(value), rounds, *verdicts, others, *_measure(runs, columns)))
        sought = title_axis(str(self._session.seek))
        return (sought, "round", MET, MISSED, "other", *map(title_column, columns)), rows

    def _describe_progress(self, runs: Sequence[HistoryRun], bounds: Sequence[Objective]) -> str:
        """Return what runs show."""
        return self._find_bracket(runs, bounds).describe()

    def _describe_replicates(self, history: Sequence[HistoryRun], bounds: Sequence[Objective]) -> list[str]:
        """Return what each of the first replicates shows, if there are several."""
        replicates = sorted({run.replicate for run in history})
        if len(replicates) == 1:
            return []
        by_replicate = {
            replicate: [run for run in history if run.replicate == replicate]
            for replicate in replicates[:_MOST_BRACKETS]
        }
        return [
            f"Replicate {replicate}: {self._describe_progress(runs, bounds)}."
            for replicate, runs in by_replicate.items()
        ]

    def _describe_answer(
        self, history: Sequence[HistoryRun], bounds: Sequence[Objective], answer: Answer
    ) -> list[str]:
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


class SmallestValue(LargestValue):
    """A search of each point for the smallest value, at which replicates are judged together."""

    _find_bracket = staticmethod(partial(find_bracket, is_minimum=True))

    def _explain_value(self, run: HistoryRun, value: str, tried: int, together: int, before: str) -> str:
        del run
        if tried:
            return f"a further replicate at {value}: {tried} had not shown whether it meets the objectives"
        return f"one of {format_count(together, 'replicate')} that try {value}; {before}"

    def _describe_progress(self, runs: Sequence[HistoryRun], bounds: Sequence[Objective]) -> str:
        return "; ".join(
            f"{count_met(runs, bounds, value)} met the objectives at {value}" for value in list_probes(runs)
        )

    def _describe_replicates(self, history: Sequence[HistoryRun], bounds: Sequence[Objective]) -> list[str]:
        del history, bounds
        return []


KINDS: Mapping[str, type[Means]] = {
    "fixed": Means,
    "replay": Means,
    "seek": LargestValue,
    "minimum": SmallestValue,
}
"""By the kind of a study."""


def _measure(runs: Sequence[HistoryRun], columns: Sequence[str]) -> list[str]:
    """Return the range of each column over runs."""
    cells = []
    for column in columns:
        values = [run.row[column] * find_scale(column) for run in runs if run.row.get(column) is not None]
        ends = dict.fromkeys(format_number(end) for end in (min(values), max(values))) if values else {}
        cells.append(" to ".join(ends))
    return cells
