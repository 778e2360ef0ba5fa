"""Parts made from data sheets: what the sheet says holds in the model, what it does not say is marked."""

import math
import statistics
from typing import Any

import pytest

from destage.engine import catalog, normalise, quantities, simulate
from destage.errors import ConfigError
from destage.spec.documents import parse_document, value_at
from destage.tools.data_sheets.controller_part import make_controller
from destage.tools.data_sheets.disk_comparison import compare_disk
from destage.tools.data_sheets.disk_part import make_disk
from destage.tools.data_sheets.made_part import write_part
from destage.tools.data_sheets.sheet_figures import ControllerFigures, DiskFigures, SsdFigures
from destage.tools.data_sheets.ssd_comparison import compare_ssd
from destage.tools.data_sheets.ssd_part import make_ssd

TEN_K: dict[str, Any] = {"capacity": 1.2e12, "rpm": 10_500, "average_seek": 3.7e6, "outer_rate": 215e6}
SATA: dict[str, Any] = {
    "capacity": 1.92e12,
    "random_reads": 97_000,
    "random_writes": 33_000,
    "read_rate": 560e6,
    "write_rate": 530e6,
}


@pytest.mark.parametrize(
    "further",
    [
        {},
        {"track_to_track": 0.4e6, "full_stroke": 8.2e6, "inner_rate": 120e6},
        {"surfaces": 8, "write_seek": 4.3e6},
        {"capacity": 20e12, "rpm": 7_200, "average_seek": 8.5e6, "outer_rate": 285e6, "interface": "sata"},
    ],
    ids=["least", "seeks and rates", "heads and writes", "20 TB SATA"],
)
def test_a_disk_has_the_figures_of_its_sheet(further: dict[str, Any]) -> None:
    figures = DiskFigures(**TEN_K | further)
    cells = compare_disk(make_disk(figures).config, {})
    assert cells["average_seek_ms"].sheet == pytest.approx(figures.average_seek / 1e6, rel=1e-3)
    assert cells["outer_mb_per_s"].sheet == pytest.approx(figures.outer_rate / 1e6)
    for given, quantity in (("track_to_track", "track_to_track_ms"), ("full_stroke", "full_stroke_ms")):
        if value := getattr(figures, given):
            assert cells[quantity].sheet == value / 1e6
    assert [cell for cell in cells.values() if not cell.is_met] == []


@pytest.mark.parametrize(
    "entry",
    [entry for entry in catalog.entries("disks") if value_at(entry.config, "geometry.kind") == "rates"],
    ids=lambda entry: entry.name,
)
def test_the_cylinders_of_the_catalogues_disks_follow_from_their_heads(entry: catalog.Entry) -> None:
    """With the number of heads rounded, as the catalogue's own cylinders need not make it whole."""
    config = normalise(
        {
            "workload": {"use": "iometer_oltp"},
            "array": {"raid": "0", "disks": 1, "disk": dict(entry.config)},
        }
    )["arrays"][0]["disk"]
    geometry, seek = config["geometry"], config["seek"]
    track = (geometry["outer_rate"] + geometry["inner_rate"]) / 2
    track *= 60 / config["rpm"] + (300_000 + config["write_settle"]) / 1e9
    heads = geometry["capacity"] / track / geometry["cylinders"]
    made = make_disk(
        DiskFigures(
            capacity=geometry["capacity"],
            rpm=config["rpm"],
            average_seek=seek["average"],
            write_seek=seek["average"] + config["write_settle"],
            outer_rate=geometry["outer_rate"],
            inner_rate=geometry["inner_rate"],
            surfaces=max(1, round(heads)),
        )
    )
    ours = made.config["geometry"]["cylinders"]
    assert ours == pytest.approx(geometry["cylinders"] * heads / max(1, round(heads)), rel=1e-3)


