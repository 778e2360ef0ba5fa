"""The answers of searches for the largest and the smallest value.

The answer of a search for the smallest value: the best point, the next ones, and those that lost.
"""

from collections.abc import Sequence
from typing import Any

from destage.queries.opening.session import Session
from destage.queries.published.verdicts import judge_figures
from destage.queries.report.charts.facets import CAPACITY
from destage.queries.report.sentences.point_names import BOUNDS, name_point, name_resource
from destage.queries.text.presentation import (
    begin_sentence,
    format_amount,
    format_count,
    format_estimate,
    format_number,
    format_rounded,
    name_value,
)
from destage.queries.text.shown_results import describe_failing
from destage.sql import quote

Row = dict[str, Any]

_DIGITS = 3
_TIMES = 2.0
"""From this ratio on, a gain is stated as a factor rather than in percent."""
_NAMED = 4
"""More points than this with one limiting resource are counted rather than named."""


def compose_largest_answer(
    rows: Sequence[Row], shown: Session, session: Session, verdicts: Sequence[str]
) -> list[str]:
    """Return the sentences on the points of a report, and on how many answers are only bounds.

    Args:
        rows: The rows of `design_space` of the points shown.
        verdicts: The study's own words, which are the detail where it has them.
    """
    lead, details = _seek_answer(rows, session.answer, shown)
    counts = _count_answers(session) if rows else []
    return [*lead, *(verdicts or details), *counts]


def _seek_answer(rows: Sequence[Row], metric: str, session: Session) -> tuple[list[str], list[str]]:
    """Return the sentences on the best configuration and the baseline, and those on others."""
    answered = [row for row in rows if row[metric] is not None]
    if not answered:
        return [], []
    baseline = _baseline(answered, metric)
    best = max(answered, key=lambda row: row[metric])
    others = [row for row in answered if row is not baseline]
    compared = [row for row in others if row["published"] is not None] or [
        row for row in others if row["label"]
    ]
    sentences = [_describe_point(best, baseline, metric, session, is_best=True)]
    if best is not baseline:
        load = f"Baseline: {_load(baseline, metric)} with {name_point(baseline, session)}."
        sentences.append(load + _published(baseline, session))
    details = [_describe_point(row, baseline, metric, session) for row in compared if row is not best]
    return sentences, [*details, *_limits(answered, session)]


def _describe_point(row: Row, baseline: Row, metric: str, session: Session, *, is_best: bool = False) -> str:
    """Return what a configuration carries, with its interval and its gain; of the best, what limits it."""
    text = f"{_load(row, metric)} with {name_point(row, session)}"
    ends = []
    if row is not baseline and baseline[metric]:
        bound = BOUNDS.get(row["censored"] or "", "")
        ends.append(f"{bound}{_gain(row[metric] / baseline[metric])} the baseline")
    if is_best and row["limiting"] is not None:
        objective = f" ({row['binding']})" if row["binding"] else ""
        ends.append(f"limited by {name_resource(row['limiting'])}{objective}")
    text += f": {', '.join(ends)}" if ends else ""
    return f"{begin_sentence(text)}.{_published(row, session, None if row is baseline else baseline)}"


def _count_answers(session: Session) -> list[str]:
    """Return how many points have only a bound or a wide interval, if some have one."""
    answer = quote(session.answer)
    counts = session.sql(
        f"SELECT count({answer}) AS answered, count(censored) AS censored, "  # noqa: S608 - quoted
        f"count(*) FILTER ({answer} IS NOT NULL AND NOT interval_met) AS unmet "
        "FROM configurations LEFT JOIN answers USING (point_id)"
    ).to_pylist()[0]
    ends = {
        "censored": "reached an end of the search range; the answer there is only a bound.",
        "unmet": "missed the target width of the interval.",
    }
    return [
        f"{format_count(counts[key], 'point')} {end}"
        for key, end in ends.items()
        if counts["answered"] and counts[key]
    ]


def _limits(rows: Sequence[Row], session: Session) -> list[str]:
    """Return what limits each point, if the processors of the host limit any."""
    names: dict[str, list[str]] = {}
    for row in rows:
        if row["limiting"] is not None:
            names.setdefault(row["limiting"], []).append(name_point(row, session))
    if "host" not in names:
        return []
    return [
        f"Limited by {resource}: "
        f"{'; '.join(some) if len(some) <= _NAMED else format_count(len(some), 'point')}."
        for resource, some in names.items()
    ]


