"""The answer of a study that replays a trace: how long the replay takes, and why."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from destage.engine import configuration
from destage.objects import locate
from destage.queries.opening.session import Session
from destage.queries.report.charts.facets import BATTERY, CAPACITY
from destage.queries.report.sentences.point_names import RESOURCES
from destage.queries.text.presentation import begin_sentence, format_axis_value, format_estimate
from destage.student import half_width

Row = dict[str, Any]
Name = Callable[[Row], str]

_DIGITS = 3
_NEARLY = 1.05
"""Within this factor of the shortest time, a larger cache gains little."""
_HOST = {
    "dependent": "host (the recorded pauses are kept)",
    "asap": "host (it has no more I/Os outstanding)",
}
"""The host as the limiting resource, by the mode of the replay."""
_HARDLY = 0.06
"""A smaller gain in absorbed writes than this fraction is hardly one."""


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    """The runs of one configuration, by replicate."""

    runs: tuple[Row, ...]

    @property
    def point(self) -> Row:
        return self.runs[0]

    @property
    def is_protected(self) -> bool:
        return bool(self.point.get(BATTERY, "present") == "present")

    @property
    def capacity(self) -> int:
        return self.point.get(CAPACITY) or 0

    def values(self, column: str, scale: float = 1.0) -> list[float]:
        return [run[column] * scale for run in self.runs if run[column] is not None]

    def mean(self, column: str) -> float:
        values = self.values(column)
        return math.fsum(values) / len(values) if values else 0.0

    def estimate(self, column: str, unit: str, scale: float = 1.0) -> str:
        """Return the mean of a column and its interval, as text."""
        return _estimate(self.values(column, scale), unit)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Sentences on configurations that differ in their cache: the best against a reference, and why."""

    best: _Work
    reference: _Work
    gain: list[str]
    sizes: list[str]
    absorbed: list[str]
    limits: list[str]


def compose_replay_answer(session: Session, name: Name) -> list[str]:
    """Return the sentences that answer a replay, the main result first.

    Args:
        name: Returns the name of a configuration.
    """
    runs: list[Row] = session.query("work_by_replicate").to_pylist()
    if not runs:
        return []
    # The configurations in the order of the plan.
    groups = groupby(runs, key=lambda run: (run["label"], *(run[path] for path in session.axes)))
    works = [_Work(tuple(group)) for _, group in groups]
    modes = {arrival.get("mode") for arrival in configuration.find_replays(session.config)}
    names = {**RESOURCES, "host": " or ".join(_HOST[mode] for mode in _HOST if mode in modes)}
    trace = next((path for path in session.axes if path.endswith(".arrival.file")), None)
    whole, parts = _whole_and_parts(works, trace)
    arrays = _by_array(whole, session)
    if len(arrays) > 1:
        # The result of one array says nothing about a cache in front of another.
        return [
            sentence for title, same in arrays.items() for sentence in _array_answer(title, same, name, names)
        ]
    comparison = _compare(whole, name, names)
    # A study that also replays the parts of a trace asks what they take by themselves.
    apart = _apart([comparison.reference, comparison.best], parts, session, trace, name)
    return apart + comparison.gain + comparison.sizes + comparison.absorbed + comparison.limits


def _compare(works: Sequence[_Work], name: Name, names: Mapping[str, str]) -> _Comparison:
    bare = [work for work in works if not work.is_protected]
    protected = [work for work in works if work.is_protected]
    reference = min(bare or works, key=lambda work: (work.capacity, work.mean("work_s")))
    best = min(protected or works, key=lambda work: work.mean("work_s"))
    gained = f"{_time(best)} with {name(best.point)}"
    if best is not reference:
        speed = _estimate(_ratios(reference.values("work_s"), best), "times")
        versus = f"{reference.estimate('work_s', 's')} with {name(reference.point)}"
        gained += f", and {versus}: {'equally fast' if speed == '1 times' else f'{speed} as fast'}"
    gain = [f"{gained}.", *_commits(best, None if best is reference else reference)]
    fastest: dict[int, _Work] = {}
    for work in sorted(protected, key=lambda work: work.mean("work_s")):
        fastest.setdefault(work.capacity, work)
    smaller = [work for capacity, work in sorted(fastest.items()) if capacity < best.capacity]
    sizes = []
    if smaller and smaller[0] is not reference:
        sizes += [f"{_time(smaller[0])} with {name(smaller[0].point)}.", *_commits(smaller[0])]
    shortest = best.mean("work_s")
    enough = next((work for work in smaller if work.mean("work_s") <= shortest * _NEARLY), None)
    if enough is not None:
        within = f"{begin_sentence(name(enough.point))} is within {(_NEARLY - 1) * 100:.0f} %"
        sizes.append(f"{within} of the shortest time: a larger cache gains little.")
    absorbed = _absorbed([work for _, work in sorted(fastest.items())], name)
    return _Comparison(best, reference, gain, sizes, absorbed, _limits(best, reference, name, names))


def _by_array(works: Sequence[_Work], session: Session) -> dict[str, list[_Work]]:
    """Return the configurations by the array behind the controller, in the order of the plan."""
    axes = [path for path in session.axes if path.startswith("array.")]
    groups: dict[str, list[_Work]] = {}
    for work in works:
        title = ", ".join(format_axis_value(path, work.point[path], session.units.get(path)) for path in axes)
        groups.setdefault(title, []).append(work)
    return groups


