"""A sought value gives the configuration that it gives in the study, with the defaults that depend on it."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.plain_identities import canonical_text, run_id

from destage import engine
from destage.errors import ConfigError
from destage.sweeps import parse_study
from destage.sweeps.points.point import Point, configure
from destage.sweeps.reading.expansion import expand
from destage.sweeps.space import parameters

SCENARIOS: dict[str, dict[str, Any]] = {
    "disks": {
        "workload": {"use": "vdi", "users": 40},
        "controller": {"use": "smart_array_p410_1gb"},
        "array": {"raid": "5", "disks": 8, "disk": {"use": "u320_10k_36gb"}},
    },
    "flash": {
        "workload": {"use": "vdi_logon_storm"},
        "controller": {"use": "megaraid_9560_8i", "cache": {"read": {"policy": "w_tiny_lfu"}}},
        "array": {"raid": "10", "disks": 4, "disk": {"use": "dc600m_960gb"}},
        "run": {"window": {"phase": "work"}},
    },
    "host": {
        "workload": {"use": "loadsim_mmb3"},
        "host": {"cores": 4},
        "controller": {"use": "smart_array_6402_msa30", "cache": {"usable": "64MiB"}},
        "array": {"raid": "6", "disks": 8, "disk": {"use": "savvio_10k1_36gb"}, "stripe_unit": "64KiB"},
    },
}


def _list_integers(node: Any, path: str = "") -> Iterator[tuple[str, int]]:
    """Yield the path and the value of each whole number, those in lists of streams and disks left out."""
    items = node.items() if isinstance(node, dict) else ()
    for key, value in items:
        within = f"{path}.{key}" if path else key
        if isinstance(value, int) and not isinstance(value, bool):
            yield within, value
        yield from _list_integers(value, within)


def _assign(scenario: dict[str, Any], path: str, value: int) -> dict[str, Any]:
    written = copy.deepcopy(scenario)
    parameters.assign(written, path, value)
    return written


def _seek(scenario: dict[str, Any], path: str, value: int) -> Point:
    """Return the point of a study that seeks a parameter from this value on."""
    most = parameters.find_parameter(path).most or 2**40
    seek = {"maximize": path, "subject_to": ["response_p95 <= 30ms"], "start": value, "max": int(most)}
    document = {"name": "sought", "scenario": _assign(scenario, path, value), "seek": seek}
    return expand(parse_study(json.dumps(document))).points[0]


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_sought_value_is_as_if_written(name: str) -> None:
    scenario = SCENARIOS[name]
    whole = json.loads(engine.canonical_json(scenario))
    whole["array"] = whole.pop("arrays")[0]
    compared = []
    for path, value in _list_integers(whole):
        if path == "run.replicate" or parameters.explain_unknown(path) is not None:
            continue
        if not parameters.find_parameter(path).is_integer:
            continue
        try:
            point = _seek(scenario, path, value)
        except ConfigError:
            continue
        for other in (value * 2, value + 1, value // 2):
            try:
                wanted = engine.canonical_json(_assign(scenario, path, other))
            except ConfigError:
                assert point.list_allowed([value, other]) == [value]
                continue
            assert point.configure(0, other) == (run_id(wanted), wanted), path
            assert point.list_allowed([value, other]) == [value, other]
            compared.append(path)
    assert len(set(compared)) > 10
    assert "controller.cache.capacity" in compared or name == "host"


def test_a_forbidden_value_stays_so_that_its_run_fails() -> None:
    """RAID 5 on two disks: the number is within its bounds, and a rule between fields forbids it."""
    point = _seek(SCENARIOS["disks"], "array.disks", 8)
    wanted = json.loads(engine.canonical_json(SCENARIOS["disks"]))
    wanted["run"]["replicate"], wanted["arrays"][0]["disks"] = 3, 2
    text = canonical_text(wanted)
    assert point.configure(3, 2) == (run_id(text), text)
    assert point.list_allowed([2, 3, 1, 9]) == [3, 9]


def test_the_runs_of_a_round_keep_their_order() -> None:
    """A forbidden value between allowed ones, and replicates: each row is that of its run by itself."""
    point = _seek(SCENARIOS["disks"], "array.disks", 8)
    slots = [(0, 8), (1, 2), (2, 3), (0, 1), (1, 8)]
    rows = configure([(point, *slot) for slot in slots])
    assert rows["run_id"].to_pylist() == [point.configure(*slot).run_id for slot in slots]
    assert len(set(rows["run_id"].to_pylist())) == len(slots)
