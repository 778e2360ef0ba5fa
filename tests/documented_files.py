"""The files that the commands of a page need: those that it shows, and others that it names."""

import json
import re
import shutil
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml
from documented_commands import BLOCK, ROOT
from external_data import require_shared
from small_studies import small_study
from validation.disksim_samples import SPECS
from validation.test_disksim_electronics import SYSTEM

_DATA = Path(__file__).parent / "measured" / "data"
_NAMED = re.compile(r"^[;#] (\S+\.\w+)$")


class _Loader(yaml.SafeLoader):
    """Reads `on` as a text, as YAML 1.2 does."""


_BOOL = "tag:yaml.org,2002:bool"
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _BOOL]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(_BOOL, re.compile(r"^(?:true|false)$"), "tf")

WHOLE = {"first-sweep"}
"""Studies that run as they are: they take seconds, or a command names the digest of their sweep."""
SEEKING = """\
name: seeking
scenario:
  workload: {use: call_center}
  controller: {use: smart_array_p410_256}
  array: {raid: "5", disks: 4, disk: {use: savvio_10k4}}
  run: {warm_up: {requests: 500}, window: {requests: 2000}}
axes:
  array.disks: [4, 6, 8]
  controller.cache.capacity: [0, 64MiB, 256MiB]
seek: {maximize: workload.users, subject_to: ["response_p95 <= 30ms"], max: 4096}
replicates: 2
"""
LABELLED = """\
name: labelled
scenario:
  workload: {use: call_center}
  array: {raid: "0", disks: 4, disk: {use: savvio_10k4}}
  run: {warm_up: none, window: {requests: 300}}
points: [{label: few, workload.users: 5}, {label: many, workload.users: 10}]
replicates: 2
"""
FIGURES = """\
workload,operation,read share,access,size,threads,iops,latency mean
few,randrw,0.5,random,6KiB,5,24,8ms
many,randrw,0.5,random,6KiB,10,48,9ms
"""


def shorten(study: dict[str, Any]) -> dict[str, Any]:
    """Return a study with short windows, two replicates, and few of its draws, trials and sampled points."""
    run = study["scenario"].setdefault("run", {})
    if run.get("window") != "whole":
        run |= {"warm_up": {"requests": 500}, "window": {"requests": 2000}}
    short = {**study, "replicates": 2}
    if "design" in study:
        short["design"] = {**study["design"], "points": 16}
    if "search" in study:
        short["search"] = {**study["search"], "trials": 8, "batch": 4}
    if "calibrate" in study:
        waves = {**study["calibrate"].get("waves", {}), "points": 64, "most": 1, "effective": 4}
        figures = study["calibrate"]["figures"].values()
        for window in [one["set"] for one in figures]:
            window.pop("run.window.duration", None)
        short["calibrate"] = {**study["calibrate"], "waves": waves}
    return short


def write_files(page: str, folder: Path) -> None:
    """Write the files that a page shows, and what its commands read beside them.

    Studies of the project that take minutes are shorter (`shorten`).
    """
    for name in ("examples", "sweeps"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.py"))
    for file in (*(folder / "examples").glob("*.yaml"), *(folder / "sweeps" / "studies").glob("*.yaml")):
        study = yaml.load(file.read_text(encoding="utf-8"), _Loader)  # noqa: S506 - a safe one
        if "scenario" in study and study["name"] not in WHOLE:
            file.write_text(yaml.safe_dump(shorten(study), sort_keys=False), encoding="utf-8")
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
    log = (_DATA / "iostat-12.6.1.txt").read_text()
    (folder / "iostat.log").write_text(log.replace("vda ", "sda "))
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
    for _, kind, text in BLOCK.findall((ROOT / page).read_text(encoding="utf-8")):
        first = text.partition("\n")[0].strip()
        if named := _NAMED.match(first):
            (folder / named[1]).write_text(text)
        elif kind == "yaml" and (name := re.match(r"name: (\S+)$", first)) and "\nscenario:" in text:
            (folder / f"{name[1]}.yaml").write_text(text)
        elif kind == "toml":
            (folder / "my_disk.toml").write_text(text)
    if not (folder / "jobs.fio").exists():
        write_files_of("docs/measured-figures.md", folder / "jobs.fio")
    (folder / "results.json").write_text(write_results({}))
    (folder / "next.fio").write_text("[next]\nrw=randread\nbs=8k\nsize=1g\niodepth=8\n")
    (folder / "seeking.yaml").write_text(SEEKING)
    (folder / "labelled.yaml").write_text(LABELLED)
    (folder / "lab.csv").write_text(FIGURES)


def write_recordings(folder: Path) -> None:
    """Write the traces that docs/traces.md and docs/validating-a-disk.md name, which may not be committed."""
    shutil.copy(require_shared("traces/captured/pgbench.blk.xz"), folder)
    for name, source, kind in (
        ("hm_0.csv.gz", "msr-hm0-1000.csv", "gzip"),
        ("tencent.csv.zst", "tencent-5000.csv", "zstd"),
    ):
        with pa.CompressedOutputStream(str(folder / name), kind) as file:
            file.write(require_shared(f"traces/{source}").read_bytes())
    for name in ("cheetah9LP.trace.xz", "atlas10k.trace.xz", "atlas10k.model", "atlas10k.seek"):
        shutil.copy(require_shared(f"traces/disksim/{name}"), folder)
    shutil.copy(folder / "atlas10k.trace.xz", folder / "mine.trace.xz")
    (folder / "mine.diskspecs").write_text(SPECS.replace("hand.model", "atlas10k.model"))
    system = SYSTEM.replace("hand.diskspecs", "mine.diskspecs")
    (folder / "atlas10k.parv").write_text(f"{system}disksim_iodriver DRIVER {{ type = 1 }}\n")


def write_files_of(page: str, file: Path) -> None:
    """Write the file that another page shows under its name."""
    for _, _, text in BLOCK.findall((ROOT / page).read_text(encoding="utf-8")):
        named = _NAMED.match(text.partition("\n")[0].strip())
        if named and named[1] == file.name:
            file.write_text(text)


def write_results(figures: dict[str, tuple[float, float]]) -> str:
    """Return results of fio for the jobs of docs/measured-figures.md.

    Args:
        figures: Requests per second and the mean response [us] of jobs; others have 1,000 at 1 ms.
    """
    document = json.loads((_DATA / "fio-3.33-grouped.json").read_text())
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
