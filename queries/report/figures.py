"""The figures of a report: the study's own charts, the standard charts and the timeline."""

from destage.errors import QueryError
from destage.measured.sets import MeasuredSet
from destage.queries.calibration_answer import is_calibration
from destage.queries.report.calibration_charts import build_calibration_charts
from destage.queries.report.chart import Figure
from destage.queries.report.front_chart import FRONT, build_front_chart
from destage.queries.report.measured_chart import MEASURED, build_measured_chart
from destage.queries.report.ratio_plot import RATIOS, build_ratio_plot
from destage.queries.report.sensitivity_chart import WHAT_MATTERS, build_what_matters
from destage.queries.report.slices import open_slice
from destage.queries.report.standard_charts import (
    NAMES,
    build_name_chart,
    build_standard_chart,
    fitting_charts,
)
from destage.queries.report.study_charts import build_study_charts
from destage.queries.report.timeline import TIMELINE, build_timeline
from destage.queries.search_trials import has_trials
from destage.queries.session import Session
from destage.spec.validation import suggest


def build_figures(session: Session, measured: MeasuredSet | None = None) -> list[Figure]:
    """Build every figure that the sweep's rows fill; that of measured figures first, if there are any."""
    own = build_study_charts(session)
    if is_calibration(session):
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
    whole, (session, _) = session, open_slice(session)
    calibrated = build_calibration_charts(whole) if is_calibration(whole) else []
    own = {figure.name: figure for figure in [*build_study_charts(session), *calibrated]}
    standard = fitting_charts(session)
    known = [*own, *standard, NAMES, TIMELINE, RATIOS, WHAT_MATTERS]
    known += [*([FRONT] if has_trials(session) else []), *([] if measured is None else [MEASURED])]
    figure: Figure | None
    if name in own:
        figure = own[name]
    elif name in standard:
        figure = build_standard_chart(standard[name], session)
    elif name == NAMES:
        figure = build_name_chart(session)
    elif name == TIMELINE:
        figure = build_timeline(session)
    elif name == MEASURED and measured is not None:
        figure = build_measured_chart(session, measured)
    elif name == WHAT_MATTERS:
        figure = next(iter(build_what_matters(whole)), None)
    elif name == RATIOS:
        figure = build_ratio_plot(whole)
    elif name == FRONT:
        figure = build_front_chart(whole)
    else:
        raise QueryError(
            "query.unknown-plot",
            f"unknown plot {name!r}{suggest(name, known)}; available: {', '.join(known)}",
            data={"available": known},
        )
    if figure is None:
        raise QueryError("query.no-rows", "the sweep has no rows for this plot yet", name)
    return figure
