"""The load of a fio job by its options: depth, threads and randomness."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_SYNCHRONOUS = {"psync", "sync", "vsync", "pvsync", "pvsync2", "mmap"}
"""Engines that wait for each request; psync is the default of Linux."""
_LIMITS = ("rate", "rate_iops", "thinktime", "flow")
_VARYING = {
    "latency_target": "fio varies the depth to meet latency_target",
    "read_iolog": "fio replays the times of a log (read_iolog)",
}
"""Options with which the depth is not the one that the job states, and why."""
_HALF = 0.5
_LEAST_AT_DEPTH = 50.0
"""Least share of requests [%] that were issued at the stated depth, if the job kept it."""


@dataclass(frozen=True, slots=True)
class Load:
    """The load of a job; None for what is not known.

    Attributes:
        depth: Outstanding requests of each thread.
        threads: Threads, which are the clones of the job.
        varying: Why fewer requests may be outstanding than the options state; empty if all are.
        is_merged: Whether `group_reporting` merged different jobs, of which fio keeps the options of one.
    """

    depth: int | None
    threads: int | None
    random_fraction: float | None
    varying: str = ""
    is_merged: bool = False

    def count_outstanding(self, threads: int | None) -> float | None:
        """Return the requests that some threads keep outstanding."""
        return None if self.depth is None or threads is None or self.varying else float(self.depth * threads)


def find_load(
    options: Mapping[str, Any], levels: Mapping[str, Any], thread_seconds: float, seconds: float
) -> Load:
    """Return the load of a job.

    Args:
        levels: The share of requests [%] by the number that was outstanding when they were issued.
        thread_seconds: The runtimes of all threads added up; 0 where fio does not report them.
        seconds: The runtime of the longest of them.
    """
    running = thread_seconds / seconds if seconds else 0.0
    if not options:
        return Load(None, round(running) or None, None, "the results have no options of the job")
    threads = _find_whole(options.get("numjobs")) or 1
    if running > threads + _HALF:
        return Load(None, round(running), None, "group_reporting merged different jobs", is_merged=True)
    for name, reason in _VARYING.items():
        if str(options.get(name, "0")) not in {"", "0"}:
            random = None if name == "read_iolog" else _find_random_fraction(options)
            return Load(None, threads, random, reason)
    depth = _find_depth(options)
    limits = [name for name in _LIMITS if re.search("[1-9]", str(options.get(name, "")))]
    reason = f"{limits[0]} limits the job, so that fewer than iodepth are outstanding" if limits else ""
    return Load(depth, threads, _find_random_fraction(options), reason or _find_shortfall(depth, levels))


def _find_shortfall(depth: int | None, levels: Mapping[str, Any]) -> str:
    """Return why a job did not keep its depth, by the distribution of depths that fio states."""
    steps = {int(name.strip(">=")): share for name, share in levels.items() if name.strip(">=").isdigit()}
    if depth is None or not all(isinstance(share, int | float) for share in steps.values()):
        return ""
    reached = [
        share for step, share in steps.items() if step <= depth < 2 * step or step == max(steps) <= depth
    ]
    if not any(steps.values()) or not reached or reached[0] >= _LEAST_AT_DEPTH:
        return ""
    return f"fio had fewer than iodepth={depth} outstanding at {100 - reached[0]:.4g} % of the requests"


def _find_depth(options: Mapping[str, Any]) -> int | None:
    if not options:
        return None
    if str(options.get("ioengine", "psync")) in _SYNCHRONOUS:
        return 1
    return _find_whole(options.get("iodepth")) or 1


def _find_random_fraction(options: Mapping[str, Any]) -> float | None:
    pattern = str(options.get("rw", options.get("readwrite", "read" if options else "")))
    if not pattern:
        return None
    share = str(options.get("percentage_random", "")).partition(",")[0].strip("%")
    if not pattern.startswith("rand"):
        return 0.0
    if share.isdigit():
        return int(share) / 100
    # `randread:8` has a new address for every eighth request.
    every = pattern.partition(":")[2]
    return 1 / int(every) if every.isdigit() and int(every) else 1.0


def _find_whole(value: object) -> int | None:
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and int(text) > 0 else None
