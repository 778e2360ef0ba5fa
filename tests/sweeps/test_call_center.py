"""The call-centre studies: the fit on the 39 users, and the mechanisms behind verdicts and answers."""

from types import ModuleType
from typing import Any

import pytest
import script_modules

from destage import engine
from destage.sweeps import studies
from destage.sweeps.reading.expansion import expand

IOS = "workload.streams.0.arrival.ios"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return script_modules.load_script("scripts/fit_call_center.py")


def test_a_fitted_system_has_the_value_in_the_study(script: ModuleType) -> None:
    study = studies.load("call_center")
    limit = "95 % of all I/Os within 30 ms"
    system = script.list_systems(study)[limit][2]
    [(fitted, half_width)] = script.fit_systems(study, limit, [system])
    assert round(fitted) == system[IOS]
    assert 0 <= half_width < 2


def test_the_runs_use_the_fitted_values(script: ModuleType) -> None:
    study = studies.load("call_center")
    fitted = {
        entry["parameter"].removeprefix(f"{IOS}, "): (entry["value"], entry["on"])
        for entry in study.document["fitted"]
    }
    used = {
        f"{limit}, system {number}": (system[IOS], f"users, no write cache: {limit}")
        for limit, systems in script.list_systems(study).items()
        for number, system in enumerate(systems, start=1)
    }
    assert fitted == used
    assert len(used) == 16


def test_each_comparison_is_of_three_controllers_under_one_limit() -> None:
    """All else is the same, but for how long a run is measured: a larger cache has longer cycles."""
    study = studies.load("call_center")
    controllers: dict[tuple[str | None, str], set[object]] = {}
    for label, assignments in study.points:
        own = {"controller.use", "run.window"}
        others = {path: value for path, value in assignments.items() if path not in own}
        controllers.setdefault((label, repr(sorted(others.items()))), set()).add(
            assignments["controller.use"]
        )
    assert all(len(compared) == 3 for compared in controllers.values())
    assert study.seek is not None
    assert {label for label, _ in controllers} == set(study.seek.limits)
    assert all(len(study.seek.objectives_of(label)) == 1 for label, _ in controllers)
    assert len(study.seek.objectives) == 1


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


def test_the_first_megabytes_bring_most_of_the_gain() -> None:
    assert not carries("call_center_curve", 60, capacity=0, exponent=0)
    assert carries("call_center_curve", 80, capacity=8 << 20, exponent=0)
    assert not carries("call_center_curve", 300, capacity=1 << 30, exponent=0)


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
