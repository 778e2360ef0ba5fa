"""The answer at a fixed load: the fastest and the slowest configuration, and what they lose in a power cut.

Also the cost of a missing or dead battery: in response time or load, and in data lost.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from destage.queries.opening.session import Session
from destage.queries.report.charts.facets import BATTERY
from destage.queries.report.sentences.point_names import (
    BOUNDS,
    FAULTS,
    WRITE_FRACTION,
    name_point,
    name_resource,
)
from destage.queries.text.presentation import (
    begin_sentence,
    format_estimate,
    format_number,
    format_rounded,
    scale_interval,
)
from destage.spec.axis_names import is_maximum

Row = Mapping[str, Any]

_APART = frozenset({BATTERY, FAULTS, WRITE_FRACTION})
"""Axes on which a point with a battery and one without may differ."""
_NEARLY = 1.05
"""Within this ratio, results count as equal."""


def compose_response_answer(rows: Sequence[Row], session: Session) -> list[str]:
    """Return the sentences on the fastest and the slowest point, and on lost data."""
    timed = [row for row in rows if row["response_p95_us"] is not None]
    if not timed:
        return []
    slow = max(timed, key=lambda row: row["response_p95_us"])
    fast = min(timed, key=lambda row: row["response_p95_us"])
    # Below half the use of every part, the load is what limits.
    limit = "" if fast["limiting"] in {None, "host"} else f"; limited by {name_resource(fast['limiting'])}"
    sentences = [f"Fastest: {_response(fast)} with {name_point(fast, session)}{limit}."]
    if fast is not slow:
        sentences.append(f"Slowest: {_response(slow)} with {name_point(slow, session)}.")
    losses = [
        f"Acknowledged data lost: {_amount(row)} with {name_point(row, session)}."
        for row in timed
        if row["dirty_lost_bytes"]
    ]
    return [*sentences, *losses]


def _response(row: Row) -> str:
    p95 = format_estimate(*scale_interval("response_p95_us", row), unit="ms")
    return f"response p95 of {p95} at {format_number(row['throughput_iops'])} requests/s"


def compose_battery_answer(rows: Sequence[Row], session: Session) -> list[str]:
    """Return a sentence on the largest effect of losing the battery; empty if the points do not show it."""
    result = session.result
    measured = [row for row in rows if row[result] and not row["label"]]
    working = {_elsewhere(row, session): row for row in measured if not _faults(row) and not _is_dead(row)}
    pairs = [
        (row, working[_elsewhere(row, session)])
        for row in measured
        if _is_dead(row) and not _loses_mains(row) and _elsewhere(row, session) in working
    ]
    lost = _lost_data(rows, session)
    if not pairs:
        return [f"{begin_sentence(lost)}."] if lost else []
    dead, kept = max(pairs, key=lambda pair: _ratio(pair[0], pair[1], result))
    sentence = _compare(dead, kept, session)
    return [f"{sentence}; {lost}." if lost else f"{sentence}."]


def _compare(dead: Row, kept: Row, session: Session) -> str:
    result = session.result
    fails = _battery_fails(dead)
    where = name_point(kept, session, without=_APART)
    suffix = "" if where == "the configuration" else f", with {where}"
    ratio = _ratio(dead, kept, result)
    times = format_rounded(ratio)
    if session.metric is not None:
        noun = result.partition("_")[0]
        loads = (f"{BOUNDS.get(row['censored'], '')}{format_rounded(row[result])}" for row in (dead, kept))
        values = f"{' instead of '.join(loads)} {noun}"
        if ratio < _NEARLY:
            return f"The battery does not change the {noun} supported: {values}{suffix}"
        least = "at least " if kept["censored"] == "at_least" or dead["censored"] == "below" else ""
        what = "With a dead battery" if fails else "Without a battery"
        return f"{what}, {values} are supported, a factor of {least}{times}{suffix}"
    # In three digits of the result's own unit.
    p95 = (format_number(float(f"{row['response_p95_us']:.3g}") / 1e3) for row in (dead, kept))
    values = " instead of ".join(f"{time} ms" for time in p95)
    if ratio < _NEARLY:
        what = "A dead battery" if fails else "The lack of a battery"
        return f"{what} does not increase p95: {values}{suffix}"
    what = "A dead battery makes p95" if fails else "Without a battery, p95 is"
    return f"{what} {times} times as long: {values}{suffix}"


def _lost_data(rows: Sequence[Row], session: Session) -> str:
    """Return what a power cut without a battery loses, where the study has one."""
    cut = [row for row in rows if session.metric is None and _is_dead(row) and _loses_mains(row)]
    if not cut:
        return ""
    worst = max(cut, key=lambda row: row.get("dirty_lost_bytes") or 0)
    if not worst.get("dirty_lost_bytes"):
        return "a power cut then loses nothing"
    return f"a power cut then loses {_amount(worst)}"


def _amount(row: Row) -> str:
    return format_estimate(*scale_interval("dirty_lost_bytes", row), unit="MiB")


def _ratio(dead: Row, kept: Row, result: str) -> float:
    """Return how many times worse the point without a battery is."""
    better, worse = (kept, dead) if is_maximum(result) else (dead, kept)
    return float(better[result] / worse[result])


def _is_dead(row: Row) -> bool:
    return row.get(BATTERY, "present") == "absent" or _battery_fails(row)


def _battery_fails(row: Row) -> bool:
    return "battery_fails" in _faults(row)


def _loses_mains(row: Row) -> bool:
    return "mains_lost" in _faults(row)


def _faults(row: Row) -> list[str]:
    """Return the kinds of a row's faults."""
    return [fault["kind"] for fault in json.loads(row.get(FAULTS) or "[]")]


def _elsewhere(row: Row, session: Session) -> tuple[Any, ...]:
    return tuple(row[path] for path in session.axes if path not in _APART)
