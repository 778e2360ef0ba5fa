"""The presets: every figure has a source or a mark."""

from collections.abc import Iterator
from typing import Any

import pytest
from preset_figures import CRYSTAL, FILE_SERVER, JESD219, REUSE_WALK, SMIX, SPC1

from destage.engine import catalog, normalise, simulate, workload_profile
from destage.spec import quantities

ENTRIES = {entry.name: entry for entry in catalog.entries("workloads")}
EXPECTED = {
    "heavy_user",
    "call_center",
    "exchange_2003",
    "jetstress",
    "loadsim_mmb3",
    "iometer_oltp",
    "iometer_web",
    "iometer_file_server",
    "sequential",
    "sql_bench_create",
    "backup_stream",
    "tpcc_like",
    "tpch_scan",
    "spc1_like",
    "vdi",
    "jesd219",
}


def sizes(table: dict[int, float], place: str = "size") -> dict[str, Any]:
    """Return the figures of a table of sizes by dotted path."""
    if len(table) == 1:
        return {f"{place}.value": quantities.render(next(iter(table)), "bytes")}
    return {
        f"{place}.options.{index}.{key}": value
        for index, (size, weight) in enumerate(table.items())
        for key, value in (("value", size), ("weight", weight))
    }


SOURCED: dict[str, dict[str, Any]] = {
    "call_center": {"users": 39},
    "heavy_user": {},
    "heavy_user_logon": {},
    "xenapp_mcs": {"streams.0.operations.read_fraction": 0.4},
    "vdi": {"streams.0.operations.size.value": 4096},
    "vdi_logon_storm": {"streams.1.operations.size.value": 4096},
    "exchange_2003": {
        "streams.0.arrival.rate": 0.75,
        "streams.0.operations.size.value": 4096,
        "streams.1.operations.read_fraction": 0.0,
        "streams.1.operations.fua_fraction": 1.0,
    },
    "jetstress": {
        "streams.0.steps.0.operations.read_fraction": 0.75,
        "streams.0.steps.0.operations.size.value": 4096,
        "streams.0.steps.1.operations.read_fraction": 0.0,
        "streams.0.steps.1.operations.fua_fraction": 1.0,
    },
    "loadsim_mmb3": {
        "streams.0.operations.size.value": 4096,
        "streams.0.address.footprint": "100MiB",
    },
    "iometer_oltp": {
        "streams.0.operations.read_fraction": 0.7,
        "streams.0.operations.size.value": 8192,
    },
    "iometer_web": {"streams.0.operations.read_fraction": 1.0},
    "iometer_file_server": {
        "streams.0.operations.read_fraction": 0.8,
        **sizes(FILE_SERVER, "streams.0.operations.size"),
    },
    "sequential": {"streams.0.operations.size.value": 65536},
    "crystaldiskmark": {
        f"streams.{index}.{key}": value
        for index, (depth, size) in enumerate([(32, "128KiB"), (32, "4KiB"), (1, "1MiB"), (1, "4KiB")])
        for key, value in (
            ("arrival.depth", depth),
            ("operations.read_fraction", 0.0),
            ("operations.size.value", size),
            ("address.footprint", "1GiB"),
        )
    },
    **{
        name: {
            "streams.0.arrival.depth": depth,
            "streams.0.operations.read_fraction": 0.0,
            "streams.0.operations.size.value": size,
            "streams.0.address.footprint": "1GiB",
        }
        for name, (depth, size, _) in CRYSTAL.items()
    },
    "jesd219": {
        "users": 4,
        "streams.0.arrival.depth": 256,
        "streams.0.operations.read_fraction": 0.4,
        "streams.0.operations.alignment": 4096,
        **sizes(JESD219, "streams.0.operations.size"),
        **{
            f"streams.0.address.zones.{index}.{key}": value
            for index, zone in enumerate(((50, 5), (30, 15), (20, 80)))
            for key, value in zip(("accesses", "size"), zone, strict=True)
        },
        "streams.0.address.placement.offset": 0,
    },
    "sql_bench_create": {
        "streams.0.arrival.think_time.value": "0.6ms",
        "streams.0.steps.0.ios": 1,
        "streams.0.steps.0.operations.read_fraction": 0.0,
        "streams.0.steps.0.operations.fua_fraction": 1.0,
        "streams.0.steps.1.ios": 2,
        "streams.0.steps.1.operations.read_fraction": 0.0,
        "streams.0.steps.1.operations.fua_fraction": 1.0,
    },
    "sql_bench_create_ufs": {
        "streams.0.arrival.ios": 12,
        "streams.0.operations.read_fraction": 0.0,
        "streams.0.operations.fua_fraction": 1.0,
    },
    "tpcc_like": {
        "streams.0.steps.0.operations.read_fraction": round(1.9 / 2.9, 4),
        "streams.0.steps.0.operations.size.value": 8192,
    },
    "tpc_e": {
        "streams.0.operations.read_fraction": round(9.7 / 10.7, 4),
        "streams.0.operations.size.value": 8192,
    },
    "tpch_scan": {
        "streams.0.mix.0.operations.read_fraction": 1.0,
        "streams.0.mix.1.operations.read_fraction": 0.0,
    },
    "spc1_like": {
        path: figure
        for index, (share, reads) in enumerate(SPC1.values())
        for path, figure in {
            f"streams.{index}.arrival.rate": round(50 * share, 6),
            f"streams.{index}.operations.read_fraction": reads,
            **sizes(SMIX if index in {2, 6, 7} else {4096: 100}, f"streams.{index}.operations.size"),
            **(
                {f"streams.{index}.address.{key}": value for key, value in REUSE_WALK.items()}
                if index in {1, 3, 5}
                else {}
            ),
        }.items()
    },
    "backup_stream": {
        f"streams.{index}.{path}": figure
        for index in (0, 1)
        for path, figure in (("arrival.depth", 1), ("operations.read_fraction", 0.0))
    },
}
"""The figures of each preset without a mark, copied from the sources a second time."""


