"""A study of three disks with prices: two SSDs carry the load, nearline disks do not."""

from typing import Any

PRICES: dict[str, Any] = {
    "currency": "EUR",
    "date": "2026-11-23",
    "controllers": {"megaraid_9540": 300},
    "disks": {"exos_x18": 300, "dc600m_960gb": 200, "s4500_1920gb": 900},
}
CHEAPEST: dict[str, Any] = {
    "name": "cheapest",
    "scenario": {
        "workload": {"use": "iometer_oltp"},
        "controller": {"use": "megaraid_9540"},
        "array": {"raid": "10"},
        "run": {"warm_up": {"requests": 500}, "window": {"requests": 2_000}},
    },
    "axes": {"array.disk.use": ["exos_x18", "dc600m_960gb", "s4500_1920gb"]},
    "seek": {
        "minimize": "array.disks",
        "subject_to": ["response_p95 <= 5ms"],
        "min": 2,
        "max": 8,
        "cheapest": 1,
    },
    "prices": PRICES,
    "replicates": {"min": 3, "max": 8},
}
