"""How many users systems support that are as slow or as fast as measured ones, from the runs of a seek.

At v times the simulated speed, a system does in 1 / v of the time what the simulated one does, if its users
think v times as long between two interactions. Be x users simulated, of whom a share t thinks at any time: as
many interactions are in the array as of x (1 - t (1 - v)) users of that system who think as long as before,
and their response times are those of the x users over v. So the answer is at the x whose response time is v
times the one at the answer of the seek, or whose utilisation is that at the answer. Between the loads that
the seek has run, the log of a response time is taken as a line in the log of the users; some way beyond them
its reciprocal as a line in the users, as in M/M/1, so that it does not fall below that of an idle system.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from destage.engine import results_schema
from destage.measured_systems.model_error import ModelError
from destage.queries.findings.caveats import list_answer_errors, states_stage
from destage.queries.opening.session import Session
from destage.queries.report.sentences.point_names import name_point
from destage.queries.text.presentation import format_rounded
from destage.sql import quote

_USERS = "workload.users"
_TIMES = ("_us", "_s")
_SUFFIXES = (*_TIMES, "_fraction", "_percent")
"""Of columns that objectives name without their unit: times, and what does not change with the speed."""
_DIGITS = 3
_FARTHEST = 2.0
"""How far beyond the loads that were run a line is extended, as a ratio of users."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A load that a seek has run, as means over replicates.

    Attributes:
        result: The bounded result.
        thinking: The share of the users who think at any time.
    """

    users: float
    result: float
    thinking: float


def find_users(trials: Sequence[Trial], answer: float, speed: float, *, is_time: bool) -> float | None:
    """Return how many users a system of a speed supports.

    Args:
        trials: The loads that were run, in order.
        answer: The users that the simulated system supports.
        speed: As a multiple of the simulated speed.
        is_time: Whether the bounded result is a time, and not a utilisation.

    Returns:
        None if the loads that were run do not show it.
    """
    if not trials[:1] or not trials[0].users <= answer <= trials[-1].users:
        return None
    pairs = list(pairwise(trials))
    at_answer = next(_interpolate(*pair, users=answer) for pair in pairs if answer <= pair[1].users)
    found = _find_load(trials, at_answer, at_answer.result * speed) if is_time else at_answer
    return None if found is None else found.users * (1 - found.thinking * (1 - speed))


def _find_load(trials: Sequence[Trial], start: Trial, wanted: float) -> Trial | None:
    """Return the load with a result, next to the one at the answer."""
    if wanted < start.result:
        away = [start, *(one for one in reversed(trials) if one.users < start.users)]
    else:
        away = [start, *(one for one in trials if one.users > start.users)]
    for near, far in pairwise(away):
        if min(near.result, far.result) <= wanted <= max(near.result, far.result):
            share = _share(near.result, far.result, wanted)
            return _interpolate(near, far, users=near.users * (far.users / near.users) ** share)
    far = away[-1]
    if (far.result - start.result) * (far.users - start.users) <= 0:
        return None
    slope = (1 / far.result - 1 / start.result) / (far.users - start.users)
    users = far.users + (1 / wanted - 1 / far.result) / slope
    if not 1 / _FARTHEST <= users / far.users <= _FARTHEST:
        return None
    thinking = far.thinking + (users - far.users) * (far.thinking - start.thinking) / (
        far.users - start.users
    )
    return Trial(users, wanted, min(max(thinking, 0.0), 1.0))


def _interpolate(near: Trial, far: Trial, *, users: float) -> Trial:
    share = _share(near.users, far.users, users)
    result = near.result * (far.result / near.result) ** share
    return Trial(users, result, (1 - share) * near.thinking + share * far.thinking)


def _share(low: float, high: float, value: float) -> float:
    """Return where a value is between two others, on a logarithmic scale; 0 if these are equal."""
    return math.log(value / low) / math.log(high / low) if high != low else 0.0


def list_user_ranges(session: Session) -> list[str]:
    """Return a sentence on the least and the most answer of a seek at the speeds of measured systems."""
    if session.seek != _USERS or "fitted" in session.spec or states_stage(session):
        return []
    ranges = list(dict.fromkeys(_list_ranges(session)))
    if not ranges:
        return []
    return [f"At these speeds: {'; '.join(ranges)}."]


def _list_ranges(session: Session) -> Iterator[str]:
    answer = quote(session.answer)
    rows = session.sql(
        f"SELECT configurations.*, {answer} AS answer, binding "  # noqa: S608 - quoted
        f"FROM answers JOIN configurations USING (point_id) WHERE {answer} IS NOT NULL AND censored IS NULL "
        f"AND binding IS NOT NULL ORDER BY {answer}, configurations.plan_row"
    ).to_pylist()
    errors = list_answer_errors(session)
    for row in {one["point_id"]: one for one in (*rows[:1], *rows[-1:])}.values():
        error, column = errors.get(row["point_id"]), _find_column(row["binding"])
        if not isinstance(error, ModelError) or column is None:
            continue
        trials = read_trials(session, row["point_id"], column)
        ends = [
            find_users(trials, row["answer"], speed, is_time=column.endswith(_TIMES))
            for speed in (error.low, error.high)
        ]
        if text := _describe(row["answer"], *ends):
            yield f"{text} with {name_point(row, session)}"


def _describe(answer: float, low: float | None, high: float | None) -> str:
    """Return the range beside the simulated answer; empty if neither end is known."""
    ends = [None if end is None else format_rounded(end, _DIGITS) for end in (low, high)]
    simulated = f"(simulated: {format_rounded(answer, _DIGITS)})"
    match ends:
        case [None, None]:
            return ""
        case [None, most]:
            return f"at most {most} users {simulated}"
        case [least, None]:
            return f"at least {least} users {simulated}"
    return f"{ends[0]} to {ends[1]} users {simulated}"


def _find_column(objective: str) -> str | None:
    """Return the column of an objective whose change with the speed is known."""
    found = re.match(r"\s*(\w+)\s*<", objective)
    names = results_schema().names
    return next(
        (f"{found[1]}{suffix}" for suffix in _SUFFIXES if found and f"{found[1]}{suffix}" in names), None
    )


def read_trials(session: Session, point: str, column: str) -> list[Trial]:
    """Return the loads that the seek of a point has run with a result in a column, in order."""
    rows: list[Mapping[str, Any]] = session.sql_of_named_columns(
        f"SELECT {session.probe} AS users, {quote(column)} AS result, throughput_iops, response_mean_us "  # noqa: S608 - quoted
        f"FROM points WHERE point_id = '{point}' AND {quote(column)} > 0 AND throughput_iops > 0 "
        f"ORDER BY {session.probe}"
    ).to_pylist()
    return [
        Trial(
            row["users"],
            row["result"],
            max(0.0, 1 - row["throughput_iops"] * row["response_mean_us"] / 1e6 / row["users"]),
        )
        for row in rows
    ]
