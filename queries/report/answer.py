"""The answer to a study's question in words, the main result first."""

from collections.abc import Sequence
from typing import Any

from destage.queries.presentation import (
    format_axis_value,
    format_count,
    format_estimate,
    format_number,
    name_value,
    title_axis,
)
from destage.queries.report.excerpt import MOST_DRAWN, describe_excerpt, open_excerpt
from destage.queries.report.facets import BATTERY, CAPACITY
from destage.queries.report.published_section import compose_verdicts
from destage.queries.report.replay_answer import compose_replay_answer
from destage.queries.session import Session
from destage.queries.verdicts import judge_figures
from destage.sql import quote

Row = dict[str, Any]

_WRITE_FRACTION = "controller.cache.write_fraction"
_BOUNDS = {"at_least": "at least ", "below": "at most ", "above": "more than "}
_DIGITS = 3
_TIMES = 2.0
"""From this ratio on, a gain is stated as a factor rather than in percent."""
_MOST_UNANSWERED = 20
"""Points without an answer that have a sentence each."""
_NAMED = 4
"""More points than this with one limiting resource are counted rather than named."""


def compose_answer(session: Session) -> list[str]:
    """Return the sentences that answer the study's question; empty where the rows do not answer it yet."""
    shown = open_excerpt(session, MOST_DRAWN)
    remark = describe_excerpt(shown)
    return [
        *_note_missing(session),
        *_compose_results(session, shown),
        *_list_unanswered(shown),
        *([remark] if remark else []),
    ]


def _note_missing(session: Session) -> list[str]:
    """Return a sentence that a sweep lacks rows, if it does."""
    if not session.missing_runs:
        return []
    are = "is" if session.missing_runs == 1 else "are"
    runs = f"{session.missing_runs:,} of {format_count(session.planned_runs, 'planned run')}"
    return [f"{runs} {are} missing, so that the results are preliminary."]


def _compose_results(session: Session, shown: Session) -> list[str]:
    verdicts = compose_verdicts(session)
    if verdicts:
        return verdicts
    if session.kind == "replay":
        return compose_replay_answer(shown, lambda row: _name(row, shown))
    rows: list[Row] = shown.query("design_space").to_pylist()
    if session.metric is None:
        return _response_answer(rows, shown)
    return [*_seek_answer(rows, session.metric, shown), *(_count_answers(session) if rows else [])]


def _list_unanswered(session: Session) -> list[str]:
    """Return a sentence for each point without an answer: its name, what did not settle, what mends it."""
    rows = session.query("unanswered").to_pylist() if session.config else []
    sentences = []
    for row in rows[:_MOST_UNANSWERED]:
        needed = f" to {format_number(row['requests_needed'])}" if row["requests_needed"] else ""
        cause = "the write cache" if row["unsettled"] == "write_cache" else "response times"
        sentences.append(
            f"No answer with {_name(row, session)}: {cause} did not become steady; {row['remedy']}{needed}."
        )
    more = len(rows) - _MOST_UNANSWERED
    if more > 0:
        sentences.append(
            f"No answer with {format_count(more, 'more point')}; the query `unanswered` lists all."
        )
    return sentences


def _seek_answer(rows: Sequence[Row], metric: str, session: Session) -> list[str]:
    answered = [row for row in rows if row[metric] is not None]
    if not answered:
        return []
    baseline = _baseline(answered, metric)
    best = max(answered, key=lambda row: row[metric])
    others = [row for row in answered if row is not baseline]
    compared = [row for row in others if row["published"] is not None] or [
        row for row in others if row["label"]
    ]
    sentences = [_comparison(row, baseline, metric, session) for row in compared]
    if best is not baseline and best not in compared:
        most = _comparison(best, baseline, metric, session)
        sentences.append(f"Largest load: {most[0].lower()}{most[1:]}" if compared else most)
    load = f"Baseline: {_load(baseline, metric)} with {_name(baseline, session)}."
    sentences.insert(1, load + _published(baseline, session))
    sentences += _limits(answered, session)
    return sentences


def _count_answers(session: Session) -> list[str]:
    """Return how many points have only a bound, a wide interval or no answer, if some have one."""
    answer = quote(session.answer)
    counts = session.sql(
        f"SELECT count({answer}) AS answered, count(censored) AS censored, "  # noqa: S608 - quoted
        f"count(*) FILTER ({answer} IS NOT NULL AND NOT interval_met) AS unmet, "
        f"count(*) - count({answer}) AS unanswered "
        "FROM configurations LEFT JOIN answers USING (point_id) WHERE is_first"
    ).to_pylist()[0]
    sentences: list[str] = []
    if not counts["answered"]:
        return sentences
    if counts["censored"]:
        sentences.append(
            f"{format_count(counts['censored'], 'point')} reached an end of the search range; the answer "
            "there is only a bound."
        )
    if counts["unmet"]:
        sentences.append(f"{format_count(counts['unmet'], 'point')} missed the target width of the interval.")
    if counts["unanswered"]:
        sentences.append(f"Not answered yet: {format_count(counts['unanswered'], 'point')}.")
    return sentences


def _limits(rows: Sequence[Row], session: Session) -> list[str]:
    """Return what limits each point, if the processors of the host limit any."""
    names: dict[str, list[str]] = {}
    for row in rows:
        if row["limiting"] is not None:
            names.setdefault(row["limiting"], []).append(_name(row, session))
    if "host" not in names:
        return []
    return [
        f"Limited by {resource}: "
        f"{'; '.join(some) if len(some) <= _NAMED else format_count(len(some), 'point')}."
        for resource, some in names.items()
    ]


