"""The job file of docs/measured-figures.md by the real fio, on a small file and for a shorter time."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from documented_commands import FIO, find_commands
from documented_files import write_files_of

pytestmark = pytest.mark.fio
PAGE = "docs/measured-figures.md"
_DESTAGE = "from destage.cli import app; app()"


def test_the_results_of_fio_are_imported(tmp_path: Path) -> None:
    jobs = tmp_path / "jobs.fio"
    write_files_of(PAGE, jobs)
    # Not every file system of a container has direct I/O.
    small = {"size=.*": "size=16m", "runtime=.*": "runtime=1", "direct=1": "direct=0"}
    text = jobs.read_text()
    for line, ours in small.items():
        text, count = re.subn(f"(?m)^{line}$", ours, text)
        assert count == 1
    jobs.write_text(text)
    (measure,) = find_commands(PAGE, FIO)
    subprocess.run(shlex.split(measure), cwd=tmp_path, check=True)
    (import_results,) = find_commands(PAGE, "import results.json")
    for command in (import_results, "destage measured show old --format csv"):
        done = subprocess.run(
            [sys.executable, "-c", _DESTAGE, *shlex.split(command)[1:]],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (command, done.stderr)
    assert len(done.stdout.splitlines()) == 1 + len(re.findall(r"(?m)^\[(?!global)", text))
