"""Configurations with golden rows: one or more for every part of the engine."""

from small_scenarios import DISK, Scenario, constant_server, stream, users, write_back

from destage.sweeps.space.parameters import find_parameter

_TWO_ARRAYS: Scenario = {
    "workload": {
        "users": 6,
        "streams": [
            stream(
                "data",
                {"kind": "closed", "think_time": {"kind": "lognormal", "mean": "200ms", "cv": 1.0}, "ios": 4},
                array="data",
            ),
            {
                "name": "log",
                "array": "log",
                "arrival": {"kind": "poisson", "rate": 60.0},
                "operations": {
                    "read_fraction": 0.0,
                    "fua_fraction": 0.5,
                    "flush_every": 3,
                    "size": {
                        "kind": "choice",
                        "options": [{"value": "4KiB", "weight": 3}, {"value": "20KiB", "weight": 1}],
                    },
                },
                "address": {"kind": "sequential", "footprint": "200MB", "run": "1MiB"},
            },
        ],
    },
    "controller": write_back("8MiB", 0.5),
    "arrays": [
        {"name": "data", "raid": "6", "disks": 5, "disk": DISK, "parity_update": "rmw"},
        {"name": "log", "raid": "1", "disks": 2, "disk": DISK},
    ],
    "run": {"seed": 3, "warm_up": {"duration": "20s"}, "window": {"duration": "100s"}},
}


def _queue(policy: str) -> Scenario:
    disk = {**DISK, "queue": {"policy": policy, "depth": 8, "age_limit": "100ms"}}
    return {
        "workload": {"streams": [stream("load", {"kind": "fixed_outstanding", "depth": 24})]},
        "array": {"raid": "10", "disks": 4, "disk": disk},
        "run": {"seed": 5, "warm_up": {"requests": 1_000}, "window": {"requests": 8_000}},
    }


def _disk_buffers(read_ahead: str) -> Scenario:
    """Drives that read ahead and cache writes, their queues full of short sequences."""
    load = stream("load", {"kind": "fixed_outstanding", "depth": 16}, read_fraction=0.9)
    load["address"] = {"kind": "sequential", "run": "1MiB", "footprint": "2GB"}
    buffer = {"segments": 4, "segment": "256KiB", "read_ahead": read_ahead, "write_cache": True}
    return {
        "workload": {"streams": [load]},
        "array": {"raid": "1", "disks": 2, "disk": {**DISK, "buffer": buffer}},
        "run": {"seed": 8, "warm_up": "none", "window": {"requests": 10_000}},
    }


def _cached_zipf() -> Scenario:
    load = stream("load", {"kind": "poisson", "rate": 150.0}, read_fraction=0.8)
    load["address"] = {
        "kind": "zipf",
        "exponent": 0.9,
        "block": "8KiB",
        "footprint": "400MB",
        "placement": {"kind": "scattered", "extent": "1MiB"},
    }
    controller = write_back("64MiB", 0.25)
    controller["cache"]["read"] = {"mode": "cached", "read_ahead": {"trigger": 3, "size": "64KiB"}}
    return {
        "workload": {"streams": [load]},
        "controller": controller,
        "array": {"raid": "5", "disks": 4, "disk": DISK, "stripe_unit": "32KiB"},
        "run": {"seed": 9, "warm_up": {"requests": 5_000}, "window": {"requests": 10_000}, "drain": True},
    }


def _sequential_read_ahead() -> Scenario:
    load = stream(
        "scan",
        {
            "kind": "closed",
            "think_time": {"kind": "exponential", "mean": "5ms"},
            "ios": 3,
            "order": "parallel",
        },
        read_fraction=0.95,
    )
    load["address"] = {
        "kind": "sequential",
        "run": "4MiB",
        "footprint": "2GB",
        "placement": {"kind": "spread", "extent": "16MiB"},
    }
    return {
        "workload": {"users": 3, "streams": [load]},
        "controller": write_back(),
        "array": {"raid": "0", "disks": 3, "disk": DISK},
        "run": {"seed": 4, "warm_up": "none", "window": {"requests": 10_000}},
    }


def _battery(state: str) -> Scenario:
    scenario = users(40)
    scenario["controller"]["battery"] = {"state": state, "charge": 0.7895, "charge_time": "10h"}
    return scenario


def _battery_and_mains() -> Scenario:
    """A learn cycle, two losses of mains, the second longer than the holdup, and a battery that fails."""
    scenario = users(40)
    scenario["controller"]["battery"] = {
        "state": "present",
        "hysteresis": 0.05,
        "charge_time": "20s",
        "learn_discharge_time": "10s",
        "holdup": "8s",
    }
    return {
        **scenario,
        "faults": [
            {"kind": "learn_cycle", "at": "5s"},
            {"kind": "mains_lost", "at": "50s", "duration": "3s"},
            {"kind": "mains_lost", "at": "90s", "duration": "9s"},
            {"kind": "battery_fails", "at": "130s"},
        ],
        "run": {"seed": 11, "warm_up": "none", "window": {"duration": "140s"}},
    }


