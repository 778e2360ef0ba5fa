"""The command line as a whole, and the commands that need no sweep."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from destage.cli import app
from destage.sweeps import studies

PGBENCH = Path(__file__).parents[2] / "examples" / "pgbench.parquet"


def test_every_command_has_help_and_json(destage: Any) -> None:
    command = app.build_command()
    commands = {(name,): one for name, one in command.commands.items() if not hasattr(one, "commands")}
    for group in command.commands.keys() - {name for (name,) in commands}:
        commands |= {(group, name): one for name, one in command.commands[group].commands.items()}
    for words, one in commands.items():
        done = destage(*words, "--help")
        assert done.code == 0
        # Hidden commands are for pods, and `schema` prints nothing but JSON.
        assert words == ("catalog", "schema") or one.hidden or "--json" in done.out, words


def test_every_help_text_is_one_sentence_with_a_verb_first() -> None:
    """Each begins with a capital, ends with a full stop, and fits an overview of commands."""
    command = app.build_command()
    for group in (command, *(one for one in command.commands.values() if hasattr(one, "commands"))):
        for name, one in group.commands.items():
            first = one.help.partition("\n\n")[0]
            assert first[0].isupper(), name
            assert first.endswith("."), name
            assert first.count(". ") == 0, name


def test_help_loads_no_heavy_dependency() -> None:
    code = (
        "import sys\nfrom destage.cli import app\n"
        "try:\n app(['--help'])\n"
        "except SystemExit:\n"
        " heavy = {'pyarrow', 'duckdb', 'ray', 'polars', 'numpy', 'destage.engine', 'destage.sweeps'}\n"
        " print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_no_arguments_show_the_help(destage: Any) -> None:
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


def test_simulate_names_an_assumed_locality(destage: Any, tmp_path: Path) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text(
        "workload: {use: vdi}\ncontroller: {use: smart_array_p400_512}\n"
        "array: {raid: '10', disks: 8, disk: {use: u320_10k_72gb}}\n"
        "run: {warm_up: none, window: {requests: 300}}\n"
    )
    sentence = "Rests on an assumed locality: Zipf 0.9 over 20 GB (preset vdi)."
    assert destage("simulate", str(file)).out.endswith(f"\n\n{sentence}\n")
    *_, stage, locality = json.loads(destage("simulate", str(file), "--json").out)["remarks"]
    assert stage.startswith("Estimated from data sheets: ")
    assert locality == sentence
    own = "workload.streams=[{name: desktop, address: {kind: uniform, footprint: 20GB}}]"
    assert "assumed" not in destage("simulate", str(file), "--set", own).out


def test_simulate_prints_the_timeline_of_faults(destage: Any, study: Path) -> None:
    faults = "faults=[{kind: mains_lost, at: 10ms, duration: 1s}]"
    printed = destage("simulate", str(study), "--set", faults).out
    events = [line.split()[2] for line in printed.partition("\ntimeline\n")[2].splitlines()]
    assert events[:2] == ["window_begins", "mains_lost"]
    assert [event for event in events if event.startswith("hosts")] == ["hosts_back"]
    assert events[-1] == "window_ends"


@pytest.mark.parametrize(
    ("assignment", "issue"),
    [
        ("workload.users", ("usage.bad-assignment", "--set")),
        ("workload.users=[", ("usage.bad-assignment", "--set")),
        ("array.raid.x=3", ("usage.bad-assignment", "--set")),
        ("workload.streams.7.name=x", ("usage.bad-assignment", "--set")),
        ("workload.usres=3", ("scenario.unknown-key", "--set workload.usres")),
        ("array.disks=3.5", ("scenario.wrong-type", "--set array.disks")),
    ],
)
def test_an_impossible_assignment_is_rejected(
    destage: Any, study: Path, assignment: str, issue: tuple[str, str]
) -> None:
    done = destage("simulate", str(study), "--set", assignment)
    assert (done.code, done.issues) == (2, [issue])


def test_the_catalogue_shows_sources(destage: Any) -> None:
    entry = json.loads(destage("catalog", "show", "u320_10k_36gb", "--json").out)
    assert entry["source"]
    assert "seek.track_to_track" in entry["typical"]
    listed = json.loads(destage("catalog", "list", "--json").out)
    assert set(listed) == {"controllers", "disks", "workloads", "studies", "examples"}
    assert "source:" in destage("catalog", "show", "u320_10k_36gb").out
    assert "\nnvme: true\n" in destage("catalog", "show", "pm9a3_7680gb").out
    first = json.loads(destage("catalog", "show", "first-sweep.yaml", "--json").out)
    assert f"name: {first['name']}\n" in destage("catalog", "show", "first-sweep.yaml").out


def test_schemas_are_json_schemas(destage: Any) -> None:
    for of in ("study", "scenario"):
        schema = json.loads(destage("catalog", "schema", of).out)
        assert schema["$schema"].startswith("https://json-schema.org/")
    assert "axes" in json.loads(destage("catalog", "schema").out)["properties"]


def test_columns_have_units(destage: Any) -> None:
    columns = json.loads(destage("catalog", "list", "columns", "--json").out)["columns"]
    assert columns["response_p95_us"]["unit"] == "us"
    assert "[us]" in destage("catalog", "list", "columns").out
    assert "float [us] " in destage("catalog", "show", "response_p95_us").out


def test_bundled_studies_are_listed_and_shown(destage: Any) -> None:
    assert "call_center" in json.loads(destage("catalog", "list", "studies", "--json").out)["studies"]
    shown = destage("catalog", "show", "call_center", "--kind", "studies").out
    assert shown.rstrip() == studies.text("call_center").rstrip()


def test_a_converted_trace_keeps_its_content(destage: Any, tmp_path: Path) -> None:
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
