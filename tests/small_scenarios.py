"""Small scenarios that exercise every part of the engine."""

from typing import Any

Scenario = dict[str, Any]

DISK: Scenario = {
    "kind": "disk",
    "rpm": "15000rpm",
    "geometry": {
        "kind": "rates",
        "capacity": "36.4GB",
        "cylinders": 50_864,
        "outer_rate": "96MB/s",
        "inner_rate": "58MB/s",
    },
    "seek": {"kind": "figures", "track_to_track": "0.2ms", "average": "3.5ms", "full_stroke": "7.4ms"},
    "write_settle": "0.4ms",
    "head_switch": "0.3ms",
    "command_time": "0.25ms",
}


def constant_server(time: str, *, servers: int = 1, capacity: str = "10GB") -> Scenario:
    """Return a device of constant service time."""
    return {
        "kind": "server",
        "servers": servers,
        "service": {"kind": "constant", "value": time},
        "capacity": capacity,
    }


def stream(name: str, arrival: Scenario, *, read_fraction: float = 0.67, **fields: Any) -> Scenario:
    """Return a stream of 8 KiB requests over 1 GB."""
    return {
        "name": name,
        "arrival": arrival,
        "operations": {"read_fraction": read_fraction, "size": {"kind": "constant", "value": "8KiB"}},
        "address": {"kind": "uniform", "footprint": "1GB"},
        **fields,
    }


def write_back(capacity: str = "16MiB", write_fraction: float = 0.75) -> Scenario:
    """Return a controller with costs, read-ahead and a protected write cache."""
    return {
        "cache": {"capacity": capacity, "usable": capacity, "write_fraction": write_fraction},
        "battery": {"state": "present"},
        "link": {"bandwidth": "320MB/s", "command_overhead": "20us"},
        "firmware": {"command_time": "50us"},
    }


def users(count: int = 20, *, raid: str = "5", disks: int = 5, **run: Any) -> Scenario:
    """Return users who think 1 s before interactions of five I/Os, with 16 MiB of write cache."""
    arrival = {"kind": "closed", "think_time": {"kind": "exponential", "mean": "1s"}, "ios": 5}
    return {
        "workload": {"users": count, "streams": [stream("users", arrival)]},
        "controller": write_back(),
        "array": {"raid": raid, "disks": disks, "disk": DISK},
        "run": {"seed": 7, "warm_up": {"requests": 2_000}, "window": {"requests": 10_000}, **run},
    }
