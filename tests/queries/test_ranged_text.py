"""The answer of a sizing in ranges, without its simulations."""

from dataclasses import replace

import pytest

from destage.queries.findings.ranged_text import RangedCandidate, RangedSizing, compose_ranged
from destage.queries.findings.sizing_text import Sized
from destage.spec.objective import NORMAL

PARTS = {"controller.use": "megaraid_9540", "array.disk.use": "exos_x18", "array.raid": "10"}


def candidate(disks: int, odds: float | None) -> RangedCandidate:
    return RangedCandidate({}, disks, 100.0 * disks, [9.0], [False], [NORMAL], 1.0, None, odds, 0.0, 0.0)


@pytest.mark.parametrize(
    ("odds", "disks"), [((0.8, 0.9499, 0.99), 4), ((0.8, 0.944, 0.99), 6), ((None, 0.95, 1.0), 4)]
)
def test_the_sure_array_has_odds_of_95_per_cent_as_printed(
    odds: tuple[float | None, ...], disks: int
) -> None:
    candidates = [candidate(count, value) for count, value in zip((2, 4, 6), odds, strict=True)]
    sure = RangedSizing({}, "users", [1.0], candidates, [], 0.0).sure
    assert sure is not None
    assert sure.disks == disks


@pytest.mark.parametrize(
    ("carried", "is_bound", "shown"),
    [
        ([30.0, 90.0], [False, True], "30 to ≥ 90"),
        ([90.0, 30.0], [True, False], "30 to ≥ 90"),
        ([30.0, 90.0], [True, True], "≥ 30 to ≥ 90"),
        ([90.0, 90.0], [True, True], "≥ 90"),
        ([30.0, 90.0], [False, False], "30 to 90"),
    ],
)
def test_a_bound_is_marked_at_its_own_share(carried: list[float], is_bound: list[bool], shown: str) -> None:
    one = replace(candidate(2, 0.5), parts=PARTS, carried=carried, is_bound=is_bound)
    sizings = [({"iops": 9.0}, Sized((), 2, 0, None, "EUR"))]
    lines = compose_ranged(RangedSizing({"iops": (5.0, 9.0)}, "IO/s", [0.0, 1.0], [one], sizings, 0.0))
    (row,) = [line for line in lines if line.split()[:1] == ["200"]]
    assert shown in [cell.strip() for cell in row.split("  ")]


def test_a_remark_on_some_loads_names_them() -> None:
    """Reads and writes of one class at the low share, of another one at both high ones."""
    remarks = {
        (5.0, 0.5): ["flash", "uniform"],
        (5.0, 1.0): ["reads", "uniform"],
        (9.0, 1.0): ["reads", "uniform"],
    }
    sizings = [
        ({"iops": rate, "read_share": share, "users": 1.0}, Sized((), 2, 0, None, "EUR", remarks=each))
        for (rate, share), each in remarks.items()
    ]
    ranges = {"iops": (5.0, 9.0), "read_share": (0.5, 1.0)}
    assert RangedSizing(ranges, "IO/s", [0.5, 1.0], [], sizings, 0.0).remarks == [
        "5 IO/s, 50 % reads: flash",
        "uniform",
        "5 IO/s, 100 % reads; 9 IO/s, 100 % reads: reads",
    ]
