"""What the results of a DiskSpd time span in any form have: its figures, and the load by its targets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from destage.measured.line import Figures
from destage.tools.result_parts import Row, measure_times, merge_operations

TIME_FORMS = ("%Y/%m/%d %H:%M:%S UTC", "%Y/%m/%d %H:%M:%S")
_KINDS = ("read", "write", "total")


def collect_figures(span: Row, seconds: float, kinds: Mapping[str, Mapping[str, Any]]) -> Figures:
    """Return the figures of a time span.

    Args:
        kinds: Requests, bytes and response times [us] of `total` and, where they are known, of `read` and
            `write`; the rate of requests where it is stated.
    """
    if not kinds["total"]["count"]:
        raise span.mistake("measured.no-figures", "no request was completed")
    read, write, total = (
        {"iops": kind["count"] / seconds, "bytes_per_s": kind["bytes"] / seconds, **kind} if kind else {}
        for kind in (kinds.get(name) for name in _KINDS)
    )
    is_stated = "iops" in kinds["total"]
    figures = merge_operations(
        read,
        write,
        iops=total["iops"] if is_stated else None,
        bytes_per_s=total["bytes_per_s"] if is_stated else None,
    )
    measure_times(figures, total["response"])
    if not any("mean" in kind["response"] for kind in kinds.values()):
        figures.reject("DiskSpd measures latencies only with -L", "response_mean_us")
    figures.measure(
        duration_s=seconds, requests=total["count"], reads=read.get("count"), writes=write.get("count")
    )
    return figures


def read_seconds(span: Row, name: str) -> float:
    """Return the length of a time span."""
    seconds = span.need(name)
    if not seconds:
        raise span.mistake("measured.no-figures", "the time span lasted 0 s")
    return seconds


@dataclass(frozen=True, slots=True)
class LoadOfTarget:
    """The load of a target; None for what is not known.

    Attributes:
        depth: Requests that each thread keeps outstanding at it.
        threads: Threads of its own.
        is_limited: Whether fewer requests may be outstanding, since its rate is limited or it pauses.
    """

    path: str
    depth: int | None = None
    threads: int = 1
    random_fraction: float | None = None
    is_limited: bool = False


def add_load(
    figures: Figures, targets: Sequence[LoadOfTarget], shared_threads: int, shared_depth: int
) -> None:
    """Add the columns of the load.

    Args:
        shared_threads: Threads that use all targets (-F); 0 if each target has its own.
        shared_depth: Outstanding requests of such a thread at all targets (-O); 0 for those of each target.
    """
    depths = [target.depth for target in targets]
    threads = shared_threads or sum(target.threads for target in targets)
    if not shared_threads:
        depth = depths[0] if len(set(depths)) == 1 else None
        each = [None if at.depth is None else at.depth * at.threads for at in targets]
    else:
        known = [one for one in depths if one is not None]
        depth = shared_depth or (sum(known) if len(known) == len(depths) else None)
        each = [None if depth is None else depth * shared_threads]
    counted = [one for one in each if one is not None]
    is_limited = any(target.is_limited for target in targets)
    randoms = {target.random_fraction for target in targets}
    figures.measure(
        workload=", ".join(dict.fromkeys(target.path for target in targets)) or None,
        depth=depth,
        threads=threads or None,
        random_fraction=randoms.pop() if len(randoms) == 1 else None,
    )
    if is_limited:
        figures.reject("a target is limited in its rate or pauses (-g, -i, -j)", "outstanding")
    elif len(counted) == len(each):
        figures.derive(outstanding=float(sum(counted)) or None)
