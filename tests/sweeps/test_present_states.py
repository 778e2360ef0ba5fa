"""The studies of a present array in states of failure."""

from typing import Any

import pytest

from destage import engine
from destage.errors import ConfigError
from destage.queries.findings.caveats import describe_run
from destage.spec.objective import DEAD_BATTERY, DURING_REBUILD, NORMAL
from destage.sweeps.sizing.present_array import PresentArray
from destage.sweeps.sizing.single_changes import Considered, list_changes

FAILURES = {DURING_REBUILD: ["response_p95 <= 80ms"], DEAD_BATTERY: ["response_p95 <= 60ms"]}
LOAD = {
    "users": 1,
    "streams": [
        {
            "name": "more",
            "arrival": {"kind": "poisson", "rate": "30/s"},
            "operations": {"read_fraction": 1.0, "size": {"kind": "constant", "value": "8KiB"}},
            "address": {"kind": "uniform", "footprint": "1GB"},
        }
    ],
}


def make_array(failures: Any = FAILURES, **scenario: Any) -> PresentArray:
    """Return an array with a load of 30 requests a second, to which as many are added."""
    present = {
        "workload": LOAD,
        "controller": {"use": "megaraid_9560_8i", "cache": {"write": {"low_water": 0.5}}},
        "array": {"raid": "10", "disks": 4, "disk": {"use": "exos_x18"}},
        **scenario,
    }
    return PresentArray(present, [LOAD], "mine", ["response_p95 <= 30ms"], 8, failures=failures)


def test_each_state_has_its_own_question() -> None:
    """Faults of the array itself, such as those of its mains, occur in the states, too."""
    own = {"kind": "mains_lost", "at": "1s", "duration": "1s"}
    array = make_array(faults=[own], run={"window": {"requests": 50}})
    cases = {case.state: case for case in array.list_states()}
    assert list(cases) == [NORMAL, DURING_REBUILD, DEAD_BATTERY]
    shared, _ = array.share()
    studies = {state: case.make_added(shared) for state, case in cases.items()}
    assert [study.name for study in studies.values()] == [
        "mine-with",
        "mine-during-rebuild-with",
        "mine-dead-battery-with",
    ]
    bounds = [study.found_seek.objectives[0].bound for study in studies.values()]
    assert bounds == [30_000, 80_000, 60_000]
    kinds = [[fault["kind"] for fault in study.scenario["faults"]] for study in studies.values()]
    assert kinds == [["mains_lost"], ["mains_lost", "disk_fails", "rebuild_starts"], ["mains_lost"]]
    batteries = [study.scenario["controller"].get("battery") for study in studies.values()]
    assert batteries == [None, None, {"state": "absent"}]


def test_the_window_of_a_rebuild_is_a_minute_unless_the_array_states_it() -> None:
    """Sixty requests a second are 3,600 in a minute."""
    for run, least, most in (({}, 3_200, 4_000), ({"window": {"requests": 4_500}}, 4_500, 4_500)):
        array = make_array({DURING_REBUILD: FAILURES[DURING_REBUILD]}, run={"warm_up": "none", **run})
        _, case = array.list_states()
        window = case.make_added(array.share()[0]).scenario["run"]["window"]
        assert least <= window["requests"] <= most


def test_the_battery_of_another_controller_is_dead_too() -> None:
    array = make_array()
    considered = Considered(["megaraid_9560_16i", "perc_h755"], [], [])
    changes = list_changes(array.scenario, considered)
    assert [change.value for change in changes] == ["megaraid_9560_16i", "perc_h755"]
    for case in array.list_states()[::2]:
        study = case.make_changes(array.share()[0], changes)
        for _, point in study.points:
            controller = point["controller"]
            assert controller["cache"] == {"write": {"low_water": 0.5}}
            battery = {"state": "absent"} if case.state == DEAD_BATTERY else None
            assert controller.get("battery") == battery


def test_an_absent_battery_stays_with_its_controller() -> None:
    """Another controller that has a battery comes with it."""
    array = make_array(controller={"use": "megaraid_9560_8i", "battery": {"state": "absent"}})
    (change,) = list_changes(array.scenario, Considered(["perc_h755"], [], []))[-1:]
    assert change.assignments == {"controller": {"use": "perc_h755"}}


@pytest.mark.parametrize(
    "failing",
    [
        {"array": {"raid": "10", "disks": 4, "disk": {"use": "exos_x18"}, "failed_disks": [0]}},
        {"faults": [{"kind": "disk_fails", "at": "1s", "disk": 0}]},
    ],
)
def test_an_array_whose_disks_fail_anyway_is_not_asked_about_a_rebuild(failing: dict[str, Any]) -> None:
    assert len(make_array({DEAD_BATTERY: FAILURES[DEAD_BATTERY]}, **failing).list_states()) == 2
    with pytest.raises(ConfigError) as error:
        make_array(**failing).list_states()
    assert [(issue.code, issue.place) for issue in error.value.issues] == [
        ("study.no-effect", DURING_REBUILD)
    ]


def test_runs_last_until_a_large_write_cache_is_steady() -> None:
    """In 20,000 requests, a part of one cycle of a gigabyte, three times the new dirty data is destaged."""
    array = make_array(
        workload={"use": "vdi", "users": 200},
        controller={"use": "smart_array_p420_1gb"},
        array={"raid": "5", "disks": 8, "disk": {"use": "savvio_10k4"}},
    )
    scenario = array.make_added(array.share()[0]).scenario
    assert describe_run(scenario, engine.simulate(scenario)) == []
    short = {**scenario, "run": {**scenario["run"], "window": {"requests": 20_000}}}
    assert describe_run(short, engine.simulate(short)) != []
