"""A load as one that grows with its users."""

from typing import Any

import pytest

from destage.sweeps.sizing.growing_load import make_growing

RANDOM: dict[str, Any] = {
    "name": "a",
    "arrival": {"kind": "poisson", "rate": "300/s"},
    "address": {"kind": "uniform"},
}
OF_USERS: dict[str, Any] = {
    "name": "b",
    "arrival": {"kind": "poisson", "rate": "10/s", "per_user": True},
    "address": {"kind": "uniform"},
}
CLOSED: dict[str, Any] = {"name": "c", "arrival": {"kind": "closed"}, "address": {"kind": "uniform"}}


def find_rate(grown: dict[str, Any], index: int) -> float:
    return float(grown["streams"][index]["arrival"]["rate"].removesuffix("/s")) * grown["users"]


def test_random_requests_keep_their_rate() -> None:
    """Two users of 10/s make 20/s, as a hundred of 0.2/s do."""
    grown = make_growing({"users": 2, "streams": [RANDOM, OF_USERS]})
    assert grown is not None
    assert grown["users"] == 100
    assert [find_rate(grown, index) for index in (0, 1)] == pytest.approx([300, 20])
    assert all(stream["arrival"]["per_user"] for stream in grown["streams"])


def test_closed_users_and_data_of_their_own_keep_their_number() -> None:
    own = {**OF_USERS, "address": {"kind": "uniform", "footprint": "1GB", "per_user": True}}
    for stream in (CLOSED, own):
        grown = make_growing({"users": 2, "streams": [RANDOM, stream]})
        assert grown is not None
        assert grown["users"] == 2
        assert grown["streams"][1] == stream
        assert find_rate(grown, 0) == pytest.approx(300)


@pytest.mark.parametrize("arrival", [{"kind": "constant", "rate": "9/s"}, {"kind": "trace", "file": "x"}])
def test_one_source_with_bursts_does_not_grow(arrival: dict[str, Any]) -> None:
    assert make_growing({"users": 2, "streams": [CLOSED, {**RANDOM, "arrival": arrival}]}) is None
