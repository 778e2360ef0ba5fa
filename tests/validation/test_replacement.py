"""Hit counts of the policies over a recorded trace, against those that libCacheSim 0.3.5 finds: all equal.

Rows of the truth that count objects of different sizes have no counterpart here: cache lines have one size.
"""

import csv
import json
import lzma
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from destage.engine import _engine

SHARED = Path(__file__).parents[3] / "shared"
TRACE = SHARED / "traces" / "cloudPhysicsIO.vscsi.xz"
TRUTH = SHARED / "truth" / "miss_ratios.csv"

Keys = npt.NDArray[np.uint64]

VSCSI = np.dtype(
    [
        ("serial", "<u4"),
        ("bytes", "<u4"),
        ("segments", "<u4"),
        ("command", "<u2"),
        ("version", "<u2"),
        ("lbn", "<u8"),
        ("time", "<u8"),
    ]
)

# By the names that others write, which have no underscores.
POLICIES = {
    branch["const"].replace("_", ""): branch["const"]
    for branch in json.loads(_engine.schema())["$defs"]["Policy"]["oneOf"]
}


def _rows() -> list[tuple[str, int, str, int]]:
    """Policy, entries, unit and hits of each row of the truth that counts entries of one size."""
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
def accesses() -> dict[str, Keys]:
    """The trace by first sectors, and by all 4 KiB pages that its requests touch."""
    for path in (TRACE, TRUTH):
        if not path.exists():
            pytest.skip(f"../shared/{path.relative_to(SHARED)} is not there; it may not be committed")
    records = np.frombuffer(lzma.decompress(TRACE.read_bytes()), dtype=VSCSI)
    lbn = records["lbn"].astype("<u8")
    first = lbn // 8
    counts = ((lbn + records["bytes"] // 512 - 1) // 8 - first + 1).astype(np.int64)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return {"objects": lbn, "pages": np.repeat(first, counts) + within.astype("<u8")}


def test_the_trace_is_the_one_that_the_truth_was_made_of(accesses: dict[str, Keys]) -> None:
    found = {unit: (len(keys), len(np.unique(keys))) for unit, keys in accesses.items()}
    assert found == {"objects": (113_872, 48_974), "pages": (1_141_869, 269_210)}
    assert len(_rows()) == 85
    assert {policy for policy, *_ in _rows()} == set(POLICIES.values()) - {"w_tiny_lfu"}


# The other simulator has no W-TinyLFU: test_w_tiny_lfu.py holds it against a reference of our own.
@pytest.mark.parametrize("policy", sorted(set(POLICIES.values()) - {"w_tiny_lfu"}))
def test_hits_are_those_of_another_simulator(accesses: dict[str, Keys], policy: str) -> None:
    wanted = {(capacity, unit): hits for name, capacity, unit, hits in _rows() if name == policy}
    assert wanted, f"the truth has no row of {policy}"
    found = {
        (capacity, unit): _engine.count_hits(policy, capacity, accesses[unit].tobytes())
        for capacity, unit in wanted
    }
    assert found == wanted


def test_more_room_never_costs_lru_a_hit(accesses: dict[str, Keys]) -> None:
    keys = accesses["objects"].tobytes()
    hits = [_engine.count_hits("lru", capacity, keys) for capacity in range(0, 50_001, 500)]
    assert hits == sorted(hits)
    assert (hits[0], hits[-1]) == (0, 113_872 - 48_974)
