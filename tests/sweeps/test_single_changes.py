"""The single changes of an array, and what has to be bought for them."""

from typing import Any

import pytest

from destage.sweeps.sizing.single_changes import Change, Considered, find_price, list_changes

CONSIDERED = Considered(("megaraid_9540", "smart_array_p410_512"), ("exos_x18", "dc600m_960gb"), ("10", "5"))
PRICES: dict[str, Any] = {
    "controllers": {"megaraid_9540": 300},
    "disks": {"exos_x18": 100, "dc600m_960gb": 150},
    "shelf": {"disks": 4, "price": 50},
}


def array(**controller: Any) -> dict[str, Any]:
    return {
        "workload": {"use": "vdi"},
        "controller": {"use": "smart_array_p410_256", **controller},
        "array": {"raid": "5", "disks": 4, "disk": {"use": "exos_x18"}},
    }


def test_each_change_replaces_one_part() -> None:
    """A larger cache is a controller of the same hardware; the present parts are no change."""
    changes = [(change.kind, change.value) for change in list_changes(array(), CONSIDERED)]
    assert changes == [
        ("cache", "smart_array_p410_512"),
        ("cache", "smart_array_p410_1gb"),
        ("controller", "megaraid_9540"),
        ("raid", "10"),
        ("disk", "dc600m_960gb"),
    ]
    (level,) = [change for change in list_changes(array(), CONSIDERED) if change.kind == "raid"]
    assert level.assignments == {"array.raid": "10"}


def test_nvme_drives_need_a_controller_that_takes_them() -> None:
    """A P410 takes none, a MegaRAID 9540 does; a controller without a name may."""
    considered = Considered(("megaraid_9540", "smart_array_p840"), ("exos_x18", "pm9a3_7680gb"), ())
    assert ("disk", "pm9a3_7680gb") not in {
        (change.kind, change.value) for change in list_changes(array(), considered)
    }
    drives = array() | {"controller": {"use": "megaraid_9560_8i"}}
    assert ("disk", "pm9a3_7680gb") in {
        (change.kind, change.value) for change in list_changes(drives, considered)
    }
    drives["array"]["disk"] = {"use": "pm9a3_7680gb"}
    controllers = [change.value for change in list_changes(drives, considered) if change.kind == "controller"]
    assert controllers == ["megaraid_9540"]


def test_settings_that_the_new_part_does_not_state_remain() -> None:
    """The cache of 300 MiB goes with its controller; the policies stay."""
    written = {"capacity": "300MiB", "write": {"low_water": 0.5, "destage_depth": 2}}
    changes = list_changes(array(cache=written), CONSIDERED)
    (larger,) = [change for change in changes if change.value == "smart_array_p410_512"]
    assert larger.assignments == {
        "controller": {"use": "smart_array_p410_512", "cache": {"write": {"low_water": 0.5}}}
    }
    (plain,) = [change for change in list_changes(array(), CONSIDERED) if change.value == "megaraid_9540"]
    assert plain.assignments == {"controller.use": "megaraid_9540"}


@pytest.mark.parametrize(
    ("kind", "value", "disks", "price"),
    [
        # The fifth disk needs a second shelf; nine with a spare need a third one.
        ("disks", "exos_x18", 5, 100 + 50),
        ("disks", "exos_x18", 9, 500 + 100),
        ("disks", "savvio_10k4", 5, None),
        ("disk", "dc600m_960gb", 4, 600),
        ("controller", "megaraid_9540", 4, 300),
        ("cache", "smart_array_p410_512", 4, None),
        ("raid", "10", 4, 0),
    ],
)
def test_the_price_is_of_what_has_to_be_bought(
    kind: Any, value: str, disks: int, price: float | None
) -> None:
    assert find_price(Change(kind, value, {}), disks, array(), PRICES) == price


def test_spares_are_bought_with_other_disks() -> None:
    spared = array()
    spared["array"]["hot_spares"] = 1
    assert find_price(Change("disk", "dc600m_960gb", {}), 4, spared, PRICES) == 750
    # Four disks and a spare have two shelves, as have seven and a spare.
    assert find_price(Change("disks", "exos_x18", {}), 7, spared, PRICES) == 300
