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
    """And each is a target of the Makefile."""
    guide = set(re.findall(r"^\| `make ([a-z-]+)` \|", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE))
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert guide == set(script.SUITES)
    assert guide <= set(targets)


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
    assert (tmp_path / "asked").read_text().split() == list(script.SUITES)
    assert "| test-rust | 2 | 0 | 0 |" in capsys.readouterr().out
    (tmp_path / "asked").unlink()
    assert script.main(["--make", make_program(tmp_path, "none"), "--from", "test-rust"]) == 0
    assert (tmp_path / "asked").read_text().split() == list(script.SUITES[script.SUITES.index("test-rust") :])
    assert capsys.readouterr().out.count("| 2 | 0 | 0 |") == len(script.SUITES)


def test_results_of_another_commit_do_not_count(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = make_program(tmp_path, "none")
    assert script.main(["--make", make]) == 0
    monkeypatch.setattr(script, "find_commit", lambda: "c2")
    assert script.main(["--make", make, "--from", "chaos"]) == 1
    stored = json.loads((tmp_path / "results" / "results.json").read_text())
    assert [each["suite"] for each in stored["results"]] == ["chaos", "image-test", "cluster-test"]


def test_an_unknown_suite_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "test_all.py"), "--from", "nothing"],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
