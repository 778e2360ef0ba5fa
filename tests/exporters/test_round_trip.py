"""A workload that is exported and imported again draws the same shares, sizes and kinds of addresses."""

import shutil
import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from destage.engine import catalog
from destage.engine.workload_profile import canonical_workload
from destage.errors import ConfigError
from destage.tools.diskspd import export as diskspd_export
from destage.tools.diskspd import load as diskspd
from destage.tools.export_report import Target
from destage.tools.fio import export as fio_export
from destage.tools.fio import load as fio
from destage.tools.results import read_results

GIB = 1 << 30
TARGET = Target("destage.dat", 10 * GIB, 60)
PRESETS = {entry.name: entry.config for entry in catalog.entries("workloads")}
FIO = shutil.which("fio")
PRECISE = 0.011
"""Whole per cent, and rates in whole requests per second."""


def export_and_import(
    workload: Mapping[str, Any], tool: str
) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """Return the canonical workload, that of the exported job, and the notes of the export."""
    canonical = canonical_workload(workload)
    if tool == "fio":
        text, notes = fio_export.write(canonical, TARGET, "test")
        again = fio.read_tests(text, "a.fio")[0].workload
    else:
        text, notes = diskspd_export.write(canonical, TARGET, "test")
        again = diskspd.read_tests(text, "a.cmd")[0].workload
    return canonical, canonical_workload(again), notes


def shares(workload: Mapping[str, Any]) -> Counter[tuple[str, bool, int]]:
    """Return the share of requests by kind of addresses, direction and size."""
    found = Counter[tuple[str, bool, int]]()
    rates = [_rate(stream, workload["users"]) for stream in workload["streams"]]
    for stream, rate in zip(workload["streams"], rates, strict=True):
        for weight, operations, address in _parts(stream):
            reads = operations["read_fraction"]
            for is_read, part in ((True, reads), (False, 1 - reads)):
                size = operations["size"] if is_read else operations.get("write_size") or operations["size"]
                for bytes_, share in _sizes(size):
                    found[_kind(address), is_read, bytes_] += rate / sum(rates) * weight * part * share
    return found


def _rate(stream: Mapping[str, Any], users: int) -> float:
    arrival = stream["arrival"]
    count = users if arrival["kind"] == "closed" or arrival.get("per_user") else 1
    return float(count * (arrival.get("rate") or arrival.get("depth") or arrival.get("ios") or 1))


def _parts(stream: Mapping[str, Any]) -> list[tuple[float, dict[str, Any], dict[str, Any]]]:
    mix = stream.get("mix")
    if mix:
        total = sum(part["weight"] for part in mix)
        return [(part["weight"] / total, part["operations"], part["address"]) for part in mix]
    if stream.get("steps"):
        return [(1.0, stream["steps"][0]["operations"], stream["steps"][0]["address"])]
    return [(1.0, stream["operations"], stream["address"])]


def _sizes(size: Mapping[str, Any]) -> list[tuple[int, float]]:
    if size["kind"] == "constant":
        return [(size["value"], 1.0)]
    if size["kind"] == "uniform":
        sizes = range(size["min"], size["max"] + 1, size.get("step") or size["min"])
        return [(each, 1 / len(sizes)) for each in sizes]
    total = sum(option["weight"] for option in size["options"])
    return [(option["value"], option["weight"] / total) for option in size["options"]]


def _kind(address: Mapping[str, Any]) -> str:
    # Two zones are written as any number of zones, and a stride as zones of one request.
    return {"hot_cold": "zoned", "strided": "strided_zones"}.get(address["kind"], str(address["kind"]))


