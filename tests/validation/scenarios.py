"""Scenarios on which closed forms hold."""

from typing import Any

Scenario = dict[str, Any]

MILLISECOND_US = 1000.0


def exponential(mean: str) -> Scenario:
    """Return an exponential distribution of times."""
    return {"kind": "exponential", "mean": mean}


def constant(value: str) -> Scenario:
    """Return a constant time."""
    return {"kind": "constant", "value": value}


def server(service: Scenario, *, servers: int = 1, capacity: str = "100GB") -> Scenario:
    """Return a device of `servers` servers with one queue."""
    return {"kind": "server", "servers": servers, "service": service, "capacity": capacity}


def poisson(rate: float) -> Scenario:
    """Return open arrivals at `rate` [1/s]."""
    return {"kind": "poisson", "rate": rate}


def closed(think_time: Scenario, **fields: Any) -> Scenario:
    """Return users who think between interactions."""
    return {"kind": "closed", "think_time": think_time, **fields}


def outstanding(depth: int) -> Scenario:
    """Return a fixed number of outstanding I/Os."""
    return {"kind": "fixed_outstanding", "depth": depth}


def scenario(
    arrival: Scenario,
    disk: Scenario,
    *,
    size: str | int = "4KiB",
    read_fraction: float = 1.0,
    users: int = 1,
    address: Scenario | None = None,
    operations: Scenario | None = None,
    controller: Scenario | None = None,
    array: Scenario | None = None,
    warm_up: int | str | Scenario = 0,
    window: int | str | Scenario = 100_000,
) -> Scenario:
    """Return one stream of one size on one array, by default a single disk without a cache.

    `warm_up` and `window` are numbers of requests if they are integers.
    """
    return {
        "workload": {
            "users": users,
            "streams": [
                {
                    "name": "load",
                    "arrival": arrival,
                    "operations": {
                        "read_fraction": read_fraction,
                        "size": {"kind": "constant", "value": size},
                        **(operations or {}),
                    },
                    "address": address or {"kind": "uniform"},
                }
            ],
        },
        "controller": controller or {},
        "array": {"raid": "0", "disks": 1, "disk": disk, **(array or {})},
        "run": {
            "warm_up": {"requests": warm_up} if isinstance(warm_up, int) else warm_up,
            "window": {"requests": window} if isinstance(window, int) else window,
        },
    }


def drive(
    *,
    cylinders: int,
    sectors_per_track: int,
    seek: Scenario,
    rpm: str = "10000rpm",
    surfaces: int = 1,
    **fields: Any,
) -> Scenario:
    """Return a disk of one zone, exactly `rpm`, without overheads, that serves in order of arrival."""
    return {
        "kind": "disk",
        "rpm": rpm,
        "geometry": {
            "kind": "zones",
            "surfaces": surfaces,
            "zones": [{"cylinders": cylinders, "sectors_per_track": sectors_per_track}],
        },
        "seek": seek,
        "speed_tolerance": 0.0,
        "queue": {"policy": "fcfs"},
        **fields,
    }


def seek_of(time: str) -> Scenario:
    """Return a seek curve with the same time for every distance."""
    return {"kind": "table", "points": [{"distance": 1, "time": time}, {"distance": 2, "time": time}]}


SAVVIO_SEEK: Scenario = {
    "kind": "figures",
    "track_to_track": "0.2ms",
    "average": "4.0ms",
    "full_stroke": "8.1ms",
}
"""The seek figures of the Seagate Savvio 10K.1 (manual Rev. D, p. 11)."""

SAVVIO_CYLINDERS = 51_052


def savvio(**fields: Any) -> Scenario:
    """Return a Savvio 10K.1 of one zone with 0.3 ms per 4 KiB: service 4.0 + 3.0 + 0.3 ms."""
    return drive(cylinders=SAVVIO_CYLINDERS, sectors_per_track=160, seek=SAVVIO_SEEK, **fields)


def write_cache(capacity: int, **write: Any) -> Scenario:
    """Return a protected write cache of 4 KiB lines, without read cache and other costs."""
    return {
        "cache": {
            "capacity": capacity,
            "usable": capacity,
            "write_fraction": 1.0,
            "line": "4KiB",
            "write": {"policy": "write_back", **write},
        },
        "battery": {"state": "present"},
    }


def read_cache(lines: int, **read: Any) -> Scenario:
    """Return a read cache of 8 KiB lines without read-ahead."""
    return {
        "cache": {
            "capacity": lines * 8192,
            "usable": lines * 8192,
            "write_fraction": 0.0,
            "line": "8KiB",
            "read": {"mode": "cached", "read_ahead": None, **read},
        }
    }
