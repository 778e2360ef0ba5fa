"""The verbs beside sweeps, and what the command line is like as a whole."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import typer.main

from destage.cli import app
from destage.sweeps import studies

PGBENCH = Path(__file__).parents[2] / "examples" / "pgbench.parquet"


def test_every_verb_has_help_and_json(destage: Any) -> None:
    command = typer.main.get_command(app)
    groups = ("cluster", "study", "trace", "validate", "workload")
    verbs = {(name,): one for name, one in command.commands.items() if name not in groups}
    for group in groups:
        verbs |= {(group, name): one for name, one in command.commands[group].commands.items()}
    for verb, one in verbs.items():
        done = destage(*verb, "--help")
        assert done.code == 0
        # What only pods call speaks to the verb that had it called.
        assert verb == ("schema",) or one.hidden or "--json" in done.out, verb


def test_help_is_quick_and_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom destage.cli import app\n"
        "try:\n app(['--help'])\n"
        "except SystemExit:\n"
        " heavy = {'pyarrow', 'duckdb', 'ray', 'polars', 'numpy', 'destage.engine', 'destage.sweeps'}\n"
        " print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_nothing_asked_shows_the_help(destage: Any) -> None:
    done = destage()
    assert done.code == 2
    assert done.out == ""
    assert "Run a study" in done.err


def test_version(destage: Any) -> None:
    assert destage("--version").out.startswith("destage 0.")


def test_simulate_prints_a_row(destage: Any, study: Path) -> None:
    row = json.loads(destage("simulate", str(study), "--set", "workload.users=3", "--json").out)
    assert row["status"] == "ok"
    assert row["requests"] == 300
    printed = destage("simulate", str(study)).out
    assert "mean response time of reads and writes" in printed
    assert "timeline" not in printed


def test_simulate_prints_the_timeline_of_a_run_with_faults(destage: Any, study: Path) -> None:
    faults = "faults=[{kind: mains_lost, at: 10ms, duration: 1s}]"
    printed = destage("simulate", str(study), "--set", faults).out
    events = [line.split()[2] for line in printed.partition("\ntimeline\n")[2].splitlines()]
    assert events[:2] == ["window_begins", "mains_lost"]
    assert [event for event in events if event.startswith("hosts")] == ["hosts_back"]
    assert events[-1] == "window_ends"


@pytest.mark.parametrize(
    ("assignment", "told"),
    [
        ("workload.users", "PATH=VALUE"),
        ("workload.usres=3", "did you mean 'users'"),
        ("array.disks=3.5", "array.disks"),
        ("workload.users=[", "--set workload.users:1:2: not YAML"),
        ("array.raid.x=3", "'5', which has no fields"),
    ],
)
def test_an_assignment_that_cannot_be(destage: Any, study: Path, assignment: str, told: str) -> None:
    done = destage("simulate", str(study), "--set", assignment)
    assert done.code == 2
    assert told in done.err


def test_the_catalogue_tells_sources_and_doubts(destage: Any) -> None:
    entry = json.loads(destage("catalog", "disks", "u320_10k_36gb", "--json").out)
    assert entry["source"]
    assert "seek.track_to_track" in entry["typical"]
    assert set(json.loads(destage("catalog", "--json").out)) == {"controllers", "disks", "workloads"}
    assert "source:" in destage("catalog", "disks", "u320_10k_36gb").out


def test_schemas_are_json_schemas(destage: Any) -> None:
    for of in ("study", "scenario"):
        schema = json.loads(destage("schema", of).out)
        assert schema["$schema"].startswith("https://json-schema.org/")
    assert "axes" in json.loads(destage("schema").out)["properties"]


def test_columns_are_told_with_units(destage: Any) -> None:
    columns = {column["name"]: column for column in json.loads(destage("columns", "--json").out)}
    assert columns["response_p95_us"]["unit"] == "us"
    assert "[us]" in destage("columns").out


def test_the_doctor_finds_nothing_missing(destage: Any) -> None:
    done = destage("doctor", "--json")
    assert done.code == 0
    assert json.loads(done.out)["problems"] == []


def test_bundled_studies_are_listed_and_shown(destage: Any) -> None:
    assert "call_center" in json.loads(destage("study", "list", "--json").out)
    assert destage("study", "show", "call_center").out.rstrip() == studies.text("call_center").rstrip()


def test_a_trace_keeps_all_when_converted(destage: Any, tmp_path: Path) -> None:
    def info(trace: Path) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads(destage("trace", "info", str(trace), "--digest", "--json").out)
        return facts

    facts = info(PGBENCH)
    assert (facts["records"], facts["flushes"], facts["reads"] + facts["writes"]) == (
        229_916,
        31_322,
        198_594,
    )
    copy = tmp_path / "copy.parquet"
    destage("trace", "convert", str(PGBENCH), str(copy))
    assert info(copy)["digest"] == facts["digest"]
    assert pq.read_table(copy).equals(pq.read_table(PGBENCH))
    assert destage("trace", "convert", str(PGBENCH), "copy.txt").code == 2