def _processors(scheduling: str) -> Scenario:
    """Users whose interactions need more processor time than disk time, with an open load beside them."""
    scenario = users(60)
    scenario["host"] = {"cores": 3, "scheduling": scheduling}
    streams = scenario["workload"]["streams"]
    streams[0]["processor_time"] = {"kind": "lognormal", "mean": "30ms", "cv": 1.5}
    load = stream("service", {"kind": "poisson", "rate": 40.0})
    streams.append({**load, "processor_time": {"kind": "exponential", "mean": "10ms"}})
    return scenario


def _writes_turned_away() -> Scenario:
    """A cache that is always full, with few addresses, so that writes supersede dirty data."""
    load = stream("load", {"kind": "fixed_outstanding", "depth": 16}, read_fraction=0.2)
    load["address"]["footprint"] = "4MB"
    controller = write_back("1MiB", 1.0)
    controller["cache"]["write"] = {"when_full": "write_through"}
    return {
        "workload": {"streams": [load]},
        "controller": controller,
        "array": {"raid": "5", "disks": 5, "disk": DISK},
        "run": {"seed": 12, "warm_up": {"requests": 1_000}, "window": {"requests": 5_000}, "drain": True},
    }


def _cache_policy(**policies: str) -> Scenario:
    """Users who read and write some blocks again and again, so that the order of both caches counts."""
    scenario = users(40)
    (load,) = scenario["workload"]["streams"]
    load["address"] = {"kind": "zipf", "exponent": 0.8, "block": "8KiB", "footprint": "100MB"}
    cache = write_back("4MiB", 0.5)["cache"]
    cache["write"] = {"destage_policy": policies.get("destage", "c_scan"), "idle_delay": "20ms"}
    cache["read"] = {"mode": "cached", "policy": policies.get("replacement", "lru")}
    return {**scenario, "controller": {**scenario["controller"], "cache": cache}}


_POLICIES = {
    f"{kind}-{policy}": _cache_policy(**{kind: policy})
    for kind, path in (
        ("destage", "controller.cache.write.destage_policy"),
        ("replacement", "controller.cache.read.policy"),
    )
    for policy in sorted(find_parameter(path).words)
}
"""A case for each policy, of which the schema has the names."""

CASES: dict[str, Scenario] = {
    **_POLICIES,
    "users-raid5-write-back": users(40),
    "users-raid10-auto": users(30, raid="10", disks=4, warm_up="auto", window="auto"),
    "users-no-battery": _battery("absent"),
    "users-charging": {
        **_battery("charging"),
        "run": {"seed": 7, "warm_up": "none", "window": {"duration": "60s"}},
    },
    "battery-and-mains": _battery_and_mains(),
    "two-arrays": _TWO_ARRAYS,
    "queue-sptf": _queue("sptf"),
    "queue-sstf": _queue("sstf"),
    "queue-c-look": _queue("c_look"),
    "queue-fcfs": _queue("fcfs"),
    "disk-buffer-segment": _disk_buffers("segment"),
    "disk-buffer-track": _disk_buffers("track"),
    "cached-zipf-drained": _cached_zipf(),
    "sequential-read-ahead": _sequential_read_ahead(),
    "stalled-writes": {
        "workload": {
            "streams": [stream("load", {"kind": "fixed_outstanding", "depth": 16}, read_fraction=0.1)]
        },
        "controller": write_back("1MiB", 1.0),
        "array": {"raid": "5", "disks": 5, "disk": DISK},
        "run": {"seed": 2, "warm_up": {"requests": 2_000}, "window": {"requests": 8_000}},
    },
    "users-shared-processors": _processors("shared"),
    "users-queued-processors": _processors("fcfs"),
    "writes-turned-away": _writes_turned_away(),
    "server": {
        "workload": {"streams": [stream("load", {"kind": "poisson", "rate": 250.0})]},
        "array": {"raid": "0", "disks": 1, "disk": constant_server("5ms", servers=2)},
        "run": {"seed": 1, "warm_up": "auto", "window": "auto"},
    },
    "pgbench-dependent": {
        "workload": {
            "streams": [
                {
                    "name": "postgres",
                    "arrival": {"kind": "trace", "file": "examples/pgbench.parquet", "mode": "dependent"},
                }
            ]
        },
        "controller": write_back("64MiB", 0.75),
        "array": {"raid": "10", "disks": 4, "disk": DISK},
    },
}
"""Scenarios by name; trace paths are relative to the repository."""
