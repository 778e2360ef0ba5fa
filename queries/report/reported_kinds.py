"""What a study of each kind reports: the sentences of its answer, its figures, what a terminal shows."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import pyarrow as pa

from destage.queries.exports.report_record import Summary
from destage.queries.findings.answer_bars import AnswerBars, draw_answer_bars
from destage.queries.findings.calibration_answer import (
    SCORE,
    TABLE,
    compose_calibration,
    list_tables,
    tabulate_predictions,
    tabulate_unknowns,
)
from destage.queries.findings.caveats import (
    list_assumed_localities,
    list_model_errors,
    list_slower_caches,
    list_unsteady_caches,
)
from destage.queries.opening.session import Session
from destage.queries.published.verdicts import VERDICTS_SCHEMA, judge_figures
from destage.queries.report.charts.calibration_charts import build_calibration_charts
from destage.queries.report.charts.facets import BATTERY
from destage.queries.report.drawing.chart import Figure
from destage.queries.report.sentences.excerpt import (
    MOST_DRAWN,
    MOST_LISTED,
    describe_excerpt,
    open_excerpt,
    open_slice,
)
from destage.queries.report.sentences.front_answer import TRIALS, compose_front_answer, tabulate_front
from destage.queries.report.sentences.model_ranges import list_user_ranges
from destage.queries.report.sentences.point_names import FAULTS, name_point
from destage.queries.report.sentences.published_section import compose_verdicts
from destage.queries.report.sentences.replay_answer import compose_replay_answer
from destage.queries.report.sentences.response_answer import compose_battery_answer, compose_response_answer
from destage.queries.report.sentences.sought_answer import (
    compose_largest_answer,
    compose_least_answer,
)
from destage.queries.report.sentences.target_widths import (
    count_answers,
    count_results,
    describe_widths,
    list_unmet,
)
from destage.queries.report.sentences.unanswered_points import list_unanswered
from destage.queries.text.plain_values import name_products, rows_as_json
from destage.queries.text.presentation import Presentation, format_count, present
from destage.spec.printed_text import align_cells


class ReportedStudy:
    """A study at a fixed load; a kind overrides what it changes.

    Attributes:
        remarks: What returns further sentences, once there are results.
        has_points: Whether a terminal and `--json` show its points.
    """

    has_points = True
    remarks: Sequence[Callable[[Session], list[str]]] = (
        list_unmet,
        list_unsteady_caches,
        list_slower_caches,
        list_model_errors,
        list_assumed_localities,
    )

    def __init__(self, session: Session) -> None:
        self._session = session

    def compose_results(self, shown: Session) -> list[str]:
        """Return the sentences on results; `shown` has the points of a report."""
        return self._compose_verdicts() or self._compose_points(shown)

    def _compose_verdicts(self) -> list[str]:
        """Return what the study itself and its published figures say of the results."""
        is_published = self._session.spec.keys() & {"answer", "published"}
        return compose_verdicts(self._session) if is_published else []

    def _judge_figures(self) -> pa.Table:
        is_published = self._session.has_published
        return judge_figures(self._session) if is_published else VERDICTS_SCHEMA.empty_table()

    def _compose_points(self, shown: Session) -> list[str]:
        rows, battery = _read_points(shown)
        return [*battery, *compose_response_answer(rows, shown)]

    def describe_intervals(self) -> list[tuple[str, str]]:
        """Return the line of a report's provenance on intervals, if the study asks for a width."""
        widths = count_results(self._session)
        return describe_widths(widths, "points") if widths.measured else []

    def open_drawn(self) -> tuple[Session, str]:
        """Return the points for charts, with a sentence on what is left out; empty if nothing is."""
        return open_slice(self._session)

    def build_charts(self) -> list[Figure]:
        """Build the charts that only this kind of study has."""
        return []

    def build_figures(self, own: Sequence[Figure], build_others: Callable[[], list[Figure]]) -> list[Figure]:
        """Build the figures of a report.

        Args:
            own: Those of the study's `charts`.
            build_others: Returns these among the charts over its axes.
        """
        del own
        return build_others()

    def draw_bars(self) -> AnswerBars | None:
        """Return the chart in text that a terminal shows in place of the table, if there is one."""
        return None

    def tabulate(self) -> tuple[pa.Table, str]:
        """Return the rows that a terminal shows, with a sentence on the points left out."""
        listed = open_excerpt(self._session, MOST_LISTED)
        rows = listed.name_columns(name_products(listed.query("design_space")))
        return rows, describe_excerpt(listed)

    def summarize(self, answer: Sequence[str]) -> Summary:
        """Return what a terminal shows, with the sentences of the answer."""
        rows, left_out = self.tabulate()
        published = tuple(self._judge_figures().to_pylist())
        shown = present(rows, self._session.units)
        return Summary(shown, left_out, published, tuple(answer), self.draw_bars())

    def tables_as_json(self) -> dict[str, Any]:
        """Return the tables that `--json` prints beside the answer."""
        shown = open_excerpt(self._session, MOST_DRAWN)
        return {
            "design_space": rows_as_json(shown.name_columns(shown.query("design_space"))),
            "points_left_out": shown.left_out,
            "published": rows_as_json(self._judge_figures()),
        }


