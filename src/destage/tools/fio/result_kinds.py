"""The figures of one kind of operation (reads, writes, or both) of a fio job."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeGuard

from destage.tools.result_parts import PERCENTILES, Row, combine_times, find_percentile

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
    rate = kind.need("bw_bytes") if kind.has("bw_bytes") else kind.need("bw", scale=_KIB)
    count = round(kind.need("total_ios") if kind.has("total_ios") else iops * seconds)
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
    times = next((one for one in parts if _is_measured(one)), None)
    if times is None:
        return {}, {}
    row = Row(kind.file, kind.line, times, f"{kind.place}lat{suffix}.")
    found = {key: row.need(key, scale=scale) for key in ("mean", "stddev", "max") if row.has(key)}
    for part in parts:
        listed = part.get("percentile") if isinstance(part, Mapping) else None
        if not isinstance(part, Mapping) or not isinstance(listed, Mapping) or not any(listed.values()):
            continue
        row = Row(kind.file, kind.line, listed, f"{kind.place}percentile.")
        ends = ((name, find_percentile(name)) for name in listed if _is_number(name))
        found |= {end: row.need(name, scale=scale) for name, end in ends if end is not None}
        drawn = part.get("bins") if suffix else None
        if not isinstance(drawn, Mapping):
            return found, {}
        at = (kind.line, f"{kind.place}bins")
        bins = {round(kind.file.read_number(str(value), *at)): str(count) for value, count in drawn.items()}
        return found, {value: round(kind.file.read_number(count, *at)) for value, count in bins.items()}
    return found, {}


def _is_measured(times: object) -> TypeGuard[Mapping[str, Any]]:
    """Return whether fio measured these times, which are 0 with `gtod_reduce` or `disable_lat`."""
    if not isinstance(times, Mapping) or times.get("N") == 0:
        return False
    return any(times.get(key) for key in ("mean", "max"))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def add_kinds(kinds: Sequence[Kind]) -> Kind:
    """Return the figures of clones together; their percentiles follow from histograms alone."""
    counted = [each for each in kinds if each["count"]]
    if not counted:
        return kinds[0]
    weights = [each["iops"] for each in counted]
    response = combine_times([each["response"] for each in counted], weights)
    bins: Counter[int] = Counter()
    if all(each["bins"] for each in counted):
        for each in counted:
            bins.update(each["bins"])
    return {
        **NO_REQUESTS,
        "iops": math.fsum(weights),
        "bytes_per_s": math.fsum(each["bytes_per_s"] for each in counted),
        "seconds": max(each["seconds"] for each in counted),
        "count": sum(each["count"] for each in counted),
        "response": response | find_percentiles([bins]),
        "is_timed": all(each["is_timed"] for each in counted),
        "bins": dict(bins),
    }


def find_percentiles(histograms: Sequence[Mapping[int, int]]) -> dict[str, float]:
    """Return the percentiles [us] of histograms together; none if one of them is missing."""
    if not all(histograms):
        return {}
    counts: Counter[int] = Counter()
    for one in histograms:
        counts.update(one)
    total = sum(counts.values())
    found, passed = {}, 0
    wanted = list(PERCENTILES.items())
    for value in sorted(counts):
        passed += counts[value]
        while wanted and passed >= math.ceil(total * wanted[0][0] / 100):
            found[wanted.pop(0)[1]] = value / 1000
    return found
