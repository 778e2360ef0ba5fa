"""Two loads on one array: where the added data lie, and how many users both have."""

from typing import Any

import pytest

from destage import engine
from destage.errors import ConfigError
from destage.spec import quantities
from destage.sweeps.sizing.shared_load import share_array

GIGABYTE = 10**9
USABLE = 100 * GIGABYTE
SERVER = {"kind": "server", "service": {"kind": "constant", "value": "1ms"}, "capacity": "100GB"}


def stream(name: str, arrival: dict[str, Any], **address: Any) -> dict[str, Any]:
    return {
        "name": name,
        "arrival": arrival,
        "operations": {"read_fraction": 1.0, "size": {"kind": "constant", "value": "4KiB"}},
        "address": {"kind": "uniform", **address},
    }


def closed(think: str = "10s", **rest: Any) -> dict[str, Any]:
    return {"kind": "closed", "think_time": {"kind": "exponential", "mean": think}, **rest}


def poisson(rate: str, per_user: bool = True) -> dict[str, Any]:
    return {"kind": "poisson", "rate": rate, "per_user": per_user}


def load(users: int, *streams: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {"users": users, "streams": list(streams), **rest}


def share(present: dict[str, Any], added: dict[str, Any], usable: int = USABLE) -> dict[str, Any]:
    """Return the shared workload, which is a valid one."""
    shared = dict(share_array(present, added, usable).workload)
    scenario = {"workload": shared, "array": {"raid": "0", "disks": 1, "disk": SERVER}}
    assert not engine.validate(scenario)
    return shared


def read(text: str) -> int:
    return int(quantities.parse(text, "bytes"))


PRESENT = load(
    30, stream("work", closed(), footprint="40GB", placement={"kind": "contiguous", "offset": "5GB"})
)


def test_added_areas_follow_the_present_data() -> None:
    """40 GB from 5 GB on end at 45 GB; an area with an offset of 3 GB begins at 48 GB."""
    added = load(
        1, stream("log", poisson("9/s"), footprint="2GB", placement={"kind": "contiguous", "offset": "3GB"})
    )
    first, second = share(PRESENT, added)["streams"]
    assert first == PRESENT["streams"][0]
    assert read(second["address"]["placement"]["offset"]) == 48 * GIGABYTE


def test_an_area_without_a_size_is_the_rest_of_the_array() -> None:
    """It remains as large on an array with more disks."""
    _, second = share(PRESENT, load(1, stream("all", poisson("9/s"))))["streams"]
    assert read(second["address"]["placement"]["offset"]) == 45 * GIGABYTE
    assert read(second["address"]["footprint"]) == pytest.approx(55 * GIGABYTE, abs=1 << 20)


def test_scattered_areas_remain_all_over_the_array() -> None:
    placement = {"kind": "scattered", "extent": "1MiB"}
    _, second = share(
        PRESENT, load(1, stream("files", poisson("9/s"), footprint="2GB", placement=placement))
    )["streams"]
    assert second["address"]["placement"] == placement


@pytest.mark.parametrize(
    ("present", "added", "users", "rates"),
    [
        # 20 users of 9/s are 30 of 6/s, which are as many random arrivals; the closed users stay as they are.
        (closed(), (20, poisson("9/s")), 30, (None, "6/s")),
        (closed(), (60, poisson("9/s")), 30, (None, "18/s")),
        (poisson("2/s"), (60, closed()), 60, ("1/s", None)),
        # A rate of all users together has no users.
        (closed(), (7, poisson("9/s", per_user=False)), 30, (None, "9/s")),
        (poisson("2/s", per_user=False), (7, closed()), 7, ("2/s", None)),
    ],
)
def test_rates_stay_where_users_are_others(
    present: dict[str, Any],
    added: tuple[int, dict[str, Any]],
    users: int,
    rates: tuple[str | None, str | None],
) -> None:
    shared = share(
        load(30, stream("one", present, footprint="1GB")),
        load(added[0], stream("two", added[1], footprint="1GB")),
    )
    assert shared["users"] == users
    assert tuple(each["arrival"].get("rate") for each in shared["streams"]) == rates


def test_fewer_closed_users_think_longer_as_more() -> None:
    """Ten users who think 10 s are as 30 who think 30 s, and the data of all are as large."""
    added = load(10, stream("work", closed(), footprint="300MB", per_user=True))
    shared = share_array(PRESENT, added, USABLE)
    first, second = shared.workload["streams"]
    assert (shared.workload["users"], first["arrival"]) == (30, PRESENT["streams"][0]["arrival"])
    assert second["arrival"]["think_time"]["mean"] == "30s"
    assert read(second["address"]["footprint"]) == pytest.approx(100e6, rel=1e-4)
    assert len(shared.remarks) == 1
    assert "10 users of the added load run as 30" in shared.remarks[0]


def test_as_many_users_change_nothing() -> None:
    added = load(30, stream("work", {**closed("0s"), "times": 3}, footprint="1GB"))
    shared = share_array(PRESENT, added, USABLE)
    assert shared.workload["streams"][1]["arrival"] == added["streams"][0]["arrival"]
    assert shared.remarks == ()


def test_streams_of_one_name_get_others() -> None:
    added = load(30, stream("work", closed(), footprint="1GB"), stream("work-2", closed(), footprint="1GB"))
    assert [each["name"] for each in share(PRESENT, added)["streams"]] == ["work", "work-2", "work-2-2"]


def test_the_phases_of_one_load_are_those_of_both() -> None:
    phases = [{"name": "day", "lasts": "8h"}]
    added = load(
        30, {**stream("two", closed(), footprint="1GB"), "active": [{"phase": "day"}]}, phases=phases
    )
    assert share_array(PRESENT, added, USABLE).workload["phases"] == phases


@pytest.mark.parametrize(
    ("present", "added", "issue"),
    [
        (PRESENT, load(1, stream("x", poisson("1/s"), footprint="56GB")), ("scenario.beyond-array", "add")),
        (load(1, stream("x", poisson("1/s"))), PRESENT, ("scenario.beyond-array", "have")),
        # Who does not think cannot think longer.
        (PRESENT, load(3, stream("x", closed("0s"), footprint="1GB")), ("study.loads-conflict", "add")),
        (PRESENT, load(3, stream("x", closed(times=2), footprint="1GB")), ("study.loads-conflict", "add")),
        (load(3, stream("x", closed("0s"), footprint="1GB")), PRESENT, ("study.loads-conflict", "have")),
        (
            load(3, stream("x", closed(), footprint="1GB"), phases=[{"name": "a"}]),
            load(3, stream("y", closed(), footprint="1GB"), phases=[{"name": "b"}]),
            ("study.loads-conflict", "add"),
        ),
        (
            PRESENT,
            load(1, {"name": "x", "arrival": {"kind": "trace", "file": "x.spc", "mode": "open"}}),
            ("study.loads-conflict", "add"),
        ),
    ],
)
def test_loads_that_cannot_share_an_array(
    present: dict[str, Any], added: dict[str, Any], issue: tuple[str, str]
) -> None:
    with pytest.raises(ConfigError) as raised:
        share_array(present, added, USABLE)
    assert [(each.code, each.place) for each in raised.value.issues] == [issue]


def test_a_lack_of_room_has_all_sizes() -> None:
    added = load(1, stream("x", poisson("1/s"), footprint="56GB"))
    with pytest.raises(ConfigError) as raised:
        share_array(PRESENT, added, USABLE)
    assert [size in str(raised.value) for size in ("56GB", "45GB", "100GB")] == [True] * 3


def test_data_after_those_of_a_trace_are_at_the_end() -> None:
    trace = load(1, {"name": "x", "arrival": {"kind": "trace", "file": "x.spc", "mode": "open"}})
    added = load(1, stream("y", poisson("1/s"), footprint="4GB"))
    _, second = share_array(trace, added, USABLE).workload["streams"]
    assert read(second["address"]["placement"]["offset"]) == 96 * GIGABYTE
