"""A load by rate: reads and writes of one size at random times, over all of the data."""

from typing import Any

USERS = 100
"""The users of a load by rate: one per cent of it each, so that the response curve has other loads."""
UNIT = "% of the load"
ASSUMED = "Assumes requests at random times (Poisson) and at uniformly random addresses of the data."


def make_rate_load(reads: float, writes: float, size: str) -> dict[str, Any]:
    """Return the workload of a rate, more than 0.

    Args:
        reads: The reads per second.
        writes: The writes per second.
        size: The size of each, with its unit.
    """
    stream = {
        "name": "requests",
        "arrival": {"kind": "poisson", "rate": f"{(reads + writes) / USERS!r}/s", "per_user": True},
        "operations": {
            "read_fraction": reads / (reads + writes),
            "size": {"kind": "constant", "value": size},
        },
        "address": {"kind": "uniform"},
    }
    return {"users": USERS, "streams": [stream]}


def split_rate(iops: float, read_share: float) -> tuple[float, float]:
    """Return the reads and the writes of a rate [1/s], rounded so that 0.7 of 12,000 is 8,400."""
    reads = round(read_share * iops, 9)
    return reads, round(iops - reads, 9)
