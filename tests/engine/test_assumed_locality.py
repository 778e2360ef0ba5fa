"""Sentences on an assumed locality: when a configuration has one, and what takes it away."""

from collections.abc import Iterable
from typing import Any

import pytest

from destage.engine import catalog
from destage.engine.workload_description import describe_assumed_localities

VDI = ["Rests on an assumed locality: Zipf 0.9 over 20 GB (preset vdi)."]


def described(workload: Any, changed: Iterable[str] = ()) -> list[str]:
    return describe_assumed_localities({"workload": workload}, changed)


def with_address(**fields: Any) -> dict[str, Any]:
    return {"use": "vdi", "streams": [{"name": "desktop", "address": fields}]}


def test_a_preset_with_an_assumed_address_is_named() -> None:
    assert described({"use": "vdi", "users": 300}) == VDI


@pytest.mark.parametrize("name", ["iometer_oltp", "jesd219", "crystaldiskmark_seq_q1"])
def test_a_preset_with_a_sourced_address_is_not(name: str) -> None:
    """Only the placement of CrystalDiskMark's file is assumed, which is no locality."""
    assert described({"use": name}) == []


@pytest.mark.parametrize("workload", [None, {}, {"streams": []}, {"use": "unknown"}, {"use": ["vdi"]}, "vdi"])
def test_no_preset_has_no_sentence(workload: Any) -> None:
    assert described(workload) == []


def test_what_the_user_gives_is_not_assumed() -> None:
    own = {"exponent": 1.1, "block": "4KiB", "footprint": "80GB"}
    assert described(with_address(kind="zipf", **own)) == []
    # Another kind replaces the address process.
    assert described(with_address(kind="uniform")) == []
    # A list without the preset's stream replaces its streams.
    assert described({"use": "vdi", "streams": [{"name": "mine"}]}) == []


def test_what_the_user_leaves_is_assumed() -> None:
    assert described(with_address(footprint="80GB")) == [VDI[0].replace("20 GB", "80 GB")]
    assert (
        described({"use": "vdi", "streams": [{"name": "desktop", "operations": {"read_fraction": 0.5}}]})
        == VDI
    )


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (["workload.streams.0.address"], []),
        (["workload.streams"], []),
        ([f"workload.streams.0.address.{field}" for field in ("kind", "exponent", "block", "footprint")], []),
        (["workload.streams.0.address.exponent"], VDI),
        (["workload.streams.1.address", "workload.users", "array.disks"], VDI),
    ],
)
def test_axes_and_assignments_count_as_given(changed: list[str], expected: list[str]) -> None:
    assert described({"use": "vdi"}, changed) == expected


def test_steps_and_mixes_are_described_once() -> None:
    for name, words in (
        ("heavy_user", "Zipf 0.9 over 1 GB; sequential for 64 KiB from random places over 1 GB"),
        ("jetstress", "uniformly random over 50 GB; one sequence of all users over 2 GB"),
    ):
        assert described({"use": name}) == [f"Rests on an assumed locality: {words} (preset {name})."]


@pytest.mark.parametrize("entry", catalog.entries("workloads"), ids=lambda entry: entry.name)
def test_a_preset_has_a_sentence_if_it_marks_a_locality(entry: catalog.Entry) -> None:
    marks = [mark for mark in entry.assumed if not mark.endswith(("placement", "arrival", "size"))]
    is_marked = any(
        "address" in mark or mark in {"streams", "streams.0", "streams.0.steps.1"} for mark in marks
    )
    assert bool(described({"use": entry.name})) == is_marked
