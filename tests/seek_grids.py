"""Sweeps that seek users on a grid of RAID levels, caches and write fractions, with chosen answers."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import pyarrow as pa

CAPACITY = "controller.cache.capacity"
FRACTION = "controller.cache.write_fraction"
RAID = "array.raid"
USERS = "workload.users"
MIB = 2**20

Answer = float | tuple[float, str] | None
"""A mean, a bound with its kind (`at_least` or `below`), or none."""


def seek_grid(
    make_session: Callable[..., Any],
    find_answer: Callable[[str, int, float], Answer],
    *,
    raids: Sequence[str] = ("5", "10"),
    capacities: Sequence[int] = (0, 32, 64, 128),
    fractions: Sequence[float] = (0.5, 1.0),
    **spec: Any,
) -> Any:
    """Return a session; a point without an answer has a run that did not become steady.

    Args:
        find_answer: Returns the answer of a RAID level, a cache [MiB] and a write fraction.
    """
    runs: list[Mapping[str, Any]] = []
    answers, certificates = [], []
    for raid, mib, fraction in product(raids, capacities, fractions):
        if mib == 0 and fraction != fractions[0]:
            continue
        point = f"{raid}-{mib}-{fraction}"
        # Without a cache, there is nothing to split.
        axes = {RAID: raid, CAPACITY: mib * MIB, FRACTION: fraction if mib else 0.0}
        found = find_answer(raid, mib, fraction)
        common = {"point_id": point, "replicate": 0, **axes, USERS: 10, "run_id": point}
        if found is None:
            runs.append({**common, "status": "not_stationary", "unsettled": "write_cache"})
            continue
        mean, censored = found if isinstance(found, tuple) else (found, None)
        hit_ratio = mib / 200
        runs.append({**common, "hit_ratio": hit_ratio, "read_hit_ratio": hit_ratio, "write_hit_ratio": 0.1})
        runs[-1] |= {"response_p95_us": 20_000.0 + mib}  # type: ignore[operator]
        answers.append(
            {
                "point_id": point,
                **axes,
                "metric": "users_supported",
                "answer_mean": mean,
                "answer_low": None if censored else mean - 2,
                "answer_high": None if censored else mean + 2,
                "n": 1,
                "limiting": "disk",
                "binding": "response_p95 <= 30ms",
                "censored": censored,
                "interval_met": True,
                "monotone": True,
                "undecided": 0,
            }
        )
        certificates.append(
            {"point_id": point, "replicate": 0, "n": 10, "run_id_pass": point, "state": "certified"}
        )
    return make_session(
        runs,
        axes={RAID: pa.string(), CAPACITY: pa.int64(), FRACTION: pa.float64()},
        seek=USERS,
        answers=answers,
        certificates=certificates,
        question="Which RAID level and cache?",
        **spec,
    )
