"""Write `scenarios.jsonl`, the scenarios with which the engine of a release is trained.

They are the golden cases, one or more for every part of the engine, and the benchmark cases, the call centre
and SSDs, which are longer, since the compiler favours what runs most. `tests/contract/test_wheel_training.py`
checks that the file is up to date.
"""

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "benchmarks")]

from golden.cases import CASES as GOLDEN  # noqa: E402
from request_list import CASES as BENCHMARKS  # noqa: E402
from request_list import load_case  # noqa: E402
from small_scenarios import stream  # noqa: E402
from train import RECORDED, SCENARIOS  # noqa: E402

from destage.engine import canonical_json  # noqa: E402

REQUESTS = 60_000
"""Requests of each longer scenario."""


def _call_center(capacity: str) -> dict[str, Any]:
    load = stream(
        "users", {"kind": "closed", "think_time": {"kind": "exponential", "mean": "10s"}, "ios": 49}
    )
    load["address"] = {
        "kind": "zipf",
        "exponent": 0.9,
        "block": "8KiB",
        "footprint": "8GB",
        "placement": {"kind": "scattered"},
    }
    cache = {"capacity": capacity, "read": {"mode": "cached"}, "write": {"low_water": 0.78}}
    return {
        "workload": {"users": 100, "streams": [load]},
        "controller": {"use": "smart_array_5i_plus", "cache": cache},
        "array": {"raid": "10", "disks": 4, "disk": {"use": "u320_10k_36gb"}, "stripe_unit": "64KiB"},
        "run": {"seed": 1, "warm_up": {"requests": 8_000}, "window": {"requests": REQUESTS}},
    }


def _ssds() -> dict[str, Any]:
    load = stream("load", {"kind": "fixed_outstanding", "depth": 32}, read_fraction=0.7)
    return {
        "workload": {"streams": [load]},
        "array": {"raid": "5", "disks": 4, "disk": {"use": "s4500_1920gb"}},
        "run": {"seed": 1, "warm_up": "none", "window": {"requests": REQUESTS}},
    }


def scenarios() -> list[str]:
    """Return the scenarios in canonical form; those that replay a trace replay the requests of the first."""
    chosen: list[dict[str, Any]] = []
    for path in sorted(BENCHMARKS.glob("*.json")):
        case = load_case(path.stem)
        if "scenario" in case:
            scenario = case["scenario"]
            chosen.append({**scenario, "run": {**scenario["run"], "window": {"requests": REQUESTS}}})
    chosen += [_call_center("8MiB"), _call_center("64MiB"), _ssds()]
    for scenario in GOLDEN.values():
        streams = [
            {**each, "arrival": {**each["arrival"], "file": RECORDED, "map": "wrap"}}
            if each["arrival"]["kind"] == "trace"
            else each
            for each in scenario["workload"]["streams"]
        ]
        chosen.append({**scenario, "workload": {**scenario["workload"], "streams": streams}})
    return [canonical_json(scenario) for scenario in chosen]


if __name__ == "__main__":
    SCENARIOS.write_text("".join(f"{line}\n" for line in scenarios()), encoding="utf-8")
