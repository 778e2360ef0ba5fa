"""The trials of a search, with the objectives of the study and the configuration of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from destage.queries.opening.session import Session
from destage.spec.axis_names import MAXIMIZE
from destage.sql import quote

TRIALS = "trials"
_STORED = "stored_trials"
_KEYS = ("trial", "batch", "point_id")
Row = Mapping[str, Any]


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


def count_trials(session: Session) -> tuple[int, int]:
    """Return the number of trials, and of those without a valid configuration or without a result."""
    row = session.sql(f"SELECT count(*) AS trials, count(point_id) AS points FROM {_STORED}").to_pylist()[0]  # noqa: S608
    return row["trials"], row["trials"] - row["points"]


def count_values(session: Session, objective: Objective) -> int:
    """Return the number of trials that have a value of an objective."""
    statement = f"SELECT count({quote(objective.column)}) AS n FROM {_STORED}"  # noqa: S608 - quoted
    count: int = session.sql(statement)["n"][0].as_py()
    return count