def _array_answer(title: str, works: Sequence[_Work], name: Name, names: Mapping[str, str]) -> list[str]:
    """Return the sentences about one of several arrays."""
    comparison = _compare(works, name, names)
    enough = [sentence for sentence in comparison.sizes if "within" in sentence]
    return [f"{title}: {sentence}" for sentence in [*comparison.gain, *enough, *comparison.limits[:1]]]


def _whole_and_parts(works: Sequence[_Work], trace: str | None) -> tuple[list[_Work], list[_Work]]:
    """Return the replays of the largest trace, and those of its parts if together they are as large."""
    sizes = {work.point[trace] if trace else None: work.point["commands"] for work in works}
    largest = max(sizes, key=lambda file: sizes[file])
    whole = [work for work in works if trace is None or work.point[trace] == largest]
    parts = [work for work in works if work not in whole]
    rest = sum(commands for file, commands in sizes.items() if file != largest)
    return whole, parts if rest == sizes[largest] else []


def _time(work: _Work) -> str:
    subject = "The replay, including the drain," if work.values("drain_s") else "The replay"
    return f"{subject} takes {work.estimate('work_s', 's')}"


def _commits(work: _Work, reference: _Work | None = None) -> list[str]:
    """Return a sentence on the commits, each number beside that of the reference."""
    if not work.values("commit_p50_us"):
        return []

    def versus(column: str, unit: str, scale: float = 1.0) -> str:
        text = work.estimate(column, unit, scale)
        if reference is not None and reference.values(column):
            text += f" instead of {reference.estimate(column, unit, scale)}"
        return text

    median, slow = versus("commit_p50_us", "ms", 1e-3), versus("commit_p99_us", "ms", 1e-3)
    rate = versus("commits_per_s", "commits/s")
    return [f"Commit latency: median {median}, 99th percentile {slow}; {rate}."]


def _absorbed(works: Sequence[_Work], name: Name) -> list[str]:
    """Return how many writes the smallest and the largest cache save the disks."""
    measured = [work for work in works if work.values("absorbed_fraction")]
    if len(measured) < 2:  # noqa: PLR2004 - a comparison has two sides
        return []
    least, most = measured[0], measured[-1]
    gain = most.mean("absorbed_fraction") - least.mean("absorbed_fraction")
    verdict = "; a larger cache absorbs hardly more" if gain < _HARDLY else ""
    shares = [work.estimate("absorbed_fraction", "%", 100) for work in (least, most)]
    small = f"{shares[0]} of all written data with {name(least.point)}"
    sentences = [f"The cache absorbs {small} and {shares[1]} with {name(most.point)}{verdict}."]
    if all(work.values("coalescing_factor") for work in (least, most)):
        counts = [work.estimate("coalescing_factor", "") for work in (least, most)]
        sentences.append(
            f"A write to the disks combines {counts[0]} host writes with the smaller cache and {counts[1]} "
            "with the larger one."
        )
    return sentences


def _limits(best: _Work, reference: _Work, name: Name, names: Mapping[str, str]) -> list[str]:
    """Return what limits the work, and the part of flushes in it."""
    sentences = []
    for work in dict.fromkeys([best, reference]):
        if not work.values("disk_busy_max_fraction"):
            continue
        limit = names.get(work.point["limiting"], work.point["limiting"])
        busy = work.estimate("disk_busy_max_fraction", "%", 100)
        sentences.append(
            f"Limiting resource with {name(work.point)}: {limit}; busiest disk busy {busy} of the time."
        )
    flushes = best.mean("flushes") / max(best.mean("commands"), 1)
    if flushes and not reference.is_protected:
        sentences.append(
            f"{flushes * 100:.0f} % of all commands are flushes. A protected cache completes them at once; "
            "without one, the synchronous writes before each flush wait for the disks."
        )
    return sentences


def _apart(
    works: Sequence[_Work], parts: Sequence[_Work], session: Session, trace: str | None, name: Name
) -> list[str]:
    """Return how long the parts of a trace take one after the other, compared with the whole."""
    sentences = []
    elsewhere = [path for path in session.axes if path != trace]
    for whole in dict.fromkeys(works):
        same = [part for part in parts if all(part.point[path] == whole.point[path] for path in elsewhere)]
        if not same:
            continue
        count = min(len(work.runs) for work in [whole, *same])
        alone = [math.fsum(part.runs[replicate]["work_s"] for part in same) for replicate in range(count)]
        files = " and ".join(locate(part.point[trace or ""]).stem for part in same)
        ratio = _estimate(_ratios(alone, whole), "times")
        sentences.append(
            f"One after the other, {files} take {_estimate(alone, 's')} with {name(whole.point)}: "
            f"{ratio} as long as together."
        )
    return sentences


def _ratios(times: Sequence[float], work: _Work) -> list[float]:
    """Return times over those of a work within each replicate, whose runs share their random streams."""
    return [time / run["work_s"] for time, run in zip(times, work.runs, strict=False)]


def _estimate(values: Sequence[float], unit: str) -> str:
    mean = math.fsum(values) / len(values)
    spread = half_width(values)
    return format_estimate(mean, mean - spread, mean + spread, unit, _DIGITS)
