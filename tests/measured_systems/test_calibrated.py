"""The discrepancy of calibrated predictions: a hand-worked case, and what its intervals hold."""

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist, fmean

import pytest
from script_modules import load_script

from destage.measured_systems import calibrated
from destage.measured_systems.bank import MEDIA, READ_FRACTION, Medium, systems
from destage.measured_systems.calibrated import CalibratedLoad, find_discrepancy, find_factor, read_loads

QUANTILE = NormalDist().inv_cdf(0.95)


def _load(system: str, response: float, *, spread: float = 0.0) -> CalibratedLoad:
    """A read that was predicted to take 100 us."""
    return CalibratedLoad(system, "randread", 4, False, 1.0, response, 100.0, 50.0, 150.0, spread)


def _store(monkeypatch: pytest.MonkeyPatch, loads: Sequence[CalibratedLoad]) -> None:
    monkeypatch.setattr(calibrated, "read_loads", lambda: tuple(loads))


FIRST, SECOND, THIRD = [system.name for system in systems().values() if system.medium == "flash"][:3]
DISK = next(system.name for system in systems().values() if system.medium == "spinning")


def test_an_error_of_16_percent_needs_a_discrepancy_of_10_percent() -> None:
    assert _load(FIRST, 100 * (1 + 0.1 * QUANTILE)).needed_discrepancy == pytest.approx(0.1)
    assert _load(FIRST, 100 * (1 - 0.1 * QUANTILE)).needed_discrepancy == pytest.approx(0.1)


def test_the_spread_of_the_configurations_explains_a_part() -> None:
    """3, 4 and 5 are the sides of a right triangle."""
    assert _load(FIRST, 100 * (1 + 0.05 * QUANTILE), spread=0.03).needed_discrepancy == pytest.approx(0.04)
    assert _load(FIRST, 100 * (1 + 0.05 * QUANTILE), spread=0.06).needed_discrepancy == 0


def test_a_system_with_many_loads_counts_as_one_with_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two systems, one is right in all its loads: 90 % of the weight is 80 % of the other one's loads."""
    errors = [0.1 * number for number in range(1, 11)]
    wrong = [_load(SECOND, 100 * (1 + error * QUANTILE)) for error in errors]
    _store(monkeypatch, [*[_load(FIRST, 100.0)] * 500, *wrong])
    assert find_discrepancy("flash", 1.0) == pytest.approx(0.8)


def test_a_system_that_is_left_out_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = _load(THIRD, 1000.0)
    right = [_load(FIRST, 100.0), _load(SECOND, 100.0)]
    _store(monkeypatch, [*right, wrong])
    assert find_discrepancy("flash", 1.0) == pytest.approx(wrong.needed_discrepancy)
    assert find_discrepancy("flash", 1.0, without=THIRD) == 0


def test_a_system_that_deviates_more_than_the_others_increases_the_discrepancy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The third needs twice what the others need, and the largest of three ratios holds 90 %."""
    needed = {FIRST: 0.1, SECOND: 0.1, THIRD: 0.2}
    _store(monkeypatch, [_load(name, 100 * (1 + error * QUANTILE)) for name, error in needed.items()])
    assert find_factor() == pytest.approx(2)
    assert find_discrepancy("flash", 1.0) == pytest.approx(0.4)
    assert find_factor(frozenset({THIRD})) == 1
    assert find_discrepancy("flash", 1.0, without=THIRD) == pytest.approx(0.1)


def test_the_intervals_of_systems_left_out_hold_85_to_95_percent() -> None:
    """Neither discrepancy nor factor of a system is found with its own loads."""
    partly = {load.system for load in read_loads() if load.is_missed}
    inside = [
        load.needed_discrepancy
        <= find_discrepancy(systems()[load.system].medium, READ_FRACTION[load.pattern], load.system)
        for load in read_loads()
        if load.is_predicted and load.system not in partly
    ]
    assert 0.85 <= fmean(inside) <= 0.95


def test_a_class_with_one_system_has_the_discrepancy_of_a_wider_one(monkeypatch: pytest.MonkeyPatch) -> None:
    disk = _load(DISK, 100 * (1 + 0.1 * QUANTILE))
    flash = [_load(name, 100 * (1 + 0.2 * QUANTILE)) for name in (FIRST, SECOND)]
    _store(monkeypatch, [disk, *flash])
    assert find_discrepancy("spinning", 1.0) == pytest.approx(0.2)
    assert find_discrepancy("flash", 0.0) == pytest.approx(0.2)


def test_given_results_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    given = CalibratedLoad(FIRST, "randread", 1, True, 1.0, 1000.0, 100.0, 50.0, 150.0, 0.0)
    _store(monkeypatch, [given, _load(FIRST, 100.0), _load(SECOND, 100.0)])
    assert find_discrepancy("flash", 1.0) == 0


def test_a_system_with_a_missed_result_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    missed = replace(_load(THIRD, 500.0), is_given=True, is_missed=True)
    _store(monkeypatch, [_load(FIRST, 100.0), _load(SECOND, 100.0), _load(THIRD, 1000.0), missed])
    assert find_discrepancy("flash", 1.0) == 0


def test_loads_are_stored_with_what_was_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    loads = (
        replace(_load(FIRST, 100.0), is_given=True, is_missed=True, spread=None),
        _load(SECOND, 90.0),
        replace(_load(THIRD, 100.0), median=None, low=None, high=None, spread=None),
    )
    text = calibrated.format_loads(loads)
    monkeypatch.setattr(calibrated, "read_rows", lambda _: csv.DictReader(io.StringIO(text)))
    assert read_loads.__wrapped__() == loads


def test_the_page_names_missed_results() -> None:
    """Of three systems, one has a missed result, one is ruled out, and one is explained."""
    given = replace(_load(FIRST, 200.0), is_given=True)
    out = replace(_load(SECOND, 100.0), median=None, low=None, high=None, is_missed=True)
    loads = [given, replace(given, is_missed=True), _load(FIRST, 110.0), replace(out, is_given=True), out]
    right = _load(THIRD, 110.0)
    page = load_script("scripts/calibrated_systems.py")
    text = "\n".join(page.list_verdict_lines([*loads, right]))
    assert "Systems: 3; ruled out: 1; with a missed result: 1." in text
    assert "they hold 100%" in text
    wrong = "\n".join(page.list_verdict_lines([*loads, _load(FIRST, 200.0), right]))
    assert "they hold 100%" in wrong
    assert "with a missed result, 50% are inside" in wrong
    assert page.count_explained(loads[:3]) == "1 of 2"
    assert page.count_explained(loads[3:]) == "ruled out"
    (missed,) = page.list_missed_lines(loads)
    assert "measured 200 us, 50 to 150 us predicted" in missed


@pytest.mark.parametrize("medium", MEDIA)
@pytest.mark.parametrize("read_fraction", [1.0, 0.0])
def test_the_intervals_of_a_class_hold_nine_tenths_of_it(medium: Medium, read_fraction: float) -> None:
    """Each system counts the same; the stored loads of the class."""
    share = find_discrepancy(medium, read_fraction)
    partly = {load.system for load in read_loads() if load.is_missed}
    chosen = [
        load
        for load in read_loads()
        if load.is_predicted
        and load.system not in partly
        and systems()[load.system].medium == medium
        and READ_FRACTION[load.pattern] == read_fraction
    ]
    assert chosen
    inside = [
        fmean(load.needed_discrepancy <= share for load in chosen if load.system == name)
        for name in {load.system for load in chosen}
    ]
    assert fmean(inside) >= 0.9
