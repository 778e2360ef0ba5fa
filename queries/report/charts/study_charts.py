"""The charts that a study asks for: each entry of its `charts` is a figure over its points."""

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import count
from typing import Any

from destage.queries.opening.session import Session
from destage.queries.report.charts.chart_builder import ChartRequest, build_figure
from destage.queries.report.charts.facets import CAPACITY
from destage.queries.report.drawing.chart import Figure
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
        found = [session.metric, f"{session.metric}_low", f"{session.metric}_high"]
        answered = ["point_id", *carried, "censored", *map(quote, found)]
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
