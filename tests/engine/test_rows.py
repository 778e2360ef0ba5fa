"""Rows: columns with their units, errors as rows, consistent figures."""

import json
import math

import pyarrow as pa
import pytest
from small_scenarios import Scenario, constant_server, stream, users, write_back

from destage.engine import _engine, columns, results_schema, simulate, simulate_batch
from destage.errors import ConfigError

UNIT_SUFFIXES = {
    "_us": "us",
    "_s": "s",
    "_bytes": "bytes",
    "_iops": "1/s",
    "_per_s": "1/s",
    "_bytes_per_s": "bytes/s",
    "_byte_s": "bytes s",
    "_fraction": "fraction",
    "_ratio": "fraction",
    "_percent": "%",
    "_sectors": "sectors",
}


def test_a_column_is_named_for_its_unit() -> None:
    for column in columns():
        suffix = max((s for s in UNIT_SUFFIXES if column.name.endswith(s)), key=len, default=None)
        if suffix is not None:
            assert column.unit == UNIT_SUFFIXES[suffix], column
        assert column.meaning, column


def test_a_row_has_the_documented_columns() -> None:
    table = simulate_batch([users()])
    assert table.schema == results_schema()
    assert table.column_names == [column.name for column in columns()]


def test_a_row_is_the_same_in_an_arrow_table() -> None:
    """A dict has all columns in order: texts, numbers, lists and nulls."""
    scenario = users(3)
    row = simulate(scenario)
    assert list(row.items()) == list(simulate_batch([scenario]).to_pylist()[0].items())
    assert {type(value) for value in row.values()} == {str, int, float, list, type(None)}


def test_columns_agree_with_each_other() -> None:
    """Rates are counts over the window, bytes are requests times 8 KiB, a mean is between its quantiles."""
    row = simulate(users(30))
    window = row["window_s"]
    assert row["requests"] == row["reads"] + row["writes"] == 10_000
    assert row["throughput_iops"] == pytest.approx(row["requests"] / window)
    assert row["read_iops"] == pytest.approx(row["reads"] / window)
    assert row["write_iops"] == pytest.approx(row["writes"] / window)
    assert row["throughput_bytes_per_s"] == pytest.approx(row["requests"] * 8192 / window)
    assert row["interactions_per_s"] == pytest.approx(row["interactions"] / window)
    assert row["accepted_sectors"] == pytest.approx(row["writes"] * 16, rel=0.01)
    mean = row["reads"] * row["read_response_mean_us"] + row["writes"] * row["write_response_mean_us"]
    assert row["response_mean_us"] == pytest.approx(mean / row["requests"])
    assert row["disk_time_percent"] == pytest.approx(
        row["response_mean_us"] * 1e-6 * row["requests"] / window * 100
    )
    assert row["interaction_response_mean_us"] == pytest.approx(5 * row["response_mean_us"], rel=0.05)
    assert row["dirty_high_bytes"] <= 12 << 20
    assert 0 < row["dirty_mean_fraction"] <= 0.81


def test_quantiles_are_those_of_the_distribution() -> None:
    """Exponential service without queueing: quantile q is -S ln(1 - q), within the histogram's 0.8 %."""
    disk = {
        "kind": "server",
        "servers": 200,
        "service": {"kind": "exponential", "mean": "10ms"},
        "capacity": "10GB",
    }
    row = simulate(
        {
            "workload": {"streams": [stream("load", {"kind": "poisson", "rate": 500.0})]},
            "array": {"raid": "0", "disks": 1, "disk": disk},
            "run": {"warm_up": {"requests": 100}, "window": {"requests": 2_000_000}},
        }
    )
    for name, share in [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)]:
        exact = -10_000 * math.log(1 - share)
        assert row[f"response_{name}_us"] == pytest.approx(exact, rel=0.012), name


def test_failures_are_rows_in_their_place() -> None:
    good = users()
    bad = {**good, "array": {"raid": "10", "disks": 3, "disk": constant_server("1ms")}}
    trace = {
        "workload": {
            "streams": [
                {"name": "t", "arrival": {"kind": "trace", "file": "missing.parquet", "mode": "asap"}}
            ]
        },
        "array": {"raid": "0", "disks": 1, "disk": constant_server("1ms")},
    }
    table = simulate_batch([bad, good, trace, good])
    assert table["status"].to_pylist() == ["failed", "ok", "failed", "ok"]
    assert table["error_kind"].to_pylist() == ["configuration", None, "trace", None]
    first, _, third, _ = table.to_pylist()
    assert first["error"].startswith("scenario.raid-disk-count at ")
    assert third["error"].startswith("trace.unreadable at ")
    measured = [name for name in table.column_names if name not in {"status", "error_kind", "error"}]
    assert all(not first[name] for name in measured)
    with pytest.raises(ConfigError):
        simulate(bad)


def test_the_engine_rejects_invalid_configurations_itself() -> None:
    """The core validates for itself: no text makes it raise or stop; each is a failed row."""
    texts = ["", "null", "{}", "[1]", '{"workload": 3}', json.dumps({"workload": {"streams": []}})]
    rows = pa.record_batch(_engine.simulate_batch(texts, {})[0]).to_pylist()
    assert [row["error_kind"] for row in rows] == ["configuration"] * len(texts)
    assert all(row["error"] for row in rows)


def test_a_missing_trace_gives_a_failed_row() -> None:
    scenario = {
        "workload": {
            "streams": [{"name": "t", "arrival": {"kind": "trace", "file": "gone.parquet", "mode": "open"}}]
        },
        "array": {"raid": "0", "disks": 1, "disk": json.loads(json.dumps(_base_server()))},
    }
    (row,) = pa.record_batch(_engine.simulate_batch([json.dumps(scenario)], {})[0]).to_pylist()
    assert (row["status"], row["error_kind"]) == ("failed", "trace")
    assert row["error"].startswith("trace.not-loaded at workload.streams.0.arrival.file: ")


def _base_server() -> Scenario:
    return {
        "kind": "server",
        "service": {"kind": "constant", "value": 1_000_000},
        "capacity": 10**9,
    }


def test_a_load_in_which_nothing_takes_time_fails() -> None:
    scenario = {
        "workload": {
            "streams": [
                stream("load", {"kind": "fixed_outstanding", "depth": 4}, read_fraction=0.0)
                | {"address": {"kind": "uniform", "footprint": "1MiB"}}
            ]
        },
        "controller": {**write_back(), "link": {}, "firmware": {}},
        "array": {"raid": "0", "disks": 1, "disk": constant_server("1ms")},
        "run": {"window": {"duration": "10s"}},
    }
    (row,) = simulate_batch([scenario]).to_pylist()
    assert (row["status"], row["error_kind"]) == ("failed", "configuration")
    with pytest.raises(ConfigError) as caught:
        simulate(scenario)
    assert (caught.value.code, caught.value.place) == ("run.standstill", "workload")


def test_an_overloading_open_load_ends() -> None:
    scenario = {
        "workload": {"streams": [stream("load", {"kind": "poisson", "rate": 100_000.0})]},
        "array": {"raid": "0", "disks": 1, "disk": constant_server("5ms")},
        "run": {"warm_up": "none", "window": {"requests": 1_000_000}},
    }
    row = simulate(scenario)
    assert row["status"] == "overloaded"
    assert row["requests"] < 200_000
