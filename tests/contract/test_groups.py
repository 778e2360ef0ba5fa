"""Tests of one group run in one process, as pytest-xdist has it; without this, they share nothing.

With pytest 9.2, pytest-xdist 3.8 ignored groups silently: studies of the long tests ran in both processes,
and a part of the intervals of a family was counted in each.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

GROUPED = """
import pytest

GROUPS = [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in "abc"]

@pytest.fixture(scope="module", params=GROUPS)
def grouped(request):
    return request.param

def test_one(grouped):
    pass

def test_two(grouped):
    pass
"""


def test_tests_of_a_group_run_in_one_process(tmp_path: Path) -> None:
    (tmp_path / "test_grouped.py").write_text(GROUPED)
    command = [sys.executable, "-m", "pytest", "-c", "/dev/null", "--rootdir", str(tmp_path), str(tmp_path)]
    run = subprocess.run(
        [*command, "--verbose", "--numprocesses", "2", "--dist", "loadgroup"],
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        capture_output=True,
        text=True,
        check=False,
    )
    processes: dict[str, set[str]] = {}
    for process, group in re.findall(r"\[(gw\d)\].* PASSED \S+\[(\w)\]", run.stdout):
        processes.setdefault(group, set()).add(process)
    assert sorted(processes) == ["a", "b", "c"], run.stdout + run.stderr
    assert all(len(used) == 1 for used in processes.values()), processes
