"""`--set` on a stream of every preset, in `simulate` and `size`."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from destage.engine import catalog

PRESETS = {entry.name: entry.config for entry in catalog.entries("workloads")}
ONE = ("--controllers", "megaraid_9540", "--disks", "pm9a3_7680gb", "--raid", "10", "--count", "4")
SHORT = "run.window={requests: 200}"


def find_field(preset: str) -> tuple[str, str]:
    """Return the path of a field of the first stream and its value in the preset."""
    (stream, *_) = PRESETS[preset]["streams"]
    part = next(stream[key] for key in ("operations", "mix", "steps", "arrival") if key in stream)
    path = f"workload.streams.0.{next(key for key, value in stream.items() if value is part)}"
    while isinstance(part, dict | list):
        items = list(part.items() if isinstance(part, dict) else enumerate(part))
        key, part = next(
            (pair for pair in items if not isinstance(pair[1], dict | list) and pair[0] != "kind"), items[0]
        )
        path = f"{path}.{key}"
    return path, str(part)


@pytest.mark.parametrize("preset", PRESETS)
def test_simulate_sets_a_field_and_the_name_of_a_stream(destage: Any, tmp_path: Path, preset: str) -> None:
    """The value of the preset changes nothing; the name, nothing but the stream's own numbers."""
    file = tmp_path / "one.yaml"
    array = {"raid": "10", "disks": 16, "disk": {"use": "u320_10k_36gb"}}
    run = {"warm_up": "none", "window": {"requests": 100}}
    file.write_text(yaml.safe_dump({"workload": {"use": preset, "users": 2}, "array": array, "run": run}))
    path, value = find_field(preset)
    plain, same, renamed = (
        destage("simulate", str(file), *options, "--json")
        for options in ((), ("--set", f"{path}={value}"), ("--set", "workload.streams.0.name=renamed"))
    )
    assert (plain.code, same.code, renamed.code) == (0, 0, 0), same.err + renamed.err
    before, after = (json.loads(done.out) for done in (plain, same))
    assert before["response_mean_us"] == after["response_mean_us"] is not None
    assert json.loads(renamed.out)["status"] == before["status"]


@pytest.mark.parametrize("preset", PRESETS)
def test_size_sets_a_field_and_the_name_of_a_stream(destage: Any, preset: str) -> None:
    path, value = find_field(preset)
    fields = ("--set", f"{path}={value}", "--set", "workload.streams.0.name=renamed")
    # A load of phases is measured over one of them.
    window = () if "phases" in PRESETS[preset] else ("--set", "run.warm_up=none", "--set", SHORT)
    options = (*ONE, "--response-p95", "0.001ms", *window, *fields, "--quiet", "--json")
    done = destage("size", "--workload", preset, *options)
    assert done.code == 1, done.err
    assert json.loads(done.out)["carrying"] == []
