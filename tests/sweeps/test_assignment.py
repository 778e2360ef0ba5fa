"""Setting a parameter by its dotted path, also below an entry of the catalogue."""

from collections.abc import Iterator
from typing import Any

import pytest

from destage import engine
from destage.engine import catalog
from destage.sweeps.space import parameters

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


def list_fields(part: object, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the path and the value of each field below a part of a preset."""
    if isinstance(part, dict | list):
        items = part.items() if isinstance(part, dict) else enumerate(part)
        for key, value in items:
            yield from list_fields(value, f"{path}.{key}")
    else:
        yield path, part


@pytest.mark.parametrize("name", PRESETS)
def test_a_field_set_to_the_value_of_the_preset_changes_nothing(name: str) -> None:
    preset = catalog.entry("workloads", name).config
    before = engine.normalise(scenario(name))
    for path, value in list_fields(preset["streams"], "workload.streams"):
        written = scenario(name)
        parameters.assign(written, path, value)
        assert engine.normalise(written) == before, path


@pytest.mark.parametrize("name", PRESETS)
def test_a_stream_of_another_name_keeps_its_fields(name: str) -> None:
    """Other fields are set before and after the name, by which items are merged."""
    before = engine.normalise(scenario(name) | {"host": {"cores": 4}})
    for number, stream in enumerate(before["workload"]["streams"]):
        written = scenario(name) | {"host": {"cores": 4}}
        path = f"workload.streams.{number}"
        parameters.assign(written, f"{path}.processor_time", {"kind": "constant", "value": "1us"})
        parameters.assign(written, f"{path}.name", "renamed")
        parameters.assign(written, f"{path}.processor_time.value", "2us")
        after = engine.normalise(written)["workload"]["streams"]
        demand = {"kind": "constant", "value": 2000}
        expected = stream | {"name": "renamed", "processor_time": demand}
        assert after == [expected if one is stream else one for one in before["workload"]["streams"]]


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
