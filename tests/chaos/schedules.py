"""Schedules: which executor, which store and which fault, all drawn from a seed."""

import itertools
import os
import random
from dataclasses import dataclass

EXECUTORS = ("inline", "ray", "raylets")
STORES = ("local", "s3", "gcs", "azure")
FAULTS = ("kill", "stop", "full disk", "clock jump", "bit flip", "lost reply", "slow", "reset")
COUNT = 200
SHORT = (
    ("inline", "local", "kill"),
    ("inline", "local", "full disk"),
    ("inline", "local", "bit flip"),
    ("inline", "local", "stop"),
    ("inline", "s3", "lost reply"),
    ("inline", "s3", "clock jump"),
)
"""The schedules of `make test`."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """One sweep and the fault that it has to survive.

    Attributes:
        seed: The seed of all schedules.
        number: Its number among them.
        executor: `inline`, `ray` (each session starts it) or `raylets` (a running cluster of two machines).
    """

    seed: int
    number: int
    executor: str
    store: str
    fault: str

    def __str__(self) -> str:
        return f"{self.number}-{self.executor}-{self.store}-{self.fault.replace(' ', '_')}"

    def random(self) -> random.Random:
        """Return the source of the details of the fault."""
        return random.Random(f"{self.seed}/{self.number}")  # noqa: S311 - a schedule, no secret


def draw_schedules(seed: int, count: int = COUNT) -> list[Schedule]:
    """Return the schedules of a seed.

    Each of the 96 combinations comes once; the rest are `inline`, as a start of Ray costs more than a sweep.
    """
    choose = random.Random(seed)  # noqa: S311 - a schedule, no secret
    every = list(itertools.product(EXECUTORS, STORES, FAULTS))
    inline = [each for each in every if each[0] == "inline"]
    drawn = list(every)
    while len(drawn) < count:
        drawn += choose.sample(inline, len(inline))
    drawn = drawn[:count] if count >= len(every) else choose.sample(every, count)
    choose.shuffle(drawn)
    return [Schedule(seed, number, *each) for number, each in enumerate(drawn)]


def read_schedules() -> list[Schedule]:
    """Return the schedules that CHAOS_SEED, CHAOS_COUNT and CHAOS_ONLY name.

    CHAOS_ONLY is a list of numbers and of executors, stores and faults, such as `17,42` or `azure,stop`.
    """
    drawn = draw_schedules(
        int(os.environ.get("CHAOS_SEED") or 1), int(os.environ.get("CHAOS_COUNT") or COUNT)
    )
    only = {each.strip() for each in os.environ.get("CHAOS_ONLY", "").split(",") if each.strip()}
    numbers = {each for each in only if each.isdigit()}
    if numbers:
        return [each for each in drawn if str(each.number) in numbers]
    if unknown := only.difference(EXECUTORS, STORES, FAULTS):
        raise ValueError(f"CHAOS_ONLY: unknown: {', '.join(sorted(unknown))}")
    return [each for each in drawn if only <= {each.executor, each.store, each.fault}]


def short_schedules() -> list[Schedule]:
    """Return the schedules of `make test`."""
    return [Schedule(0, number, *each) for number, each in enumerate(SHORT)]