def _load(row: Row, metric: str) -> str:
    bound = BOUNDS.get(row["censored"] or "", "")
    ends = row[f"{metric}_low"], row[f"{metric}_high"]
    # A bound is a value that was tried, not an estimate.
    digits = None if bound else _DIGITS
    return bound + format_estimate(row[metric], *ends, unit=metric.partition("_")[0], digits=digits)


def _gain(ratio: float) -> str:
    if ratio >= _TIMES:
        return f"{format_rounded(ratio)} times"
    return f"{abs(ratio - 1) * 100:.0f} % {'more' if ratio >= 1 else 'fewer'} than"


def _published(row: Row, session: Session, baseline: Row | None = None) -> str:
    """Return a sentence on the figure published for a row and its class."""
    published = row["published"]
    if published is None:
        return ""
    classes = {figure["figure"]: figure["class"] for figure in judge_figures(session).to_pylist()}
    text = f" Published: {format_number(published)}"
    if baseline is not None and baseline["published"]:
        text += f", {_gain(published / baseline['published'])} the published baseline"
    return f"{text}; {classes[row['published_figure']]}."


def _baseline(rows: Sequence[Row], metric: str) -> Row:
    """Return the best row of the smallest cache, among the published points if there are any."""
    named = [row for row in rows if row["published"] is not None] or list(rows)
    smallest = min(row.get(CAPACITY) or 0 for row in named)
    return max((row for row in named if (row.get(CAPACITY) or 0) == smallest), key=lambda row: row[metric])


_MOST_SENTENCES = 4
"""Points that have a sentence each; more are counted."""


def compose_least_answer(session: Session) -> list[str]:
    """Return the sentences on the cheapest points, or on those of the smallest values without prices."""
    answer = quote(session.answer)
    statement = f"SELECT *, {answer} AS answer FROM answers ORDER BY price NULLS LAST, {answer} NULLS LAST"  # noqa: S608
    rows = session.sql(statement).to_pylist()
    answered = [row for row in rows if row["answer"] is not None and row["censored"] is None]
    currency = (session.spec.get("prices") or {}).get("currency", "")
    varying = [path for path in session.axes if len({row[path] for row in rows}) > 1]
    sentences = [
        _describe(row, session, varying, currency, is_best=index == 0)
        for index, row in enumerate(answered[:_MOST_SENTENCES])
    ]
    if len(answered) > _MOST_SENTENCES:
        sentences.append(
            f"Also meeting the objectives: {format_count(len(answered) - _MOST_SENTENCES, 'other point')}."
        )
    dear = sum(row["censored"] == "more_expensive" for row in rows)
    if dear:
        sentences.append(f"Not searched to the end, as more expensive anyway: {format_count(dear, 'point')}.")
    never = [row for row in rows if row["censored"] == "above"]
    if never:
        most = format_number(max(row["answer"] for row in never))
        sentences.append(f"Missing an objective even with {most}: {format_count(len(never), 'point')}.")
    return sentences


def _describe(row: Row, session: Session, varying: list[str], currency: str, *, is_best: bool) -> str:
    """Return a point with its answer, as in `Cheapest: 6 disks, RAID 5, exos_x18 (EUR 3230); 4 miss ...`."""
    what = session.answer.partition("_")[0]
    names = [name_value(path, row[path], session.units) for path in varying if row[path] is not None]
    text = ", ".join([f"{format_number(row['answer'])} {what}", *([row["label"]] if row["label"] else names)])
    if row["price"] is not None:
        text += f" ({currency} {format_amount(row['price'])})"
    word = "Cheapest" if row["price"] is not None else "Fewest"
    text = f"{word}: {text}" if is_best else begin_sentence(text)
    if row["failing"] is not None:
        missed = describe_failing(row["failing_verdict"], row["binding"])
        text += f"; {format_number(row['failing'])} {missed}"
        if row["limiting"] is not None:
            text += f", limited by {name_resource(row['limiting'])}"
    return f"{text}."
