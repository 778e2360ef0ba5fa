"""The sentence that a sweep lacks rows, beside whatever is stated of its results."""

from destage.queries.opening.session import Session
from destage.queries.text.presentation import format_count


def note_missing_runs(session: Session) -> list[str]:
    """Return a sentence that a sweep lacks rows, if it does."""
    if not session.missing_runs:
        return []
    are = "is" if session.missing_runs == 1 else "are"
    runs = f"{session.missing_runs:,} of {format_count(session.planned_runs, 'planned run')}"
    return [f"{runs} {are} missing, so that the results are preliminary."]
