"""The figures of a report: the study's own charts, the standard charts and the timeline."""

from collections.abc import Callable
from functools import partial

from destage.errors import QueryError
from destage.measured.sets import MeasuredSet
from destage.queries.findings.calibration_answer import has_calibrated
from destage.queries.findings.search_trials import has_trials
from destage.queries.opening.session import Session
from destage.queries.report.charts.calibration_charts import build_calibration_charts
from destage.queries.report.charts.measured_chart import MEASURED, build_measured_chart
from destage.queries.report.charts.ratio_plot import RATIOS, build_ratio_plot
from destage.queries.report.charts.sensitivity_chart import WHAT_MATTERS, build_what_matters
from destage.queries.report.charts.standard_charts import (
    NAMES,
    build_name_chart,
    build_standard_chart,
    fitting_charts,
)
from destage.queries.report.charts.study_charts import build_study_charts
from destage.queries.report.charts.timeline_chart import TIMELINE, build_timeline
from destage.queries.report.drawing.chart import Figure
from destage.queries.report.sentences.front_chart import FRONT, build_front_chart
from destage.queries.report.sentences.slices import open_slice
from destage.spec.validation import suggest

_Build = Callable[[], Figure | None]


def build_figures(session: Session, measured: MeasuredSet | None = None) -> list[Figure]:
    """Build every figure that the sweep's rows fill; that of measured figures first, if there are any."""
    own = build_study_charts(session)
    if has_calibrated(session):
        # Its points are draws: charts over axes would show the prior.
        return [*build_calibration_charts(session), *own]
    taken = {figure.name for figure in own}
    standard = [
        build_standard_chart(chart, session)
        for name, chart in fitting_charts(session).items()
        if name not in taken
    ]
    named = [] if own else [build_name_chart(session)]
    beside = [] if measured is None else [build_measured_chart(session, measured)]
    found = [*named, *standard, build_timeline(session)]
    first = [*beside, build_front_chart(session)]
    return [
        *(figure for figure in first if figure is not None),
        *own,
        *(figure for figure in found if figure is not None),
    ]


def find_figure(session: Session, name: str, measured: MeasuredSet | None = None) -> Figure:
    """Build one figure; of a large sweep, with the points that a report shows."""
    builders = _list_builders(session, measured)
    if name not in builders:
        known = [*builders]
        raise QueryError(
            "query.unknown-plot",
            f"unknown plot {name!r}{suggest(name, known)}; available: {', '.join(known)}",
            data={"available": known},
        )
    figure = builders[name]()
    if figure is None:
        raise QueryError("query.no-rows", "the sweep has no rows for this plot yet", name)
    return figure


def _list_builders(session: Session, measured: MeasuredSet | None) -> dict[str, _Build]:
    """Return what builds each figure of a sweep, by name."""
    whole, (drawn, _) = session, open_slice(session)
    own = build_study_charts(drawn)
    if has_calibrated(whole):
        own += build_calibration_charts(whole)
    builders: dict[str, _Build] = {figure.name: partial(_keep, figure) for figure in own}
    for name, chart in fitting_charts(drawn).items():
        builders.setdefault(name, partial(build_standard_chart, chart, drawn))
    builders |= {
        NAMES: partial(build_name_chart, drawn),
        TIMELINE: partial(build_timeline, drawn),
        RATIOS: partial(build_ratio_plot, whole),
        WHAT_MATTERS: lambda: next(iter(build_what_matters(whole)), None),
    }
    if has_trials(whole):
        builders[FRONT] = partial(build_front_chart, whole)
    if measured is not None:
        builders[MEASURED] = partial(build_measured_chart, drawn, measured)
    return builders


def _keep(figure: Figure) -> Figure:
    return figure
