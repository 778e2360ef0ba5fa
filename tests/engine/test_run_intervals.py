"""The interval that a run states agrees with the spread of its mean over seeds, behind write caches too."""

import math
import statistics

import pytest
from validation.scenarios import (
    Scenario,
    closed,
    exponential,
    outstanding,
    poisson,
    savvio,
    scenario,
    server,
    write_cache,
)

from destage.engine import simulate_batch

RUNS = 30
LEAST = 0.75
"""Half width over 1.96 times the spread; the spread of 30 means has a standard error of 13 %."""
LEAST_COVERED = 25
"""Of 30 intervals; of 95 % intervals fewer cover in one of 300 tests."""


def _behind_a_write_cache(capacity: int, warm_up: int | str) -> Scenario:
    """Return users of a parity array whose reads wait for destages: responses follow the cycles."""
    return scenario(
        closed(exponential("100ms")),
        savvio(),
        users=24,
        read_fraction=0.5,
        array={"raid": "5", "disks": 5},
        controller=write_cache(capacity),
        warm_up=warm_up,
        window="auto" if warm_up == "auto" else 40_000,
    )


DISK = server(exponential("10ms"))
CASES = {
    "M/M/1 at 70 %": (scenario(poisson(70.0), DISK, warm_up=10_000, window=40_000), 1.4),
    "closed load": (scenario(outstanding(8), DISK, warm_up=10_000, window=40_000), 1.4),
    "50 cycles": (_behind_a_write_cache(4 << 20, "auto"), 1.5),
    "14 cycles": (_behind_a_write_cache(16 << 20, "auto"), 2.0),
    "13 cycles and parts of two": (_behind_a_write_cache(16 << 20, 20_000), 2.0),
    "6 cycles": (_behind_a_write_cache(48 << 20, "auto"), 2.4),
}
"""Cases, and the highest ratio. With few cycles the t of the interval is large: 4.3 with three."""


@pytest.mark.parametrize("case", CASES)
def test_intervals_agree_with_the_spread_over_seeds(case: str) -> None:
    load, most = CASES[case]
    runs = [{**load, "run": {**load["run"], "seed": 11, "replicate": index}} for index in range(RUNS)]
    rows = simulate_batch(runs).to_pylist()
    assert {row["status"] for row in rows} == {"ok"}
    means = [row["response_mean_us"] for row in rows]
    widths = [row["response_mean_half_width_us"] for row in rows]
    ratio = statistics.fmean(widths) / (1.96 * statistics.stdev(means))
    assert LEAST <= ratio <= most, ratio
    # The mean over the runs is itself known with an error.
    center, scale = statistics.fmean(means), math.sqrt(1 - 1 / RUNS)
    covered = sum(abs(mean - center) <= scale * width for mean, width in zip(means, widths, strict=True))
    assert covered >= LEAST_COVERED, covered
