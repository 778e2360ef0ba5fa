"""The call-centre studies: the fit on the 39 users, and the mechanisms behind verdicts and answers."""

from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
import script_modules

from destage import engine
from destage.sweeps import parameters, studies
from destage.sweeps.points import expand

IOS = "workload.streams.0.arrival.ios"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return script_modules.load_script("scripts/fit_call_center.py")


def test_a_fitted_point_has_the_value_in_the_study(script: ModuleType) -> None:
    study = studies.load("call_center_prior")
    points = tuple(point for point in study.points if str(point[0]).startswith("9:"))
    [(fitted, half_width)] = script.fit_study(replace(study, points=points)).values()
    assignments = points[0][1]
    assert round(fitted) == assignments[IOS]
    assert 0 < half_width < 1


def test_the_runs_use_the_fitted_values() -> None:
    study = studies.load("call_center_prior")
    fitted = [entry["value"] for entry in study.document["fitted"]]
    ios = {point.label: parameters.read(point.config, IOS) for point in expand(study).points}
    assert fitted == list(ios.values())
    assert {entry["on"] for entry in study.document["fitted"]} == {"users, no write cache"}


def test_systems_differ_in_the_controller_only() -> None:
    study = studies.load("call_center_prior")
    systems: dict[str | None, set[str]] = {}
    for label, assignments in study.points:
        others = {path: value for path, value in assignments.items() if path != "controller.use"}
        systems.setdefault(label, set()).add(repr(sorted(others.items())))
    assert len(systems) == 12
    assert all(len(system) == 1 for system in systems.values())


def row(study: str, users: int | None = None, label: str = "", **assigned: object) -> dict[str, Any]:
    """Run the first replicate of a point by the start of its label and axis values by the end of the path."""
    for point in expand(studies.load(study)).points:
        values = {path.replace(".", "_"): value for path, value in point.axes.items()}
        found = [
            any(path.endswith(end) and here == value for path, here in values.items())
            for end, value in assigned.items()
        ]
        if (point.label or "").startswith(label) and all(found):
            config = point.config
            if users is not None:
                config = {**config, "workload": {**config["workload"], "users": users}}
            return engine.simulate(config)
    pytest.fail(f"{study} has no point {label!r} with {assigned}")


def carries(study: str, users: int, label: str = "", **assigned: object) -> bool:
    found = row(study, users, label, **assigned)
    seek = studies.load(study).seek
    assert seek is not None
    return found["status"] == "ok" and all(one.is_met(found[one.column]) for one in seek.objectives)


def test_the_least_gain_lies_between_the_published_gains() -> None:
    assert carries("call_center_prior", 60, "5:", controller_use="smart_array_5i_plus")
    assert not carries("call_center_prior", 96, "5:", controller_use="smart_array_5304")
    assert carries("call_center_prior", 96, "1:", controller_use="smart_array_5304")


def test_the_first_megabytes_bring_most_of_the_gain() -> None:
    assert not carries("call_center_curve", 60, capacity=0, exponent=0)
    assert carries("call_center_curve", 80, capacity=8 << 20, exponent=0)
    assert not carries("call_center_curve", 150, capacity=1 << 30, exponent=0)


def test_desktops_need_a_cache_on_disks_but_not_on_flash() -> None:
    disks = {"disk_use": "exos_x18"}
    assert not carries("write_cache_today_vdi", 100, capacity=0, **disks)
    assert carries("write_cache_today_vdi", 120, capacity=256 << 20, **disks)
    assert carries("write_cache_today_vdi", 8192, capacity=0, disk_use="s4500_1920gb")


def test_a_large_cache_or_flash_does_not_slow_a_database() -> None:
    def seconds(disk: str, capacity: int) -> float:
        return float(row("write_cache_today_pgbench", capacity=capacity, disk_use=disk)["completion_time_s"])

    own_pace = seconds("exos_x18", 2 << 30)
    assert seconds("exos_x18", 0) > 2.5 * own_pace
    assert seconds("exos_x18", 8 << 30) == pytest.approx(own_pace, rel=0.01)
    assert seconds("s4500_1920gb", 0) == pytest.approx(own_pace, rel=0.02)
