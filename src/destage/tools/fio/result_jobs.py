"""The parts of a fio job's results: figures of reads, writes or both, and the load by its options."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from destage.tools.fio.quantities import SIZES
from destage.tools.result_parts import PERCENTILES, Row, combine_times, find_percentile
from destage.tools.values import OptionValueError

Kind = Mapping[str, Any]
"""Rate, data rate, runtime [s], requests, response times [us], histogram [ns], deviation of the rate."""
NO_REQUESTS: Kind = MappingProxyType(
    {
        "iops": None,
        "seconds": 0.0,
        "count": 0,
        "response": {},
        "bins": {},
        "spread": None,
        "samples": 0,
        "is_timed": True,
    }
)
"""The figures of a kind of operation that is not reported."""
_KIB = 1024


def read_kind(job: Row, name: str) -> Kind:
    """Return the figures of one kind of operation of a job."""
    given = job.values.get(name)
    if not isinstance(given, Mapping):
        raise job.mistake("measured.missing-value", "missing", name)
    kind = Row(job.file, job.line, given, f"{job.place}{name}.")
    iops, seconds = kind.need("iops"), kind.need("runtime") / 1000
    count = round(kind.need("total_ios") if kind.has("total_ios") else iops * seconds)
    rate = kind.need("bw_bytes") if kind.has("bw_bytes") else kind.need("bw", scale=_KIB)
    if count and kind.has("total_ios") and kind.has("io_kbytes"):
        # `bw_bytes` is cut to whole bytes per second, which makes 8191 bytes of 8 KiB.
        rate = iops * kind.need("io_bytes") / count
    response, bins = _read_times(kind) if count else ({}, {})
    return {
        "iops": iops,
        "bytes_per_s": rate,
        "seconds": seconds,
        "count": count,
        "response": response,
        "is_timed": bool(response) or not count,
        "bins": bins,
        "spread": kind.number("iops_stddev"),
        "samples": round(kind.number("iops_samples") or 0),
    }


def _read_times(kind: Row) -> tuple[dict[str, float], dict[int, int]]:
    """Return the response times [us], and the histogram of JSON+ [ns]."""
    suffix, scale = ("_ns", 1e-3) if kind.has("lat_ns") or kind.has("clat_ns") else ("", 1.0)
    parts = [kind.values.get(f"{name}{suffix}") for name in ("lat", "clat")]
    # With gtod_reduce or disable_lat, all are 0.
    tables = [part for part in parts if isinstance(part, Mapping)]
    measured = (part for part in tables if part.get("N") != 0 and (part.get("mean") or part.get("max")))
    times = next(measured, None)
    if times is None:
        return {}, {}
    row = Row(kind.file, kind.line, times, f"{kind.place}lat{suffix}.")
    response = {key: row.need(key, scale=scale) for key in ("mean", "stddev", "max") if row.has(key)}
    for part in tables:
        listed = part.get("percentile")
        if not isinstance(listed, Mapping) or not any(listed.values()):
            continue
        row = Row(kind.file, kind.line, listed, f"{kind.place}percentile.")
        ends = ((name, find_percentile(name)) for name in listed)
        response |= {end: row.need(name, scale=scale) for name, end in ends if end is not None}
        drawn = part.get("bins") if suffix else None
        if not isinstance(drawn, Mapping):
            return response, {}
        place = (kind.line, f"{kind.place}bins")
        pairs = ([kind.file.read_number(str(text), *place) for text in pair] for pair in drawn.items())
        return response, {round(value): round(count) for value, count in pairs}
    return response, {}


def add_kinds(kinds: Sequence[Kind]) -> Kind:
    """Return the figures of clones together; their percentiles follow from histograms alone."""
    counted = [kind for kind in kinds if kind["count"]]
    if not counted:
        return kinds[0]
    weights = [kind["iops"] for kind in counted]
    response, bins = combine_times([kind["response"] for kind in counted], weights), add_bins(counted)
    return {
        **NO_REQUESTS,
        "iops": math.fsum(weights),
        "bytes_per_s": math.fsum(kind["bytes_per_s"] for kind in counted),
        "seconds": max(kind["seconds"] for kind in counted),
        "count": sum(kind["count"] for kind in counted),
        "response": response | find_percentiles(bins),
        "is_timed": all(kind["is_timed"] for kind in counted),
        "bins": bins,
    }


def add_bins(kinds: Sequence[Kind]) -> Counter[int]:
    """Return the histograms of kinds together [ns]; an empty one if one of them is missing."""
    counts: Counter[int] = Counter()
    if all(kind["bins"] for kind in kinds):
        for kind in kinds:
            counts.update(kind["bins"])
    return counts


def find_percentiles(counts: Mapping[int, int]) -> dict[str, float]:
    """Return the percentiles [us] of a histogram [ns]."""
    total = sum(counts.values())
    percentiles, passed = {}, 0
    wanted = list(PERCENTILES.items())
    for value in sorted(counts):
        passed += counts[value]
        while wanted and passed >= math.ceil(total * wanted[0][0] / 100):
            percentiles[wanted.pop(0)[1]] = value / 1000
    return percentiles


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
        footprint: The size of its files, or of the part of a device that it uses [bytes].
        varying: Why fewer requests may be outstanding than the options state; empty if all are.
        is_merged: Whether `group_reporting` merged different jobs, of which fio keeps the options of one.
    """

    depth: int | None
    threads: int | None
    random_fraction: float | None
    footprint: int | None = None
    varying: str = ""
    is_merged: bool = False


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
        return Load(None, round(running) or None, None, varying="the results have no options of the job")
    threads = _find_whole(options.get("numjobs")) or 1
    if running > threads + _HALF:
        reason = "group_reporting merged different jobs"
        return Load(None, round(running), None, varying=reason, is_merged=True)
    for name, reason in _VARYING.items():
        if str(options.get(name, "0")) not in {"", "0"}:
            random = None if name == "read_iolog" else _find_random_fraction(options)
            return Load(None, threads, random, varying=reason)
    is_synchronous = str(options.get("ioengine", "psync")) in _SYNCHRONOUS
    depth = 1 if is_synchronous else _find_whole(options.get("iodepth")) or 1
    limits = [name for name in _LIMITS if re.search("[1-9]", str(options.get(name, "")))]
    reason = f"{limits[0]} limits the job, so that fewer than iodepth are outstanding" if limits else ""
    footprint = _find_footprint(options, threads)
    reason = reason or _find_shortfall(depth, levels)
    return Load(depth, threads, _find_random_fraction(options), footprint, reason)


