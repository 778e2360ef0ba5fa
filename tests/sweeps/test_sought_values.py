"""A sought value gives the configuration that it gives in the study, with the defaults that depend on it."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from destage import engine
from destage.errors import ConfigError
from destage.sweeps.points.canonical_parts import CanonicalReader
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


def _write(scenario: dict[str, Any], path: str, value: int) -> str:
    written = copy.deepcopy(scenario)
    parameters.assign(written, path, value)
    return engine.canonical_json(written)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_sought_value_is_as_if_written(name: str) -> None:
    scenario = SCENARIOS[name]
    whole = json.loads(engine.canonical_json(scenario))
    whole["array"] = whole.pop("arrays")[0]
    reader, compared = CanonicalReader(), []
    for path, value in _list_integers(whole):
        if parameters.explain_unknown(path) is not None or not parameters.find_parameter(path).is_integer:
            continue
        for other in (value * 2, value + 1, value // 2):
            try:
                base, wanted = _write(scenario, path, value), _write(scenario, path, other)
            except ConfigError:
                continue
            found = reader.with_value(reader.read(base), path, other)
            assert found.text == wanted, path
            compared.append(path)
    assert len(set(compared)) > 10
    assert "controller.cache.capacity" in compared or name == "host"
