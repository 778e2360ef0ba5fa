"""The answer to a study's question in words, the main result first."""

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

from destage.queries.findings.assumed_localities import list_assumed_localities
from destage.queries.findings.calibration_answer import compose_calibration, has_calibrated
from destage.queries.findings.missing_runs import note_missing_runs
from destage.queries.findings.model_error_text import list_model_errors
from destage.queries.findings.search_trials import has_trials
from destage.queries.findings.slower_caches import list_slower_caches
from destage.queries.findings.unsteady_caches import list_unsteady_caches
from destage.queries.opening.session import Session
from destage.queries.published.verdicts import judge_figures
from destage.queries.report.charts.facets import CAPACITY
from destage.queries.report.sentences.battery_answer import compose_battery_answer, list_losses
from destage.queries.report.sentences.excerpt import MOST_DRAWN, describe_excerpt, open_excerpt
from destage.queries.report.sentences.front_answer import compose_front_answer
from destage.queries.report.sentences.least_answer import compose_least_answer
from destage.queries.report.sentences.point_names import BOUNDS, name_point, name_resource
from destage.queries.report.sentences.published_section import compose_verdicts
from destage.queries.report.sentences.replay_answer import compose_replay_answer
from destage.queries.report.sentences.unanswered_points import list_unanswered
from destage.queries.text.presentation import format_count, format_estimate, format_number
from destage.sql import quote
from destage.store.schemas.published_figures import read_figures

Row = dict[str, Any]

_DIGITS = 3
_TIMES = 2.0
"""From this ratio on, a gain is stated as a factor rather than in percent."""
_MOST_UNANSWERED = 20
"""Points without an answer that have a sentence each."""
_NAMED = 4
"""More points than this with one limiting resource are counted rather than named."""

_composed: "WeakKeyDictionary[Session, tuple[str, ...]]" = WeakKeyDictionary()
"""The answers of open sessions, whose rows do not change: a report has the answer that is printed too."""


def compose_answer(session: Session) -> list[str]:
    """Return the sentences that answer the study's question; empty where the rows do not answer it yet."""
    points, count = list_unanswered(session, _MOST_UNANSWERED)
    lines = [f"No answer with {point.name}: {point.cause}; {point.remedy}." for point in points]
    more = count - len(points)
    if more:
        lines.append(f"No answer with {format_count(more, 'more point')}; the report lists them.")
    return compose_summary(session, lines)


def compose_summary(session: Session, unanswered: Sequence[str]) -> list[str]:
    """Return the sentences of an answer, given those on points that have none."""
    if session not in _composed:
        _composed[session] = tuple(_compose(session))
    remark = describe_excerpt(open_excerpt(session, MOST_DRAWN))
    return [*_composed[session], *unanswered, *([remark] if remark else [])]


def _compose(session: Session) -> list[str]:
    """Return the sentences of an answer except those on points that have none or are not shown."""
    results = _compose_results(session, open_excerpt(session, MOST_DRAWN))
    # A replay has the locality of its recording.
    assumed = list_assumed_localities(session) if results and session.kind != "replay" else []
    unsteady = list_unsteady_caches(session) if results else []
    slower = list_slower_caches(session) if results else []
    errors = list_model_errors(session) if results else []
    return [
        *note_missing_runs(session),
        *results,
        *unsteady,
        *slower,
        *errors,
        *assumed,
        *_note_damage(session),
    ]


def _note_damage(session: Session) -> list[str]:
    """Return a sentence for each file that is damaged and was read from elsewhere."""
    return [f"The file {issue.place} is {issue.message}." for issue in session.sweep.warnings]


def _compose_results(session: Session, shown: Session) -> list[str]:
    if has_trials(session) or has_calibrated(session):
        return compose_front_answer(session) if has_trials(session) else compose_calibration(session)
    verdicts = compose_verdicts(session)
    if verdicts and (session.metric is None or any(read_figures(session.spec))):
        return verdicts
    if session.kind == "replay":
        # The sentences of a replay are by array.
        arrays = frozenset(path for path in shown.axes if path.endswith(".use"))
        return compose_replay_answer(shown, lambda row: name_point(row, shown, without=arrays))
    rows: list[Row] = shown.query("design_space").to_pylist()
    # The points of an excerpt are not chosen for a comparison.
    battery = [] if shown.left_out else compose_battery_answer(rows, shown)
    if session.metric is None:
        return [*battery, *_response_answer(rows, shown)]
    if session.kind == "minimum":
        return [*battery, *compose_least_answer(session), *verdicts]
    lead, details = _seek_answer(rows, session.metric, shown)
    counts = _count_answers(session) if rows else []
    # Where a study has its own words, they are the detail.
    return [*battery, *lead, *(verdicts or details), *counts]


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
    sentences = [_best(best, baseline, metric, session)]
    if best is not baseline:
        load = f"Baseline: {_load(baseline, metric)} with {name_point(baseline, session)}."
        sentences.append(load + _published(baseline, session))
    details = [_comparison(row, baseline, metric, session) for row in compared if row is not best]
    return sentences, [*details, *_limits(answered, session)]


def _best(best: Row, baseline: Row, metric: str, session: Session) -> str:
    """Return what the best configuration carries, with its interval, its gain and what limits it."""
    text = f"{_load(best, metric)} with {name_point(best, session)}"
    ends = []
    if best is not baseline and baseline[metric]:
        ends.append(_gain_over(best, baseline, metric))
    if best["limiting"] is not None:
        objective = f" ({best['binding']})" if best["binding"] else ""
        ends.append(f"limited by {name_resource(best['limiting'])}{objective}")
    text += f": {', '.join(ends)}" if ends else ""
    return f"{text[0].upper()}{text[1:]}.{_published(best, session, None if best is baseline else baseline)}"


def _gain_over(row: Row, baseline: Row, metric: str) -> str:
    bound = BOUNDS.get(row["censored"] or "", "")
    return f"{bound}{_gain(row[metric] / baseline[metric])} the baseline"


def _count_answers(session: Session) -> list[str]:
    """Return how many points have only a bound or a wide interval, if some have one."""
    answer = quote(session.answer)
    counts = session.sql(
        f"SELECT count({answer}) AS answered, count(censored) AS censored, "  # noqa: S608 - quoted
        f"count(*) FILTER ({answer} IS NOT NULL AND NOT interval_met) AS unmet "
        "FROM configurations LEFT JOIN answers USING (point_id)"
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
    return sentences


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


def _comparison(row: Row, baseline: Row, metric: str, session: Session) -> str:
    text = f"{_load(row, metric)} with {name_point(row, session)}"
    if baseline[metric]:
        text += f": {_gain_over(row, baseline, metric)}"
    return f"{text[0].upper()}{text[1:]}.{_published(row, session, baseline)}"


def _load(row: Row, metric: str) -> str:
    bound = BOUNDS.get(row["censored"] or "", "")
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
    # Below half the use of every part, the load is what limits.
    limit = "" if fast["limiting"] in {None, "host"} else f"; limited by {name_resource(fast['limiting'])}"
    sentences = [f"Fastest: {_response(fast)} with {name_point(fast, session)}{limit}."]
    if fast is not slow:
        sentences.append(f"Slowest: {_response(slow)} with {name_point(slow, session)}.")
    return [*sentences, *list_losses(timed, session)]


def _response(row: Row) -> str:
    return (
        f"{format_number(row['response_p95_us'] / 1e3)} ms response time (95th percentile) at "
        f"{format_number(row['throughput_iops'])} requests/s"
    )
