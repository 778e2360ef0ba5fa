"""The figures of one kind of operation (reads, writes, or both) of a fio job."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeGuard

from destage.tools.result_parts import PERCENTILES, ResultFile, find_percentile

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


def read_kind(file: ResultFile, job: Mapping[str, Any], name: str, line: int, place: str) -> Kind:
    """Return the figures of one kind of operation of a job."""
    given = job.get(name)
    at = f"{place}.{name}"
    if not isinstance(given, Mapping):
        raise file.mistake("measured.missing-value", "missing", line=line, place=at)

    def number(key: str) -> float:
        if key not in given:
            raise file.mistake("measured.missing-value", "missing", line=line, place=f"{at}.{key}")
        return file.read_number(str(given[key]), line, f"{at}.{key}")

    iops = number("iops")
    rate = number("bw_bytes") if "bw_bytes" in given else number("bw") * _KIB
    seconds = number("runtime") / 1000
    count = round(number("total_ios")) if "total_ios" in given else round(iops * seconds)
    response, bins = _read_times(file, given, line, at) if count else ({}, {})
    return {
        "iops": iops,
        "bytes_per_s": rate,
        "seconds": seconds,
        "count": count,
        "response": response,
        "is_timed": bool(response) or not count,
        "bins": bins,
        "spread": number("iops_stddev") if "iops_stddev" in given else None,
        "samples": round(number("iops_samples")) if "iops_samples" in given else 0,
    }


def _read_times(
    file: ResultFile, given: Mapping[str, Any], line: int, place: str
) -> tuple[dict[str, float], dict[int, int]]:
    """Return the response times [us], and the histogram of JSON+ [ns]."""
    suffix, scale = ("_ns", 1e-3) if "lat_ns" in given or "clat_ns" in given else ("", 1.0)
    total, completion = given.get(f"lat{suffix}"), given.get(f"clat{suffix}")
    times = next((one for one in (total, completion) if _is_measured(one)), None)
    if times is None:
        return {}, {}
    found = {}
    for key in ("mean", "stddev", "max"):
        if key in times:
            name = f"{place}.lat{suffix}.{key}"
            found[key] = file.read_number(str(times[key]), line, name) * scale
    bins: dict[int, int] = {}
    for one in (total, completion):
        listed = one.get("percentile") if isinstance(one, Mapping) else None
        if isinstance(listed, Mapping) and any(listed.values()):
            for name, value in listed.items():
                end = find_percentile(name) if _is_number(name) else None
                if end is not None:
                    found[end] = file.read_number(str(value), line, f"{place}.percentile.{name}") * scale
            drawn = one.get("bins") if isinstance(one, Mapping) else None
            if isinstance(drawn, Mapping) and suffix:
                at = f"{place}.bins"
                bins = {
                    round(file.read_number(str(value), line, at)): round(
                        file.read_number(str(count), line, at)
                    )
                    for value, count in drawn.items()
                }
            break
    return found, bins


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
    total = math.fsum(each["iops"] for each in counted)
    response: dict[str, float] = {}
    times = [each["response"] for each in counted]
    if total and all("mean" in each for each in times):
        mean = math.fsum(each["iops"] * each["response"]["mean"] for each in counted) / total
        response["mean"] = mean
        if all("stddev" in each for each in times):
            second = math.fsum(
                each["iops"] * (each["response"]["stddev"] ** 2 + each["response"]["mean"] ** 2)
                for each in counted
            )
            response["stddev"] = math.sqrt(max(0.0, second / total - mean**2))
    if all("max" in each for each in times):
        response["max"] = max(each["max"] for each in times)
    bins: Counter[int] = Counter()
    if all(each["bins"] for each in counted):
        for each in counted:
            bins.update(each["bins"])
    return {
        **NO_REQUESTS,
        "iops": total,
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
