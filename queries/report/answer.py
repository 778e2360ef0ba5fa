"""The answer of a study in words, before any figure."""

from collections.abc import Sequence
from typing import Any

from destage.queries.presentation import format_axis_value, format_interval, format_number, title_axis
from destage.queries.report.published_section import compose_verdicts
from destage.queries.report.replay_answer import compose_replay_answer
from destage.queries.session import Session

Row = dict[str, Any]

_CAPACITY = "controller.cache.capacity"
_BATTERY = "controller.battery.state"
_WRITE_FRACTION = "controller.cache.write_fraction"


def compose_answer(session: Session) -> list[str]:
    """Return what the sweep's rows answer, the main thing first; empty where they answer nothing yet.

    Args:
        session: The sweep.
    """
    judged = compose_verdicts(session)
    if judged:
        return judged
    rows = session.query("design_space").to_pylist()
    tell = {"seek": _seek_answer, "replay": _replay_answer, "fixed": _response_answer}
    return tell[session.kind](rows, session)


def _seek_answer(rows: Sequence[Row], session: Session) -> list[str]:
    metric = session.metric or ""
    what = metric.partition("_")[0]
    answered = [row for row in rows if row[metric] is not None]
    if not answered:
        return []
    baseline = _baseline(answered)
    best = max(answered, key=lambda row: row[metric])
    sentences = []
    told = [row for row in answered if row["published"] is not None and row is not baseline]
    told = told or [row for row in answered if row["label"] and row is not baseline]
    sentences += [_comparison(row, baseline, metric, what, session) for row in told]
    if best is not baseline and best not in told:
        most = _comparison(best, baseline, metric, what, session)
        sentences.append(f"Of all that was measured, {most}" if told else most)
    carried = _carried(baseline, metric, what) + _as_published(baseline, metric)
    sentences.append(f"The baseline is {_name(baseline, session)}: {carried}.")
    censored = sum(row["censored"] is not None for row in rows)
    open_points = sum(row[metric] is None for row in rows)
    unmet = sum(row["interval_met"] is False for row in answered)
    if censored:
        sentences.append(
            f"{_points(censored)} reached an end of the range searched; the figure there is a bound."
        )
    if unmet:
        sentences.append(f"{_points(unmet)} missed the target set for the width of the interval.")
    if open_points:
        sentences.append(
            f"{_points(open_points)} have no answer yet." if open_points > 1 else "1 point has no answer yet."
        )
    return sentences


def _comparison(row: Row, baseline: Row, metric: str, what: str, session: Session) -> str:
    gain = row[metric] / baseline[metric] - 1 if baseline[metric] else None
    text = f"{_name(row, session)} carries {_carried(row, metric, what)}"
    if gain is not None and row is not baseline:
        bound = {"at_least": "at least ", "below": "at most "}.get(row["censored"] or "", "")
        share = f"{bound}{abs(gain) * 100:.0f} % {'more' if gain >= 0 else 'fewer'}"
        text += f", {share} than the {format_number(round(baseline[metric], 1))} of {_name(baseline, session)}"
    return f"{text}{_as_published(row, metric, baseline)}."


def _carried(row: Row, metric: str, what: str) -> str:
    bound = {"at_least": "at least ", "below": "at most "}.get(row["censored"] or "", "")
    text = f"{bound}{format_number(round(row[metric], 1))}"
    low, high = row[f"{metric}_low"], row[f"{metric}_high"]
    if low is not None and high is not None:
        text += f" ({format_number(round(low, 1))} .. {format_number(round(high, 1))})"
    text += f" {what}"
    return text


def _as_published(row: Row, metric: str, baseline: Row | None = None) -> str:
    """What was published of a row, and whether what was found agrees."""
    if row["published"] is None:
        return ""
    figure = format_number(row["published"])
    if baseline is not None and baseline["published"]:
        gain = row["published"] / baseline["published"] - 1
        figure += f", {gain * 100:+.0f} % over the published {format_number(baseline['published'])}"
    return f" (published: {figure}{_verdict(row, metric)})"


