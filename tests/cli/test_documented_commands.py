"""Each `destage` command of each page is executed, in the page's order, beside the files that the page shows.

A command that takes minutes, reads what nobody may commit or needs a cluster is only parsed: its options
exist and have valid values. `PARSED` says which, and why.
"""

import json
import re
import shlex
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from small_studies import small_study

from destage.cli import app

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parents[1] / "measured" / "data"
PAGES = sorted(
    page.relative_to(ROOT).as_posix()
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))
    if "$ destage " in page.read_text(encoding="utf-8")
)
PARSED = {
    "run session_logon": "minutes: tests/published",
    "size --users 150..300": "minutes: tests/cli/test_size_ranges.py",
    "calibrate call_center_calibrated": "minutes: tests/published",
    "calibrate sql_bench_calibrated": "minutes: tests/published",
    "calibrate ours --on": "minutes: tests/cli/test_calibrate.py",
    "run sweeps/studies/call_center_curve.yaml": "minutes: tests/published",
    "run examples/where-a-cache-pays.yaml": "minutes",
    "run examples/destage-policies.yaml": "minutes",
    "run examples/pgbench-write-cache.yaml": "minutes: tests/system",
    "run examples/sampled-cache.yaml": "minutes",
    "run examples/price-or-users.yaml": "minutes: tests/system",
    "call_center_curve": "of a sweep that is not run here",
    "where-a-cache-pays": "of a sweep that is not run here",
    "destage-policies": "of a sweep that is not run here",
    "price-or-users": "of a sweep that is not run here",
    "before after": "of sweeps that are not run here",
    "s3://": "needs a bucket: tests/objects",
    "--ray-address": "needs a Ray cluster: tests/system",
    "cluster ": "needs a cluster: tests/kubernetes_cluster",
    "report SWEEP --serve": "serves until Ctrl-C: tests/server",
    "trace info pgbench.blk.xz": "a recording that may not be committed: tests/validation",
    "hm_0.csv.gz": "a trace that may not be committed: tests/validation",
    "tencent.csv.zst": "a trace that may not be committed: tests/validation",
    "admin validate": "measured disks that may not be committed: tests/validation",
    "--param cost=disks": "a study that seeks users",
    "SWEEP cheapest": "a study that seeks users",
    "SWEEP knee": "a study that seeks users",
    "SWEEP --measured lab": "a study of threads: tests/queries",
    "STUDY": "a sweep of a cluster",
}
"""What commands that are only parsed contain, and why they are not executed."""
ANSWERED_NO = {"size --have array.yaml": "the addition does not fit"}
"""What commands contain that exit with 1, and the answer that says so."""
_BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"^[;#] (\S+\.\w+)$")


def read_commands(page: str) -> list[str]:
    """Return the commands of Destage on a page, without comments."""
    found = []
    for indent, kind, text in _BLOCK.findall((ROOT / page).read_text(encoding="utf-8")):
        if kind != "console":
            continue
        lines = text.replace("\\\n", " ").splitlines()
        commands = [
            line.removeprefix(indent).removeprefix("$ ")
            for line in lines
            if f"{indent}$ " in line[: len(indent) + 2]
        ]
        found += [re.sub(r"\s+# .*$", "", line) for line in commands if line.startswith("destage ")]
    return found


def write_files(page: str, folder: Path) -> None:
    """Write the files that a page shows, and what its commands read beside them."""
    for name in ("examples", "sweeps"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "study.yaml").write_text(
        small_study("sweep", "workload.users: [5, 10]", "controller.battery.state: [present, absent]")
    )
    (folder / "questions.sql").write_text("SELECT count(*) AS n FROM runs;\n")
    (folder / "job.fio").write_text(
        "[one]\nrw=randread\nbs=8k\nsize=1g\nruntime=10\ntime_based\nioengine=libaio\ndirect=1\n"
    )
    (folder / "loops.vdb").write_text(
        "sd=sd1,lun=/dev/sdb,openflags=o_direct\nwd=wd1,sd=sd1,xfersize=8k,seekpct=100\n"
        "rd=rd1,wd=wd1,iorate=max,elapsed=60,forrdpct=(0,50,70,100),forthreads=(1,4,16,64)\n"
    )
    (folder / "mine.blk").write_text(
        "".join(
            f"8,0 0 {at + 1} {at / 50:.9f} 42 Q {'RW'[at % 2]} {at * 64 % 90_000} + 8 [db]\n"
            for at in range(400)
        )
    )
    header = "Timestamp,Type,Volume,Offset,Length\n"
    rows = [f"{at * 10},{'RW'[at % 2]},0,{at * 64},4" for at in range(100)]
    (folder / "export.csv").write_text(header + "".join(f"{row}\n" for row in rows))
    (folder / "export.txt").write_text(
        "".join(f"{at / 100}\tx\ty\tR\t{at * 4096}\t4096\n" for at in range(100))
    )
    for _, kind, text in _BLOCK.findall((ROOT / page).read_text(encoding="utf-8")):
        first = text.partition("\n")[0].strip()
        if named := _NAMED.match(first):
            (folder / named[1]).write_text(text)
        elif kind == "yaml" and (name := re.match(r"name: (\S+)$", first)) and "\nscenario:" in text:
            (folder / f"{name[1]}.yaml").write_text(text)
    if not (folder / "jobs.fio").exists():
        write_files_of("docs/measured-figures.md", folder / "jobs.fio")
    (folder / "results.json").write_text(write_results({}))


