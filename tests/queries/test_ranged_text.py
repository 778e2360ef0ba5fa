"""The answer of a sizing in ranges, without its simulations."""

import pytest

from destage.queries.findings.ranged_text import RangedCandidate, RangedSizing


def candidate(disks: int, odds: float | None) -> RangedCandidate:
    return RangedCandidate({}, disks, 100.0 * disks, [9.0], False, 1.0, None, odds, 0.0, 0.0)


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
