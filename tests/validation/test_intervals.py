"""Automatic windows: the mean response has no bias, and 95 % of the in-run intervals cover the truth.

Near saturation a window must neither stop because it has happened to see no long queue, nor take
correlated, skewed batches for independent, normally distributed ones. *coverage* is the share of seeds whose
interval covers the exact mean. With 200 seeds and a true coverage of 95 % the binomial 95 % interval is 91.5
to 97.5 %.
"""

import math
from dataclasses import dataclass
from functools import cache

import pytest
from scipy import stats
from validation.form import REPORT_PATH, SHARE
from validation.replicates import LEDGER, SEED, Mutant, Row, Verdict, estimate, response_ms
from validation.scenarios import (
    Scenario,
    closed,
    constant,
    exponential,
    poisson,
    savvio,
    scenario,
    server,
    write_cache,
)

from destage.engine import simulate_batch

SEEDS = 200 // SHARE
LIKELY = 0.999
"""The share of correct engines whose coverage is accepted."""
MOST_BIAS = 0.005


@dataclass(frozen=True)
class Queue:
    """A case: its load, and its exact mean response [ms]; None if a long run is the reference."""

    name: str
    load: Scenario
    exact: float | None = None
    is_short: bool = False


def _pollaczek_khinchine(rate: float, mean: float, second: float) -> float:
    """Return the mean response [ms] of an M/G/1 queue: arrivals `rate` [1/ms], two moments of the service."""
    return mean + rate * second / (2 * (1 - rate * mean))


def _repairman(users: int, think_ms: float, service_ms: float) -> float:
    """Return the mean response [ms] of `users` at one exponential server, by mean value analysis."""
    queue = response = 0.0
    for count in range(1, users + 1):
        response = service_ms * (1 + queue)
        queue = count * response / (think_ms + response)
    return response


LOGNORMAL: Scenario = {"kind": "lognormal", "mean": "10ms", "cv": 1.5}
RAID_5 = scenario(
    closed(exponential("100ms")),
    savvio(),
    users=24,
    read_fraction=0.5,
    array={"raid": "5", "disks": 5},
    controller=write_cache(16 << 20),
)
QUEUES = [
    Queue(
        "M/M/1 at 50 %",
        scenario(poisson(50.0), server(exponential("10ms"))),
        _pollaczek_khinchine(0.05, 10, 200),
        is_short=True,
    ),
    Queue(
        "M/D/1 at 90 %",
        scenario(poisson(90.0), server(constant("10ms"))),
        _pollaczek_khinchine(0.09, 10, 100),
        is_short=True,
    ),
    Queue(
        "M/M/1 at 90 %",
        scenario(poisson(90.0), server(exponential("10ms"))),
        _pollaczek_khinchine(0.09, 10, 200),
    ),
    Queue(
        "M/M/1 at 95 %",
        scenario(poisson(95.0), server(exponential("10ms"))),
        _pollaczek_khinchine(0.095, 10, 200),
    ),
    Queue(
        "M/D/1 at 95 %",
        scenario(poisson(95.0), server(constant("10ms"))),
        _pollaczek_khinchine(0.095, 10, 100),
    ),
    Queue(
        "M/G/1 at 90 %, lognormal, cv 1.5",
        scenario(poisson(90.0), server(LOGNORMAL)),
        _pollaczek_khinchine(0.09, 10, 100 * (1 + 1.5**2)),
    ),
    Queue(
        "machine repairman, 100 users",
        scenario(closed(exponential("1000ms")), server(exponential("10ms")), users=100),
        _repairman(100, 1000, 10),
        is_short=True,
    ),
    Queue("RAID 5 of five disks, write cache of 16 MiB, 24 users", RAID_5),
]


@cache
def _run(name: str) -> tuple[Row, ...]:
    load = next(queue.load for queue in QUEUES if queue.name == name)
    run = {"seed": SEED, "warm_up": "auto", "window": "auto"}
    scenarios = [{**load, "run": {**run, "replicate": replicate}} for replicate in range(SEEDS)]
    return tuple(simulate_batch(scenarios).to_pylist())


def _reference(load: Scenario) -> float:
    """Return the mean of 16 long windows of other seeds, for a load without a closed form."""
    run = {"seed": SEED + 1, "warm_up": {"requests": 100_000}, "window": {"requests": 2_000_000}}
    scenarios = [{**load, "run": {**run, "replicate": replicate}} for replicate in range(16)]
    return math.fsum(map(response_ms, simulate_batch(scenarios).to_pylist())) / 16


QUEUES_NOW = [queue for queue in QUEUES if REPORT_PATH or queue.is_short]


@pytest.mark.parametrize("queue", QUEUES_NOW, ids=[queue.name for queue in QUEUES_NOW])
def test_automatic_windows_cover_the_mean(queue: Queue) -> None:
    """Of 200 seeds, the mean response with its bias, and the share of in-run 95 % intervals that cover it."""
    rows = _run(queue.name)
    assert {row["status"] for row in rows} == {"ok"}
    exact = _reference(queue.load) if queue.exact is None else queue.exact
    means = [response_ms(row) for row in rows]
    widths = [row["response_mean_half_width_us"] / 1e3 for row in rows]

    def covered(scale: float = 1.0) -> int:
        """Count the intervals that cover the truth, if their half widths were `scale` times as large."""
        return sum(abs(mean - exact) <= scale * width for mean, width in zip(means, widths, strict=True))

    # More than 95 % is no mistake: a decision that rests on a wider interval holds all the more.
    least = int(stats.binom.ppf(1 - LIKELY, len(rows), 0.95))
    count, narrow = covered(), covered(0.4)
    mutant = Mutant("half widths 60 % smaller", 100 * narrow / len(rows), narrow < least)
    LEDGER.add(
        Verdict(
            f"{queue.name}: coverage of {len(rows)} seeds",
            "%",
            95.0,
            100 * count / len(rows),
            None,
            f"at least {100 * least / len(rows):g} %" if count >= least else "DIFFERS",
            (mutant,),
        )
    )
    found = estimate(means)
    bias = found.mean / exact - 1
    LEDGER.add(
        Verdict(
            f"{queue.name}: mean response, bias {bias:+.2%}",
            "ms",
            exact,
            found.mean,
            found.half_width,
            "covers" if found.covers(exact, MOST_BIAS) else "MISSES",
            (Mutant("response 3 % longer", found.mean * 1.03, abs(bias + 0.03) * exact > found.half_width),),
        )
    )
    assert count >= least, f"{count} of {len(rows)} intervals cover {exact:.6g} ms"
    assert narrow < least, f"{narrow} of {len(rows)} too narrow intervals cover it"
    assert found.covers(exact, MOST_BIAS), f"{found.mean:.6g} ± {found.half_width:.2g} ms, bias {bias:+.2%}"
