"""Setting a parameter by its dotted path, also below an entry of the catalogue."""

from typing import Any

import pytest

from destage import engine
from destage.engine import catalog
from destage.sweeps import parameters

PRESETS = [entry.name for entry in catalog.entries("workloads")]


def scenario(name: str) -> dict[str, Any]:
    disk = {"use": "u320_10k_36gb"}
    run = {"warm_up": "none", "window": {"requests": 100}}
    return {"workload": {"use": name}, "array": {"raid": "10", "disks": 16, "disk": disk}, "run": run}


@pytest.mark.parametrize("name", PRESETS)
def test_a_field_of_a_stream_is_set_and_nothing_else(name: str) -> None:
    """Every stream of every preset: the rest of the configuration is that of the preset."""
    host = {"host": {"cores": 4}}
    before = engine.normalise(scenario(name))
    for number in range(len(before["workload"]["streams"])):
        written = scenario(name)
        demand = {"kind": "constant", "value": "123us"}
        parameters.assign(written, f"workload.streams.{number}.processor_time", demand)
        after = engine.normalise(written | host)
        stream = after["workload"]["streams"][number]
        assert stream.pop("processor_time") == {"kind": "constant", "value": 123_000}
        before["workload"]["streams"][number].pop("processor_time", None)
        assert after["workload"] == before["workload"]
        before = engine.normalise(scenario(name))


def test_items_without_names_are_set_whole() -> None:
    written = scenario("call_center")
    parameters.assign(written, "workload.streams.0.operations.size.options.1.weight", 150)
    (stream,) = engine.normalise(written)["workload"]["streams"]
    sizes = stream["operations"]["size"]["options"]
    assert [(each["value"], each["weight"]) for each in sizes] == [(4096, 50), (8192, 150)]


def test_another_kind_takes_nothing_from_the_preset() -> None:
    """The sizes of a choice are no part of a uniform distribution."""
    written = scenario("call_center")
    size = {"kind": "uniform", "min": "4KiB", "max": "8KiB"}
    parameters.assign(written, "workload.streams.0.operations.size", size)
    parameters.assign(written, "workload.streams.0.operations.size.max", "16KiB")
    (stream,) = engine.normalise(written)["workload"]["streams"]
    assert stream["operations"]["size"]["max"] == 16384
