"""A RAID controller from its data sheet."""

from typing import Any

from destage.tools.data_sheets.made_part import MadePart, show
from destage.tools.data_sheets.sheet_figures import ControllerFigures

_LINK_NS = 10_000.0
"""Time of a command on the link that is assumed for the controllers of the catalogue."""
_READ = 4_096
_LANES = {1: 0.25e9, 2: 0.5e9, 3: 0.985e9, 4: 1.969e9, 5: 3.938e9}
"""Rate of a lane of PCI Express [B/s] by its generation."""


def make_controller(figures: ControllerFigures) -> MadePart:
    """Return the controller of a data sheet."""
    has_cache = figures.cache > 0
    is_protected = has_cache and figures.protected
    # The link carries the rated reads in what their data leave of the time.
    read_ns = _READ / (_LANES[figures.pcie_generation] * figures.pcie_lanes) * 1e9
    link_ns = min(_LINK_NS, max(0.0, 1e9 / figures.operations - read_ns))
    config: dict[str, Any] = {
        "cache": {
            "capacity": show(figures.cache, "bytes") if has_cache else "0B",
            "write_fraction": figures.write_share if has_cache else 0.0,
            "read": {"mode": "prefetch_only"},
            "write": {"destage_depth": 8},
        },
        "battery": {"state": "absent"},
        "link": {
            "bus": {"kind": "pcie", "generation": figures.pcie_generation, "lanes": figures.pcie_lanes},
            "command_overhead": show(link_ns, "ns"),
            "latency": show(_LINK_NS - link_ns, "ns"),
        },
        "back_end": {
            "kind": "sas",
            "lanes": figures.lanes,
            "bandwidth": show(figures.lane_rate, "bytes_per_s"),
        },
        "firmware": {"command_time": show(1e9 / figures.operations, "ns")},
        "outstanding_limit": figures.outstanding,
    }
    if is_protected:
        config["battery"] = {
            "state": "present",
            "kind": "flash",
            "threshold": 0.79,
            "charge_time": "5min",
            "holdup": "80s",
        }
    assumed = {
        "cache.write_fraction": "share of the cache for writes; give write_share=N if a sheet has it",
        "cache.read": "reads ahead, and keeps nothing else",
        "cache.write.destage_depth": "destages in flight, which no sheet has; docs/model.md shows its effect",
        "link.command_overhead": "as for the controllers of the catalogue, or as operations=N needs",
        "link.latency": "a command takes 10 us on the link, as for the controllers of the catalogue",
        "back_end": "links to disks and their rate, unless given",
        "firmware.command_time": "one by the most random reads a second, which operations=N gives",
        "outstanding_limit": "unless outstanding=N gives it",
    }
    if is_protected:
        assumed["battery"] = "flash-backed: the capacitor powers the copy, and recharges in minutes"
    return MadePart(config, assumed)