def _verdict(row: Row, metric: str) -> str:
    """Whether a published figure was fitted on, or lies within the interval of its prediction."""
    kind = row["published_kind"]
    low, high = row[f"{metric}_low"], row[f"{metric}_high"]
    if kind == "calibrated":
        return "; the workload was fitted on it"
    if kind != "predicted" or low is None or high is None:
        return f"; {kind}" if kind else ""
    if low <= row["published"] <= high:
        return "; the prediction meets it"
    return "; the prediction does not meet it"


def _baseline(rows: Sequence[Row]) -> Row:
    """The published point nearest to having no cache, else the smallest cache's best row."""
    named = [row for row in rows if row["published"] is not None] or list(rows)
    smallest = min(row.get(_CAPACITY) or 0 for row in named)
    least = [row for row in named if (row.get(_CAPACITY) or 0) == smallest]
    metric = next(name for name in rows[0] if name.endswith("_supported"))
    return max(least, key=lambda row: row[metric])


def _replay_answer(_: Sequence[Row], session: Session) -> list[str]:
    return compose_replay_answer(session, lambda row: _name(row, session))


def _response_answer(rows: Sequence[Row], session: Session) -> list[str]:
    timed = [row for row in rows if row["response_p95_us"] is not None]
    if not timed:
        return []
    slow = max(timed, key=lambda row: row["response_p95_us"])
    fast = min(timed, key=lambda row: row["response_p95_us"])
    sentences = [f"The slowest: {_answered(slow, session)}."]
    if fast is not slow:
        sentences.append(f"The fastest: {_answered(fast, session)}.")
    sentences += [
        f"{_name(row, session)}: acknowledged data are lost, {format_interval('dirty_lost_bytes', row)}."
        for row in timed
        if row["dirty_lost_bytes"]
    ]
    bare = {_elsewhere(row, session): row for row in timed if row.get(_BATTERY, "present") != "present"}
    pairs = [
        (bare[_elsewhere(row, session)], row)
        for row in timed
        if row not in bare.values() and _elsewhere(row, session) in bare
    ]
    if pairs:
        ratio, having = max(
            ((without["response_p95_us"] / having["response_p95_us"], having) for without, having in pairs),
            key=lambda pair: pair[0],
        )
        sentences.append(
            f"The battery matters most here: {_answered(having, session)}; "
            f"without it, {format_number(round(ratio, 2))} times as much."
        )
    return sentences


def _elsewhere(row: Row, session: Session) -> tuple[Any, ...]:
    return tuple(row[path] for path in session.axes if path not in {_BATTERY, _WRITE_FRACTION})


def _answered(row: Row, session: Session) -> str:
    return (
        f"{_name(row, session)}: {format_number(row['response_p95_us'] / 1e3)} ms at the 95th percentile of "
        f"response time, {format_number(row['throughput_iops'])} requests a second"
    )


def _name(row: Row, session: Session) -> str:
    if row.get("label"):
        within = [path for path in session.axes if path.endswith(".raid")]
        where = ", ".join(f"{title_axis(path)} {format_axis_value(path, row[path], None)}" for path in within)
        return f"{row['label']} ({where})" if where else str(row["label"])
    parts = []
    if row.get(_CAPACITY) is not None:
        parts.append(f"{format_axis_value(_CAPACITY, row[_CAPACITY], 'bytes')} of cache")
    battery = row.get(_BATTERY)
    # Without a battery there is no write cache to split.
    silent = {_CAPACITY, _BATTERY, "faults"} | (set() if battery in {None, "present"} else {_WRITE_FRACTION})
    if "faults" in row:
        told = format_axis_value("faults", row["faults"], None)
        parts.append("no faults" if told == "none" else told)
    parts += [
        f"{title_axis(path)} {format_axis_value(path, row[path], session.units.get(path))}"
        for path in session.axes
        if path not in silent and row.get(path) is not None and not path.endswith((".use", ".arrival.file"))
    ]
    if battery is not None:
        parts.append(f"the battery {battery}")
    return ", ".join(parts) or "the configuration"


def _points(count: int) -> str:
    return "1 point" if count == 1 else f"{count} points"
