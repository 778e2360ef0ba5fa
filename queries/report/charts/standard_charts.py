"""The charts of a report: those of every study where its rows fill them, and those that a study defines."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from destage.queries.opening.session import Session
from destage.queries.report.charts.chart_builder import ChartRequest, build_figure
from destage.queries.report.charts.facets import CAPACITY, is_text, varies
from destage.queries.report.drawing.chart import Figure
from destage.queries.text.presentation import begin_sentence, title_axis, title_column
from destage.sql import quote

_HIT_RATIO = "hit_ratio"
_SECTIONS = ("published", "design_space", "provenance")
"""Names of the parts of a report that are not figures."""


def build_study_charts(session: Session, reserved: Collection[str] = ()) -> list[Figure]:
    """Build the figures that the sweep's rows fill, in the study's order.

    Args:
        reserved: Names that other figures of a report have.
    """
    figures: list[Figure] = []
    taken = [*_SECTIONS, *reserved]
    for entry in session.spec.get("charts", []) if session.config else []:
        request = ChartRequest(
            name=_name(entry["title"], [*taken, *(figure.name for figure in figures)]),
            title=entry["title"],
            columns=(entry["y"],),
            below=_HIT_RATIO if _has_strip(entry, session) else None,
            caption=entry.get("caption", ""),
            sql=_statement(entry, session),
            x=entry["x"],
            by=entry.get("by"),
            x_title=entry.get("x_title"),
            y_title=entry.get("y_title"),
            x_log=entry.get("x_log", False),
            y_log=entry.get("y_log", False),
            has_published=entry.get("published", True),
        )
        figure = build_figure(request, session.sql_of_named_columns(request.sql).to_pylist(), session)
        if figure is not None:
            figures.append(figure)
    return figures


def _has_strip(entry: Mapping[str, Any], session: Session) -> bool:
    """Whether the hit ratio is drawn below: it explains the load supported by each cache."""
    return bool(entry["x"] == CAPACITY and entry["y"] == session.metric)


def _statement(entry: Mapping[str, Any], session: Session) -> str:
    y, x = entry["y"], entry["x"]
    axes = [quote(path) for path in session.axes]
    shown = ["point_id", "label", *axes]
    if x not in {*session.axes, "label"}:
        shown.append(quote(x))
    drawn = [y, *([_HIT_RATIO] if _has_strip(entry, session) else [])]
    shown += [quote(f"{name}{end}") for name in drawn for end in ("", "_low", "_high")]
    source = ["FROM points"]
    if session.metric is not None:
        shown.append("censored")
        carried = ["plan_row", "label", *axes]
        answer_columns = [session.metric, f"{session.metric}_low", f"{session.metric}_high"]
        answered = ["point_id", *carried, "censored", *map(quote, answer_columns)]
        source = [
            "FROM (",
            f"  SELECT {', '.join(answered)}",
            "  FROM answers",
            ")",
            "LEFT JOIN (",
            f"  SELECT * EXCLUDE ({', '.join(carried)})",
            "  FROM certified",
            ") USING (point_id)",
        ]
    return "\n".join(
        [
            f"SELECT {', '.join(shown)}",
            *source,
            *(["WHERE (", entry["where"], ")"] if "where" in entry else []),
            "ORDER BY plan_row",
        ]
    )


def _name(title: str, taken: Sequence[str]) -> str:
    """Return a figure's name, made of the letters and digits of its title."""
    name = re.sub("[^a-z0-9]+", "_", title.lower()).strip("_") or "chart"
    return name if name not in taken else next(f"{name}_{n}" for n in count(2) if f"{name}_{n}" not in taken)


NAMES = "result_by_configuration"
_MOST_NAMED = 8
"""Named points above which their texts hide a chart that a study's own charts can replace."""


@dataclass(frozen=True, slots=True)
class StandardChart:
    """A chart of a named query's rows.

    Attributes:
        studies: The studies it is for: seek, minimum, replay, fixed or any.
        request: The chart; its column `answer` is what the study seeks.
    """

    query: str
    studies: str
    request: ChartRequest


