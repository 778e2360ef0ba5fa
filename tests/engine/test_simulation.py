"""A batch has one row per configuration, in order, for successful and failed runs."""

import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from destage.engine import (
    RESULTS_VERSION,
    canonical_json,
    columns,
    normalise,
    results_schema,
    simulate,
    simulate_batch,
)
from destage.errors import ConfigError, SimulationError, TraceError

ROOT = Path(__file__).parents[2]


def scenario(depth: int = 4, seed: int = 1) -> dict[str, Any]:
    """Return a short run of a few random reads and writes."""
    return {
        "workload": {
            "streams": [
                {
                    "name": "random",
                    "arrival": {"kind": "fixed_outstanding", "depth": depth},
                    "operations": {"read_fraction": 0.5, "size": {"kind": "constant", "value": "8KiB"}},
                    "address": {"kind": "uniform"},
                }
            ]
        },
        "controller": {"use": "smart_array_5i_plus"},
        "array": {"raid": "5", "disks": 4, "disk": {"use": "u320_10k_36gb"}},
        "run": {"seed": seed, "warm_up": {"requests": 200}, "window": {"requests": 2000}},
    }


def test_a_row_has_every_column_and_status_ok() -> None:
    row = simulate(scenario())
    assert list(row) == [column.name for column in columns()]
    assert row["status"] == "ok"
    assert row["error"] is None
    assert row["throughput_iops"] > 0
    assert row["response_p50_us"] <= row["response_p95_us"] <= row["response_max_us"]


def test_columns_have_unit_and_meaning_and_names_the_unit() -> None:
    assert results_schema().names == [column.name for column in columns()]
    for column in columns():
        assert column.meaning, column.name
        field = results_schema().field(column.name)
        assert field.metadata[b"meaning"].decode() == column.meaning
        if column.unit in {"us", "s", "bytes"}:
            assert column.name.endswith(f"_{column.unit}") or column.unit in column.name.split("_"), (
                column.name
            )
    assert RESULTS_VERSION >= 1


def test_equal_configurations_give_equal_bytes() -> None:
    rows = simulate_batch([scenario(), normalise(scenario()), canonical_json(scenario()), scenario(seed=2)])
    first, second, third, other = rows.to_pylist()
    assert first == second == third
    assert other["response_mean_us"] != first["response_mean_us"]


def test_a_failed_run_is_a_row_in_its_place() -> None:
    bad_quantity = scenario()
    bad_quantity["run"]["window"] = {"duration": "60 parsecs"}
    three_mirrored = scenario()
    three_mirrored["array"] = {**three_mirrored["array"], "raid": "10", "disks": 3}
    replay = {"name": "replay", "arrival": {"kind": "trace", "file": "nowhere.blk", "mode": "open"}}
    no_trace = {**scenario(), "workload": {"streams": [replay]}}
    rows = simulate_batch([bad_quantity, scenario(), three_mirrored, no_trace, scenario()])
    assert rows.schema.equals(results_schema())
    assert rows["status"].to_pylist() == ["failed", "ok", "failed", "failed", "ok"]
    assert rows["error_kind"].to_pylist() == ["configuration", None, "configuration", "trace", None]
    errors = rows["error"].to_pylist()
    assert "\n" not in "".join(error or "" for error in errors)
    assert errors[0].startswith("scenario.bad-quantity at run.window.duration: ")
    assert errors[2].startswith("scenario.raid-disk-count at ")
    assert errors[3].startswith("trace.unreadable at ")
    assert rows.slice(1, 1).to_pylist() == rows.slice(4, 1).to_pylist()


def test_an_empty_batch_is_an_empty_table() -> None:
    assert simulate_batch([]).schema.equals(results_schema())


def test_the_error_of_a_failed_run_has_its_code() -> None:
    with pytest.raises(SimulationError) as caught:
        simulate({**scenario(), "run": {"max_events": 10}})
    assert (caught.value.code, caught.value.place) == ("run.event-limit", "run.max_events")


def test_one_run_that_fails_raises() -> None:
    with pytest.raises(ConfigError) as caught:
        simulate({**scenario(), "array": {"raid": "10", "disks": 3, "disk": {"use": "u320_10k_36gb"}}})
    assert pickle.loads(pickle.dumps(caught.value)).issues == caught.value.issues  # noqa: S301 - our own bytes
    replay = {"name": "replay", "arrival": {"kind": "trace", "file": "nowhere.blk", "mode": "open"}}
    with pytest.raises(TraceError) as unread:
        simulate({**scenario(), "workload": {"streams": [replay]}})
    assert unread.value.code == "trace.unreadable"
    assert unread.value.place.endswith("nowhere.blk")


def test_a_replay_finds_its_trace_beside_the_spec() -> None:
    arrival = {"kind": "trace", "file": "pgbench.parquet", "mode": "asap", "depth": 32}
    replay = {**scenario(), "workload": {"streams": [{"name": "replay", "arrival": arrival}]}, "run": {}}
    row = simulate(replay, folder=ROOT / "examples")
    assert row["status"] == "ok"
    assert row["requests"] == 198_594
    assert row["flushes"] == 31_322


def test_tables_are_exported_as_arrow() -> None:
    assert isinstance(simulate_batch([scenario()]), pa.Table)