class ReportedReplay(ReportedStudy):
    """A replay of a trace, which has the locality of its recording and no steady state."""

    remarks = (list_unmet, list_model_errors)

    def _compose_points(self, shown: Session) -> list[str]:
        # The sentences of a replay are by array.
        arrays = frozenset(path for path in shown.axes if path.endswith(".use"))
        return compose_replay_answer(shown, lambda row: name_point(row, shown, without=arrays))


class ReportedLargest(ReportedStudy):
    """A search of each point for the largest value."""

    remarks = (list_unsteady_caches, list_model_errors, list_user_ranges, list_assumed_localities)

    def compose_results(self, shown: Session) -> list[str]:
        """Return the sentences on results; the study's own words are the detail where it has no figures."""
        verdicts = self._compose_verdicts()
        if verdicts and self._session.has_published:
            return verdicts
        rows, battery = _read_points(shown)
        return [*battery, *self._compose_answers(rows, shown, verdicts)]

    def _compose_answers(
        self, rows: Sequence[dict[str, Any]], shown: Session, verdicts: Sequence[str]
    ) -> list[str]:
        return compose_largest_answer(rows, shown, self._session, verdicts)

    def describe_intervals(self) -> list[tuple[str, str]]:
        """Return how many answers have an interval of the width that the study asks for."""
        return describe_widths(count_answers(self._session), "answers")

    def draw_bars(self) -> AnswerBars | None:
        """Return the chart of the answers over cache sizes."""
        return draw_answer_bars(self._session)


class ReportedSmallest(ReportedLargest):
    """A search for the smallest value."""

    def _compose_answers(
        self, rows: Sequence[dict[str, Any]], shown: Session, verdicts: Sequence[str]
    ) -> list[str]:
        del rows, shown
        return [*compose_least_answer(self._session), *verdicts]

    def draw_bars(self) -> AnswerBars | None:
        """Return nothing: a smallest value over cache sizes has no bars."""
        return None


class ReportedAnalysis(ReportedStudy):
    """A study that asks something of all its points together, which answer as in any other study."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._points = KINDS[session.kind.name](session)
        self.remarks = self._points.remarks

    def describe_intervals(self) -> list[tuple[str, str]]:
        """Return the line on the intervals of the points."""
        return self._points.describe_intervals()

    def draw_bars(self) -> AnswerBars | None:
        """Return the chart of the points."""
        return self._points.draw_bars()


class ReportedFront(ReportedAnalysis):
    """A search for the configurations of a Pareto front."""

    def compose_results(self, shown: Session) -> list[str]:
        """Return the sentences on the front."""
        del shown
        return compose_front_answer(self._session)

    def tabulate(self) -> tuple[pa.Table, str]:
        """Return the points of the front, if there is one."""
        return tabulate_front(self._session) or super().tabulate()


class ReportedCalibration(ReportedAnalysis):
    """A calibration: its points are draws, so that charts and tables over them would show the prior."""

    has_points = False

    def compose_results(self, shown: Session) -> list[str]:
        """Return the odds and predictions of each fit."""
        del shown
        return compose_calibration(self._session)

    def open_drawn(self) -> tuple[Session, str]:
        """Return the whole session: the charts are of its tables."""
        return self._session, ""

    def build_charts(self) -> list[Figure]:
        """Build the charts of what it has learned."""
        return build_calibration_charts(self._session)

    def build_figures(self, own: Sequence[Figure], build_others: Callable[[], list[Figure]]) -> list[Figure]:
        """Build the charts of its tables and the study's own."""
        del build_others
        return [*self.build_charts(), *own]

    def summarize(self, answer: Sequence[str]) -> Summary:
        """Return the tables of unknowns and predictions, with the answer."""
        tables = (
            align_cells(tabulate_unknowns(self._session), left=99),
            f"{align_cells(tabulate_predictions(self._session), left=2)}{SCORE}\n",
        )
        return Summary(Presentation((), ()), "", (), tuple(answer), tables=tables)

    def tables_as_json(self) -> dict[str, Any]:
        """Return its tables."""
        return {name: rows_as_json(self._session.query(name)) for name in list_tables(self._session)}