def test_missing_figures_have_the_ratios_of_the_catalogues_disks() -> None:
    """Of those that have the figure: others have it by these ratios."""
    ratios: dict[str, list[float]] = {"track_to_track": [], "full_stroke": [], "inner_rate": []}
    for entry in catalog.entries("disks"):
        if value_at(entry.config, "geometry.kind") == "rates":
            seek, geometry = entry.config["seek"], entry.config["geometry"]
            average = quantities.parse(seek["average"], "ns")
            for name in ("track_to_track", "full_stroke"):
                if entry.mark(f"seek.{name}") != "assumed":
                    ratios[name].append(quantities.parse(seek[name], "ns") / average)
            outer, inner = (
                quantities.parse(geometry[f"{edge}_rate"], "bytes_per_s") for edge in ("outer", "inner")
            )
            if entry.mark("geometry.inner_rate") != "assumed":
                ratios["inner_rate"].append(inner / outer)
    made = make_disk(DiskFigures(**TEN_K)).config
    ours = {
        name: quantities.parse(made["seek"][name], "ns") / 3.7e6 for name in ("track_to_track", "full_stroke")
    }
    ours["inner_rate"] = quantities.parse(made["geometry"]["inner_rate"], "bytes_per_s") / 215e6
    assert ours == pytest.approx(
        {name: statistics.median(values) for name, values in ratios.items()}, rel=0.05
    )


def test_the_latency_of_the_rotation_is_no_seek() -> None:
    with pytest.raises(ConfigError) as raised:
        make_disk(DiskFigures(**TEN_K | {"rpm": 7_200, "average_seek": 4.16e6}))
    assert [(one.code, one.place) for one in raised.value.issues] == [
        ("catalog.contradiction", "average_seek")
    ]


def test_what_a_sheet_gives_is_not_marked_as_assumed() -> None:
    least = make_disk(DiskFigures(**TEN_K)).assumed
    more = make_disk(DiskFigures(**TEN_K, full_stroke=8e6, write_seek=4e6, interface_rate=6e8)).assumed
    assert set(least) - set(more) == {"seek.full_stroke", "write_settle", "bus_rate"}
    for part in (make_disk(DiskFigures(**TEN_K)), make_controller(ControllerFigures(cache=8 << 30))):
        assert all(value_at(part.config, path) is not None for path in part.assumed)


@pytest.mark.parametrize(
    "further",
    [
        {},
        {
            "random_writes": 90_000,
            "writes_are": "fresh",
            "power_loss_protection": False,
            "read_latency": 90e3,
            "write_latency": 30e3,
            "flash": 2.2e12,
        },
        {
            "interface": "nvme",
            "random_reads": 800_000,
            "random_writes": 200_000,
            "read_rate": 6.5e9,
            "write_rate": 3.5e9,
        },
        {
            "interface": "nvme",
            "capacity": 7.68e12,
            "random_reads": 1_100_000,
            "random_writes": 200_000,
            "read_rate": 7.1e9,
            "write_rate": 4.2e9,
        },
    ],
    ids=["least", "client", "NVMe", "read-intensive NVMe"],
)
def test_an_ssd_has_the_figures_of_its_sheet(further: dict[str, Any]) -> None:
    part = make_ssd(SsdFigures(**SATA | further))
    cells = compare_ssd(part.config, part.sheet)
    assert {name for name in part.sheet if name != "depth"} == {
        name for name, cell in cells.items() if cell.sheet is not None
    }
    assert {name for name, cell in cells.items() if not cell.is_met} == set()
    assert ("over_provisioning" in part.assumed) == ("flash" not in further)
    assert part.config["power_loss_protection"] == (further.get("power_loss_protection", True))
    assert "write_cache" in part.assumed
    assert ("power_loss_protection" in part.assumed) == ("power_loss_protection" not in further)
    assert ("commit_time" in part.config) == (not part.config["power_loss_protection"])


def test_slow_random_writes_have_less_spare_flash_and_then_slower_flash() -> None:
    """By default 0.1453 of the capacity, and at least 0.03; a sheet's own raw flash is kept."""
    usual, read_intensive, fewest, known = (
        make_ssd(SsdFigures(**SATA | further)).config
        for further in (
            {},
            {"random_writes": 25_000},
            {"random_writes": 2_000},
            {"random_writes": 25_000, "flash": 2.2e12},
        )
    )
    spare = [part["over_provisioning"] for part in (usual, read_intensive, fewest, known)]
    assert spare[0] == 0.1453
    assert 0.03 < spare[1] < 0.1453
    assert spare[2:] == [0.03, 0.1458]
    sequential, slower, given = (
        quantities.parse(part["program_time"], "ns") for part in (read_intensive, fewest, known)
    )
    assert sequential < given < slower


