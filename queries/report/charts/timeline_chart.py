"""The timeline of runs in which something happened: rows of states and events become a chart."""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from destage.queries.opening.session import Session
from destage.queries.report.drawing.chart import Figure, RunTimeline, State, StateTimeline
from destage.queries.text.presentation import format_axis_value, format_number, title_axis

Row = dict[str, Any]

TIMELINE = "timeline"
MOST_RUNS = 8
_QUERY = "states_over_time"
_ORDER = ("mains", "battery", "write cache", "dirty data", "array", "disk")
_CAPTION = (
    "First replicate of each configuration with a change of state. Green: normal. Amber: charging, "
    "discharging, degraded or rebuilding. Red: failed, lost, at risk or write-through. A rebuild fills its "
    "bar as it progresses. Dirty data is at risk while no battery protects it."
)


def build_timeline(session: Session) -> Figure | None:
    """Build the timeline; return None where no run has a transition."""
    rows: list[Row] = session.query(_QUERY).to_pylist()
    if not rows:
        return None
    grouped = [list(group) for _, group in groupby(rows, key=lambda row: row["run_id"])]
    labels = Counter(group[0]["label"] for group in grouped)
    runs = [
        _run(group, session, has_own_label=group[0]["label"] is not None and labels[group[0]["label"]] == 1)
        for group in grouped[:MOST_RUNS]
    ]
    more = (
        f" Only the first {MOST_RUNS} of {len(grouped)} runs are shown." if len(grouped) > MOST_RUNS else ""
    )
    chart = StateTimeline("Timeline", tuple(runs))
    return Figure(TIMELINE, chart, _CAPTION + more, session.write_query(_QUERY))


def _run(rows: Sequence[Row], session: Session, *, has_own_label: bool) -> RunTimeline:
    names = sorted(
        {row["lane"] for row in rows if row["until_s"] is not None},
        key=lambda lane: (next(index for index, kind in enumerate(_ORDER) if lane.startswith(kind)), lane),
    )
    states = tuple((name, tuple(_state(row) for row in rows if row["lane"] == name)) for name in names)
    events = tuple(_state(row) for row in rows if row["until_s"] is None)
    where = ", ".join(
        f"{title_axis(path)}: {format_axis_value(path, rows[0][path], session.units.get(path))}"
        for path in session.axes
        if rows[0][path] is not None and not has_own_label
    )
    return RunTimeline(" ".join(filter(None, [rows[0]["label"], where])) or "the run", states, events)


def _state(row: Row) -> State:
    """Return a state or an event, with the amount of dirty data if there was any."""
    is_event = row["until_s"] is None
    start, end = row["from_s"], row["from_s"] if is_event else row["until_s"]
    text = str(row["state"])
    if row["dirty_bytes"]:
        text += f", {format_number(round(row['dirty_bytes'] / 2**20, 1))} MiB{'' if is_event else ' dirty'}"
    progress = row["progress_fraction"]
    done = "" if progress is None else f", {progress * 100:.0f} % done"
    seconds = " to ".join(f"{format_number(round(at_s, 3))} s" for at_s in (start, end))
    return State(start, end, text, row["condition"], f"{row['lane']}: {text}{done}, {seconds}", progress)
