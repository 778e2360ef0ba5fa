"""Whether intervals have the width up to which a study adds replicates (`replicates.until`)."""

from dataclasses import dataclass
from typing import Any

from destage.queries.opening.session import Session
from destage.queries.tables.views import list_measured_columns
from destage.queries.text.presentation import format_count
from destage.sql import quote


@dataclass(frozen=True, slots=True)
class TargetWidths:
    """How many intervals are wider than asked for.

    Attributes:
        measured: The number of intervals that have a target width.
        unmet: The number of those that are wider.
        widest: The half-width of the widest [fraction of the mean]; None if all are met, or of one replicate.
    """

    measured: int
    unmet: int
    widest: float | None


def count_answers(session: Session) -> TargetWidths:
    """Return how many answers of a seek have the width; none if the study asks for no width."""
    width = f"{quote(f'{session.answer}_half_width')} / {quote(session.answer)}"
    return _count(
        session.sql(
            "SELECT count(interval_met) AS measured, count(*) FILTER (WHERE NOT interval_met) AS unmet, "  # noqa: S608
            f"max({width}) FILTER (WHERE NOT interval_met) AS widest FROM answers"
        ).to_pylist()[0]
    )


def count_results(session: Session) -> TargetWidths:
    """Return how many points have the width in the result that is asked for; none without a target."""
    replicates = session.spec.get("replicates")
    until = replicates.get("until") if isinstance(replicates, dict) else None
    if until is None:
        return TargetWidths(0, 0, None)
    columns = list_measured_columns()
    # The study may name the column without its unit.
    by_name = {name.rpartition("_")[0]: name for name in columns} | {name: name for name in columns}
    name = by_name[until["interval_of"]]
    mean, low, high = map(quote, (name, f"{name}_low", f"{name}_high"))
    # One end of a share may be cut off at 0 or 1.
    half_width = f"greatest({high} - {mean}, {mean} - {low})"
    is_met = f"coalesce({half_width} <= {until['relative']!r} * abs({mean}), false)"
    return _count(
        session.sql_of_named_columns(
            f"SELECT count({mean}) AS measured, "  # noqa: S608 - a result column
            f"count(*) FILTER ({mean} IS NOT NULL AND NOT {is_met}) AS unmet, "
            f"max({half_width} / nullif(abs({mean}), 0)) FILTER (NOT {is_met}) AS widest FROM points"
        ).to_pylist()[0]
    )


def _count(row: dict[str, Any]) -> TargetWidths:
    return TargetWidths(row["measured"], row["unmet"], row["widest"])


def list_unmet(session: Session) -> list[str]:
    """Return a sentence on the points at a fixed load that have a wider interval, if there are some."""
    widths = count_results(session)
    if not widths.unmet:
        return []
    points = format_count(widths.unmet, "point")
    most = session.spec["replicates"].get("max", session.spec["replicates"]["min"])
    return [f"{points} {_describe(widths)}, with up to {most} replicates (replicates.max)."]


def describe_widths(widths: TargetWidths, noun: str) -> list[tuple[str, str]]:
    """Return the line of a report's provenance."""
    if not widths.measured:
        return [("intervals", "95 %, no target width")]
    if not widths.unmet:
        return [("intervals", f"{widths.measured} of {widths.measured} {noun} within the target width")]
    return [("intervals", f"{widths.unmet} of {widths.measured} {noun} {_describe(widths)}")]


def _describe(widths: TargetWidths) -> str:
    widest = "" if widths.widest is None else f", the widest ± {widths.widest * 100:.1f} %"
    return f"missed the target width{widest}"
