"""Each command of each page is executed, in the page's order, beside the files that the page shows.

`ELSEWHERE` has the commands that need a server, and which tests execute those.
"""

import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from documented_commands import ELSEWHERE, NOT_EXECUTED, PAGES, ROOT, read_commands
from documented_files import shorten, write_files, write_recordings, write_results
from served_sweep import serve

ANSWERED_NO = {"size --have array.yaml": "the addition does not fit"}
"""What commands contain that exit with 1, and the answer that says so."""
SYNOPSES = (
    "destage measured import FILE... --name NAME --array LABEL [--device NAME] [--replace] [--store STORE]",
    "destage measured show NAME [--format csv]",
    "destage measured delete NAME",
)
SWEEPS = {
    " cheapest": "seeking",
    " knee": "seeking",
    " pareto": "seeking",
    " --on threads=users": "labelled",
    " --on workload=label": "labelled",
}
"""The sweep that SWEEP stands for beside a text; others: `sweep`."""


def measure_simulated(destage: Any) -> dict[str, tuple[float, float]]:
    """Return figures of the jobs on the array of docs/calibrating.md; its firmware takes 200 us."""
    array = ("--on", "raid5x4", "--disk", "u320_10k_36gb")
    assert destage("workload", "import", "jobs.fio", "--study", *array, "--out", "truth.yaml").code == 0
    study = yaml.safe_load(Path("truth.yaml").read_text())
    study["name"] = "truth"
    study["scenario"].setdefault("controller", {})["firmware"] = {"command_time": "200us"}
    Path("truth.yaml").write_text(yaml.safe_dump(study))
    assert destage("run", "truth.yaml", "--quiet", "--store", "truth").code == 0
    statement = "SELECT label, throughput_iops AS rate, response_mean_us AS response FROM points"
    rows = json.loads(destage("query", "truth", statement, "--store", "truth", "--json").out)
    return {row["label"]: (row["rate"], row["response"]) for row in rows}


def prepare(destage: Any, page: str) -> None:
    """Run what the commands of a page expect to have been run."""
    destage("run", "study.yaml", "--quiet")
    if page == "docs/calibrating.md":
        Path("results.json").write_text(write_results(measure_simulated(destage)))
    if page == "docs/guide.md":
        for study in ("sweeps/studies/call_center_curve.yaml", "seeking.yaml", "examples/first-sweep.yaml"):
            assert destage("run", study, "--quiet").code == 0
        for name in ("before", "after"):
            Path(f"{name}.yaml").write_text(
                Path("study.yaml").read_text().replace("name: sweep", f"name: {name}")
            )
            assert destage("run", f"{name}.yaml", "--quiet").code == 0
    if page == "docs/measured-figures.md":
        assert destage("run", "labelled.yaml", "--quiet").code == 0
        assert destage("measured", "import", "lab.csv", "--name", "lab", "--array", "a").code == 0
    if page in {"docs/traces.md", "docs/validating-a-disk.md"}:
        write_recordings(Path.cwd())


def list_executed(page: str) -> Iterator[str]:
    """Yield the commands of a page that are executed here."""
    for command in read_commands(page):
        is_elsewhere = any(part in command for part in (*ELSEWHERE, *NOT_EXECUTED))
        if command not in SYNOPSES and not is_elsewhere:
            yield command


def run_destage(destage: Any, command: str) -> str:
    """Run a `destage` command, and return its error."""
    text, _, source = command.removeprefix("destage ").partition(" < ")
    sweep = next((name for part, name in SWEEPS.items() if part in command), "sweep")
    words = [sweep if word == "SWEEP" else word for word in shlex.split(text)]
    if words[0] in {"run", "calibrate"} and Path(f"sweeps/studies/{words[1]}.yaml").exists():
        words[1] = f"sweeps/studies/{words[1]}.yaml"  # the short form
    if words[-1] == "-":
        words[-1] = Path(source).read_text() if source else "SELECT 1 AS one"
    if "--serve" in words:
        (path,) = Path("destage-store/sweeps").glob(f"{sweep}-*")
        with serve(path, *words[2:]) as served:
            served.await_report("distinct runs")
            return ""
    done = destage(*words)
    if "--out ours.yaml" in text and done.code == 0:  # docs/calibrating.md simulates 4,608 windows of 20 s
        study = yaml.safe_load(Path("ours.yaml").read_text())
        Path("ours.yaml").write_text(yaml.safe_dump(shorten(study)))
    is_right = done.code == any(part in text for part in ANSWERED_NO)
    return "" if is_right else done.err[-600:]


def run_duckdb(_: Any, command: str) -> str:
    """Run the SQL of a command of DuckDB, and return its error."""
    try:
        duckdb.sql(shlex.split(command)[2]).fetchall()
    except duckdb.Error as error:
        return str(error)
    return ""


def run_python(_: Any, command: str) -> str:
    """Run a Python program of the project, and return its error."""
    program, *arguments = shlex.split(command)[1:]
    run = [sys.executable, str(ROOT / program), *arguments]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    return done.stderr[-600:] if done.returncode else ""


PROGRAMS: Mapping[str, Callable[[Any, str], str]] = {
    "destage": run_destage,
    "duckdb": run_duckdb,
    "python": run_python,
}


@pytest.mark.long
@pytest.mark.parametrize("page", [page for page in PAGES if any(list_executed(page))])
def test_the_commands_of_a_page_work(
    destage: Any, page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(page, tmp_path)
    monkeypatch.delenv("DESTAGE_STORE")
    prepare(destage, page)
    errors = {command: PROGRAMS[command.split()[0]](destage, command) for command in list_executed(page)}
    failures = [f"{command}\n    {error}" for command, error in errors.items() if error]
    assert not failures, "\n".join(failures)


def test_every_command_is_executed() -> None:
    commands = [command for page in PAGES for command in read_commands(page)]
    assert {command.split()[0] for page in PAGES for command in list_executed(page)} <= {*PROGRAMS}
    parts = (*ELSEWHERE, *NOT_EXECUTED, *ANSWERED_NO, *SWEEPS, *SYNOPSES)
    assert [part for part in parts if not any(part in command for command in commands)] == []
    for file in {*ELSEWHERE.values()}:
        assert (ROOT / file).exists()
