"""Hit counts of the policies on a recorded trace equal those of libCacheSim 0.3.5.

Reference rows with objects of different sizes have no counterpart: cache lines have one size.
"""

import csv

import numpy as np
import pytest
import replacement_policies
from cloud_physics import Words, blocks_of, records
from external_data import SHARED, require_shared

from destage.engine import _engine

TRUTH = SHARED / "truth" / "miss_ratios.csv"

# Names of the reference, without underscores.
POLICIES = {policy.replace("_", ""): policy for policy in replacement_policies.POLICIES}


def _rows() -> list[tuple[str, int, str, int]]:
    """Yield policy, entries, unit and hits of each reference row with entries of one size."""
    if not TRUTH.exists():
        return []
    with TRUTH.open(encoding="utf-8") as lines:
        return [
            (
                POLICIES[row["algo"].lower()],
                int(row["cache_size"]),
                row["unit"],
                round((1 - float(row["request_miss_ratio"])) * int(row["requests"])),
            )
            for row in csv.DictReader(lines)
            if row["consider_obj_size"] == "0"
        ]


@pytest.fixture(scope="module")
def accesses() -> dict[str, Words]:
    """Return the trace by first sectors, and by all touched 4 KiB pages."""
    require_shared("truth/miss_ratios.csv")
    requests = records()
    lbn = requests["lbn"].astype("<u8")
    return {"objects": lbn, "pages": blocks_of(lbn, (requests["bytes"] // 512).astype("<u8")).astype("<u8")}


def test_the_trace_is_that_of_the_recorded_counts(accesses: dict[str, Words]) -> None:
    found = {unit: (len(keys), len(np.unique(keys))) for unit, keys in accesses.items()}
    assert found == {"objects": (113_872, 48_974), "pages": (1_141_869, 269_210)}
    assert len(_rows()) == 85
    assert {policy for policy, *_ in _rows()} == set(POLICIES.values()) - {"w_tiny_lfu"}


# libCacheSim has no W-TinyLFU: test_w_tiny_lfu.py compares it with a separate implementation.
@pytest.mark.parametrize("policy", sorted(set(POLICIES.values()) - {"w_tiny_lfu"}))
def test_hits_equal_those_of_another_simulator(accesses: dict[str, Words], policy: str) -> None:
    wanted = {(capacity, unit): hits for name, capacity, unit, hits in _rows() if name == policy}
    assert wanted, f"the truth has no row of {policy}"
    found = {
        (capacity, unit): _engine.count_hits(policy, capacity, accesses[unit].tobytes())
        for capacity, unit in wanted
    }
    assert found == wanted


def test_a_larger_lru_never_has_fewer_hits(accesses: dict[str, Words]) -> None:
    keys = accesses["objects"].tobytes()
    hits = [_engine.count_hits("lru", capacity, keys) for capacity in range(0, 50_001, 500)]
    assert hits == sorted(hits)
    assert (hits[0], hits[-1]) == (0, 113_872 - 48_974)
