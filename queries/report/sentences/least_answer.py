"""The answer of a search for the smallest value: the best point, the next ones, and those that lost."""

from collections.abc import Mapping
from typing import Any

from destage.queries.opening.session import Session
from destage.queries.report.sentences.point_names import name_resource
from destage.queries.text.failing_verdicts import describe_failing
from destage.queries.text.presentation import format_amount, format_count, format_number, name_value
from destage.sql import quote

Row = Mapping[str, Any]

_NAMED = 4
"""Points that have a sentence each; more are counted."""


def compose_least_answer(session: Session) -> list[str]:
    """Return the sentences on the cheapest points, or on those of the smallest values without prices."""
    rows = _read_answers(session)
    found = [row for row in rows if row["answer"] is not None and row["censored"] is None]
    currency = (session.spec.get("prices") or {}).get("currency", "")
    varying = [path for path in session.axes if len({row[path] for row in rows}) > 1]
    sentences = [
        _describe(row, session, varying, currency, is_best=at == 0) for at, row in enumerate(found[:_NAMED])
    ]
    if len(found) > _NAMED:
        sentences.append(f"Also meeting the objectives: {format_count(len(found) - _NAMED, 'other point')}.")
    dear = sum(row["censored"] == "more_expensive" for row in rows)
    if dear:
        sentences.append(f"Not searched to the end, as more expensive anyway: {format_count(dear, 'point')}.")
    never = [row for row in rows if row["censored"] == "above"]
    if never:
        most = format_number(max(row["answer"] for row in never))
        sentences.append(f"Missing an objective even with {most}: {format_count(len(never), 'point')}.")
    return sentences


def _read_answers(session: Session) -> list[Row]:
    rows: list[Row] = session.sql(
        f"SELECT *, {quote(session.answer)} AS answer FROM answers "  # noqa: S608 - quoted
        f"ORDER BY price NULLS LAST, {quote(session.answer)} NULLS LAST"
    ).to_pylist()
    return rows


def _describe(row: Row, session: Session, varying: list[str], currency: str, *, is_best: bool) -> str:
    """Return a point with its answer, as in `Cheapest: 6 disks, RAID 5, exos_x18 (EUR 3230); 4 miss ...`."""
    what = session.answer.partition("_")[0]
    names = [name_value(path, row[path], session.units) for path in varying if row[path] is not None]
    text = ", ".join([f"{format_number(row['answer'])} {what}", *([row["label"]] if row["label"] else names)])
    if row["price"] is not None:
        text += f" ({currency} {format_amount(row['price'])})"
    word = "Cheapest" if row["price"] is not None else "Fewest"
    text = f"{word}: {text}" if is_best else f"{text[0].upper()}{text[1:]}"
    if row["failing"] is not None:
        missed = describe_failing(row["failing_verdict"], row["binding"])
        text += f"; {format_number(row['failing'])} {missed}"
        if row["limiting"] is not None:
            text += f", limited by {name_resource(row['limiting'])}"
    return f"{text}."
