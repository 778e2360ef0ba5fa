"""The chart of a search: its trials by two objectives, those of the Pareto front joined by a line."""

from collections.abc import Mapping

from destage.queries.findings.search_trials import Objective, Row, list_objectives, read_trials
from destage.queries.opening.session import Session
from destage.queries.report.drawing.chart import Bound, Figure, LineChart, Mark, Panel, Series, SeriesStyle
from destage.queries.report.sentences.front_answer import PRICE, describe_objectives
from destage.queries.report.sentences.point_names import name_point
from destage.queries.text.presentation import find_scale, title_column

FRONT = "pareto_front"
_ON_FRONT, _OTHERS = "Pareto front", "other trials"
_BOUNDS: Mapping[str | None, Bound] = {"at_least": "at_least", "above": "at_least", "below": "at_most"}
_DRAWN = 2
"""Objectives that are drawn; a front of more is seen in their plane."""


def build_front_chart(session: Session) -> Figure | None:
    """Build the chart of a search; None if it has one objective only, or no trial has a result."""
    objectives = list_objectives(session)
    rows = read_trials(session, objectives) if len(objectives) >= _DRAWN else []
    if not rows:
        return None
    x, y = objectives[:_DRAWN]

    def draw(row: Row) -> Mark:
        note = f"{describe_objectives(row, objectives, session)}: {name_point(row, session)}"
        x_value, y_value = (row[one.column] * find_scale(one.column) for one in (x, y))
        if y.column != session.metric:
            return Mark(x_value, y_value, note=note)
        bound = _BOUNDS.get(row["censored"])
        return Mark(x_value, y_value, row["answer_low"], row["answer_high"], note=note, bound=bound)

    front = sorted((draw(row) for row in rows if row["on_front"]), key=lambda mark: mark.x)
    others = sorted((draw(row) for row in rows if not row["on_front"]), key=lambda mark: mark.x)
    # Of three objectives, a line through the front would cross itself.
    style: SeriesStyle = "line" if len(objectives) == _DRAWN else "labelled"
    drawn = [Series(_OTHERS, "scattered", tuple(others)), Series(_ON_FRONT, style, tuple(front))]
    chart = LineChart(
        title=f"Pareto front: {_title(y, session)} against {_title(x, session)}",
        x_title=_title(x, session),
        x_unit=None,
        y_title=_title(y, session),
        panels=(Panel("", tuple(series for series in drawn if series.marks)),),
        legend=(_ON_FRONT, *([_OTHERS] if others else [])),
        x_at_values=False,
    )
    beyond = [_title(one, session) for one in objectives[_DRAWN:]]
    caption = "Each mark is a configuration that the search tried."
    caption += f" The front is also by {' and '.join(beyond)}." if beyond else ""
    return Figure(FRONT, chart, caption, "SELECT * FROM trials ORDER BY on_front DESC, trial")


def _title(objective: Objective, session: Session) -> str:
    if objective.column == PRICE:
        return f"price [{session.spec['prices']['currency']}]"
    return title_column(objective.column)
