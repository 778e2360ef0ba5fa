"""Two real disks: service times of the model against measured ones.

Parameters are fitted on the first half of a trace; the limits apply to the second half. The limits over all
requests are 0.15 ms (Cheetah 9LP) and 0.25 ms (Atlas 10K); a class may be 0.30 ms off, or twice as far as the
two halves of the measurement are from each other.
"""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from external_data import require_shared
from validation.disk_figures import DISKS, load_trace, validate_disk
from validation.replicates import LEDGER, Verdict

from destage.tools.disksim.measured_disk import Validation
from destage.tools.disksim.model_fit import FITTABLE
from destage.tools.disksim.service_times import ALL, SEQUENTIAL, MeasuredTrace, demerit, simulate_service_ms

REFERENCE_MS = {"cheetah_9lp": 0.107, "atlas_10k": 0.268}
"""Demerit figures of the reference simulator on the whole trace."""

Change = Callable[[dict[str, Any]], None]


def _trace(name: str) -> MeasuredTrace:
    require_shared(f"traces/disksim/{DISKS[name][0]}")
    return load_trace(name)


def _validation(name: str, *, fitted: bool) -> Validation:
    require_shared(f"traces/disksim/{DISKS[name][0]}")
    return validate_disk(name, fitted=fitted)


def _overall(found: Validation) -> float:
    return next(each.demerit_ms for each in found.classes if each.name == ALL)


@pytest.mark.parametrize("name", DISKS)
def test_every_class_is_within_its_limit_after_a_fit(name: str) -> None:
    found = _validation(name, fitted=True)
    assert len(found.classes) == 7
    for each in found.classes:
        title = f"demerit, {DISKS[name][1]}, {each.name}, at most"
        text = "within" if each.is_met else "NOT within"
        LEDGER.add(Verdict(title, "ms", each.limit_ms, each.demerit_ms, None, text))
    assert [each.name for each in found.classes if not each.is_met] == []
    assert set(found.fitted) == set(FITTABLE)


@pytest.mark.parametrize("name", DISKS)
def test_an_unfitted_disk_is_near(name: str) -> None:
    """The expected error for another disk: its facts and the general assumptions, without a fit."""
    found = _validation(name, fitted=False)
    LEDGER.add(
        Verdict(
            f"demerit, {DISKS[name][1]}, nothing fitted, at most", "ms", 0.25, _overall(found), None, "within"
        )
    )
    assert _overall(found) <= 0.25
    # Some of the Cheetah's read-aheads had no effect, for an unknown reason: see docs/validating-a-disk.md.
    spared = {ALL, SEQUENTIAL} if name == "cheetah_9lp" else {ALL}
    assert [each.name for each in found.classes if not each.is_met and each.name not in spared] == []


@pytest.mark.parametrize("name", DISKS)
def test_each_request_is_replayed(name: str) -> None:
    """A table of service times has no correlation within a class; seeks and buffer hits do."""
    found = {each.name: each.correlation or 0.0 for each in _validation(name, fitted=True).classes}
    assert found[ALL] > 0.9
    assert found["writes"] > 0.9
    assert found["other reads, quartile 2"] > 0.6


def _slower_seeks(disk: dict[str, Any]) -> None:
    for point in disk["seek"]["points"]:
        point["time"] = round(point["time"] * 1.1)


def _no_buffer(disk: dict[str, Any]) -> None:
    disk["buffer"] = None


def _no_read_ahead(disk: dict[str, Any]) -> None:
    disk["buffer"]["read_ahead"] = "off"


def _no_write_cache(disk: dict[str, Any]) -> None:
    disk["buffer"]["write_cache"] = False


def _slower_spindle(disk: dict[str, Any]) -> None:
    disk["rpm"] /= 1.25


@pytest.mark.parametrize(
    "change", [_slower_seeks, _no_buffer, _no_read_ahead, _no_write_cache, _slower_spindle]
)
@pytest.mark.parametrize("name", DISKS)
def test_another_disk_is_distinguished(name: str, change: Change) -> None:
    found = _validation(name, fitted=True)
    disk = copy.deepcopy(dict(found.disk))
    change(disk)
    trace = _trace(name)
    modelled = simulate_service_ms(trace, disk, len(found.modelled_ms))
    second = slice(len(trace) // 2, None)
    worse = demerit(trace.service_ms[second], modelled[:, second].ravel())
    title = f"{DISKS[name][1]}: {change.__name__.strip('_').replace('_', ' ')}"
    LEDGER.add(Verdict(title, "mutation", DISKS[name][2], worse, None, "rejected"))
    assert worse > DISKS[name][2]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([1.0, 2.0], [1.0, 2.0], 0.0),
        ([1.0, 3.0], [2.0, 5.0], np.sqrt((1 + 4) / 2)),
        # Three steps against two: they differ in the middle third, by 3 on either side.
        ([0.0, 3.0, 6.0], [0.0, 6.0], np.sqrt((9 + 9) / 6)),
    ],
)
def test_demerits_worked_by_hand(one: list[float], other: list[float], expected: float) -> None:
    assert demerit(np.array(one), np.array(other)) == pytest.approx(expected)
    assert demerit(np.array(other), np.array(one)) == pytest.approx(expected)
