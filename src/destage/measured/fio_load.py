"""The load of a fio job by its options: depth, threads and randomness."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_SYNCHRONOUS = {"psync", "sync", "vsync", "pvsync", "pvsync2", "mmap"}
"""Engines that wait for each request; psync is the default of Linux."""
_LIMITS = ("rate", "rate_iops", "thinktime")
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class Load:
    """The load of a job; None for what is not known.

    Attributes:
        depth: Outstanding requests of each thread.
        threads: Threads, which are the clones of the job.
        is_limited: Whether fewer requests may be outstanding, since the job limits its rate or pauses.
        is_merged: Whether `group_reporting` merged different jobs, of which fio keeps the options of one.
    """

    depth: int | None
    threads: int
    random_fraction: float | None
    is_limited: bool = False
    is_merged: bool = False

    def count_outstanding(self, threads: int) -> float | None:
        """Return the requests that some threads keep outstanding."""
        return None if self.depth is None or self.is_limited else float(self.depth * threads)


def find_load(options: Mapping[str, Any], thread_seconds: float, seconds: float) -> Load:
    """Return the load of a job.

    Args:
        thread_seconds: The runtimes of all threads added up; 0 where fio does not report them.
        seconds: The runtime of the longest of them.
    """
    threads = _find_whole(options.get("numjobs")) or 1
    running = thread_seconds / seconds if seconds else 0.0
    if running > threads + _HALF:
        return Load(None, round(running), None, is_merged=True)
    is_limited = any(re.search("[1-9]", str(options.get(name, ""))) for name in _LIMITS)
    return Load(_find_depth(options), threads, _find_random_fraction(options), is_limited)


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
