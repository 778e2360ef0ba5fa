"""The write cache's absorption, its second copy and its age limit against closed forms."""

import pytest
from validation.replicates import assert_covers, assert_equal, replicate, requests
from validation.scenarios import closed, constant, outstanding, scenario, server, write_cache

from destage.engine import simulate

LINE = 4096


def _measure_hit_ratios(policy: str, lines: int) -> list[float]:
    """Return write hit ratios under Zipf over 10,000 lines, where each destage makes room for one write."""
    rows = replicate(
        scenario(
            outstanding(1),
            server(constant("1us"), capacity="1GB"),
            size=LINE,
            read_fraction=0.0,
            address={"kind": "zipf", "exponent": 1.0, "block": LINE, "footprint": 10_000 * LINE},
            controller={
                **write_cache(lines * LINE, destage_policy=policy, high_water=1.0, low_water=1 - 0.5 / lines),
                "firmware": {"command_time": "10us"},
            },
            array={"stripe_unit": LINE},
            warm_up=20_000,
            window=requests(2_000_000),
        )
    )
    return [row["write_hit_ratio"] for row in rows]


@pytest.mark.parametrize(("lines", "exact"), [(100, 0.39053), (1_000, 0.67560)])
def test_least_recently_written_absorbs_by_che(lines: int, exact: float) -> None:
    """The most recently written lines stay: writes hit as reads do in LRU (Fricker, Robert, Roberts)."""
    title = f"Zipf 1 over 10,000 lines, least recently written of {lines}: write hit ratio (Che)"
    ours = _measure_hit_ratios("least_recently_written", lines)
    # The elevator also destages lines written just before.
    mutants = {"destaged in order of address": _measure_hit_ratios("c_scan", lines)}
    assert_covers(title, "ratio", exact, ours, rounding=0.01, mutants=mutants)


def test_second_copy_costs_its_transfer() -> None:
    """A cached write takes size / bandwidth + latency more: 40.96 + 20 us."""
    row = simulate(
        scenario(
            closed(constant("10ms")),
            server(constant("5ms")),
            size=LINE,
            read_fraction=0.0,
            controller=write_cache(20_000 * LINE, mirror={"bandwidth": "100MB/s", "latency": "20us"}),
            warm_up="none",
            window=5_000,
        )
    )
    assert_equal(
        "posted write with a second copy", "us", 60.96, row["write_response_mean_us"], tolerance=1e-9
    )


def test_dirty_lines_are_destaged_at_the_age_limit() -> None:
    """Little: a write each second that stays dirty for its age of 3 s and its destage of 10 ms."""
    row = simulate(
        scenario(
            closed(constant("1s")),
            server(constant("10ms"), capacity="1TB"),
            size=LINE,
            read_fraction=0.0,
            controller=write_cache(1_000 * LINE, age_limit="3s"),
            array={"stripe_unit": LINE},
            warm_up={"duration": "10.5s"},
            window={"duration": "1000s"},
        )
    )
    assert_equal(
        "age limit of 3 s, a write a second: dirty lines",
        "lines",
        3.01,
        row["dirty_mean_fraction"] * 1_000,
        tolerance=1e-6,
    )
