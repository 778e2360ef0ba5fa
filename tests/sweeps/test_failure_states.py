"""The states of failure of a sizing: their scenarios and the window of a rebuild."""

from typing import Any

import pytest

from destage import engine
from destage.errors import ConfigError
from destage.spec.objective import DEAD_BATTERY, DURING_REBUILD, NORMAL
from destage.sweeps.keys.prices import example_prices, read_prices_file
from destage.sweeps.sizing.failure_states import (
    RebuildWindow,
    choose_window,
    is_always_in,
    list_failures,
    make_failed_scenario,
)
from destage.sweeps.sizing.request import SizingRequest, make_scenario

FOUND = {"controller.use": "megaraid_9540", "array.disk.use": "exos_x18", "array.raid": "5", "array.disks": 4}


def make_request(**fields: Any) -> SizingRequest:
    """Return the request for a light load."""
    workload = {"use": "vdi", "users": 1}
    prices = read_prices_file(example_prices(), "example prices")
    return SizingRequest(**{"workload": workload, "name": "vdi", "objectives": (), "prices": prices} | fields)


def choose(request: SizingRequest, *, is_stated: bool = False) -> RebuildWindow:
    """Return the window of a rebuild of the array found for a request."""
    return choose_window(make_scenario(request, FOUND), is_stated=is_stated)


def test_only_states_with_objectives_remain_and_a_mistake_has_its_state() -> None:
    given = {DURING_REBUILD: ["response_p95 <= 80ms"], DEAD_BATTERY: []}
    assert list_failures(given) == {DURING_REBUILD: ["response_p95 <= 80ms"]}
    with pytest.raises(ConfigError) as error:
        list_failures({DURING_REBUILD: [], DEAD_BATTERY: ["response_p95"]})
    assert [(issue.code, issue.place) for issue in error.value.issues] == [
        ("study.bad-objective", DEAD_BATTERY)
    ]


def test_the_window_of_a_rebuild_is_of_about_a_minute() -> None:
    """A user has about 9 requests a second: 20,000 take 37 minutes, and 60 seconds have less than 1,000."""
    assert choose(make_request()) == RebuildWindow(requests=1_000)
    busier = make_request(workload={"use": "vdi", "users": 20})
    chosen = choose(busier).requests
    assert chosen == pytest.approx(20 * 9 * 60, rel=0.1)
    scenario = make_failed_scenario(make_scenario(busier), DURING_REBUILD, RebuildWindow(requests=chosen))
    assert scenario["run"]["window"] == {"requests": chosen}
    assert choose(make_request(workload={"use": "vdi", "users": 60})) == RebuildWindow()
    own = make_request(settings={"run.window": {"requests": 20_000}})
    assert choose(own, is_stated=True) == RebuildWindow()


def test_the_disk_fails_as_the_measured_phase_starts() -> None:
    storm = {"use": "vdi_logon_storm", "users": 1}
    array = {"raid": "10", "disks": 2, "disk": {"use": "exos_x18"}}
    run = {"warm_up": "none", "window": {"requests": 9}}
    phases = engine.normalise({"workload": storm, "array": array, "run": run})["workload"]["phases"]
    first, second = phases[:2]
    assert choose(make_request(workload=storm)) == RebuildWindow(start_ns=0)
    later = make_request(workload=storm, settings={"run.window": {"phase": second["name"]}})
    window = choose(later)
    assert window == RebuildWindow(start_ns=first["lasts"])
    faults = make_failed_scenario(make_scenario(later), DURING_REBUILD, window)["faults"]
    assert [fault["at"] for fault in faults] == [first["lasts"]] * 2


def test_only_a_protected_write_cache_has_a_state_of_its_own_without_a_battery() -> None:
    uncached = make_scenario(make_request(), FOUND)
    assert is_always_in(uncached, DEAD_BATTERY)
    assert not is_always_in(uncached, DURING_REBUILD)
    cached = FOUND | {"controller.use": "megaraid_9560_8i"}
    assert not is_always_in(make_scenario(make_request(), cached), DEAD_BATTERY)
    absent = make_request(settings={"controller.battery.state": "absent"})
    assert is_always_in(make_scenario(absent, cached), DEAD_BATTERY)


def test_normal_operation_is_the_scenario_of_the_request() -> None:
    scenario = make_scenario(make_request())
    assert make_failed_scenario(scenario, NORMAL, RebuildWindow(requests=9)) == scenario


def test_a_failure_of_a_mirrored_disk_leaves_its_reads_to_the_other() -> None:
    """By hand: of a pair, one disk serves all reads, and the rebuild reads as much as it writes."""
    request = make_request(settings={"run.window": {"requests": 2_000}, "run.warm_up": {"requests": 10}})
    rows = {}
    for state in (NORMAL, DURING_REBUILD):
        scenario = make_failed_scenario(make_scenario(request), state)
        scenario["array"] |= {"disks": 2, "raid": "1", "disk": {"use": "exos_x18"}}
        scenario["array"]["rebuild"] = {"rate": "1MB/s"}
        scenario["controller"]["use"] = "megaraid_9540"
        rows[state] = engine.simulate(scenario)
    normal, rebuilt = rows[NORMAL], rows[DURING_REBUILD]
    units = rebuilt["rebuild_bytes"] / 2**16
    assert rebuilt["rebuild_bytes"] == pytest.approx(1e6 * rebuilt["window_s"], rel=0.01)
    assert rebuilt["disk_reads"] - units == pytest.approx(normal["disk_reads"], rel=0.05)
    assert 2 * (rebuilt["disk_writes"] - units) == pytest.approx(normal["disk_writes"], rel=0.05)
