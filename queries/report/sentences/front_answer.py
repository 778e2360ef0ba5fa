"""The answer of a search for a front: its Pareto front in sentences, as a table, and as a chart.

The table has the points of the front by the first objective, the chart all trials by two objectives, those
of the front joined by a line.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from destage.queries.opening.session import Session
from destage.queries.report.charts.facets import spread
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
from destage.spec.axis_names import MAXIMIZE
from destage.sql import quote

TRIALS = "trials"
_STORED = "stored_trials"
_KEYS = ("trial", "batch", "point_id")
Row = Mapping[str, Any]
FRONT = "pareto_front"
_ON_FRONT, _OTHERS = "Pareto front", "other trials"
_BOUNDS: Mapping[str | None, Bound] = {"at_least": "at_least", "above": "at_least", "below": "at_most"}
_DRAWN = 2
"""Objectives that are drawn; a front of more is seen in their plane."""


@dataclass(frozen=True, slots=True)
class Objective:
    """One objective of a search.

    Attributes:
        column: Its column in the table of trials.
        is_maximum: Whether it is to be large.
    """

    column: str
    is_maximum: bool


def list_objectives(session: Session) -> list[Objective]:
    """Return the objectives of the study's search, in its order."""
    # Their columns are between those that identify a trial and `on_front`.
    columns = session.sql(f"FROM {_STORED} LIMIT 0").column_names[len(_KEYS) : -1]
    goals = [goal for written in session.spec["search"]["objectives"] for goal in written]
    return [Objective(column, goal == MAXIMIZE) for column, goal in zip(columns, goals, strict=True)]


def read_trials(session: Session, objectives: Sequence[Objective]) -> list[Row]:
    """Return each point that was tried and has all objectives: its axes, objectives, and `on_front`.

    Points of the front come first, by the first objective. Of a seek, `answer_low`, `answer_high` and
    `censored` are those of its answer.
    """
    first = objectives[0]
    condition = " AND ".join(f"{quote(objective.column)} IS NOT NULL" for objective in objectives)
    axes = ", ".join(f"configurations.{quote(name)}" for name in ("label", *session.axes))
    answer = session.answer
    rows: list[Row] = session.sql(
        f"SELECT {axes}, trials.*, answers.{quote(f'{answer}_low')} AS answer_low, "  # noqa: S608 - quoted
        f"answers.{quote(f'{answer}_high')} AS answer_high, answers.censored "
        f"FROM (SELECT stored.* REPLACE (grid.point_id AS point_id) FROM {_STORED} AS stored "
        f"INNER JOIN grid ON stored.point_id = grid.written_id WHERE {condition} "
        "QUALIFY row_number() OVER (PARTITION BY grid.point_id ORDER BY trial) = 1) AS trials "
        "INNER JOIN configurations USING (point_id) LEFT JOIN answers USING (point_id) "
        f"ORDER BY on_front DESC, {quote(first.column)} {'DESC' if first.is_maximum else ''}, trial"
    ).to_pylist()
    return rows


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

    front, others = (
        tuple(sorted((draw(row) for row in rows if bool(row["on_front"]) == is_on), key=lambda mark: mark.x))
        for is_on in (True, False)
    )
    # Of three objectives, a line through the front would cross itself.
    style: SeriesStyle = "line" if len(objectives) == _DRAWN else "labelled"
    drawn = [Series(_OTHERS, "scattered", others), Series(_ON_FRONT, style, front)]
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
    # A trial without a point had no valid configuration, or no result.
    counts = ", ".join(
        f"count({quote(name)})" for name in ("point_id", *(goal.column for goal in objectives))
    )
    row = session.sql(f"SELECT count(*), {counts} FROM {_STORED}").to_pylist()[0]  # noqa: S608 - quoted
    trials, points, *valued = row.values()
    invalid = trials - points
    titles = [split_title(objective.column)[0] for objective in objectives]
    if not front:
        lacking = [title for title, count in zip(titles, valued, strict=True) if not count]
        return [
            f"None of {format_count(trials, 'trial')} has a value of every objective.",
            *(f"{begin_sentence(title)} has no value in any trial." for title in lacking),
        ]
    names = " and ".join(filter(None, [", ".join(titles[:-1]), titles[-1]]))
    lead = f"Pareto front of {names}: {len(front)} of {format_count(trials, 'trial')}."
    if len(objectives) == 1:
        best = "Largest" if objectives[0].is_maximum else "Smallest"
        lead = f"{best} {names} of {format_count(trials, 'trial')}:"
    named = spread(front, _NAMED)
    sentences = [lead]
    sentences += [
        f"{describe_objectives(row, objectives, session)}: {name_point(row, session)}." for row in named
    ]
    if left := len(front) - len(named):
        sentences.append(f"{format_count(left, 'configuration')} of the front between these: table trials.")
    if invalid:
        count = format_count(invalid, "trial")
        sentences.append(f"{count} had no point: invalid, or excluded by `where`.")
    return sentences


def describe_objectives(row: Row, objectives: Sequence[Objective], session: Session) -> str:
    """Return the objectives of a trial in words, as in `EUR 3450, 1280 users supported`."""
    texts = []
    for objective in objectives:
        if objective.column == PRICE:
            texts.append(f"{session.spec['prices']['currency']} {format_amount(row[PRICE])}")
        elif objective.column == session.metric:
            ends, unit = (row["answer_low"], row["answer_high"]), session.answer.partition("_")[0]
            estimate = format_estimate(row[session.answer], *ends, unit, _DIGITS)
            texts.append(f"{BOUNDS.get(row['censored'], '')}{estimate}")
        else:
            texts.append(format_interval(objective.column, row))
    return ", ".join(texts)


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
