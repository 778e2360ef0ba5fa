"""The report of a sweep: one HTML file that needs no network, or a single figure as SVG."""

from destage.measured.sets import MeasuredSet
from destage.queries.report.answer import compose_answer
from destage.queries.report.figures import find_figure
from destage.queries.report.page import render_page
from destage.queries.report.published_section import fill_answers
from destage.queries.report.svg import draw
from destage.queries.session import Session
from destage.store import Location


def write_report(
    session: Session, file: Location | None = None, measured: MeasuredSet | None = None
) -> Location:
    """Write a sweep's report, by default to `report/report.html` in its directory; return the file.

    Args:
        measured: Measured figures to draw beside the simulated ones.
    """
    place = session.sweep.path / "report" / "report.html" if file is None else file
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(render_page(session, measured), encoding="utf-8")
    return place


def draw_figure(session: Session, name: str, measured: MeasuredSet | None = None) -> str:
    """Return one figure, such as `users_against_cache`, as an SVG file; `measured` with a measured set."""
    return draw(find_figure(session, name, measured).chart, standalone=True) + "\n"


__all__ = ["compose_answer", "draw_figure", "fill_answers", "write_report"]
