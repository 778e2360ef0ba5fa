"""`make test-all`: its suites, what it reads from their output, and that it goes on after a failure."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the script, which keeps its files in a folder of the test."""
    spec = importlib.util.spec_from_file_location("test_all", ROOT / "scripts" / "test_all.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["test_all"] = module
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "FOLDER", tmp_path / "results")
    monkeypatch.setattr(module, "find_commit", lambda: "c1")
    return module


def test_every_suite_of_the_contributors_guide_is_run(script: ModuleType) -> None:
    """In its order, which `FROM` counts in; and each is a target of the Makefile."""
    guide = tuple(
        re.findall(r"^\| `make ([a-z-]+)` \|", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    )
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert guide == script.SUITES
    assert set(guide) <= set(targets)


@pytest.mark.parametrize(
    ("log", "counts"),
    [
        ("==== 5 passed, 2 skipped in 3.10s ====", (5, 0, 2)),
        ("1 failed, 4 passed, 2 errors in 61.00s (0:01:01)", (4, 3, 0)),
        (
            "test result: ok. 7 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.1s",
            (7, 0, 1),
        ),
        ("3 passed in 1.0s\n==> next\n4 passed in 2.0s", (7, 0, 0)),
        ("12 passed tests are mentioned here", (0, 0, 0)),
    ],
)
def test_summaries_are_counted(script: ModuleType, log: str, counts: tuple[int, int, int]) -> None:
    result = script.read_result("lint", 0, log, 60.0)
    assert (result.passed, result.failed, result.skipped, result.minutes) == (*counts, 1.0)


@pytest.mark.parametrize(
    ("log", "is_good"),
    [
        ("5 passed in 3.10s", True),
        ("SKIPPED [1] tests/a.py:9: valgrind is not installed\n5 passed, 1 skipped in 3.10s", True),
        ("SKIPPED [1] tests/a.py:9: no weather\n5 passed, 1 skipped in 3.10s", False),
        ("SKIPPED [1] tests/a.py:9: valgrind is not installed\n5 passed, 2 skipped in 3.10s", False),
        ("skipped: namespaces, mounts and containerd need root", False),
        ("1 failed, 5 passed in 3.10s", False),
    ],
)
def test_a_skip_needs_a_reason_that_the_table_names(script: ModuleType, log: str, is_good: bool) -> None:
    assert script.read_result("test-python", 0, log, 1.0).is_good is is_good
    assert not script.read_result("test-python", 1, log, 1.0).is_good


def make_program(folder: Path, failing: str) -> str:
    """Return a program in place of make, which notes the suites that it is asked for."""
    program = folder / "make.sh"
    program.write_text(
        f'#!/bin/sh\necho "$1" >> {folder}/asked\necho "2 passed in 1.00s"\n[ "$1" != "{failing}" ]\n'
    )
    program.chmod(0o755)
    return str(program)


def test_it_goes_on_after_a_failure_and_can_be_resumed(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script.main(["--make", make_program(tmp_path, "test-rust")]) == 1
    assert sorted((tmp_path / "asked").read_text().split()) == sorted(script.SUITES)
    assert "| test-rust | 2 | 0 | 0 |" in capsys.readouterr().out
    (tmp_path / "asked").unlink()
    assert script.main(["--make", make_program(tmp_path, "none"), "--from", "test-rust"]) == 0
    due = script.SUITES[script.SUITES.index("test-rust") :]
    assert sorted((tmp_path / "asked").read_text().split()) == sorted(due)
    rows = re.findall(r"^\| ([a-z-]+) \| 2 \| 0 \| 0 \|", capsys.readouterr().out, re.MULTILINE)
    assert rows == list(script.SUITES)


def test_two_lanes_run_beside_each_other_after_the_suites_that_run_alone(
    script: ModuleType, tmp_path: Path
) -> None:
    """The first suite of each lane waits for that of the other, and would fail if it ran alone."""
    first, second = (lane[0] for lane in script.LANES)
    program = tmp_path / "make.sh"
    program.write_text(
        f"""#!/bin/sh
echo "$1" >> {tmp_path}/asked
case "$1" in {first}) other={second};; {second}) other={first};; *) exit 0;; esac
for _ in $(seq 100); do grep -qx $other {tmp_path}/asked && exit 0; sleep 0.1; done
exit 1
"""
    )
    program.chmod(0o755)
    assert script.main(["--make", str(program)]) == 0
    asked = (tmp_path / "asked").read_text().split()
    assert asked[: len(script.ONE_BY_ONE)] == list(script.ONE_BY_ONE)
    for lane in script.LANES:
        assert [suite for suite in asked if suite in lane] == list(lane)


def test_results_of_another_commit_do_not_count(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = make_program(tmp_path, "none")
    assert script.main(["--make", make]) == 0
    monkeypatch.setattr(script, "find_commit", lambda: "c2")
    assert script.main(["--make", make, "--from", "chaos"]) == 1
    stored = json.loads((tmp_path / "results" / "results.json").read_text())
    due = script.SUITES[script.SUITES.index("chaos") :]
    assert sorted(each["suite"] for each in stored["results"]) == sorted(due)


def test_an_unknown_suite_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "test_all.py"), "--from", "nothing"],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
