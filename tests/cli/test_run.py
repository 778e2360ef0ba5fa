"""From a study to its answers on the command line: stdout, stderr and exit codes."""

import csv
import html
import io
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from small_studies import small_study

from destage.store.files.layout import SweepLayout
from destage.store.state.head import claim_generation, read_head


def test_a_study_runs_to_its_design_space_and_report(destage: Any, study: Path) -> None:
    done = destage("run", str(study), "--executor", "inline")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0].startswith("response p95 [ms]")
    assert "battery state" in lines[0]
    assert lines[1 + 4] == ""
    answer = lines[1 + 4 + 1 :]
    assert answer, "the answer in words is printed below the table"
    notes = done.err.splitlines()
    assert any("8 runs, 8 executed (inline" in line for line in notes)
    report = Path(notes[-1].removeprefix("report: "))
    page = report.read_text()
    assert "How fast is a small array?" in page
    assert all(html.escape(sentence, quote=False) in page for sentence in answer)

    again = destage("run", str(study), "--executor", "inline", "--json", "--report", "r.html")
    assert again.code == 0
    data = json.loads(again.out)
    assert (data["outcome"]["executed"], data["outcome"]["reused"]) == (0, 8)
    assert data["answer"] == answer
    assert data["report"] == "r.html"
    assert len(data["design_space"]) == 4
    assert Path("r.html").read_text().count("<svg") == report.read_text().count("<svg")

    assert json.loads(destage("status", "--json").out).popitem()[1]["finished"] is True
    assert destage("run", "small", "--executor", "inline").code == 0
    verified = json.loads(destage("admin", "verify", "small", "--sample", "50%", "--json").out)
    assert (verified["planned"], verified["checked"], verified["problems"]) == (8, 4, [])


def test_a_sweep_that_has_not_changed_keeps_its_report(destage: Any, study: Path) -> None:
    first = destage("run", str(study), "--executor", "inline")
    report = Path(first.err.splitlines()[-1].removeprefix("report: "))
    written = report.stat().st_mtime_ns
    again = destage("run", str(study), "--executor", "inline")
    assert again.out == first.out
    assert report.stat().st_mtime_ns == written
    study.write_text(study.read_text().replace("workload.users: [5, 10]", "workload.users: [5, 10, 15]"))
    more = destage("run", str(study), "--executor", "inline")
    assert len(more.out.splitlines()) == len(first.out.splitlines()) + 2
    assert report.stat().st_mtime_ns > written
    assert "15 users" in report.read_text()


def test_a_plan_writes_nothing(destage: Any, study: Path, tmp_path: Path) -> None:
    done = destage("run", "--plan", str(study))
    assert done.code == 0
    assert "8 runs, 0 already in the store; no further rounds" in done.out
    assert json.loads(destage("run", "--plan", str(study), "--json").out)["runs"] == 8
    assert [path.name for path in tmp_path.iterdir()] == ["small.yaml"]


def test_queries_in_every_format(destage: Any, sweep: str, tmp_path: Path) -> None:
    rows = json.loads(destage("query", sweep, "design_space", "--json").out)
    assert [(row["battery_state"], row["users"]) for row in rows] == [
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
        "| response p95 [ms] (95 % CI) | throughput [IO/s] |"
    )
    assert "runs_summary" in destage("query", sweep).out


def test_a_parameter_changes_the_answer(destage: Any, sweep: str) -> None:
    def limits(*param: str) -> set[str]:
        rows = json.loads(destage("query", sweep, "design_space", "--json", *param).out)
        return {row["limiting"] for row in rows}

    assert limits("--param", "idle=1") == {"host"}
    assert "host" not in limits("--param", "idle=0")
    done = destage("query", sweep, "design_space", "--param", "idel=0")
    assert (done.code, done.issues) == (2, [("query.unknown-parameter", "design_space")])
    done = destage("query", sweep, "design_space", "--param", "idle=x")
    assert (done.code, done.issues) == (2, [("query.bad-parameter", "design_space.idle")])


def test_sql_is_read_only(destage: Any, sweep: str) -> None:
    statement = "SELECT users, count(*) AS n FROM runs GROUP BY users ORDER BY users"
    assert json.loads(destage("query", sweep, statement, "--json").out) == [
        {"users": 5, "n": 4},
        {"users": 10, "n": 4},
    ]
    for rejected, code in (
        ("COPY runs TO 'x.csv'", "query.statement-not-allowed"),
        ("SELECT 1; DROP VIEW points", "query.statement-not-allowed"),
        ("", "query.no-statement"),
        ("SELECT * FROM read_csv('/etc/passwd')", "query.access-denied"),
        ("ATTACH 'x'", "query.statement-not-allowed"),
    ):
        done = destage("query", sweep, rejected)
        assert (done.code, done.out, [found for found, _ in done.issues]) == (2, "", [code])
        assert len(done.err.splitlines()) == 1
    assert not Path("x.csv").exists()


