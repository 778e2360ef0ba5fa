"""Responses of single sectors, whose only random part is the mechanics of the disk."""

from typing import Any

from validation.replicates import each, replicate, requests, response_ms
from validation.scenarios import Scenario, closed, exponential, scenario

TURN_MS = 6.0
"""One revolution at 10,000 rpm."""


def single_sectors(disk: Scenario, *, count: int = 1_000_000, **fields: Any) -> list[float]:
    """Response times [ms] of one sector at a time, with pauses that leave the spindle at any angle."""
    base = scenario(
        closed(exponential("20ms")),
        disk,
        **{"size": 512, "warm_up": 100, "window": requests(count), **fields},
    )
    return each(replicate(base), response_ms)


def less(values: list[float], time: float) -> list[float]:
    """Times without a part that is the same in each."""
    return [value - time for value in values]
