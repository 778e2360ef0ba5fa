"""The report of a sweep: one HTML file that needs no network, or a single figure as SVG."""

from destage.measured.sets import MeasuredSet
from destage.queries.exports.report_record import (
    Summary,
    add_record,
    digest_inputs,
    place_report,
    read_summary,
)
from destage.queries.opening.session import Session
from destage.queries.report.drawing.svg import draw
from destage.queries.report.figures import find_figure
from destage.queries.report.page import render_page
from destage.queries.report.reported_kinds import compose_answer, summarize
from destage.queries.report.sentences.published_section import fill_answers
from destage.store import Location


def write_report(
    session: Session, file: Location | None = None, measured: MeasuredSet | None = None
) -> Location:
    """Write a sweep's report, by default to `report/report.html` in its directory; return the file.

    Args:
        measured: Measured figures to draw beside the simulated ones.
    """
    place = place_report(session.sweep, file)
    _write(place, render_page(session, measured))
    return place


def update_report(session: Session, file: Location | None = None) -> tuple[Location, Summary]:
    """Write a sweep's report, unless it is up to date; return its file and the summary of the sweep."""
    place = place_report(session.sweep, file)
    inputs = digest_inputs(session.sweep, session.relations.fragments)
    summary = read_summary(place, inputs)
    if summary is None:
        summary, page = summarize(session), render_page(session)
        # A session opens the sweep again if another process replaces its files meanwhile.
        if digest_inputs(session.sweep, session.relations.fragments) == inputs:
            page = add_record(page, inputs, summary)
        _write(place, page)
    return place, summary


def _write(place: Location, page: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(page, encoding="utf-8")


def draw_figure(session: Session, name: str, measured: MeasuredSet | None = None) -> str:
    """Return one figure, such as `users_against_cache`, as an SVG file; `measured` with a measured set."""
    return draw(find_figure(session, name, measured).chart, standalone=True) + "\n"


__all__ = ["compose_answer", "draw_figure", "fill_answers", "update_report", "write_report"]
