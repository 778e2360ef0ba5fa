"""The answer of a search for a front: its Pareto front in sentences, as a table, and as a chart.

The table has the points of the front by the first objective, the chart all trials by two objectives, those
of the front joined by a line.
"""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from destage.queries.findings.search_trials import (
    Objective,
    Row,
    count_trials,
    count_values,
    list_objectives,
    read_trials,
)
from destage.queries.opening.session import Session
from destage.queries.report.drawing.chart import Bound, Figure, LineChart, Mark, Panel, Series, SeriesStyle
from destage.queries.report.sentences.excerpt import MOST_LISTED
from destage.queries.report.sentences.point_names import BOUNDS, name_point
from destage.queries.text.plain_values import name_products
from destage.queries.text.presentation import (
    begin_sentence,
    find_scale,
    format_amount,
    format_count,
    format_estimate,
    format_interval,
    format_number,
    split_title,
    title_column,
)

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
        x_value, y_value = (row[objective.column] * find_scale(objective.column) for objective in (x, y))
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
    beyond = [_title(objective, session) for objective in objectives[_DRAWN:]]
    caption = "Each mark is a configuration that the search tried."
    caption += f" The front is also by {' and '.join(beyond)}." if beyond else ""
    return Figure(FRONT, chart, caption, "SELECT * FROM trials ORDER BY on_front DESC, trial")


def _title(objective: Objective, session: Session) -> str:
    if objective.column == PRICE:
        return f"price [{session.spec['prices']['currency']}]"
    return title_column(objective.column)


_NAMED = 6
"""Points of a front that have a sentence each."""
PRICE = "price"
_DIGITS = 3


def compose_front_answer(session: Session) -> list[str]:
    """Return the sentences on the front of a search."""
    objectives = list_objectives(session)
    front = [row for row in read_trials(session, objectives) if row["on_front"]]
    trials, invalid = count_trials(session)
    if not front:
        return [
            f"None of {format_count(trials, 'trial')} has a value of every objective.",
            *_name_unknown(session),
        ]
    names = " and ".join(filter(None, [", ".join(map(_name, objectives[:-1])), _name(objectives[-1])]))
    lead = f"Pareto front of {names}: {len(front)} of {format_count(trials, 'trial')}."
    if len(objectives) == 1:
        best = "Largest" if objectives[0].is_maximum else "Smallest"
        lead = f"{best} {names} of {format_count(trials, 'trial')}:"
    named = _spread(front, _NAMED)
    sentences = [
        f"{describe_objectives(row, objectives, session)}: {name_point(row, session)}." for row in named
    ]
    left = len(front) - len(named)
    more = (
        [f"{format_count(left, 'configuration')} of the front between these: table trials."] if left else []
    )
    lost = (
        [f"{format_count(invalid, 'trial')} had no point: invalid, or excluded by `where`."]
        if invalid
        else []
    )
    return [lead, *sentences, *more, *lost]


def _name_unknown(session: Session) -> list[str]:
    """Return a sentence for each objective that no trial has a value of."""
    unknown = [objective for objective in list_objectives(session) if not count_values(session, objective)]
    return [f"{begin_sentence(_name(objective))} has no value in any trial." for objective in unknown]


def describe_objectives(row: Row, objectives: Sequence[Objective], session: Session) -> str:
    """Return the objectives of a trial in words, as in `EUR 3450, 1280 users supported`."""
    return ", ".join(_describe(row, objective, session) for objective in objectives)


def _describe(row: Row, objective: Objective, session: Session) -> str:
    if objective.column == PRICE:
        return f"{session.spec['prices']['currency']} {format_amount(row[PRICE])}"
    if objective.column == session.metric:
        what = session.answer.partition("_")[0]
        estimate = format_estimate(row[session.answer], row["answer_low"], row["answer_high"], what, _DIGITS)
        return f"{BOUNDS.get(row['censored'], '')}{estimate}"
    return format_interval(objective.column, row)


def _name(objective: Objective) -> str:
    """Return the name of an objective without its unit."""
    return split_title(objective.column)[0]


def _spread(rows: Sequence[Row], most: int) -> list[Row]:
    """Return the ends of a front and some rows between them."""
    if len(rows) <= most:
        return list(rows)
    return [rows[round(step * (len(rows) - 1) / (most - 1))] for step in range(most)]


def tabulate_front(session: Session) -> tuple[pa.Table, str] | None:
    """Return the rows of the front, with a sentence on the points left out; None if there is no front."""
    objectives = list_objectives(session)
    front = [row["point_id"] for row in read_trials(session, objectives) if row["on_front"]]
    if not front:
        return None
    with session.select_points(front[:MOST_LISTED]) as shown:
        rows = shown.name_columns(name_products(shown.query("design_space")))
        left = shown.left_out
    first = objectives[0]
    if first.column in rows.column_names:
        rows = rows.sort_by([(first.column, "descending" if first.is_maximum else "ascending")])
    if not left:
        return rows, ""
    count = format_number(session.point_count)
    words = "the Pareto front" if len(front) <= MOST_LISTED else f"a part of the Pareto front of {len(front)}"
    shown_points = format_count(min(len(front), MOST_LISTED), "point")
    return rows, f"{shown_points} of {count} shown: {words}; {format_count(left, 'point')} left out."