def assert_same_shares(before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    """Assert that the shares of both workloads agree to whole per cent."""
    one, other = shares(before), shares(after)
    wrong = {key: (one[key], other[key]) for key in one | other if abs(one[key] - other[key]) > PRECISE}
    assert not wrong


def check_round_trip(workload: Mapping[str, Any], tool: str) -> None:
    """Check that a workload comes back, or that what the tool cannot express is named."""
    rejected: list[tuple[str, str]] = []
    try:
        before, after, _ = export_and_import(workload, tool)
    except ConfigError as error:
        rejected = [(issue.code, issue.place.partition(".")[0]) for issue in error.issues]
    else:
        assert_same_shares(before, after)
    assert set(rejected) <= {("export.unsupported", "workload")}


@pytest.mark.parametrize("tool", ["fio", "diskspd"])
@pytest.mark.parametrize("name", PRESETS)
def test_presets_come_back(name: str, tool: str) -> None:
    """Every preset is rejected by name, or comes back."""
    check_round_trip(PRESETS[name], tool)


def test_most_presets_can_be_exported_to_fio() -> None:
    exported = set()
    for name, config in PRESETS.items():
        try:
            export_and_import(config, "fio")
        except ConfigError:
            continue
        exported.add(name)
    assert {"call_center", "vdi", "exchange_2003", "jesd219", "tpc_e", "crystaldiskmark"} <= exported


LIES = st.fixed_dictionaries(
    {
        "footprint": st.sampled_from(["1GiB", "3GiB"]),
        "placement": st.fixed_dictionaries(
            {"kind": st.just("contiguous"), "offset": st.sampled_from(["0B", "1GiB"])}
        ),
    }
)
PATTERNS = st.one_of(
    st.builds(
        lambda sampling: {"kind": "uniform", "sampling": sampling},
        st.sampled_from(["independent", "without_replacement", "cyclic"]),
    ),
    st.just({"kind": "normal", "width": 0.2}),
    st.just({"kind": "strided_zones", "zone": "16MiB", "skip": "16MiB", "accessed": "4MiB"}),
    st.just({"kind": "sequential"}),
    st.integers(1, 99).map(lambda jumps: {"kind": "sequential", "jump_fraction": jumps / 100}),
    st.just({"kind": "strided", "stride": "1MiB"}),
    st.sampled_from([0.5, 0.9, 1.2]).map(lambda x: {"kind": "zipf", "exponent": x, "block": "128KiB"}),
    st.just({"kind": "pareto", "hot_fraction": 0.2, "block": "128KiB"}),
    st.integers(1, 99).map(
        lambda hot: {"kind": "hot_cold", "hot_fraction": hot / 100, "access_fraction": 0.8}
    ),
    st.just({"kind": "zoned", "zones": [{"accesses": 60, "size": 10}, {"accesses": 40, "size": 90}]}),
)
CONSTANT = st.sampled_from(["4KiB", "64KiB", "128KiB"]).map(lambda size: {"kind": "constant", "value": size})
CHOICE = st.integers(1, 99).map(
    lambda share: {
        "kind": "choice",
        "options": [{"value": "4KiB", "weight": share}, {"value": "16KiB", "weight": 100 - share}],
    }
)
ARRIVALS = st.one_of(
    st.integers(1, 256).map(lambda depth: {"kind": "fixed_outstanding", "depth": depth}),
    st.integers(1, 20).map(lambda rate: {"kind": "poisson", "rate": f"{rate * 100}/s"}),
    st.integers(1, 8).map(
        lambda ios: {"kind": "closed", "think_time": {"kind": "constant", "value": "5ms"}, "ios": ios}
    ),
)


@st.composite
def workloads(draw: st.DrawFn, sizes: st.SearchStrategy[dict[str, Any]]) -> dict[str, Any]:
    """Draw a workload of one or two streams."""
    streams = []
    for index in range(draw(st.integers(1, 2))):
        operations = {
            "read_fraction": draw(st.integers(0, 100)) / 100,
            "fua_fraction": draw(st.sampled_from([0.0, 1.0])),
            "size": draw(sizes),
        }
        if operations["size"]["kind"] == "choice":
            operations["alignment"] = "4KiB"
        address = {**draw(PATTERNS), **draw(LIES)}
        stream = {
            "name": f"s{index}",
            "arrival": draw(ARRIVALS),
            "operations": operations,
            "address": address,
        }
        streams.append(stream)
    return {"users": 1, "streams": streams}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data(), st.sampled_from(["fio", "diskspd"]))
def test_random_workloads_come_back(data: st.DataObject, tool: str) -> None:
    sizes = CONSTANT if tool == "diskspd" else st.one_of(CONSTANT, CHOICE)
    workload = data.draw(workloads(sizes))
    check_round_trip(workload, tool)


@pytest.mark.skipif(FIO is None, reason="needs fio (a Debian package)")
def test_fio_accepts_the_job_files(tmp_path: Path) -> None:
    accepted = 0
    for name, config in PRESETS.items():
        try:
            text, _ = fio_export.write(canonical_workload(config), TARGET, name)
        except ConfigError:
            continue
        (tmp_path / "job.fio").write_text(text)
        command = [str(FIO), "--parse-only", "job.fio"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), name
        accepted += 1
    assert accepted > len(PRESETS) / 2


