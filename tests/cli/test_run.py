"""From a study to its answers by the command line: what goes to stdout, what to stderr, with which code."""

import csv
import html
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest


def test_a_study_runs_to_its_design_space_and_report(destage: Any, study: Path) -> None:
    done = destage("run", str(study), "--executor", "inline")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0].split()[:2] == ["battery", "state"]
    assert len(lines) == 1 + 4
    told = done.err.splitlines()
    summary = next(place for place, line in enumerate(told) if "8 runs there; 8 executed (inline" in line)
    answer = told[summary + 1 : -1]
    assert answer, "the answer in words stands between the summary and the report's place"
    report = Path(told[-1].removeprefix("report: "))
    page = report.read_text()
    assert "How fast is a small array?" in page
    assert all(html.escape(sentence, quote=False) in page for sentence in answer)

    again = destage("run", str(study), "--executor", "inline", "--json", "--report", "r.html")
    assert again.code == 0
    data = json.loads(again.out)
    assert (data["outcome"]["executed"], data["outcome"]["reused"]) == (0, 8)
    assert data["report"] == "r.html"
    assert len(data["design_space"]) == 4
    assert Path("r.html").read_text().count("<svg") == report.read_text().count("<svg")

    assert json.loads(destage("status", "--json").out).popitem()[1]["finished"] is True
    assert destage("resume", "small", "--executor", "inline").code == 0
    assert json.loads(destage("verify", "small", "--sample", "50%", "--json").out) == {
        "checked": 4,
        "different": [],
    }


def test_nothing_is_written_by_a_plan(destage: Any, study: Path, tmp_path: Path) -> None:
    done = destage("plan", str(study))
    assert done.code == 0
    assert "8 runs, 0 of them in the store; this is all" in done.out
    assert json.loads(destage("plan", str(study), "--json").out)["runs"] == 8
    assert [path.name for path in tmp_path.iterdir()] == ["small.yaml"]


@pytest.fixture
def sweep(destage: Any, study: Path) -> str:
    assert destage("run", str(study), "--executor", "inline", "--quiet").code == 0
    return "small"


def test_queries_in_every_format(destage: Any, sweep: str, tmp_path: Path) -> None:
    rows = json.loads(destage("query", sweep, "design_space", "--json").out)
    assert [(row["controller.battery.state"], row["workload.users"]) for row in rows] == [
        ("present", 5),
        ("present", 10),
        ("absent", 5),
        ("absent", 10),
    ]
    written = list(
        csv.DictReader(io.StringIO(destage("query", sweep, "design_space", "--format", "csv").out))
    )
    assert [float(row["response_p95_us"]) for row in written] == [row["response_p95_us"] for row in rows]
    out = tmp_path / "rows.parquet"
    assert destage("query", sweep, "design_space", "--format", "parquet", "--out", str(out)).code == 0
    assert pq.read_table(out)["response_p95_us"].to_pylist() == [row["response_p95_us"] for row in rows]
    assert destage("query", sweep, "design_space", "--format", "markdown").out.startswith(
        "| battery state | users |"
    )
    assert "runs_summary" in destage("query", sweep).out


def test_a_parameter_changes_the_answer(destage: Any, sweep: str) -> None:
    def limits(*param: str) -> set[str]:
        rows = json.loads(destage("query", sweep, "design_space", "--json", *param).out)
        return {row["limiting"] for row in rows}

    assert limits("--param", "idle=1") == {"host"}
    assert "host" not in limits("--param", "idle=0")
    assert "allowed: idle" in destage("query", sweep, "design_space", "--param", "idel=0").err
    assert "'x' is not a number" in destage("query", sweep, "design_space", "--param", "idle=x").err


def test_sql_reads_and_only_reads(destage: Any, sweep: str) -> None:
    statement = "SELECT users, count(*) AS n FROM runs GROUP BY users ORDER BY users"
    assert json.loads(destage("sql", sweep, statement, "--json").out) == [
        {"workload.users": 5, "n": 4},
        {"workload.users": 10, "n": 4},
    ]
    for refused in (
        "COPY runs TO 'x.csv'",
        "SELECT 1; SELECT 2",
        "SELECT * FROM read_csv('/etc/passwd')",
        "ATTACH 'x'",
    ):
        done = destage("sql", sweep, refused)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith("error: ")
        assert len(done.err.splitlines()) == 1
    assert not Path("x.csv").exists()


def test_one_figure_as_svg(destage: Any, sweep: str) -> None:
    assert destage("report", sweep, "--plot", "response_against_cache").out.startswith("<svg xmlns=")
    done = destage("report", sweep, "--plot", "response_against_cache", "--out", "docs/f.svg")
    assert done.out == "docs/f.svg\n"
    assert Path("docs/f.svg").read_text().startswith("<svg")
    assert "there are: response_against_cache" in destage("report", sweep, "--plot", "nope").err


def test_an_interrupted_sweep_says_how_to_go_on(study: Path, tmp_path: Path) -> None:
    study.write_text(study.read_text().replace("replicates: 2", "replicates: 5000"))
    command = [sys.executable, "-c", "from destage.cli import app; app()"]
    arguments = ["run", str(study), "--executor", "inline", "--store", str(tmp_path / "store")]
    process = subprocess.Popen(
        [*command, *arguments], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    fragments = tmp_path / "store" / "sweeps"
    deadline = time.monotonic() + 60
    while not list(fragments.glob("*/fragments/*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert out == ""
    assert "finishing what is under way; once more aborts" in err
    assert "continue with: destage resume" in err


def test_a_reader_that_leaves_is_no_error(destage: Any, sweep: str, tmp_path: Path) -> None:
    del destage
    code = "from destage.cli import app; app()"
    command = f"{sys.executable} -c '{code}' sql {sweep}"
    pipe = command + " 'FROM range(1000000)' --format csv | head -1"
    environment = {**os.environ, "DESTAGE_STORE": str(tmp_path / "store")}
    done = subprocess.run(  # noqa: S602 - a pipe is what is tested
        pipe, shell=True, capture_output=True, text=True, env=environment, check=False
    )
    assert done.stdout == '"range"\n'
    assert done.stderr == ""


@pytest.mark.parametrize("verb", [("query",), ("sql", "FROM points"), ("report",)])
def test_figures_of_an_unfinished_sweep_are_said_to_be_so(
    destage: Any, sweep: str, tmp_path: Path, verb: tuple[str, ...]
) -> None:
    asked = (verb[0], sweep, *verb[1:])
    assert "unfinished" not in destage(*asked).err
    next((tmp_path / "store" / "sweeps").glob("*/finished")).unlink()
    done = destage(*asked)
    assert done.code == 0
    assert "is unfinished: these are the figures so far" in done.err


def test_an_answer_below_the_range_is_a_bound_that_holds(destage: Any, study: Path) -> None:
    text = study.read_text().replace("  workload.users: [5, 10]\n", "")
    seek = "seek: {maximize: workload.users, subject_to: [response_p95 <= 1us], min: 500, max: 600}"
    study.write_text(f"{text}\n{seek}\n")
    done = destage("run", str(study), "--executor", "inline")
    assert done.code == 0, done
    assert "≤ 499" in done.out
    assert "at most 499 users" in done.err
