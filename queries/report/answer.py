"""The answer of a study in words, before any figure."""

from collections.abc import Sequence
from typing import Any

from destage.queries.presentation import axis_title, axis_value, number
from destage.queries.session import Session

Row = dict[str, Any]

_CAPACITY = "controller.cache.capacity"
_BATTERY = "controller.battery.state"
_WRITE_FRACTION = "controller.cache.write_fraction"
_NEARLY = 1.05
"""Within this factor of the best, more cache is said to buy nothing."""


def answer_sentences(session: Session) -> list[str]:
    """Return what the sweep's rows answer, the main thing first; empty where they answer nothing yet.

    Args:
        session: The sweep.
    """
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
        text += f", {share} than the {number(round(baseline[metric], 1))} of {_name(baseline, session)}"
    return f"{text}{_as_published(row, metric, baseline)}."


def _carried(row: Row, metric: str, what: str) -> str:
    bound = {"at_least": "at least ", "below": "at most "}.get(row["censored"] or "", "")
    text = f"{bound}{number(round(row[metric], 1))}"
    low, high = row[f"{metric}_low"], row[f"{metric}_high"]
    if low is not None and high is not None:
        text += f" ({number(round(low, 1))} .. {number(round(high, 1))})"
    text += f" {what}"
    return text


def _as_published(row: Row, metric: str, baseline: Row | None = None) -> str:
    """What was published of a row, and whether what was found agrees."""
    if row["published"] is None:
        return ""
    figure = number(row["published"])
    if baseline is not None and baseline["published"]:
        gain = row["published"] / baseline["published"] - 1
        figure += f", {gain * 100:+.0f} % over the published {number(baseline['published'])}"
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


def _replay_answer(rows: Sequence[Row], session: Session) -> list[str]:
    timed = [row for row in rows if row.get("completion_time_s") is not None]
    if not timed:
        return []
    bare = [row for row in timed if row.get(_BATTERY, "present") != "present"]
    protected = [row for row in timed if row not in bare]
    reference = min(bare or timed, key=lambda row: (row.get(_CAPACITY) or 0, row["completion_time_s"]))
    best = min(protected or timed, key=lambda row: row["completion_time_s"])
    speed = number(round(reference["completion_time_s"] / best["completion_time_s"], 2))
    sentences = [f"With {_name(best, session)}, the recorded work takes {_measured(best, reference)}."]
    if best is not reference:
        sentences.append(
            f"The comparison is with {_name(reference, session)}: the work is {speed} times as fast."
        )
    by_capacity: dict[int, Row] = {}
    for row in sorted(protected, key=lambda row: row["completion_time_s"]):
        by_capacity.setdefault(row.get(_CAPACITY) or 0, row)
    smaller = [row for capacity, row in sorted(by_capacity.items()) if capacity < (best.get(_CAPACITY) or 0)]
    sentences += [f"With {_name(row, session)}, it takes {_measured(row)}." for row in smaller[:1]]
    enough = next((row for row in smaller if _is_near(row, best)), None)
    if enough is not None:
        sentences.append(
            f"{_name(enough, session)} comes within {(_NEARLY - 1) * 100:.0f} % of the best: "
            "a larger cache buys nothing more."
        )
    return sentences


def _is_near(row: Row, best: Row) -> bool:
    return bool(row["completion_time_s"] <= best["completion_time_s"] * _NEARLY)


def _response_answer(rows: Sequence[Row], session: Session) -> list[str]:
    timed = [row for row in rows if row["response_p95_us"] is not None]
    if not timed:
        return []
    slow = max(timed, key=lambda row: row["response_p95_us"])
    fast = min(timed, key=lambda row: row["response_p95_us"])
    sentences = [f"The slowest: {_answered(slow, session)}."]
    if fast is not slow:
        sentences.append(f"The fastest: {_answered(fast, session)}.")
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
            f"without it, {number(round(ratio, 2))} times as much."
        )
    return sentences


def _elsewhere(row: Row, session: Session) -> tuple[Any, ...]:
    return tuple(row[path] for path in session.axes if path not in {_BATTERY, _WRITE_FRACTION})


def _answered(row: Row, session: Session) -> str:
    return (
        f"{_name(row, session)}: {number(row['response_p95_us'] / 1e3)} ms at the 95th percentile of "
        f"response time, {number(row['throughput_iops'])} requests a second"
    )


def _measured(row: Row, reference: Row | None = None) -> str:
    """How long the work takes, and its commits; beside each figure what it is instead of."""

    def told(name: str, unit: str, scale: float = 1.0) -> str:
        text = f"{number(float(f'{row[name] * scale:.3g}'))}{unit}"
        if reference is not None and reference is not row and reference.get(name) is not None:
            text += f" instead of {number(float(f'{reference[name] * scale:.3g}'))}"
        return text

    text = told("completion_time_s", " s")
    if row.get("commit_p50_us") is not None:
        text += (
            f": a commit {told('commit_p50_us', ' ms', 1e-3)} in the median, "
            f"{told('commit_p99_us', ' ms', 1e-3)} at the 99th percentile, "
            f"{told('commits_per_s', '')} commits a second"
        )
    return text


def _name(row: Row, session: Session) -> str:
    if row.get("label"):
        within = [path for path in session.axes if path.endswith(".raid")]
        where = ", ".join(f"{axis_title(path)} {axis_value(path, row[path], None)}" for path in within)
        return f"{row['label']} ({where})" if where else str(row["label"])
    parts = []
    if row.get(_CAPACITY) is not None:
        parts.append(f"{axis_value(_CAPACITY, row[_CAPACITY], 'bytes')} of cache")
    battery = row.get(_BATTERY)
    # Without a battery there is no write cache to split.
    silent = {_CAPACITY, _BATTERY} | (set() if battery in {None, "present"} else {_WRITE_FRACTION})
    parts += [
        f"{axis_title(path)} {axis_value(path, row[path], session.units.get(path))}"
        for path in session.axes
        if path not in silent and row.get(path) is not None and not path.endswith(".use")
    ]
    if battery is not None:
        parts.append(f"the battery {battery}")
    return ", ".join(parts) or "the configuration"


def _points(count: int) -> str:
    return "1 point" if count == 1 else f"{count} points"