STANDARD_CHARTS = (
    StandardChart(
        "users_against_cache",
        "seek",
        ChartRequest(
            name="users_against_cache",
            title="Load supported against {x}",
            columns=("answer",),
            below="hit_ratio",
            caption="The largest load that meets all objectives: where the first objective reaches its "
            "bound, as the mean over replicates.",
        ),
    ),
    StandardChart(
        "users_against_cache",
        "minimum",
        ChartRequest(
            name="users_against_cache",
            title="Answer against {x}",
            columns=("answer",),
            below="hit_ratio",
            caption="The smallest value that meets all objectives, judged by all replicates together.",
        ),
    ),
    StandardChart(
        "commits_against_cache",
        "replay",
        ChartRequest(
            name="completion_time_against_cache",
            title="Completion time of the replay against {x}",
            columns=("completion_time_s",),
            caption="Time from the start to the last completion. In a dependent replay, each process waits "
            "for its synchronous writes and flushes and keeps its recorded pauses: a faster array finishes "
            "sooner, but the pauses set a lower bound.",
        ),
    ),
    StandardChart(
        "commits_against_cache",
        "replay",
        ChartRequest(
            name="commit_latency_against_cache",
            title="Commit latency against {x}",
            columns=("commit_p50_us", "commit_p99_us"),
            caption="Median and 99th percentile. A commit is a flush with the synchronous writes directly "
            "before it.",
            y_title="commit latency [ms]",
            y_log=True,
        ),
    ),
    StandardChart(
        "commits_against_cache",
        "replay",
        ChartRequest(
            name="commit_rate_against_cache",
            title="Commit rate against {x}",
            columns=("commits_per_s",),
            caption="Commits per second over the whole replay.",
        ),
    ),
    StandardChart(
        "response_against_cache",
        "fixed",
        ChartRequest(
            name="response_against_cache",
            title="Response time against {x}",
            columns=("response_p50_us", "response_p95_us", "response_p99_us"),
            caption="Reads and writes together: median, 95th and 99th percentile.",
            y_title="response time [ms]",
            y_log=True,
        ),
    ),
    StandardChart(
        "hit_ratio_against_cache",
        "any",
        ChartRequest(
            name="hit_ratio_against_cache",
            title="Hit ratio against {x}",
            columns=("read_hit_ratio", "write_hit_ratio"),
            caption="A read hit is served from the cache alone. A write hit overwrites only dirty lines: it "
            "takes no additional cache space, and the older data is never destaged.",
            y_title="hit ratio",
        ),
    ),
)


def fitting_charts(session: Session) -> dict[str, StandardChart]:
    """Return the charts for this kind of study that its own charts do not replace, by name."""
    fitting = {
        chart.request.name: chart for chart in STANDARD_CHARTS if chart.studies in session.kind.queries
    }
    charts = session.spec.get("charts")
    if not charts:
        return fitting
    if CAPACITY not in session.axes or len(session.points.list_labels()) > _MOST_NAMED:
        return {}
    drawn = {chart["y"] for chart in charts if chart["x"] == CAPACITY}
    return {name: chart for name, chart in fitting.items() if not set(_columns(chart, session)) <= drawn}


def build_name_chart(session: Session) -> Figure | None:
    """Build the result by the names of an axis, where no number varies; return None where no name does."""
    rows = session.query("design_space").to_pylist()
    rows = [row for row in rows if row[session.result] is not None]
    varying = [path for path in session.axes if varies(path, rows)]
    if not varying or not all(is_text(path, rows) for path in varying):
        return None
    x, *others = sorted(varying, key=lambda path: -len({row[path] for row in rows}))
    request = ChartRequest(
        name=NAMES,
        title=f"{begin_sentence(title_column(session.result).partition(' [')[0])} by {title_axis(x)}",
        columns=(session.result,),
        x=x,
        by=others[0] if others else None,
        sql=session.write_query("design_space"),
    )
    return build_figure(request, rows, session)


def build_standard_chart(chart: StandardChart, session: Session) -> Figure | None:
    """Build a chart; return None where the sweep has no rows for it."""
    request = replace(chart.request, columns=_columns(chart, session), sql=session.write_query(chart.query))
    return build_figure(request, session.query(chart.query).to_pylist(), session)


def _columns(chart: StandardChart, session: Session) -> tuple[str, ...]:
    return tuple(session.metric or name if name == "answer" else name for name in chart.request.columns)
