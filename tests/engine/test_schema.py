"""The schema for authors accepts what the engine accepts, and rejects what it always rejects."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from destage.engine import authoring_schema, catalog, configuration, schema

WRITTEN: dict[str, Any] = {
    "workload": {
        "use": "call_center",
        "users": 50,
        "streams": [{"name": "call_center", "array": "array"}],
    },
    "controller": {"use": "smart_array_5i_plus", "cache": {"capacity": "128MiB", "write_fraction": "50%"}},
    "array": {
        "raid": "5",
        "disks": 4,
        "disk": {"use": "u320_10k_36gb", "rpm": "15000rpm"},
        "stripe_unit": "64KiB",
    },
    "run": {"warm_up": {"duration": "60s"}, "window": {"requests": 1000}},
}


def test_both_schemas_are_valid() -> None:
    Draft202012Validator.check_schema(schema())
    Draft202012Validator.check_schema(authoring_schema())


def test_names_and_units_are_accepted_where_authors_write_them() -> None:
    errors = [error.message for error in Draft202012Validator(authoring_schema()).iter_errors(WRITTEN)]
    assert errors == []


def test_canonical_configurations_are_accepted_by_both() -> None:
    plain: dict[str, Any] = {
        "workload": {
            "streams": [
                {
                    "name": "s",
                    "arrival": {"kind": "fixed_outstanding", "depth": 1},
                    "operations": {"read_fraction": 1, "size": {"kind": "constant", "value": 4096}},
                    "address": {"kind": "uniform"},
                }
            ]
        },
        "array": {
            "raid": "0",
            "disks": 1,
            "disk": {
                "kind": "server",
                "service": {"kind": "exponential", "mean": 8_000_000},
                "capacity": 10**9,
            },
        },
    }
    assert Draft202012Validator(schema()).is_valid(plain)
    assert Draft202012Validator(authoring_schema()).is_valid(plain)


@pytest.mark.parametrize(
    "change",
    [
        {"workload": {"use": "no_such_workload"}},
        {"workload": {"users": 5}},
        {"controller": {"use": "smart_array_5i_plus", "cach": {}}},
        {"array": {"raid": "5", "disks": 4, "disk": {"rpm": 15000}}},
    ],
)
def test_the_schema_rejects_what_the_engine_rejects(change: dict[str, Any]) -> None:
    assert not Draft202012Validator(authoring_schema()).is_valid({**WRITTEN, **change})


def test_the_catalogue_is_offered_for_completion() -> None:
    workload = authoring_schema()["$defs"]["Workload"]["properties"]["use"]["enum"]
    assert workload == [entry.name for entry in catalog.entries("workloads")]


@pytest.mark.parametrize(
    ("path", "unit"),
    [
        ("controller.cache.capacity", "bytes"),
        ("controller.cache.write_fraction", "fraction"),
        ("controller.link.bandwidth", "bytes_per_s"),
        ("array.stripe_unit", "bytes"),
        ("array.disk.rpm", "rpm"),
        ("array.disk.seek.average", "ns"),
        ("workload.streams.0.arrival.think_time.mean", "ns"),
        ("workload.users", None),
        ("no.such.path", None),
    ],
)
def test_the_unit_at_a_path(path: str, unit: str | None) -> None:
    assert configuration.find_unit(path, catalog.resolve(WRITTEN)) == unit
