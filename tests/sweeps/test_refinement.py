"""A refined grid: the knee of known curves, values around it, and a resumed refinement."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from killed_sweeps import run_until_killed

from destage import sweeps
from destage.errors import ConfigError
from destage.store import open_sweep
from destage.sweeps import Study
from destage.sweeps.search.refinement import find_knee

MakeStudy = Callable[..., Study]
SEEK = {"maximize": "workload.users", "subject_to": ["response_p95 <= 60ms"], "max": 500}
DISKS = "array.disks"
RATE = "array.disk.service.mean"


@pytest.mark.parametrize("corner", range(1, 9))
def test_the_knee_of_two_lines_is_where_they_meet(corner: int) -> None:
    curve = [(float(x), 3.0 * min(x, corner) + 0.5 * max(x - corner, 0)) for x in range(10)]
    assert find_knee(curve) == corner


def test_a_curve_that_falls_or_is_short_has_no_knee() -> None:
    assert find_knee([(0.0, 1.0), (1.0, 2.0)]) is None
    assert find_knee([(0.0, 3.0), (1.0, 5.0), (2.0, 2.0)]) is None


@given(st.lists(st.floats(0.1, 10.0), min_size=3, max_size=12), st.floats(0.1, 50), st.floats(-5, 5))
def test_the_knee_does_not_depend_on_units(steps: list[float], scale: float, offset: float) -> None:
    curve, merit = [], 0.0
    for x, step in enumerate(sorted(steps, reverse=True)):
        merit += step
        curve.append((float(x), merit))
    scaled = [(1024 * x, scale * y + offset) for x, y in curve]
    first, second = find_knee(curve), find_knee(scaled)
    above = [y - curve[0][1] - (curve[-1][1] - curve[0][1]) * x / curve[-1][0] for x, y in curve]
    for knee in (first, second):
        # Steps that are nearly equal make a straight line, whose knee is a matter of rounding.
        assert max(above) < 1e-9 * curve[-1][1] or (
            knee is not None and above[knee] == pytest.approx(max(above), rel=1e-6, abs=1e-9 * curve[-1][1])
        )


def _values(study: Study, store: Path) -> dict[object, list[object]]:
    """Return the numbers of disks of each curve, by the service time."""
    outcome = sweeps.run(study, store, executor="inline", workers=1)
    found: dict[object, set[object]] = {}
    for row in open_sweep(outcome.path).plan().to_pylist():
        found.setdefault(row[RATE], set()).add(row[DISKS])
    return {rate: sorted(disks) for rate, disks in found.items()}  # type: ignore[type-var]


def test_values_are_added_on_both_sides_of_the_knee(make_study: MakeStudy, tmp_path: Path) -> None:
    axes = {DISKS: [1, 9, 17, 33], RATE: ["5ms", "10ms"]}
    given_values = [1, 9, 17, 33]
    seek = {**SEEK, "max": 120}
    found = _values(make_study(axes=axes, seek=seek, refine={"axis": DISKS, "rounds": 1}), tmp_path)
    assert len(found) == 2
    for disks in found.values():
        added = sorted(set(disks) - set(given_values))
        # A search up to 120 users bends the curve at the disks that carry them.
        assert added in ([5, 13], [13, 25])
    later = _values(make_study(axes=axes, seek=seek, refine={"axis": DISKS, "rounds": 3}), tmp_path)
    for rate, disks in later.items():
        assert set(found[rate]) < set(disks)


def test_a_condition_holds_for_added_values(make_study: MakeStudy, tmp_path: Path) -> None:
    axes = {DISKS: [1, 9, 17, 33], RATE: ["5ms"]}
    study = make_study(axes=axes, seek=SEEK, refine={"axis": DISKS}, where="disks % 4 = 1")
    (disks,) = _values(study, tmp_path).values()
    assert len(disks) > 4
    assert all(int(str(one)) % 4 == 1 for one in disks)


def test_a_killed_refinement_goes_on_to_equal_points(
    make_study: MakeStudy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    axes = {DISKS: [1, 9, 17, 33], RATE: ["5ms", "10ms"]}
    study = make_study(axes=axes, seek=SEEK, refine={"axis": DISKS})
    whole = _values(study, tmp_path / "whole")
    for stop in (2, 6):
        run_until_killed(study, tmp_path / "killed", stop, monkeypatch)
    assert _values(study, tmp_path / "killed") == whole


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"refine": {"axis": "array.disk"}}, "not an axis with a list of values"),
        ({"refine": {"axis": RATE}}, "at least 3 numbers"),
        ({"refine": {"axis": DISKS, "of": "users"}}, "not a result of this study"),
        ({"seek": None, "refine": {"axis": DISKS}}, "required without a seek"),
    ],
)
def test_a_refinement_that_cannot_be(make_study: MakeStudy, keys: dict[str, object], message: str) -> None:
    merged = {"axes": {DISKS: [1, 2, 4], RATE: ["5ms"]}, "seek": SEEK, **keys}
    with pytest.raises(ConfigError, match=message):
        make_study(**{key: value for key, value in merged.items() if value is not None})
