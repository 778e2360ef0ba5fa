"""The timeline of runs in which something happened: rows of states become lanes."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from destage.queries.presentation import axis_title, axis_value, number
from destage.queries.report.lanes import Lanes, Moment, RunLanes, Span
from destage.queries.session import Session

Row = dict[str, Any]

MOST_RUNS = 8
_ORDER = ("mains", "battery", "write cache", "dirty data", "array", "disk")


def lanes_of(rows: Sequence[Row], session: Session, title: str) -> Lanes | None:
    """Return the chart of `states_over_time`; None where no run has a transition.

    Args:
        rows: The rows, run by run.
        session: The sweep.
        title: What the chart is called.
    """
    grouped = [list(group) for _, group in groupby(rows, key=lambda row: row["run_id"])]
    labels = Counter(group[0]["label"] for group in grouped)
    runs = [
        _run(group, session, has_own_label=group[0]["label"] is not None and labels[group[0]["label"]] == 1)
        for group in grouped
    ]
    return Lanes(title, tuple(runs[:MOST_RUNS])) if runs else None


def remark_of(rows: Sequence[Row]) -> str:
    """Return what a reader must know of the runs that are drawn.

    Args:
        rows: The rows of `states_over_time`.
    """
    count = len({row["run_id"] for row in rows})
    return f"The first {MOST_RUNS} of {count} such runs." if count > MOST_RUNS else ""


def _run(rows: Sequence[Row], session: Session, *, has_own_label: bool) -> RunLanes:
    names = sorted(
        {row["lane"] for row in rows if row["until_s"] is not None},
        key=lambda lane: (next(at for at, kind in enumerate(_ORDER) if lane.startswith(kind)), lane),
    )
    lanes = tuple((name, tuple(_span(row) for row in rows if row["lane"] == name)) for name in names)
    moments = tuple(
        Moment(row["from_s"], _told(row), row["condition"]) for row in rows if row["until_s"] is None
    )
    where = ", ".join(
        f"{axis_title(path)}: {axis_value(path, rows[0][path], session.units.get(path))}"
        for path in session.axes
        if rows[0][path] is not None and not has_own_label
    )
    return RunLanes(" ".join(filter(None, [rows[0]["label"], where])) or "the run", lanes, moments)


def _span(row: Row) -> Span:
    start, end = row["from_s"], row["until_s"]
    progress = row["progress_fraction"]
    done = "" if progress is None else f", {progress * 100:.0f} % done"
    note = f"{row['lane']}: {_told(row)}{done}, {_seconds(start)} to {_seconds(end)}"
    return Span(start, end, _told(row), row["condition"], note, progress)


def _told(row: Row) -> str:
    """The state, with the dirty data that there were."""
    if not row["dirty_bytes"]:
        return str(row["state"])
    amount = f"{number(round(row['dirty_bytes'] / 2**20, 1))} MiB"
    return f"{row['state']}, {amount}{' dirty' if row['until_s'] is not None else ''}"


def _seconds(at_s: float) -> str:
    return f"{number(round(at_s, 3))} s"
