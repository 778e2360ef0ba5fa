"""The report of a sweep: one HTML file that needs no network, and its figures one by one."""

from destage.queries.report.answer import answer_sentences
from destage.queries.report.figures import find_figure
from destage.queries.report.judged import answers_told
from destage.queries.report.page import render
from destage.queries.report.svg import draw
from destage.queries.session import Session
from destage.store import Location


def write_report(session: Session, file: Location | None = None) -> Location:
    """Write a sweep's report.

    Args:
        session: The sweep.
        file: Where it goes; by default `report/report.html` in the sweep's directory.

    Returns:
        Where it is.
    """
    place = session.sweep.path / "report" / "report.html" if file is None else file
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(render(session), encoding="utf-8")
    return place


def draw_figure(session: Session, name: str) -> str:
    """Return one figure as an SVG file.

    Args:
        session: The sweep.
        name: The figure's name, such as `users_against_cache`.

    Raises:
        QueryError: There is no such figure for this study, or no row to fill it.
    """
    return draw(find_figure(session, name).chart, standalone=True) + "\n"


__all__ = ["answer_sentences", "answers_told", "draw_figure", "write_report"]
