"""Every preset of the catalogue gets an answer, or a bound with its cause and the setting to change."""

from typing import Any

import pytest

from destage.engine import catalog, simulate

CACHES = ["0GiB", "256MiB", "1GiB", "4GiB", "8GiB"]
DISKS = ["cheetah_10k7_73gb", "cheetah_15k7_600gb", "exos_x18", "s4500_1920gb"]
"""A disk of each kind: 10K and 15K SCSI and SAS, nearline, flash."""
PRESETS = [entry.name for entry in catalog.entries("workloads")]


def _simulate(preset: str, disk: str, cache: str, **fields: Any) -> dict[str, Any]:
    entry = catalog.entry("workloads", preset)
    phases = entry.config.get("phases")
    run: dict[str, Any] = {"window": {"phase": phases[0]["name"]}} if phases else {}
    controller: dict[str, Any] = {"use": "megaraid_9560_16i", "cache": {"capacity": cache}}
    return simulate(
        {
            "workload": {"use": preset, **fields.pop("workload", {})},
            "controller": controller,
            "array": {"raid": "10", "disks": 8, "disk": {"use": disk}, "stripe_unit": "64KiB"},
            "run": run | fields,
        }
    )


def _assert_answered(row: dict[str, Any], most: int) -> None:
    """Assert that a run has figures, is overloaded, or says what keeps it from a steady state."""
    if row["status"] in {"ok", "overloaded"}:
        assert row["unsettled"] is None
        return
    assert row["status"] == "not_stationary", row["error"]
    assert row["unsettled"] in {"response", "write_cache"}
    if row["unsettled"] == "write_cache":
        assert row["requests_needed"] is None or row["requests_needed"] > most // 10


@pytest.mark.parametrize("cache", ["0GiB", "256MiB", "8GiB"])
def test_short_runs_of_desktops_are_answered(cache: str) -> None:
    _assert_answered(_simulate("vdi", "exos_x18", cache, max_requests=400_000), 400_000)


def test_a_run_too_short_for_the_cache_names_the_requests() -> None:
    """300 desktops write 8 GiB of cache full in several hundred thousand requests."""
    row = _simulate("vdi", "exos_x18", "8GiB", workload={"users": 300}, max_requests=200_000)
    assert (row["status"], row["unsettled"]) == ("not_stationary", "write_cache")
    assert row["requests_needed"] > 500_000


@pytest.mark.long
@pytest.mark.parametrize("cache", CACHES)
@pytest.mark.parametrize("disk", DISKS)
@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_answered(preset: str, disk: str, cache: str) -> None:
    _assert_answered(_simulate(preset, disk, cache, max_requests=2_000_000), 2_000_000)


@pytest.mark.long
@pytest.mark.parametrize("cache", ["4GiB", "8GiB"])
def test_desktops_behind_a_large_cache_have_figures(cache: str) -> None:
    """The case of the issue: the cycle of the cache is longer than the window that MSER accepts."""
    row = _simulate("vdi", "exos_x18", cache, workload={"users": 300})
    assert row["status"] == "ok"
    assert row["destages"] > 0
