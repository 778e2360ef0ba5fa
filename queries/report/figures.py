"""The figures of a report: the study's own charts, the standard charts, and `FIGURES`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from destage.errors import QueryError
from destage.measured.sets import MeasuredSet
from destage.queries.opening.session import Session
from destage.queries.report.charts.measured_chart import MEASURED, build_measured_chart
from destage.queries.report.charts.ratio_plot import RATIOS, build_ratio_plot
from destage.queries.report.charts.sensitivity_chart import WHAT_MATTERS, build_what_matters
from destage.queries.report.charts.standard_charts import (
    NAMES,
    build_name_chart,
    build_standard_chart,
    build_study_charts,
    fitting_charts,
)
from destage.queries.report.charts.timeline_chart import TIMELINE, build_timeline
from destage.queries.report.drawing.chart import Figure
from destage.queries.report.reported_kinds import ReportedFront, ReportedStudy, find_reported
from destage.queries.report.sentences.excerpt import open_slice
from destage.queries.report.sentences.front_answer import FRONT, build_front_chart
from destage.spec.near_names import suggest

_Build = Callable[[], Figure | None]
_TRANSITIONS = """
SELECT 1 AS found FROM stored_rows
WHERE NOT list_has_all(['window_begins', 'window_ends'], timeline_event) LIMIT 1
"""
"""A row if a run has an event other than those of its window."""


@dataclass(frozen=True, slots=True)
class BuiltFigure:
    """A figure with a builder of its own.

    Attributes:
        name: Its name in `--plot`.
        meaning: What it shows.
        build: Builds it from a sweep; None where the rows do not fill it.
        place: Where it is among a report's charts: before the study's own, instead of these, or last; or
            before the table of published figures; None if the report has several of it.
        has_all_points: Whether it is of all points; others are of those that a report shows.
        needs_measured: Whether `build` takes a measured set, too.
        studies: The kind of study that may have it.
        may_fill: Whether a sweep may have rows for it, which is known sooner than its rows.
    """

    name: str
    meaning: str
    build: Callable[..., Figure | None]
    place: Literal["first", "instead", "last", "published"] | None = None
    has_all_points: bool = False
    needs_measured: bool = False
    studies: type[ReportedStudy] = ReportedStudy
    may_fill: Callable[[Session], bool] = lambda _: True

    def bind(self, session: Session, measured: MeasuredSet | None) -> _Build | None:
        """Return what builds it from a sweep; None if the sweep cannot have it."""
        is_fitting = isinstance(find_reported(session), self.studies)
        if not is_fitting or (self.needs_measured and measured is None):
            return None
        build = partial(self.build, session, *([measured] if self.needs_measured else []))
        return lambda: build() if self.may_fill(session) else None


FIGURES = (
    BuiltFigure(
        MEASURED,
        "The figures of the set that `--measured` names, beside the simulated points.",
        build_measured_chart,
        place="first",
        needs_measured=True,
    ),
    BuiltFigure(
        FRONT,
        "The trials of a search by its first two objectives, and the Pareto front.",
        build_front_chart,
        place="first",
        has_all_points=True,
        studies=ReportedFront,
    ),
    BuiltFigure(
        NAMES,
        "The result of the study by the names of an axis, where no number varies.",
        build_name_chart,
        place="instead",
    ),
    BuiltFigure(
        TIMELINE,
        "States and events over time, of runs in which something failed, charged or was rebuilt.",
        build_timeline,
        place="last",
        # Most sweeps have none, and the states of thousands of runs take long to find.
        may_fill=lambda session: session.sql(_TRANSITIONS).num_rows > 0,
    ),
    BuiltFigure(
        RATIOS,
        "Each published figure of the study divided by the simulated one.",
        build_ratio_plot,
        place="published",
        has_all_points=True,
        may_fill=lambda session: session.has_published,
    ),
    BuiltFigure(
        WHAT_MATTERS,
        "The share of each axis in the variance of the result, as of `destage explain axes`.",
        lambda session: next(iter(build_what_matters(session)), None),
        has_all_points=True,
    ),
)
"""The figures that are neither a study's own nor standard charts, each place in the order of a report."""
_RESERVED = [figure.name for figure in FIGURES]


def build_figures(session: Session, measured: MeasuredSet | None = None) -> list[Figure]:
    """Build every figure that the sweep's rows fill; that of measured figures first, if there are any."""
    own = build_study_charts(session, _RESERVED)
    return find_reported(session).build_figures(own, lambda: _build_over_axes(session, own, measured))


def _build_over_axes(session: Session, own: Sequence[Figure], measured: MeasuredSet | None) -> list[Figure]:
    """Build the figures over the axes of a sweep, among them the study's own."""
    taken = {figure.name for figure in own}
    standard = [
        build_standard_chart(chart, session)
        for name, chart in fitting_charts(session).items()
        if name not in taken
    ]
    return [
        *build_placed(session, measured, "first"),
        *own,
        *([] if own else build_placed(session, measured, "instead")),
        *(figure for figure in standard if figure is not None),
        *build_placed(session, measured, "last"),
    ]


def build_placed(session: Session, measured: MeasuredSet | None, place: str) -> list[Figure]:
    """Build the figures of a place."""
    bound = [figure.bind(session, measured) for figure in FIGURES if figure.place == place]
    built = [build() for build in bound if build is not None]
    return [figure for figure in built if figure is not None]


def find_figure(session: Session, name: str, measured: MeasuredSet | None = None) -> Figure:
    """Build one figure; of a large sweep, with the points that a report shows."""
    builders = _list_builders(session, measured)
    if name not in builders:
        names = [*builders]
        raise QueryError(
            "query.unknown-plot",
            f"unknown plot {name!r}{suggest(name, names)}; available: {', '.join(names)}",
            data={"available": names},
        )
    figure = builders[name]()
    if figure is None:
        raise QueryError("query.no-rows", "the sweep has no rows for this plot yet", name)
    return figure


def _list_builders(session: Session, measured: MeasuredSet | None) -> dict[str, _Build]:
    """Return what builds each figure of a sweep, by name."""
    whole, (drawn, _) = session, open_slice(session)
    own = [*build_study_charts(drawn, _RESERVED), *find_reported(whole).build_charts()]
    builders: dict[str, _Build] = {chart.name: partial(_keep, chart) for chart in own}
    for name, standard in fitting_charts(drawn).items():
        builders.setdefault(name, partial(build_standard_chart, standard, drawn))
    for figure in FIGURES:
        build = figure.bind(whole if figure.has_all_points else drawn, measured)
        if build is not None:
            builders[figure.name] = build
    return builders


def _keep(figure: Figure) -> Figure:
    return figure
