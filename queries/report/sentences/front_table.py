"""The table of a search on a terminal: the points of the Pareto front, by the first objective."""

import pyarrow as pa

from destage.queries.findings.search_trials import has_trials, list_objectives, read_trials
from destage.queries.opening.session import Session
from destage.queries.report.sentences.excerpt import MOST_LISTED
from destage.queries.text.presentation import format_count, format_number
from destage.queries.text.product_names import name_products


def tabulate_front(session: Session) -> tuple[pa.Table, str] | None:
    """Return the rows of the front, with a sentence on the points left out; None if there is no front."""
    objectives = list_objectives(session) if has_trials(session) else []
    front = (
        [row["point_id"] for row in read_trials(session, objectives) if row["on_front"]] if objectives else []
    )
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
