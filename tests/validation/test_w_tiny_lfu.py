"""W-TinyLFU equals an independent implementation and resists scans."""

import numpy as np
import pytest
from validation.w_tiny_lfu import WTinyLfu

from destage.engine import _engine


def _zipf(seed: int, objects: int, accesses: int, exponent: float) -> list[int]:
    draws = np.random.default_rng(seed)
    popularity = np.cumsum(1 / np.arange(1, objects + 1) ** exponent)
    ranks = np.searchsorted(popularity, draws.random(accesses) * popularity[-1])
    # Keys as the read cache has them: an array's number above the line's.
    return [int(rank) * 7919 % 2**40 + (int(rank) % 3 << 48) for rank in ranks]


def _native(capacity: int, keys: list[int], window: float | None = None) -> int:
    return _engine.count_hits("w_tiny_lfu", capacity, np.array(keys, dtype="<u8").tobytes(), window)


@pytest.mark.parametrize("seed", range(40))
def test_hits_equal_an_implementation_from_the_paper(seed: int) -> None:
    draws = np.random.default_rng(1_000 + seed)
    capacity = int(draws.choice([1, 2, 3, 5, 10, 33, 100, 400]))
    window = float(draws.choice([0.0, 0.01, 0.1, 0.5, 1.0]))
    keys = _zipf(seed, int(draws.integers(2, 12 * capacity + 4)), 8_000, float(draws.uniform(0, 1.4)))
    scan = [2**60 + step for step in range(int(draws.integers(0, 500)))]
    keys = [*keys[:4_000], *scan, *keys[4_000:]]
    naive = WTinyLfu(capacity, window)
    wanted = sum(naive.access(key) for key in keys)
    assert _native(capacity, keys, window) == wanted


def test_a_scan_costs_fewer_hits_than_with_lru() -> None:
    popular = _zipf(1, 5_000, 60_000, 1.0)
    keys = [key for step, key in enumerate(popular) for key in (key, 2**60 + step)]
    lru = _engine.count_hits("lru", 200, np.array(keys, dtype="<u8").tobytes())
    assert _native(200, keys) > 1.2 * lru
