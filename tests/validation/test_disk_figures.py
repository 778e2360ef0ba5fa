"""The measured disks in a clone without their traces: the model against figures that are held here."""

from typing import Any

import pytest
from external_data import require_shared
from validation.disk_figures import DISKS, collect_figures, read_figures, simulate_drawn

HELD = read_figures()
MOST = 0.10
"""Maximum relative distance of a class's mean from the measured one, for drawn requests."""


@pytest.mark.parametrize("name", DISKS)
def test_the_model_is_the_one_that_was_compared_with_the_measurement(name: str) -> None:
    """After an intended change of the model: validate it with the traces and write the file again."""
    assert simulate_drawn(name, HELD[name]) == pytest.approx(HELD[name]["modelled_ms"], abs=1e-5)


@pytest.mark.parametrize("name", DISKS)
def test_requests_like_the_measured_ones_take_as_long(name: str) -> None:
    modelled = HELD[name]["modelled_ms"]
    measured = {each: described["measured_ms"] for each, described in HELD[name]["classes"].items()}
    assert len(measured) == 6
    assert {each: modelled[each] for each in measured} == pytest.approx(measured, rel=MOST)


@pytest.mark.parametrize("parameter", ["command_time", "bus_rate", "buffer.hit_time", "buffer.write_time"])
def test_another_disk_is_noticed(parameter: str) -> None:
    held: dict[str, Any] = HELD["cheetah_9lp"]
    changed = {**held, "fitted": {**held["fitted"], parameter: held["fitted"][parameter] * 1.05}}
    assert simulate_drawn("cheetah_9lp", changed) != pytest.approx(held["modelled_ms"], abs=1e-3)


@pytest.mark.parametrize("name", DISKS)
def test_the_figures_are_those_of_the_trace(name: str) -> None:
    require_shared(f"traces/disksim/{DISKS[name][0]}")
    found, held = collect_figures(name), HELD[name]
    assert found["fitted"] == pytest.approx(held["fitted"], rel=1e-3)
    assert found["demerit_ms"] == pytest.approx(held["demerit_ms"], abs=1e-3)
    assert {**found, "fitted": 0, "demerit_ms": 0, "modelled_ms": 0} == {
        **held,
        "fitted": 0,
        "demerit_ms": 0,
        "modelled_ms": 0,
    }
