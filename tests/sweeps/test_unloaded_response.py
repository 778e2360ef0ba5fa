"""The response of one user: its cost, and that it is a lower bound of what each family can have."""

from collections.abc import Mapping
from typing import Any

import pytest

from destage import engine
from destage.sweeps.keys.objectives import parse_objective
from destage.sweeps.sizing import unloaded_response
from destage.sweeps.sizing.unloaded_response import find_unreachable
from destage.sweeps.space import parameters

CONTROLLERS = ("megaraid_9540", "megaraid_9560_8i", "megaraid_9560_16i", "perc_h755")
FAMILIES = [
    {"controller.use": controller, "array.disk.use": disk, "array.raid": raid}
    for controller in CONTROLLERS
    for disk in ("exos_x18", "dc600m_960gb")
    for raid in ("10", "5")
]
COUNTS = (4, 8)
SATURATING = {
    "streams": [
        {
            "name": "writer",
            "arrival": {"kind": "closed", "think_time": {"kind": "constant", "value": "0s"}},
            "operations": {"read_fraction": 0.3, "size": {"kind": "constant", "value": "64KiB"}},
            "address": {"kind": "uniform", "footprint": "40GB"},
        }
    ]
}


def make_scenario(workload: Mapping[str, Any]) -> dict[str, Any]:
    window = {"requests": 2000}
    return {"workload": dict(workload), "array": {"disks": 8}, "run": {"warm_up": "auto", "window": window}}


@pytest.mark.parametrize("column", ["response_p99", "read_response_mean", "write_response_p95"])
def test_each_response_has_a_floor(column: str) -> None:
    """No command takes less than its link and firmware."""
    objective = parse_objective(f"{column} <= 0.005ms", "seek.subject_to.0")
    missed = find_unreachable(make_scenario({"use": "vdi"}), FAMILIES[:2], COUNTS, [objective])
    assert missed is not None
    assert missed.value > 5


def test_caches_of_gigabytes_are_filled_once_for_each_controller(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of the four controllers are equal, and the SSDs in RAID 10 are the fastest of each."""
    filled = []
    simulate = engine.simulate

    def count_filled(scenario: dict[str, Any]) -> Any:
        row = simulate(scenario)
        if scenario["run"]["warm_up"] != "none":
            filled.append((scenario["controller"]["use"], scenario["array"]["disk"]["use"]))
        return row

    monkeypatch.setattr(unloaded_response.engine, "simulate", count_filled)
    objective = parse_objective("response_p95 <= 0.05ms", "seek.subject_to.0")
    missed = find_unreachable(make_scenario({"use": "vdi"}), FAMILIES, COUNTS, [objective])
    assert missed is not None
    assert missed.value == pytest.approx(115.26)
    assert sorted(filled) == [(controller, "dc600m_960gb") for controller in sorted(CONTROLLERS[:3])]


@pytest.mark.parametrize("workload", [{"use": "vdi"}, {"use": "sequential"}, SATURATING])
@pytest.mark.parametrize("family", FAMILIES[4:8])
def test_what_one_family_meets_is_never_refused(
    workload: Mapping[str, Any], family: Mapping[str, str]
) -> None:
    """With a filled cache, as each was before: the bound is a little above what the family has."""
    scenario = make_scenario(workload)
    for path, value in {**family, "array.disks": COUNTS[-1], "workload.users": 1}.items():
        parameters.assign(scenario, path, value)
    response = engine.simulate(scenario)["response_p95_us"]
    objective = parse_objective(f"response_p95 <= {response * 1.01}us", "seek.subject_to.0")
    assert find_unreachable(make_scenario(workload), FAMILIES[4:8], COUNTS, [objective]) is None
