"""Measured lines, and configurations of the load that they were measured under."""

from collections.abc import Mapping
from typing import Any

from destage import engine
from destage.measured.line import MeasuredLine

DEPTH = "workload.streams.0.arrival.depth"
CAPACITY = "controller.cache.capacity"


def workload(depth: int = 8, read_fraction: float = 0.7, **stream: Any) -> dict[str, Any]:
    """Return a workload of one stream of 8 KiB requests."""
    return {
        "streams": [
            {
                "name": "oltp",
                "arrival": {"kind": "fixed_outstanding", "depth": depth},
                "operations": {"read_fraction": read_fraction, "size": {"kind": "constant", "value": "8KiB"}},
                "address": {"kind": "uniform", "footprint": "1GB"},
                **stream,
            }
        ]
    }


def canonical(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the canonical configuration of an array with a workload."""
    disk = {
        "kind": "server",
        "servers": 1,
        "service": {"kind": "constant", "value": "5ms"},
        "capacity": "10GB",
    }
    array = {"raid": "0", "disks": 1, "stripe_unit": "64KiB", "disk": disk}
    return engine.normalise({"workload": given, "controller": {"cache": {"capacity": 0}}, "array": array})


def line(outstanding: float | None = 8, **values: Any) -> MeasuredLine:
    """Return a measured line of the load of `workload`."""
    figures = {"request_bytes": 8192.0, "read_fraction": 0.7, "random_fraction": 1.0, "workload": "job"}
    figures |= {"throughput_iops": 100.0, "response_mean_us": 2000.0}
    return MeasuredLine(
        array_label="a", tool="fio", source_file="x", outstanding=outstanding, **(figures | values)
    )
