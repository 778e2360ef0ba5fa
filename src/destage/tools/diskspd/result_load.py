"""The load of a DiskSpd time span by the settings of its targets."""

from collections.abc import Sequence
from dataclasses import dataclass

from destage.measured.basis import Figures

NO_LATENCY = "DiskSpd measures latencies only with -L"


@dataclass(frozen=True, slots=True)
class LoadOfTarget:
    """The load of a target; None for what is not known.

    Attributes:
        depth: Requests that each thread keeps outstanding at it.
        threads: Threads of its own.
        is_limited: Whether fewer requests may be outstanding, since its rate is limited or it pauses.
    """

    path: str
    depth: int | None
    threads: int
    random_fraction: float | None
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
