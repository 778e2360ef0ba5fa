"""The report: one HTML file without network, the question and its answer first; single figures as SVG."""

import base64
import hashlib
from collections.abc import Sequence
from html import escape
from importlib.metadata import version
from importlib.resources import files

import yaml

from destage import engine
from destage.measured.sets import MeasuredSet
from destage.queries.exports.report_record import (
    Summary,
    add_record,
    digest_inputs,
    place_report,
    read_summary,
)
from destage.queries.opening.session import Session
from destage.queries.report.charts.sensitivity_chart import build_what_matters
from destage.queries.report.drawing.chart import Figure
from destage.queries.report.drawing.svg import NARROW, WIDE, draw
from destage.queries.report.figures import build_figures, build_placed, find_figure
from destage.queries.report.reported_kinds import compose_summary, find_reported, summarize
from destage.queries.report.sentences.design_space import render_design_space
from destage.queries.report.sentences.excerpt import MOST_DRAWN, open_excerpt
from destage.queries.report.sentences.published_section import render_published_section
from destage.queries.report.sentences.unanswered_points import UnansweredPoint, list_unanswered
from destage.queries.text.presentation import format_count, format_number
from destage.store import Location

_MOST_UNANSWERED = 50


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


def render_page(session: Session, measured: MeasuredSet | None = None) -> str:
    """Return a sweep's report in HTML, with a chart of measured figures if there are any."""
    shown = open_excerpt(session, MOST_DRAWN)
    kind = find_reported(session)
    has_points, (drawn, left_out) = kind.has_points, kind.open_drawn()
    points, unanswered = list_unanswered(session, _MOST_UNANSWERED)
    sections = [
        _answer(session, unanswered),
        _list_unanswered(points, unanswered),
        *(_figure(figure, session, left_out) for figure in build_figures(drawn, measured)),
        # Of draws, it would take minutes and show the prior; a calibration has tables of its own on this.
        *(_figure(plot, session) for plot in (build_what_matters(session) if has_points else ())),
        *(_figure(plot, session) for plot in build_placed(session, measured, "published")),
        render_published_section(session) if session.spec.keys() & {"published", "assumptions"} else "",
        render_design_space(shown, _sql(session.write_query("design_space"), session)),
        _provenance(session),
    ]
    title = f"{session.sweep.name}: answer and figures"
    has_panel = any('<section id="explore"' in section for section in sections)
    names = ["page.js", *(["vendor/plot.js", "explore.js"] if has_panel else [])]
    scripts = [_asset(name) for name in names]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(scripts)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title><style>{_asset('chart.css')}{_asset('page.css')}</style></head>\n"
        f"<body><main>\n{''.join(sections)}</main>"
        f"{''.join(f'<script>{script}</script>' for script in scripts)}</body></html>\n"
    )


def _policy(scripts: Sequence[str]) -> str:
    """Return the content-security policy: nothing is loaded, and only the page's own scripts run."""
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    # The legend of a scale of colours is an image that the page draws itself.
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _answer(session: Session, unanswered: int) -> str:
    """Return the head of the page, with the number of points without an answer."""
    question = session.spec.get("question") or f"Results of {session.sweep.name}"
    have = f"{format_count(unanswered, 'point')} {'has' if unanswered == 1 else 'have'} no answer"
    listed = [f"{have}; the list below has the cause and the remedy of each."] if unanswered else []
    sentences = compose_summary(session, listed)
    if not sentences:
        sentences = ["No answer yet; the table below shows the results of the finished runs."]
    first, *others = sentences
    more = "".join(f"<li>{escape(sentence)}</li>" for sentence in others)
    return (
        '<header><p class="study">'
        f"Destage study <b>{escape(session.sweep.name)}</b>"
        '<button id="theme" type="button" aria-label="Switch between light and dark">◐</button></p>'
        f'<h1>{escape(question)}</h1><p class="answer">{escape(first)}</p>'
        f"<ul>{more}</ul></header>\n"
    )


def _figure(figure: Figure, session: Session, remark: str = "") -> str:
    caption = " ".join(filter(None, [figure.caption, remark]))
    return (
        f'<section class="figure" id="{figure.name}"><h2>{escape(figure.chart.title)}</h2>'
        f'<div class="wide">{draw(figure.chart, width=WIDE)}</div>'
        f'<div class="narrow">{draw(figure.chart, width=NARROW)}</div>'
        f'<p class="caption">{escape(caption)}</p>'
        f"{_sql(figure.sql, session)}</section>\n"
    )


