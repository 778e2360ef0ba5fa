"""Exact LRU counts over recorded traces, and the share of pgbench's writes that a cache absorbs."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from cloud_physics import Words, blocks_of, records
from small_scenarios import DISK

from destage.engine import _engine, simulate, traces

ROOT = Path(__file__).parents[2]
PGBENCH = ROOT / "examples" / "pgbench.parquet"


def _hits(capacity: int, keys: Words) -> int:
    return _engine.count_hits("lru", capacity, keys.astype("<u8").tobytes())


@pytest.fixture(scope="module")
def cloud_physics() -> npt.NDArray[Any]:
    return records()


@pytest.mark.parametrize(
    ("capacity", "hits"), [(100, 13_657), (1_000, 19_049), (10_000, 34_434), (40_000, 64_878)]
)
def test_lru_hits_by_first_sector(cloud_physics: npt.NDArray[Any], capacity: int, hits: int) -> None:
    assert _hits(capacity, cloud_physics["lbn"]) == hits


@pytest.mark.parametrize(("capacity", "hits"), [(256, 101_580), (8_192, 124_892), (32_768, 149_945)])
def test_lru_hits_of_4_kib_blocks(cloud_physics: npt.NDArray[Any], capacity: int, hits: int) -> None:
    blocks = blocks_of(cloud_physics["lbn"], (cloud_physics["bytes"] // 512).astype(np.uint64))
    assert (len(blocks), len(np.unique(blocks))) == (1_141_869, 269_210)
    assert _hits(capacity, blocks) == hits


def test_the_miss_ratio_equals_that_of_another_simulator(cloud_physics: npt.NDArray[Any]) -> None:
    blocks = blocks_of(cloud_physics["lbn"], (cloud_physics["bytes"] // 512).astype(np.uint64))
    assert 1 - _hits(32_000, blocks) / len(blocks) == pytest.approx(0.8694806497, abs=1e-10)


@pytest.mark.parametrize(
    ("sequence", "capacity", "hits"),
    [("abcbada", 2, 2), ("abcbada", 3, 3), ("abcabcabc", 2, 0), ("abcabcabc", 3, 6)],
)
def test_lru_hits_worked_by_hand(sequence: str, capacity: int, hits: int) -> None:
    """Stack distances of abcbada are -,-,-,1,2,-,1; a cyclic scan hits all or nothing."""
    assert _hits(capacity, np.frombuffer(sequence.encode(), dtype=np.uint8).astype(np.uint64)) == hits


def _pgbench_writes() -> Words:
    columns = traces.table(traces.load(PGBENCH))
    is_write = columns["op"].to_numpy() == 1
    first, sectors = (columns[name].to_numpy()[is_write].astype(np.uint64) for name in ("lba_512", "n_512"))
    return blocks_of(first, sectors)


@pytest.mark.parametrize(("mebibytes", "share"), [(4, 0.131), (64, 0.133), (128, 0.144), (256, 0.187)])
def test_an_lru_absorbs_the_known_share_of_pgbench(mebibytes: int, share: float) -> None:
    blocks = _pgbench_writes()
    assert _hits(mebibytes * 256, blocks) / len(blocks) == pytest.approx(share, abs=5e-4)


def test_the_write_cache_absorbs_as_much_as_an_lru() -> None:
    """Dirty lines are destaged by address and not by age, so the figures are near those of LRU, not equal.

    The cache holds 128 MiB of which 60 to 80 % are dirty; LRU absorbs 0.133 to 0.144 there.
    """
    scenario = {
        "workload": {
            "streams": [
                {"name": "t", "arrival": {"kind": "trace", "file": str(PGBENCH), "mode": "asap", "depth": 8}}
            ]
        },
        "controller": {
            "cache": {"capacity": "128MiB", "usable": "128MiB", "write_fraction": 1.0, "line": "4KiB"},
            "battery": {"state": "present"},
            "firmware": {"command_time": "50us"},
        },
        "array": {"raid": "10", "disks": 4, "disk": DISK},
    }
    row = simulate(scenario)
    absorbed = row["absorbed_sectors"] / row["accepted_sectors"]
    assert row["accepted_sectors"] == len(_pgbench_writes()) * 8
    assert 0.10 < absorbed < 0.19