def _comparison(row: Row, baseline: Row, metric: str, session: Session) -> str:
    text = f"{_load(row, metric)} with {_name(row, session)}"
    if baseline[metric]:
        bound = _BOUNDS.get(row["censored"] or "", "")
        text += f": {bound}{_gain(row[metric] / baseline[metric])} the baseline"
    return f"{text[0].upper()}{text[1:]}.{_published(row, session, baseline)}"


def _load(row: Row, metric: str) -> str:
    bound = _BOUNDS.get(row["censored"] or "", "")
    ends = row[f"{metric}_low"], row[f"{metric}_high"]
    # A bound is a value that was tried, not an estimate.
    digits = None if bound else _DIGITS
    return bound + format_estimate(row[metric], *ends, unit=metric.partition("_")[0], digits=digits)


def _gain(ratio: float) -> str:
    if ratio >= _TIMES:
        return f"{format_number(float(f'{ratio:.{_DIGITS}g}'))} times"
    return f"{abs(ratio - 1) * 100:.0f} % {'more' if ratio >= 1 else 'fewer'} than"


def _published(row: Row, session: Session, baseline: Row | None = None) -> str:
    """Return a sentence on the figure published for a row and its class."""
    published = row["published"]
    if published is None:
        return ""
    classes = {each["figure"]: each["class"] for each in judge_figures(session).to_pylist()}
    text = f" Published: {format_number(published)}"
    if baseline is not None and baseline["published"]:
        text += f", {_gain(published / baseline['published'])} the published baseline"
    return f"{text}; {classes[row['published_figure']]}."


def _baseline(rows: Sequence[Row], metric: str) -> Row:
    """Return the best row of the smallest cache, among the published points if there are any."""
    named = [row for row in rows if row["published"] is not None] or list(rows)
    smallest = min(row.get(CAPACITY) or 0 for row in named)
    return max((row for row in named if (row.get(CAPACITY) or 0) == smallest), key=lambda row: row[metric])


def _response_answer(rows: Sequence[Row], session: Session) -> list[str]:
    timed = [row for row in rows if row["response_p95_us"] is not None]
    if not timed:
        return []
    slow = max(timed, key=lambda row: row["response_p95_us"])
    fast = min(timed, key=lambda row: row["response_p95_us"])
    sentences = [f"Slowest: {_response(slow)} with {_name(slow, session)}."]
    if fast is not slow:
        sentences.append(f"Fastest: {_response(fast)} with {_name(fast, session)}.")
    for row in timed:
        if row["dirty_lost_bytes"]:
            ends = (row["dirty_lost_bytes"], row["dirty_lost_bytes_low"], row["dirty_lost_bytes_high"])
            mean, low, high = (None if end is None else end / 2**20 for end in ends)
            lost = format_estimate(mean or 0.0, low, high, unit="MiB")
            sentences.append(f"Acknowledged data lost: {lost} with {_name(row, session)}.")
    bare = {_elsewhere(row, session): row for row in timed if row.get(BATTERY, "present") != "present"}
    pairs = [
        (bare[_elsewhere(row, session)], row)
        for row in timed
        if row not in bare.values() and _elsewhere(row, session) in bare
    ]
    # The points of an excerpt are not chosen for this comparison.
    if pairs and not session.left_out:
        without, having = max(
            pairs, key=lambda pair: float(pair[0]["response_p95_us"] / pair[1]["response_p95_us"])
        )
        ratio = format_number(round(without["response_p95_us"] / having["response_p95_us"], 2))
        sentences.append(
            f"Largest gain from the battery: {_response(having)} with {_name(having, session)}; "
            f"without it, the response time is {ratio} times as long."
        )
    return sentences


def _elsewhere(row: Row, session: Session) -> tuple[Any, ...]:
    return tuple(row[path] for path in session.axes if path not in {BATTERY, _WRITE_FRACTION})


def _response(row: Row) -> str:
    return (
        f"{format_number(row['response_p95_us'] / 1e3)} ms response time (95th percentile) at "
        f"{format_number(row['throughput_iops'])} requests/s"
    )


def _name(row: Row, session: Session) -> str:
    if row.get("label"):
        within = [path for path in session.axes if path.endswith(".raid")]
        where = ", ".join(f"{title_axis(path)} {format_axis_value(path, row[path], None)}" for path in within)
        return f"{row['label']} ({where})" if where else str(row["label"])
    parts = []
    if row.get(CAPACITY) is not None:
        size = format_axis_value(CAPACITY, row[CAPACITY], "bytes")
        parts.append(f"{size} of cache" if row[CAPACITY] else "no cache")
    battery = row.get(BATTERY)
    # Without a battery there is no write cache to split.
    hidden = {CAPACITY, BATTERY, "faults"} | (set() if battery in {None, "present"} else {_WRITE_FRACTION})
    if "faults" in row:
        faults = format_axis_value("faults", row["faults"], None)
        parts.append("no faults" if faults == "none" else faults)
    parts += [
        name_value(path, row[path], session.units)
        for path in session.axes
        if path not in hidden and row.get(path) is not None and not path.endswith((".use", ".arrival.file"))
    ]
    if battery is not None:
        parts.append(f"battery {battery}")
    return ", ".join(parts) or "the configuration"
