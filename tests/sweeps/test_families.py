"""Families whose largest array is far from carrying a load."""

from typing import Any

import pytest

from destage import engine
from destage.sweeps.keys.objectives import parse_objective
from destage.sweeps.sizing.families import find_outclassed


def family(disk: str, raid: str) -> dict[str, str]:
    return {"controller.use": "megaraid_9540", "array.disk.use": disk, "array.raid": raid}


SLOW = [family("exos_x18", raid) for raid in ("10", "5")]
FAST = [family("dc600m_960gb", raid) for raid in ("10", "5")]
P95 = parse_objective("response_p95 <= 20ms", "seek.subject_to.0")


def reads(rate: int) -> dict[str, Any]:
    stream = {
        "name": "reads",
        "arrival": {"kind": "poisson", "rate": f"{rate}/s"},
        "operations": {"read_fraction": 1.0, "size": {"kind": "constant", "value": "4KiB"}},
        "address": {"kind": "uniform", "footprint": "900GB"},
    }
    run = {"warm_up": {"requests": 100}, "window": {"requests": 2000}}
    return {"workload": {"streams": [stream]}, "array": {"disks": 4}, "run": run}


def test_an_overloaded_family_is_left_out_until_enough_carry_the_load() -> None:
    """Four disks of 7,200 rpm read some hundred times a second; the last family is not examined."""
    left_out = find_outclassed(reads(5000), [SLOW[0], FAST[0], SLOW[1], FAST[1], SLOW[0]], (3, 4), [P95], 2)
    assert [(missed.family, missed.disks) for missed in left_out] == [(SLOW[0], 4), (SLOW[1], 4)]


def test_a_response_must_be_far_beyond_its_bound() -> None:
    """A random read takes some 10 ms: 20 ms or 5 ms may be met with fewer disks, and 1 ms is not."""
    for bound, is_left_out in ((20, False), (5, False), (1, True)):
        objective = parse_objective(f"response_p95 <= {bound}ms", "seek.subject_to.0")
        missed = find_outclassed(reads(10), SLOW[:1], (4,), [objective], 1)
        assert bool(missed) is is_left_out
        assert not missed or (missed[0].objective, missed[0].value is not None) == (objective, True)


def test_products_of_the_same_hardware_share_their_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A PERC H755 is a MegaRAID 9560-16i with another name."""
    simulated: list[str] = []

    def count(scenario: str) -> dict[str, Any]:
        simulated.append(scenario)
        return simulate(scenario)

    simulate = engine.simulate
    monkeypatch.setattr(engine, "simulate", count)
    twins = [SLOW[0] | {"controller.use": name} for name in ("perc_h755", "megaraid_9560_16i")]
    scenario = reads(5000) | {"controller": {"cache": {"capacity": "64MiB"}}}
    left_out = find_outclassed(scenario, [*twins, SLOW[0]], (4,), [P95], 2)
    assert [missed.family for missed in left_out] == [*twins, SLOW[0]]
    assert len(simulated) == 2