def write_files_of(page: str, file: Path) -> None:
    """Write the file that another page shows under its name."""
    for _, _, text in _BLOCK.findall((ROOT / page).read_text(encoding="utf-8")):
        named = _NAMED.match(text.partition("\n")[0].strip())
        if named and named[1] == file.name:
            file.write_text(text)


def write_results(figures: dict[str, tuple[float, float]]) -> str:
    """Return results of fio for the jobs of docs/measured-figures.md.

    Args:
        figures: Requests per second and the mean response [us] of jobs; others have 1,000 at 1 ms.
    """
    document = json.loads((DATA / "fio-3.33-grouped.json").read_text())
    jobs = []
    for number, (kind, depth) in enumerate(product(("read", "mix"), (1, 4, 16))):
        job = json.loads(json.dumps(document["jobs"][1]))
        name = f"{kind}-d{depth}"
        rate, response = figures.get(name, (1000.0, 1000.0))
        reads = {"read": 1.0, "mix": 0.7}[kind]
        for side, share in (("read", reads), ("write", 1 - reads)):
            side_of = job[side]
            side_of["iops"], side_of["total_ios"] = rate * share, int(20 * rate * share)
            side_of["bw_bytes"] = side_of["iops"] * 8192
            side_of["io_bytes"] = side_of["total_ios"] * 8192
            side_of["lat_ns"]["mean"] = response * 1000 if share else 0.0
            side_of["lat_ns"]["max"] = 20_000 * response
        job |= {"jobname": name, "groupid": number, "job_start": 1_700_000_000_000 + 30_000 * number}
        job["job options"] = {"name": name, "rw": "randrw", "bs": "8k", "iodepth": str(depth)}
        jobs.append(job)
    return json.dumps(document | {"jobs": jobs})


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


def parse(words: list[str]) -> None:
    """Parse a command without executing it."""
    command: Any = app.build_command()
    while hasattr(command, "commands"):
        command, words = command.commands[words[0]], words[1:]
    command.make_context("destage", words)


def adapt(page: str) -> Iterator[str]:
    """Yield the commands of a page with the names of its files."""
    for command in read_commands(page):
        if "FILE..." in command or command in {
            "destage measured show NAME [--format csv]",
            "destage measured delete NAME",
        }:
            continue  # a synopsis
        yield command


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_work(
    destage: Any, page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(page, tmp_path)
    monkeypatch.delenv("DESTAGE_STORE")
    destage("run", "study.yaml", "--quiet")
    if page == "docs/calibrating.md":
        Path("results.json").write_text(write_results(measure_simulated(destage)))
    failures = []
    for command in adapt(page):
        text, _, source = command.removeprefix("destage ").partition(" < ")
        words = ["sweep" if word == "SWEEP" else word for word in shlex.split(text)]
        if any(part in text for part in PARSED):
            try:
                parse(words)
            except click.ClickException as error:
                failures.append((command, error.format_message()))
            continue
        if words[-1] == "-":
            words[-1] = Path(source).read_text() if source else "SELECT 1 AS one"
        done = destage(*words)
        if done.code != any(part in text for part in ANSWERED_NO):
            failures.append((command, done.err[-600:]))
    assert not failures, "\n".join(f"{command}\n    {error}" for command, error in failures)


def test_what_is_only_parsed_is_on_a_page() -> None:
    commands = "\n".join(command for page in PAGES for command in read_commands(page))
    assert [part for part in (*PARSED, *ANSWERED_NO) if part not in commands] == []
