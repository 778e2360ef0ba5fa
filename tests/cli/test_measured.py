"""`destage measured` and its table in SQL."""

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[1] / "measured" / "data"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Return a file of fio's results in the current directory."""
    return Path(shutil.copy(DATA / "fio-3.33-grouped.json", tmp_path / "fio.json"))


def test_an_imported_set_is_listed_shown_and_deleted(destage: Any, results: Path) -> None:
    shutil.copy(DATA / "iostat-12.6.1.txt", results.with_name("iostat.txt"))
    done = destage("measured", "import", "fio.json", "iostat.txt", "--name", "lab", "--array", "our SSD")
    assert done.code == 0
    assert "fio.json: fio, 2 lines" in done.out
    assert "iostat.txt: the first report covers the time since the machine was started" in done.err
    assert json.loads(destage("measured", "list", "--json").out) == [
        {"name": "lab", "lines": 3, "array": "our SSD", "tools": "fio, iostat"}
    ]
    assert "64 KiB" in destage("measured", "show", "lab").out
    rows = list(csv.DictReader(io.StringIO(destage("measured", "show", "lab", "--format", "csv").out)))
    assert [row["workload"] for row in rows] == ["seqread", "mix", "vda"]
    assert {row["array_label"] for row in rows} == {"our SSD"}
    assert destage("measured", "delete", "lab").code == 0
    assert destage("measured", "show", "lab").issues == [("store.unknown-measured-set", "lab")]


def test_a_shown_set_says_what_is_derived_or_unknown(destage: Any, results: Path) -> None:
    shutil.copy(DATA / "fio-gtod-reduce-no-latency.json", results)
    assert destage("measured", "import", "fio.json", "--name", "lab", "--array", "a").code == 0
    shown = destage("measured", "show", "lab").err.splitlines()
    assert "line 1: derived: outstanding, read fraction, request size, throughput" in shown
    why = "fio measured no latency (gtod_reduce or disable_lat)"
    assert f"line 1: unknown: response max, response mean: {why}" in shown
    (row,) = json.loads(destage("measured", "show", "lab", "--json").out)
    assert (row["response_mean_us"], row["unknown_figures"]["response_mean_us"]) == (None, why)


def test_one_bad_file_among_several_writes_nothing(destage: Any, results: Path) -> None:
    results.with_name("bad.json").write_text(results.read_text()[:-100])
    done = destage("measured", "import", "fio.json", "bad.json", "--name", "lab", "--array", "a")
    assert done.code == 2
    assert done.issues == [("measured.bad-syntax", "")]
    assert "bad.json:14" in done.err
    assert not (results.parent / "store").exists()
    assert destage("measured", "import", "fio.json", "none.json", "--name", "lab", "--array", "a").code == 2
    assert not (results.parent / "store").exists()


def test_a_csv_of_ones_own_is_imported_or_refused_as_a_whole(destage: Any, results: Path) -> None:
    shutil.copy(DATA / "figures.csv", results.with_name("own.csv"))
    done = destage("measured", "import", "own.csv", "--name", "own", "--array", "a")
    assert "own.csv: csv, 4 lines" in done.out
    rows = json.loads(destage("measured", "show", "own", "--json").out)
    assert [row["outstanding"] for row in rows] == [1, 16, 16, 1]
    results.with_name("own.csv").write_text((DATA / "figures.csv").read_text().replace("8k", "8"))
    again = destage("measured", "import", "own.csv", "--name", "own", "--array", "a", "--replace")
    assert again.issues == [("measured.bad-value", "size")] * 2
    assert "own.csv:3:19" in again.err
    assert len(json.loads(destage("measured", "show", "own", "--json").out)) == 4


def test_a_name_is_taken_once(destage: Any, results: Path) -> None:
    command = ("measured", "import", str(results), "--name", "lab", "--array", "a")
    assert destage(*command).code == 0
    assert destage(*command).issues == [("store.measured-set-exists", "lab")]
    assert destage(*command, "--replace").code == 0


def test_measured_is_a_table_beside_runs(destage: Any, results: Path, study: Path) -> None:
    done = destage("measured", "import", str(results), "--name", "lab", "--array", "a")
    assert done.code == 0, done.err
    done = destage("run", str(study), "--quiet")
    assert done.code == 0, done.err
    statement = (
        "SELECT workload, m.throughput_iops AS measured, max(r.throughput_iops) AS simulated "
        "FROM measured AS m, runs AS r GROUP BY ALL"
    )
    rows = json.loads(destage("query", "small", statement, "--json").out)
    assert {row["workload"]: row["measured"] for row in rows}["seqread"] == pytest.approx(8417.582418)
    described = json.loads(destage("query", "small", "DESCRIBE measured", "--json").out)
    meanings = {row["column_name"]: (row["unit"], row["meaning"]) for row in described}
    assert all(meaning for _, meaning in meanings.values())
    assert meanings["response_p95_us"] == ("us", "95th percentile of the response time of reads and writes")
    of_runs = json.loads(destage("query", "small", "DESCRIBE SELECT response_p95_us FROM runs", "--json").out)
    assert (of_runs[0]["unit"], of_runs[0]["meaning"]) == meanings["response_p95_us"]
    assert "measured" in destage("query", "small", "SHOW TABLES").out
    assert "8 KiB" in destage("query", "small", "SELECT request_bytes FROM measured").out


@pytest.mark.usefixtures("sweep")
def test_without_sets_the_table_is_empty(destage: Any) -> None:
    assert json.loads(destage("query", "small", "FROM measured", "--json").out) == []


