"""A number without a unit is refused where its base unit is not what a person means."""

import json
from typing import Any

import pytest
import yaml

from destage import engine
from destage.errors import ConfigError
from destage.sweeps import parse_study
from destage.sweeps.space.parameters import explain_bare_number, find_bare_numbers

SCENARIO: dict[str, Any] = {
    "workload": {"use": "call_center", "users": 10},
    "controller": {"use": "smart_array_p840"},
    "array": {"raid": "5", "disks": 4, "disk": {"use": "exos_x18"}},
}


@pytest.mark.parametrize(
    ("value", "unit", "message"),
    [
        (512, "bytes", "has no unit; write '512MiB' or '512B'"),
        ("1024", "bytes", "has no unit; write '1024MiB' or '1KiB'"),
        (4096, "bytes", "has no unit; write '4KiB' or '4096MiB'"),
        (0.5, "bytes", "has no unit; write it like '0.5MiB'"),
        (64, "bytes", "has no unit; write '64MiB' or '64KiB'"),
        (8, "ns", "has no unit; write '8ms' or '8ns'"),
        (5_000_000, "ns", "has no unit; write '5ms' or '5000000ms'"),
        (600, "bytes_per_s", "has no unit; write '600MB/s' or '600B/s'"),
    ],
)
def test_the_likely_meaning_comes_first(value: object, unit: str, message: str) -> None:
    assert explain_bare_number(value, unit) == message


@pytest.mark.parametrize(("size", "written"), [("8", "'8KiB' or '8MiB'"), ("4096", "'4KiB' or '4096KiB'")])
def test_a_caller_may_know_what_is_usually_meant(size: str, written: str) -> None:
    assert explain_bare_number(size, "bytes", "KiB") == f"has no unit; write {written}"


@pytest.mark.parametrize(
    ("path", "value", "written"),
    [
        ("array.stripe_unit", 64, "'64KiB' or '64MiB'"),
        ("controller.cache.capacity", 64, "'64MiB' or '64KiB'"),
        ("controller.cache.write.idle_delay", 8, "'8ms' or '8ns'"),
        ("controller.battery.holdup", 72, "'72h' or '72ns'"),
        ("array.disk.capacity", 20, "'20MiB' or '20KiB'"),
    ],
)
def test_the_unit_of_a_default_comes_first(path: str, value: int, written: str) -> None:
    first, *middle, last = path.split(".")
    fields: Any = {last: value}
    for name in reversed(middle):
        fields = {name: fields}
    (issue,) = find_bare_numbers({first: fields})
    assert (issue.place, issue.message) == (path, f"has no unit; write {written}")


@pytest.mark.parametrize(
    ("value", "unit"),
    [
        *((134_217_728, "bytes"), (1 << 16, "bytes"), (10**9, "ns"), (10**6, "bytes_per_s")),
        *((0, "bytes"), ("0", "ns"), ("64MiB", "bytes"), ("x", "bytes"), (True, "bytes")),
        *((400, "per_s"), (8, "s"), (15_000, "rpm"), (0.3, "fraction"), (7, None)),
    ],
)
def test_other_values_need_no_unit(value: object, unit: str | None) -> None:
    assert explain_bare_number(value, unit) is None


def write(**keys: Any) -> str:
    """Return a study as a person writes it."""
    return yaml.safe_dump({"name": "s", "scenario": SCENARIO, **keys})


@pytest.mark.parametrize(
    ("keys", "place", "value"),
    [
        ({"axes": {"controller.cache.capacity": ["1GiB", 512]}}, "axes.controller.cache.capacity", 512),
        (
            {"axes": {"controller.cache.capacity": {"range": [512, 1024, 512]}}},
            "axes.controller.cache.capacity",
            512,
        ),
        ({"points": [{"array.stripe_unit": 64}]}, "points.0.array.stripe_unit", 64),
        (
            {"scenario": {**SCENARIO, "array": {**SCENARIO["array"], "stripe_unit": 64}}},
            "scenario.array.stripe_unit",
            64,
        ),
    ],
)
def test_a_bare_size_of_a_study_is_refused(keys: dict[str, Any], place: str, value: object) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_study(write(**keys))
    issue = caught.value.issues[0]
    assert (issue.code.partition(".")[2], issue.place, issue.value) == ("bad-quantity", place, value)
    assert issue.line is not None


def test_a_count_and_zero_are_no_sizes() -> None:
    axes = {"controller.cache.capacity": {"linspace": ["1GiB", "2GiB", 3]}}
    assert len(parse_study(write(axes=axes)).axes["controller.cache.capacity"]) == 3


def test_what_programs_write_is_in_base_units() -> None:
    """A JSON document, a canonical configuration in YAML, and a study that was stored."""
    small = {"scenario": {**SCENARIO, "array": {**SCENARIO["array"], "stripe_unit": 32768}}}
    parse_study(json.dumps({"name": "s", **small}))
    parse_study(write(scenario=engine.normalise(small["scenario"])))
    parse_study(write(**small), is_stored=True)
    with pytest.raises(ConfigError):
        parse_study(write(**small))


def test_no_catalogue_entry_has_a_bare_number() -> None:
    for kind, wrap in (("controllers", "controller"), ("workloads", "workload")):
        for entry in engine.catalog.entries(kind):
            assert find_bare_numbers({wrap: dict(entry.config)}) == [], entry.name
    for entry in engine.catalog.entries("disks"):
        assert find_bare_numbers({"array": {"disk": dict(entry.config)}}) == [], entry.name