def test_report_prints_the_answer_and_where_the_page_is(destage: Any, sweep: str) -> None:
    done = destage("report", sweep)
    sentences = done.out.splitlines()
    assert sentences
    assert all(sentence.endswith(".") for sentence in sentences)
    place = Path(done.err.splitlines()[-1].removeprefix("report: "))
    page = place.read_text()
    assert f'<p class="answer">{html.escape(sentences[0], quote=False)}</p>' in page
    assert json.loads(destage("report", sweep, "--json").out) == {"file": str(place), "answer": sentences}


def test_one_figure_as_svg(destage: Any, sweep: str) -> None:
    assert destage("report", sweep, "--plot", "response_against_cache").out.startswith("<svg xmlns=")
    done = destage("report", sweep, "--plot", "response_against_cache", "--out", "docs/f.svg")
    assert done.out == "docs/f.svg\n"
    assert Path("docs/f.svg").read_text().startswith("<svg")
    wrong = (("--plot", "response_against_cache", "--out", "f.png"), ("--out", "report.pdf"))
    for options in wrong:
        assert destage("report", sweep, *options).issues == [("usage.bad-file-type", "--out")]
    assert destage("report", sweep, "--plot", "nope").issues == [("query.unknown-plot", "")]


def test_an_interrupted_sweep_can_be_resumed(study: Path, tmp_path: Path) -> None:
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
    assert "warning: sweep.interrupted at small-" in err
    assert "run the same command again" in err


def test_a_closed_pipe_is_not_an_error(destage: Any, sweep: str, tmp_path: Path) -> None:
    del destage
    code = "from destage.cli import app; app()"
    command = f"{sys.executable} -c '{code}' query {sweep}"
    pipe = command + " 'FROM range(1000000)' --format csv | head -1"
    environment = {**os.environ, "DESTAGE_STORE": str(tmp_path / "store")}
    done = subprocess.run(  # noqa: S602 - a pipe is what is tested
        pipe, shell=True, capture_output=True, text=True, env=environment, check=False
    )
    assert done.stdout == '"range"\n'
    assert done.stderr == ""


@pytest.mark.parametrize("command", [("query",), ("query", "FROM points"), ("report",)])
def test_results_of_an_unfinished_sweep_have_a_warning(
    destage: Any, sweep: str, tmp_path: Path, command: tuple[str, ...]
) -> None:
    arguments = (command[0], sweep, *command[1:])
    assert not destage(*arguments).issues
    (path,) = (tmp_path / "store" / "sweeps").iterdir()
    head = read_head(SweepLayout(path))
    assert head is not None
    claim_generation(SweepLayout(path)).publish(replace(head, finished=False))
    done = destage(*arguments)
    assert (done.code, done.issues) == (0, [("sweep.unfinished", path.name)])


def test_an_answer_below_the_range_is_an_upper_bound(destage: Any, study: Path) -> None:
    text = study.read_text().replace("  workload.users: [5, 10]\n", "")
    seek = "seek: {maximize: workload.users, subject_to: [response_p95 <= 1us], min: 500, max: 600}"
    study.write_text(f"{text}\n{seek}\n")
    done = destage("run", str(study), "--executor", "inline")
    assert done.code == 0, done
    assert "≤ 499" in done.out
    assert "at most 499 users" in done.out


def test_a_target_is_a_file_before_a_sweep(destage: Any, study: Path, tmp_path: Path) -> None:
    assert destage("run", str(study), "--quiet").code == 0
    assert "8 runs, 0 executed, 8 reused" in destage("run", "small", "--quiet").err
    study.write_text(study.read_text().replace("disks: 4", "disks: 5"))
    assert destage("run", str(study), "--quiet").code == 0
    assert destage("run", "small", "--quiet").issues == [("store.ambiguous-sweep", "small")]
    (tmp_path / "small").write_text(small_study("other", "workload.users: [5]"))
    planned = json.loads(destage("run", "small", "--plan", "--no-estimate", "--json").out)
    assert Path(planned["sweep"]).name.startswith("other-")
    assert destage("run", "smell", "--quiet").issues == [("study.not-found", "smell")]
