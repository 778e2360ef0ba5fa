"""The answer to a study's question in words, the main result first."""

from collections.abc import Sequence
from weakref import WeakKeyDictionary

from destage.queries.exports.report_record import Summary
from destage.queries.opening.missing_runs import note_missing_runs
from destage.queries.opening.session import Session
from destage.queries.report.reported_kinds import find_reported
from destage.queries.report.sentences.excerpt import MOST_DRAWN, describe_excerpt, open_excerpt
from destage.queries.report.sentences.unanswered_points import list_unanswered
from destage.queries.text.presentation import format_count

_MOST_UNANSWERED = 20
"""Points without an answer that have a sentence each."""

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
    kind = find_reported(session)
    results = kind.compose_results(open_excerpt(session, MOST_DRAWN))
    remarks = [sentence for find in kind.remarks for sentence in find(session)] if results else []
    damage = [f"The file {issue.place} is {issue.message}." for issue in session.sweep.warnings]
    return [*note_missing_runs(session), *results, *remarks, *damage]


def summarize(session: Session) -> Summary:
    """Return what a terminal shows of a sweep."""
    return find_reported(session).summarize(compose_answer(session))