def _find_footprint(options: Mapping[str, Any], threads: int) -> int | None:
    """Return the size of the files of all clones [bytes]; None without one in bytes."""
    base = 1000 if str(options.get("kb_base")) == "1000" else 1024
    stated = [str(options[name]) for name in ("size", "filesize") if name in options]
    try:
        size = SIZES.parse(stated[0], base) if stated else 0
        pitch = SIZES.parse(str(options.get("offset_increment", 0)), base)
    except OptionValueError:
        return None
    # Clones with a file name share the file.
    return (size + (threads - 1) * (pitch if "filename" in options else size)) or None


def _find_shortfall(depth: int, levels: Mapping[str, Any]) -> str:
    """Return why a job did not keep its depth, by the distribution of depths that fio states."""
    steps = {int(name.strip(">=")): share for name, share in levels.items() if name.strip(">=").isdigit()}
    if not all(isinstance(share, int | float) for share in steps.values()):
        return ""
    reached = [
        share for step, share in steps.items() if step <= depth < 2 * step or step == max(steps) <= depth
    ]
    if not any(steps.values()) or not reached or reached[0] >= _LEAST_AT_DEPTH:
        return ""
    return f"fio had fewer than iodepth={depth} outstanding at {100 - reached[0]:.4g} % of the requests"


def _find_random_fraction(options: Mapping[str, Any]) -> float | None:
    pattern = str(options.get("rw", options.get("readwrite", "read")))
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
