"""Hits and misses of the read cache against counts, Che's approximation and enumeration."""

import pytest
from validation.mutations import UNSEEN_LINES
from validation.replicates import Row, assert_covers, assert_equal, each, mutants_of, replicate, requests
from validation.scenarios import (
    Scenario,
    closed,
    constant,
    outstanding,
    poisson,
    read_cache,
    scenario,
    server,
)

from destage.engine import simulate


def test_a_sequential_stream_misses_until_it_is_recognised() -> None:
    """With a trigger of 2 and time to read ahead, the first two reads miss and all others hit."""

    def run(trigger: int) -> Row:
        ahead = {"trigger": trigger, "size": "128KiB"}
        return simulate(
            scenario(
                closed(constant("50ms")),
                server(constant("5ms")),
                size="8KiB",
                address={"kind": "sequential"},
                controller=read_cache(2_048, mode="prefetch_only", read_ahead=ahead),
                array={"stripe_unit": "64MiB"},
                warm_up="none",
                window=5_000,
            )
        )

    row, later = run(2), run(3)
    title = "endless sequential reads, trigger 2: {}"
    assert_equal(title.format("first misses"), "count", 1, row["read_misses_random"])
    for what, unit, exact, column in [
        ("misses in sequence", "count", 1, "read_misses_sequential"),
        ("hits", "ratio", 4_998 / 5_000, "read_ahead_hit_ratio"),
    ]:
        mutants = {"a trigger of 3": later[column]}
        assert_equal(title.format(what), unit, exact, row[column], mutants=mutants)
    # 16 reads to a read-ahead of 128 KiB.
    assert row["disk_reads"] == pytest.approx((5_000 - 2) / 16 + 2, rel=0.02)


# Zipf over 10,000 blocks: exponent, lines, hit ratio by Che's approximation.
CHE = [
    (0.0, 100, 0.01),
    (0.0, 1_000, 0.10),
    (0.0, 5_000, 0.50),
    (0.8, 100, 0.15662),
    (0.8, 1_000, 0.43666),
    (0.8, 5_000, 0.79163),
    (1.0, 100, 0.39053),
    (1.0, 1_000, 0.67560),
    (1.0, 5_000, 0.89863),
    (1.2, 100, 0.65634),
    (1.2, 1_000, 0.86143),
    (1.2, 5_000, 0.96390),
]


def _hit_ratio(row: Row) -> float:
    return float(row["read_hit_ratio"])


@pytest.mark.parametrize(("exponent", "lines", "exact"), CHE)
def test_hit_ratio_of_a_cached_read_side(exponent: float, lines: int, exact: float) -> None:
    """LRU under independent Zipf references is within 0.3 % of Che's approximation at these sizes."""
    # Few hits need many references: the relative width of a count is 1 / sqrt(hits).
    load = scenario(
        outstanding(1),
        server(constant("1us")),
        size="8KiB",
        address={"kind": "zipf", "exponent": exponent, "block": "8KiB", "footprint": 10_000 * 8192},
        controller=read_cache(lines),
        warm_up=20_000,
        window=requests(40_000_000 if exact < 0.05 else 8_000_000 if exact < 0.2 else 2_000_000),
    )
    title = f"Zipf {exponent:g} over 10,000 blocks, LRU of {lines}: hit ratio"
    mutants = mutants_of(load, UNSEEN_LINES, _hit_ratio)
    assert_covers(title, "ratio", exact, each(replicate(load), _hit_ratio), rounding=0.003, mutants=mutants)


@pytest.mark.parametrize(("lines", "exact"), [(1, 0.38), (2, 0.7192857)])
def test_hit_ratio_of_three_blocks(lines: int, exact: float) -> None:
    """LRU, independent references with p = .5, .3, .2: sum of p^2 for one line, enumerated for two."""
    shares = [0.5, 0.3, 0.2]
    if lines == 1:
        enumerated = sum(p * p for p in shares)
    else:
        # The two that were used last are (i, j) with probability p_i p_j / (1 - p_i).
        enumerated = sum(
            p / (1 - p) * q * (p + q) for i, p in enumerate(shares) for j, q in enumerate(shares) if i != j
        )
    assert enumerated == pytest.approx(exact, abs=1e-7)

    def load(lines: int, count: int) -> Scenario:
        base = scenario(
            poisson(1.0), server(constant("1ns")), size="8KiB", warm_up=1_000, window=requests(count)
        )
        (stream,) = base["workload"]["streams"]
        base["workload"]["streams"] = [
            {
                **stream,
                "name": f"block {index}",
                "arrival": poisson(1_000.0 * share),
                "address": {
                    "kind": "uniform",
                    "footprint": 8192,
                    "placement": {"kind": "contiguous", "offset": index * 8192},
                },
            }
            for index, share in enumerate(shares)
        ]
        return {**base, "controller": read_cache(lines)}

    title = f"p = .5, .3, .2: LRU of {lines}"
    right = load(lines, 4_000_000)
    mutants = {
        **mutants_of(right, UNSEEN_LINES, _hit_ratio),
        "a line more": each(replicate(load(lines + 1, 200_000)), _hit_ratio),
    }
    assert_covers(title, "ratio", exact, each(replicate(right), _hit_ratio), mutants=mutants)


def test_a_cyclic_scan_hits_all_or_nothing() -> None:
    """A scan round N lines never hits an LRU of fewer, and always one of N."""

    def hits(lines: int) -> float:
        row = simulate(
            scenario(
                outstanding(1),
                server(constant("1us")),
                size="8KiB",
                address={"kind": "sequential", "footprint": 100 * 8192},
                controller=read_cache(lines),
                warm_up="none",
                window=10_000,
            )
        )
        return float(row["reads"] - row["read_misses_random"] - row["read_misses_sequential"])

    title = "scan round 100 lines, 10,000 reads, LRU of {}: hits"
    assert_equal(title.format(99), "count", 0, hits(99), mutants={"a line more": hits(100)})
    assert_equal(title.format(100), "count", 9_900, hits(100), mutants={"a line fewer": hits(99)})