DEPTHS = """\
name: depths
scenario:
  workload:
    streams:
      - name: mix
        arrival: {kind: fixed_outstanding, depth: 16}
        operations: {read_fraction: 0.7, size: {kind: constant, value: 8KiB}}
        address: {kind: uniform, footprint: 32MiB}
  controller: {cache: {capacity: 0}}
  array:
    raid: "0"
    stripe_unit: 64KiB
    disk: {kind: server, servers: 8, service: {kind: exponential, mean: 200us}, capacity: 1GB}
    disks: 1
  run: {warm_up: none, window: {requests: 2000}}
axes: {workload.streams.0.arrival.depth: [8, 16]}
replicates: 2
"""


def test_a_measured_set_is_compared_and_drawn(destage: Any, results: Path) -> None:
    """Eight servers of 200 us carry 40,000 requests per second; fio measured 38,045 on another disk."""
    (results.parent / "depths.yaml").write_text(DEPTHS)
    destage("run", "depths.yaml", "--quiet")
    destage("measured", "import", str(results), "--name", "lab", "--array", "a")
    done = destage("compare", "depths", "--measured", "lab")
    assert done.code == 0
    assert "measured   line 2: mix, outstanding I/Os 16" in done.out
    assert "simulated  depth 16" in done.out
    assert "line 1: seqread" in done.err
    assert (
        "no point has outstanding I/Os 4, request size 64 KiB, read fraction 1, random fraction 0" in done.err
    )
    found = json.loads(destage("compare", "depths", "--measured", "lab", "--json").out)
    (pair,) = found["pairs"]
    rate = pair["results"][0]
    assert rate["column"] == "throughput_iops"
    assert rate["ratio"] == pytest.approx(rate["simulated"] / 38044.865404)
    assert rate["ratio"] == pytest.approx(40000 / 38045, rel=0.1)
    assert len(found["worst"]) == 3
    assert [each["name"] for each in found["unpaired_points"]] == ["depth 8"]
    assert destage("compare", "depths", "--measured", "lab", "--format", "csv").out.count("\n") > 3
    assert destage("report", "depths", "--measured", "lab", "--plot", "measured").out.startswith("<svg")
    assert destage("report", "depths", "--measured", "none").issues == [
        ("store.unknown-measured-set", "none")
    ]


def test_on_needs_a_measured_set(destage: Any) -> None:
    assert destage("compare", "a", "b", "--on", "threads=users").issues == [
        ("usage.conflicting-options", "--on")
    ]
    assert destage("compare", "a", "b", "--measured", "x").issues == [("usage.conflicting-options", "OTHER")]


@pytest.mark.usefixtures("sweep")
def test_a_damaged_set_fails_only_statements_that_read_it(destage: Any, results: Path) -> None:
    destage("measured", "import", str(results), "--name", "lab", "--array", "a")
    (file,) = (results.parent / "store" / "measured" / "lab").iterdir()
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    assert destage("query", "small", "SELECT count(*) AS measured FROM runs").code == 0
    assert destage("query", "small", "marginals").code == 0
    for _ in range(2):
        assert destage("query", "small", "FROM measured").issues == [("store.damaged-file", str(file))]


def test_the_busiest_time_of_a_log_is_imported(destage: Any, results: Path) -> None:
    """Of three reports of a second, the last two have the most requests."""
    shutil.copy(DATA / "iostat-12.6.1.txt", results.with_name("iostat.txt"))
    named = ("--name", "lab", "--array", "a")
    done = destage("measured", "import", "iostat.txt", *named, "--busiest", "2s")
    assert done.code == 0
    (row,) = json.loads(destage("measured", "show", "lab", "--json").out)
    assert (row["duration_s"], row["throughput_iops"]) == (2.0, (7702 + 8257 + 43) / 2)
    assert row["measured_at"] == "2026-11-23 10:43:37"
    refused = destage("measured", "import", "fio.json", *named, "--replace", "--busiest", "1h")
    assert refused.issues == [("measured.no-times", "")]
    wrong = destage("measured", "import", "iostat.txt", *named, "--replace", "--busiest", "0s")
    assert wrong.issues == [("usage.out-of-range", "--busiest")]


def test_a_device_of_a_log_is_imported_alone(destage: Any, results: Path) -> None:
    head = "Linux 6.1 (host) 11/02/2026 _x86_64_ (2 CPU)\n\n"
    report = "Device r/s rkB/s r_await w/s wkB/s w_await aqu-sz %util\n"
    report += "".join(f"{name} 10 40 1 0 0 0 0.1 10\n" for name in ("sda", "sdb", "dm-0"))
    results.with_name("iostat.txt").write_text(head + f"{report}\n" * 3)
    command = ("measured", "import", "iostat.txt", "--name", "lab", "--array", "a", "--replace")

    def list_devices(*options: str) -> list[str]:
        assert destage(*command, *options).code == 0
        return [row["workload"] for row in json.loads(destage("measured", "show", "lab", "--json").out)]

    assert list_devices() == ["sda", "sdb", "dm-0"]
    assert "sda, sdb, dm-0; --device" in destage(*command).err
    assert list_devices("--device", "sdb") == ["sdb"]
    assert list_devices("--device", "dm-0", "--device", "sda") == ["sda", "dm-0"]
    unknown = destage(*command, "--device", "sdc")
    assert unknown.issues == [("measured.unknown-device", "--device")]
    assert "sda, sdb, dm-0" in unknown.err
    load = ("measured", "import", "fio.json", "--name", "fio", "--array", "a", "--device", "sda")
    assert destage(*load).issues == [("measured.unknown-device", "--device")]
