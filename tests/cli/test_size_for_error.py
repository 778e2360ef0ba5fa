"""Which array `destage size` names for the error of the model, with arrays of other classes at hand."""

from dataclasses import replace
from typing import Any

import pytest

from destage import sizing
from destage.measured_systems.model_error import LoadClass, ModelError
from destage.queries.findings.candidates import CONTROLLER, DISK, RAID, Candidate
from destage.sweeps.sizing.request import SizingRequest

PARTS = {CONTROLLER: "megaraid_9560_8i", DISK: "exos_x18", RAID: "10"}
BEST = Candidate(PARTS, 6, 3230.0, None, None, None, None, (), None, None)
OTHER = replace(BEST, parts=PARTS | {RAID: "5"}, disks=7, price=3560.5)
HALF = ModelError(LoadClass("spinning", cached=True), 4, 0.5, 0.8, 1.28)
THIRD = replace(HALF, low=1 / 3)
REQUEST = SizingRequest({"users": 100}, "load", (), {}, raid=("10", "5"), max_price=4000.0)


def size(monkeypatch: pytest.MonkeyPatch, found: list[Any]) -> tuple[Any, list[Any]]:
    """Return what is named if searches find this, and the users, levels and price limit of each search."""
    asked: list[Any] = []
    answers = iter(found)

    def find(request: SizingRequest, _: Any) -> Any:
        asked.append((request.workload["users"], request.raid, request.max_price))
        return next(answers)

    monkeypatch.setattr(sizing, "_find_cheapest_one", find)
    return sizing._size_for_error(REQUEST, BEST, HALF, lambda _: pytest.fail("no run")), asked


def test_one_search_where_the_cheapest_is_of_the_same_class(monkeypatch: pytest.MonkeyPatch) -> None:
    sure, asked = size(monkeypatch, [(OTHER, HALF)])
    assert (sure.load, sure.parts, sure.disks, sure.price) == (2.0, OTHER.parts, OTHER.disks, OTHER.price)
    assert asked == [(200, ("10", "5"), None)]


def test_an_array_of_a_slower_class_has_to_carry_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """It carries twice the load, but systems of its class run at a third; then the first class is cheaper."""
    dear = replace(BEST, disks=8)
    sure, asked = size(monkeypatch, [(OTHER, THIRD), (dear, HALF)])
    assert [users for users, *_ in asked] == [200, 300]
    assert (sure.load, sure.error, sure.parts, sure.disks) == (3.0, HALF, BEST.parts, 8)


def test_an_array_of_an_unknown_class_is_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    dear = replace(BEST, disks=8)
    sure, asked = size(monkeypatch, [(OTHER, "no system has its disks"), (dear, "nor these")])
    assert asked == [(200, ("10", "5"), None), (200, ("10",), None)]
    assert (sure.load, sure.error, sure.parts, sure.disks) == (2.0, HALF, BEST.parts, 8)


def test_a_slower_class_does_not_count_for_the_first_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    dear = replace(BEST, disks=8)
    sure, asked = size(monkeypatch, [(OTHER, THIRD), (OTHER, "no system has its disks"), (dear, HALF)])
    assert asked == [(200, ("10", "5"), None), (300, ("10", "5"), None), (200, ("10",), None)]
    assert (sure.load, sure.error, sure.parts, sure.disks) == (2.0, HALF, BEST.parts, 8)


def test_nothing_is_named_where_no_array_carries_it(monkeypatch: pytest.MonkeyPatch) -> None:
    sure, _ = size(monkeypatch, [None])
    assert (sure.load, sure.parts, sure.disks, sure.price) == (2.0, BEST.parts, None, None)