def test_what_a_tool_cannot_express_is_named() -> None:
    stream = {
        "name": "s",
        "arrival": {
            "kind": "mmpp",
            "rate": "10/s",
            "burst_factor": 2,
            "burst_fraction": 0.1,
            "burst_time": "1s",
        },
        "operations": {
            "read_fraction": 0.5,
            "rewrite_fraction": 0.1,
            "size": {"kind": "constant", "value": "4KiB"},
        },
        "address": {
            "kind": "stack_distance",
            "curve": [{"size": "1MiB", "hit_ratio": 0.5}],
            "footprint": "1GiB",
        },
    }
    for tool in ("fio", "diskspd"):
        with pytest.raises(ConfigError) as caught:
            export_and_import({"streams": [stream]}, tool)
        places = {issue.place.removeprefix("workload.streams.0.") for issue in caught.value.issues}
        assert places == {"arrival.kind", "operations.rewrite_fraction", "address.kind"}


def test_a_workload_of_the_whole_array_needs_a_size() -> None:
    canonical = canonical_workload(PRESETS["iometer_oltp"])
    for write in (fio_export.write, diskspd_export.write):
        with pytest.raises(ConfigError) as caught:
            write(canonical, Target("destage.dat", None, 60), "test")
        assert [issue.code for issue in caught.value.issues] == ["export.missing-size"]


OPEN: dict[str, Any] = {
    "name": "s",
    "arrival": {"kind": "poisson", "rate": "1/s"},
    "operations": {"read_fraction": 0.7, "size": {"kind": "constant", "value": "4KiB"}},
    "address": {"kind": "uniform", "footprint": "1GiB"},
}


def test_a_direction_without_a_whole_rate_is_an_error() -> None:
    """A single rate of fio is that of each direction, so 0.3 writes per second must not be left out."""
    with pytest.raises(ConfigError) as caught:
        export_and_import({"streams": [OPEN]}, "fio")
    assert [issue.place for issue in caught.value.issues] == ["workload.streams.0.arrival.rate"]
    only = {**OPEN, "operations": {**OPEN["operations"], "read_fraction": 1.0}}
    assert export_and_import({"streams": [only]}, "fio")[2] == []


def test_a_workload_beyond_the_size_is_an_error() -> None:
    placed = {"kind": "uniform", "placement": {"kind": "contiguous", "offset": "1GiB"}}
    canonical = canonical_workload({"streams": [{**OPEN, "address": placed}]})
    for write in (fio_export.write, diskspd_export.write):
        with pytest.raises(ConfigError) as caught:
            write(canonical, Target("destage.dat", GIB, 60), "test")
        assert "export.missing-size" in [issue.code for issue in caught.value.issues]


def test_fio_reports_each_exported_stream_alone(tmp_path: Path) -> None:
    """With group_reporting, fio merges the jobs of a group, so each stream starts a group."""
    names = ("one", "two")
    streams = [
        {**OPEN, "name": name, "arrival": {"kind": "fixed_outstanding", "depth": depth}}
        for depth, name in enumerate(names, 1)
    ]
    text, _ = fio_export.write(canonical_workload({"streams": streams}), Target("x.dat", GIB, 1), "test")
    assert text.count("new_group=1") == 1
    if FIO is None:
        pytest.skip("fio is not installed")
    job = tmp_path / "a.fio"
    job.write_text(text.replace("libaio", "null"))
    done = subprocess.run(
        [FIO, "--output-format=json", str(job)], capture_output=True, check=True, cwd=tmp_path
    )
    lines = read_results("fio.json", done.stdout).lines
    # The null engine completes each request at once, so that fewer than `iodepth` are outstanding.
    assert [(line.workload, line.depth) for line in lines] == [("one", 1), ("two", 2)]


def test_rounding_is_noted() -> None:
    canonical, _, notes = export_and_import(PRESETS["tpc_e"], "fio")
    assert canonical["streams"][0]["operations"]["read_fraction"] == 0.9065
    assert notes == [
        "workload.streams.0.operations.read_fraction: 90.65 % is rounded to 91 %, as fio takes whole per cent"
    ]