def figures(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the numbers and quantities of a configuration with their dotted paths."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from figures(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from figures(item, f"{path}.{index}")
    elif not isinstance(value, bool) and (not isinstance(value, str) or value[:1].isdigit()):
        yield path, value


def base(value: Any) -> float:
    """Return a figure in its base unit."""
    if not isinstance(value, str):
        return float(value)
    unit = "per_s" if value.endswith("/s") else "bytes" if value.endswith("B") else "ns"
    return float(quantities.parse(value, unit))


def test_names_are_the_expected_ones_and_unique() -> None:
    assert EXPECTED | CRYSTAL.keys() <= ENTRIES.keys()
    run = {"warm_up": "none", "window": {"requests": 1000}}
    configs = [
        normalise({**workload_profile.build_reference_scenario(dict(entry.config)), "run": run})
        for entry in ENTRIES.values()
    ]
    for config in configs:
        for stream in config["workload"]["streams"]:
            stream["name"] = ""
    assert all(one != other for at, one in enumerate(configs) for other in configs[:at])


@pytest.mark.parametrize("name", ENTRIES)
def test_every_figure_is_sourced_or_marked(name: str) -> None:
    entry = ENTRIES[name]
    # One user is the default, not a figure.
    unmarked = {
        path: base(value)
        for path, value in figures(dict(entry.config))
        if entry.mark(path) is None and (path, value) != ("users", 1)
    }
    assert unmarked == {path: base(value) for path, value in SOURCED[name].items()}


@pytest.mark.parametrize("name", ENTRIES)
def test_footprint_placement_and_locality_are_stated(name: str) -> None:
    for stream in ENTRIES[name].config["streams"]:
        for part in (stream, *stream.get("mix", ()), *stream.get("steps", ())):
            address = part.get("address")
            if address is not None:
                # A benchmark without a footprint fills the array.
                is_whole = address["kind"] in {"uniform", "zoned"} and "footprint" not in address
                assert is_whole or {"footprint", "placement"} <= address.keys()


ARRAY = {"raid": "5", "disks": 4, "disk": {"use": "u320_10k_36gb"}}


@pytest.mark.parametrize("name", ENTRIES)
def test_every_preset_can_be_simulated(name: str) -> None:
    phases = ENTRIES[name].config.get("phases")
    row = simulate(
        {
            "workload": {"use": name},
            "controller": {"use": "smart_array_5i_plus"},
            "array": ARRAY,
            "run": {"warm_up": "none", "window": {"requests": 300}},
        }
    )
    assert row["status"] == "ok"
    assert row["requests"] >= 300
    assert bool(phases) == name.endswith(("logon", "logon_storm", "crystaldiskmark"))