def _sql(text: str, session: Session) -> str:
    """Return a statement so that it can be pasted into `destage query`."""
    written = escape(session.name_paths(text).strip())
    return f"<details><summary>SQL</summary><pre>{written}</pre></details>"


def _list_unanswered(points: Sequence[UnansweredPoint], count: int) -> str:
    """Return the section on the first points without an answer, with the cause and what to change."""
    if not points:
        return ""
    listed = "".join(
        f"<li><b>{escape(point.name)}</b>: {escape(point.cause)}. "
        f"<span>Remedy: {escape(point.remedy)}.</span></li>"
        for point in points
    )
    more = format_count(count - len(points), "more point")
    rest = f"<p>{more}: the rows of the table without a result.</p>" if count > len(points) else ""
    return f'<section id="unanswered"><h2>Points without an answer</h2><ul>{listed}</ul>{rest}</section>\n'


def _provenance(session: Session) -> str:
    summary = session.query("runs_summary").to_pylist()
    facts = session.sql(
        "SELECT count(DISTINCT replicate) AS replicates, count(DISTINCT point_id) AS points, "
        "count(DISTINCT run_id) AS runs FROM plan"
    ).to_pylist()[0]
    where = session.sql(
        "SELECT list_sort(list(DISTINCT prov_host) FILTER (WHERE prov_host IS NOT NULL)) AS hosts, "
        "date_trunc('second', min(prov_time))::VARCHAR AS first, "
        "date_trunc('second', max(prov_time))::VARCHAR AS last, "
        "count(DISTINCT run_id) FILTER (status = 'not_stationary') AS unsteady_runs, "
        "count(DISTINCT point_id) FILTER (status = 'not_stationary') AS unsteady_points FROM runs"
    ).to_pylist()[0]
    runs, points = (format_count(where[f"unsteady_{noun}s"], noun) for noun in ("run", "point"))
    unsteady = f"{runs} of {points}, excluded from means" if where["unsteady_runs"] else "none"
    statuses = ", ".join(f"{format_number(row['runs'])} {row['status']}" for row in summary) or "none yet"
    finished = sum(row["runs"] for row in summary)
    engine_time = f"{format_number(round(sum(row['engine_s'] or 0.0 for row in summary), 1))} s"
    requests = sum(row["requests"] or 0 for row in summary)
    seed = session.config.get("run", {}).get("seed")
    seeds = f"root seed {seed}, replicates 0 to {facts['replicates'] - 1}"
    planned = (
        f"{format_count(facts['points'], 'point')}, {format_count(facts['runs'], 'distinct run')}, "
        f"up to {format_count(facts['replicates'], 'replicate')} per point"
    )
    pairs: list[tuple[str, str]] = [
        ("study", f"{session.sweep.name}, sweep {session.sweep.id}"),
        ("planned", planned),
        ("finished", f"{format_count(finished, 'run')}: {statuses}"),
        ("simulated", f"{format_count(requests, 'request')} in {engine_time}, the sum over all runs"),
        ("seed", "not planned yet" if seed is None else seeds),
        ("engine", f"destage {version('destage')}, results version {engine.RESULTS_VERSION}"),
        ("host", ", ".join(where["hosts"] or []) or "none yet"),
        ("time", "none yet" if where["first"] is None else f"{where['first']} to {where['last']} (UTC)"),
        ("runs not stationary", unsteady),
        *find_reported(session).describe_intervals(),
    ]
    listed = "".join(f"<dt>{escape(term)}</dt><dd>{escape(text)}</dd>" for term, text in pairs)
    failures = "".join(
        f"<p class='warning'>{format_count(row['runs'], 'run')} {escape(row['status'])}; "
        f"first error: {escape(row['first_error'])}</p>"
        for row in summary
        if row["first_error"]
    )
    spec = yaml.safe_dump(session.spec, sort_keys=False, allow_unicode=True)
    return (
        f'<section id="provenance"><h2>Provenance</h2><dl>{listed}</dl>{failures}'
        f"<details><summary>Study as executed</summary><pre>{escape(spec)}</pre></details></section>\n"
    )


def _asset(name: str) -> str:
    return (files("destage.queries.report") / name).read_text()