@pytest.mark.parametrize("name", ["s4500_1920gb", "samsung_860_pro_512gb"])
def test_the_catalogues_ssds_follow_from_their_sheets(name: str) -> None:
    """Within the rounding of the catalogue; the program time also depends on the assumed channels."""
    entry = catalog.entry("disks", name)
    sheet, config = entry.sheet, entry.config
    fresh = "fresh_writes_per_s" in sheet
    made = make_ssd(
        SsdFigures(
            capacity=quantities.parse(config["capacity"], "bytes"),
            random_reads=sheet["reads_per_s"],
            random_writes=sheet["fresh_writes_per_s" if fresh else "sustained_writes_per_s"],
            writes_are="fresh" if fresh else "sustained",
            read_rate=sheet["read_mb_per_s"] * 1e6,
            write_rate=sheet["write_mb_per_s"] * 1e6,
            read_latency=sheet["read_us"] * 1e3,
            write_latency=sheet["write_us"] * 1e3,
            depth=int(sheet["depth"]),
            interface="nvme" if sheet["depth"] > 64 else "sata",
        )
    ).config
    for field, unit in (
        ("read_rate", "bytes_per_s"),
        ("write_rate", "bytes_per_s"),
        ("command_overhead", "ns"),
    ):
        ours, theirs = (quantities.parse(part["interface"][field], unit) for part in (made, config))
        assert ours == pytest.approx(theirs, rel=2e-3), field
    ours, theirs = (quantities.parse(part["command_latency"], "ns") for part in (made, config))
    assert ours == pytest.approx(theirs, rel=5e-3)


@pytest.mark.parametrize(
    ("further", "place"),
    [({"write_latency": 5e3}, "write_latency"), ({"read_latency": 30e3}, "read_latency")],
)
def test_latencies_that_leave_no_time_are_a_contradiction(further: dict[str, Any], place: str) -> None:
    with pytest.raises(ConfigError) as raised:
        make_ssd(SsdFigures(**SATA | further))
    assert [(issue.code, issue.place) for issue in raised.value.issues] == [("catalog.contradiction", place)]


def test_a_controller_without_protection_has_no_battery() -> None:
    present, absent, none = (
        make_controller(ControllerFigures(cache=cache, protected=protected)).config
        for cache, protected in ((8 << 30, True), (8 << 30, False), (0, True))
    )
    assert [part["battery"]["state"] for part in (present, absent, none)] == ["present", "absent", "absent"]
    assert none["cache"]["write_fraction"] == 0
    times = [
        make_controller(ControllerFigures(cache=0, operations=rate)).config["firmware"]["command_time"]
        for rate in (200_000, 50_000)
    ]
    assert [quantities.parse(time, "ns") for time in times] == [5_000, 20_000]


@pytest.mark.parametrize("operations", [60_000, 200_000, 1_000_000])
def test_a_controller_carries_the_rated_reads_and_no_more(operations: int) -> None:
    stream = {
        "name": "reads",
        "arrival": {"kind": "fixed_outstanding", "depth": 512},
        "operations": {"read_fraction": 1, "size": {"kind": "constant", "value": "4KiB"}},
        "address": {"kind": "uniform"},
    }
    disk = {
        "kind": "ssd",
        "capacity": "256MiB",
        "over_provisioning": 1,
        "channels": 8,
        "dies_per_channel": 8,
        "pages_per_block": 16,
        "read_time": "1us",
        "program_time": "100us",
    }
    controller = make_controller(ControllerFigures(cache=0, operations=operations)).config
    row = simulate(
        {
            "workload": {"streams": [stream]},
            "controller": dict(controller),
            "array": {"raid": "0", "disks": 16, "disk": disk},
            "run": {"warm_up": {"requests": 2_000}, "window": {"requests": 40_000}},
        }
    )
    assert row["throughput_iops"] == pytest.approx(operations, rel=0.02)


def test_a_file_has_the_part_and_says_what_is_assumed() -> None:
    part = make_ssd(SsdFigures(**SATA | {"random_reads": 1e6, "read_rate": 6.8e9, "interface": "nvme"}))
    text = write_part("disks", "ours", part, "Ours: new", "sheet, p. 2", "capacity=1.92TB")
    document: Any = parse_document(text, "ours.yaml")
    fields = document["disks"]["ours"]
    assert (fields["title"], fields["source"]) == ("Ours: new", "sheet, p. 2")
    assert fields["config"] == part.config
    assert fields["assumed"] == list(part.assumed)
    assert fields["nvme"] is True
    assert {
        name: math.isclose(value, part.sheet[name]) for name, value in fields["sheet"].items()
    } == dict.fromkeys(part.sheet, True)
    assert all(f"- {path}  # {reason}\n" in text for path, reason in part.assumed.items())
