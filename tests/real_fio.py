"""The requests of the real fio: its null engine needs no disk, and `write_iolog` writes what it sends."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
from request_figures import Requests

_ACTIONS = {"read": 0, "write": 1, "sync": 2, "datasync": 2}
_REQUEST_FIELDS = 5
_SHORTEST = 0.2
_LONGEST = 30.0


def run_fio(job: str, names: list[str], count: int, folder: Path) -> dict[str, Requests]:
    """Return the first `count` requests of the first clone of each job, or all of a job that ends before.

    Args:
        job: The text of a job file, whose devices need not exist.
        names: The names of its jobs.
        folder: Where fio writes its logs.
    """
    seconds = _SHORTEST
    while True:
        (folder / "job.fio").write_text(_without_disk(job, seconds))
        for name in names:
            # fio appends to a log that is there.
            (folder / f"{name}.log").unlink(missing_ok=True)
        done = subprocess.run(
            [shutil.which("fio") or "fio", "--output=out.txt", "job.fio"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found = {name: _read_log(folder / f"{name}.log", count) for name in names}
        # A loaded machine sends fewer in the same time.
        is_timed = "time_based" in job and any(len(each.op) < count for each in found.values())
        if not is_timed or seconds > _LONGEST:
            return found
        seconds *= 2


def _without_disk(job: str, seconds: float) -> str:
    """Return the job file with the null engine and a log for each job, and the time in which it ends."""
    lines: list[str] = []
    for block in re.split(r"(?m)^(?=\[)", job):
        name = re.match(r"\[([^]]*)\]", block)
        lines.append(block.rstrip())
        if name is not None:
            # With several outstanding, the log has requests twice.
            lines += ["ioengine=null", "iodepth=1"]
            lines += [f"runtime={round(1000 * seconds)}ms"] if "time_based" in job else []
        if name is not None and name[1] != "global":
            lines.append(f"write_iolog={name[1]}.log")
        lines.append("")
    # The clones of a job would write one log; each has the same law.
    return re.sub(r"(?m)^numjobs=.*$", "", "\n".join(lines)).replace("/dev/", "no-device-")


def _read_log(log: Path, count: int) -> Requests:
    rows: list[tuple[int, int, int]] = []
    with log.open(encoding="utf-8") as file:
        for line in file:
            fields = line.split()
            if len(fields) == _REQUEST_FIELDS and fields[2] in _ACTIONS:
                op = _ACTIONS[fields[2]]
                rows.append((op, 0, 0) if op == _ACTIONS["sync"] else (op, int(fields[3]), int(fields[4])))
                if len(rows) == count:
                    break
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    return Requests(*columns)