KINDS: Mapping[str, type[ReportedStudy]] = {
    "fixed": ReportedStudy,
    "replay": ReportedReplay,
    "seek": ReportedLargest,
    "minimum": ReportedSmallest,
}
"""By the kind of a study, where nothing is asked of all its points together."""
ANALYSES: Mapping[tuple[str, str], type[ReportedStudy]] = {
    ("search", TRIALS): ReportedFront,
    ("calibrate", TABLE): ReportedCalibration,
}
"""By the key of a study that asks something of all its points, and the table with the answer."""


def find_reported(session: Session) -> ReportedStudy:
    """Return what a study reports; no other place tells the kinds apart."""
    answered = [
        kind for (key, table), kind in ANALYSES.items() if key in session.spec and table in session.analyses
    ]
    return next(iter(answered), KINDS[session.kind.name])(session)


def _read_points(shown: Session) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the rows of the points, and the sentences that compare them with and without a battery."""
    rows: list[dict[str, Any]] = shown.query("design_space").to_pylist()
    # The points of an excerpt are not chosen for a comparison.
    is_compared = not shown.left_out and not {BATTERY, FAULTS}.isdisjoint(shown.axes)
    return rows, compose_battery_answer(rows, shown) if is_compared else []


_MOST_UNANSWERED = 20
"""Points without an answer that have a sentence each."""

_composed: "WeakKeyDictionary[Session, tuple[str, ...]]" = WeakKeyDictionary()
"""The answers of open sessions, whose rows do not change: a report has the answer that is printed too."""


def compose_answer(session: Session) -> list[str]:
    """Return the sentences that answer the study's question; empty where the rows do not answer it yet."""
    points, count = list_unanswered(session, _MOST_UNANSWERED)
    lines = [f"No answer with {point.name}: {point.cause}; {point.remedy}." for point in points]
    more = count - len(points)
    if more:
        lines.append(f"No answer with {format_count(more, 'more point')}; the report lists them.")
    return compose_summary(session, lines, has_points=find_reported(session).has_points)


def compose_summary(session: Session, unanswered: Sequence[str], *, has_points: bool = True) -> list[str]:
    """Return the sentences of an answer, given those on points that have none.

    Args:
        has_points: Whether points are shown with it, of which a sentence says how many.
    """
    if session not in _composed:
        _composed[session] = tuple(_compose(session))
    remark = describe_excerpt(open_excerpt(session, MOST_DRAWN)) if has_points else ""
    return [*_composed[session], *unanswered, *([remark] if remark else [])]


def _compose(session: Session) -> list[str]:
    """Return the sentences of an answer except those on points that have none or are not shown."""
    kind = find_reported(session)
    results = kind.compose_results(open_excerpt(session, MOST_DRAWN))
    remarks = [sentence for find in kind.remarks for sentence in find(session)] if results else []
    damage = [f"The file {issue.place} is {issue.message}." for issue in session.sweep.warnings]
    return [*session.note_missing_runs(), *results, *remarks, *damage]


def summarize(session: Session) -> Summary:
    """Return what a terminal shows of a sweep."""
    return find_reported(session).summarize(compose_answer(session))
