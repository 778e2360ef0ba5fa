"""The answer in words of a study that replays a trace: how long the work takes, and why."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from destage.objects import locate
from destage.queries.presentation import axis_value, number
from destage.queries.session import Session
from destage.student import half_width

Row = dict[str, Any]
Name = Callable[[Row], str]

_CAPACITY = "controller.cache.capacity"
_BATTERY = "controller.battery.state"
_NEARLY = 1.05
"""Within this factor of the best, more cache is said to buy nothing."""
_LIMITS = {
    "host": "the recorded host itself, whose pauses are kept",
    "disk": "the disks",
    "channel": "the channels to the disks",
    "link": "the host link",
    "firmware": "the controller's firmware",
    "xor": "the XOR engine",
    "cache": "the write cache, whose lines are all dirty",
}
"""What the limiting resource is called in a sentence."""
_HARDLY = 0.06
"""A gain of fewer writes than this share is said to be hardly one."""


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    """The runs of one configuration, by replicate."""

    runs: tuple[Row, ...]

    @property
    def point(self) -> Row:
        return self.runs[0]

    @property
    def is_protected(self) -> bool:
        return bool(self.point.get(_BATTERY, "present") == "present")

    @property
    def capacity(self) -> int:
        return self.point.get(_CAPACITY) or 0

    def values(self, column: str) -> list[float]:
        return [run[column] for run in self.runs if run[column] is not None]

    def mean(self, column: str) -> float:
        values = self.values(column)
        return math.fsum(values) / len(values) if values else 0.0

    def is_near(self, other: "_Work") -> bool:
        return self.mean("work_s") <= other.mean("work_s") * _NEARLY


def replay_answer(session: Session, name: Name) -> list[str]:
    """Return what the rows of a replay answer, the main thing first.

    Args:
        session: The sweep.
        name: What a configuration is called.
    """
    works = _works(session)
    if not works:
        return []
    trace = next((path for path in session.axes if path.endswith(".arrival.file")), None)
    whole, parts = _whole_and_parts(works, trace)
    back_ends = _by_back_end(whole, session)
    if len(back_ends) > 1:
        # What one costs says nothing of a cache in front of another.
        return [
            sentence for title, same in back_ends.items() for sentence in _over_one(title, _told(same, name))
        ]
    told = _told(whole, name)
    # Where a study replays the parts of a trace as well, it asks what they do by themselves.
    apart = _apart([told.reference, told.best], parts, session, trace, name)
    return apart + told.gain + told.sizes + told.absorbed + told.limits


@dataclass(frozen=True, slots=True)
class _Told:
    """What is told of configurations that differ in their cache: the best, what it is beside, and why."""

    best: _Work
    reference: _Work
    gain: list[str]
    sizes: list[str]
    absorbed: list[str]
    limits: list[str]


def _told(works: Sequence[_Work], name: Name) -> _Told:
    bare = [work for work in works if not work.is_protected]
    protected = [work for work in works if work.is_protected]
    reference = min(bare or works, key=lambda work: (work.capacity, work.mean("work_s")))
    best = min(protected or works, key=lambda work: work.mean("work_s"))
    gain = [f"With {name(best.point)}, the recorded work takes {_took(best, reference)}."]
    if best is not reference:
        speed = _interval(_ratios(reference.values("work_s"), best))
        gain.append(f"The comparison is with {name(reference.point)}: the work is {speed} times as fast.")
    fastest: dict[int, _Work] = {}
    for work in sorted(protected, key=lambda work: work.mean("work_s")):
        fastest.setdefault(work.capacity, work)
    smaller = [work for capacity, work in sorted(fastest.items()) if capacity < best.capacity]
    sizes = [f"With {name(work.point)}, it takes {_took(work)}." for work in smaller[:1]]
    enough = next((work for work in smaller if work.is_near(best)), None)
    if enough is not None:
        sizes.append(
            f"{name(enough.point)} comes within {(_NEARLY - 1) * 100:.0f} % of the best: "
            "a larger cache buys nothing more."
        )
    absorbed = _absorbed([work for _, work in sorted(fastest.items())], name)
    return _Told(best, reference, gain, sizes, absorbed, _limits(best, reference, name))


def _by_back_end(works: Sequence[_Work], session: Session) -> dict[str, list[_Work]]:
    """The configurations by what they have behind the controller, in the order of the plan."""
    axes = [path for path in session.axes if path.startswith("array.")]
    groups: dict[str, list[_Work]] = {}
    for work in works:
        title = ", ".join(axis_value(path, work.point[path], session.units.get(path)) for path in axes)
        groups.setdefault(title, []).append(work)
    return groups


def _over_one(title: str, told: _Told) -> list[str]:
    """The sentences about one of several back ends, the first of which names it."""
    first, *others = told.gain
    return [f"Over {title}: {first[0].lower()}{first[1:]}", *others, *told.sizes[1:], *told.limits[:1]]


def _works(session: Session) -> list[_Work]:
    """The configurations in the order of the plan."""
    runs: list[Row] = session.query("work_by_replicate").to_pylist()

    def place(run: Row) -> tuple[Any, ...]:
        return (run["label"], *(run[path] for path in session.axes))

    return [_Work(tuple(group)) for _, group in groupby(runs, key=place)]


def _whole_and_parts(works: Sequence[_Work], trace: str | None) -> tuple[list[_Work], list[_Work]]:
    """The configurations that replay the largest trace; and the others, if that one holds what they hold."""
    sizes = {work.point[trace] if trace else None: work.point["commands"] for work in works}
    largest = max(sizes, key=lambda file: sizes[file])
    whole = [work for work in works if trace is None or work.point[trace] == largest]
    parts = [work for work in works if work not in whole]
    rest = sum(commands for file, commands in sizes.items() if file != largest)
    return whole, parts if rest == sizes[largest] else []


def _took(work: _Work, reference: _Work | None = None) -> str:
    """How long the work takes, and its commits; beside each figure what it is instead of."""

    def told(column: str, unit: str, scale: float = 1.0) -> str:
        text = _interval([value * scale for value in work.values(column)]) + unit
        if reference is not None and reference is not work and reference.values(column):
            text += f" instead of {_interval([value * scale for value in reference.values(column)])}"
        return text

    text = told("work_s", " s")
    if work.values("drain_s"):
        text += ", until all that it has written is on the disks"
    if work.values("commit_p50_us"):
        text += (
            f": a commit {told('commit_p50_us', ' ms', 1e-3)} in the median, "
            f"{told('commit_p99_us', ' ms', 1e-3)} at the 99th percentile, "
            f"{told('commits_per_s', '')} commits a second"
        )
    return text


def _absorbed(works: Sequence[_Work], name: Name) -> list[str]:
    """What the smallest cache and the largest spare the disks: what is overwritten, and what is collected."""
    known = [work for work in works if work.values("absorbed_fraction")]
    if len(known) < 2:  # noqa: PLR2004 - a comparison has two sides
        return []
    least, most = known[0], known[-1]
    gain = most.mean("absorbed_fraction") - least.mean("absorbed_fraction")
    verdict = ": more of it absorbs hardly more" if gain < _HARDLY else ""
    shares = [_percent(work.values("absorbed_fraction")) for work in (least, most)]
    sentence = (
        f"With {name(least.point)}, {shares[0]} of what is written is overwritten before it goes to the "
        f"disks; with {name(most.point)}, {shares[1]}{verdict}."
    )
    sentences = [sentence]
    if all(work.values("coalescing_factor") for work in (least, most)):
        counts = [_interval(work.values("coalescing_factor")) for work in (least, most)]
        sentences.append(
            f"One write to the disks stands for {counts[0]} of the host's with the one, "
            f"and for {counts[1]} with the other."
        )
    return sentences


def _limits(best: _Work, reference: _Work, name: Name) -> list[str]:
    """What keeps the work from being over sooner, and what flushes have to do with it."""
    sentences = []
    for work in dict.fromkeys([best, reference]):
        if not work.values("disk_busy_max_fraction"):
            continue
        limit = _LIMITS[work.point["limiting"]]
        busy = _percent(work.values("disk_busy_max_fraction"))
        sentences.append(
            f"What limits the work with {name(work.point)}: {limit}; "
            f"the busiest disk is busy {busy} of the time."
        )
    flushes = best.mean("flushes") / max(best.mean("commands"), 1)
    if flushes and not reference.is_protected:
        sentences.append(
            f"{flushes * 100:.0f} % of all commands are flushes: a protected cache answers them at once, "
            "without one the synchronous writes before each wait for the disks."
        )
    return sentences


def _apart(
    works: Sequence[_Work], parts: Sequence[_Work], session: Session, trace: str | None, name: Name
) -> list[str]:
    """How long the parts of a trace take one after the other, beside the whole."""
    sentences = []
    elsewhere = [path for path in session.axes if path != trace]
    for whole in dict.fromkeys(works):
        same = [part for part in parts if all(part.point[path] == whole.point[path] for path in elsewhere)]
        if not same:
            continue
        count = min(len(work.runs) for work in [whole, *same])
        alone = [math.fsum(part.runs[replicate]["work_s"] for part in same) for replicate in range(count)]
        files = " and then ".join(locate(part.point[trace or ""]).stem for part in same)
        sentences.append(
            f"One after the other, {files}, the parts take {_interval(alone)} s with {name(whole.point)}: "
            f"{_interval(_ratios(alone, whole))} times as long as together."
        )
    return sentences


def _ratios(times: Sequence[float], work: _Work) -> list[float]:
    """How many times as long as a work others take, replicate by replicate: these share their chance."""
    return [time / run["work_s"] for time, run in zip(times, work.runs, strict=False)]


def _percent(shares: Sequence[float]) -> str:
    return f"{_interval([share * 100 for share in shares])} %"


def _interval(values: Sequence[float]) -> str:
    """The mean, with the ends of its 95 % interval where there are several values that differ visibly."""
    mean = math.fsum(values) / len(values)
    spread = half_width(values)
    text, low, high = (_short(value) for value in (mean, mean - spread, mean + spread))
    return text if low == high else f"{text} ({low} .. {high})"


def _short(value: float) -> str:
    return number(float(f"{value:.3g}"))
