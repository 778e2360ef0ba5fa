"""A lack of open files or memory is reported as that, and never as damage of a store."""

import errno
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from small_studies import small_study

from destage.errors import MachineError
from destage.sql import Database
from destage.store.files.layout import SweepLayout
from destage.store.fragment_files.adoption import adopt_fragments
from destage.store.opened.file_checks import check_sweep
from destage.sweeps import parse_study, run
from destage.system_failures import find_shortage, read_shortage

PROGRAM = "from destage.cli import app; app()"
FEW_FILES = (8, 9, 10, 11, 12, 14, 16)
"""With fewer, Python itself ends."""


def run_limited(limit: int, value: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process with a limit."""
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=lambda: resource.setrlimit(limit, (value, value)),
    )


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run a sweep of twelve runs."""
    study = parse_study(small_study("small", "workload.users: [5, 10, 15, 20, 25, 30]"))
    return Path(str(run(study, tmp_path_factory.mktemp("store"), executor="inline").path))


@pytest.mark.parametrize("command", ["sql", "resume", "doctor"])
def test_too_few_open_files_are_no_damage(sweep: Path, command: str) -> None:
    arguments = {
        "sql": ("query", str(sweep), "SELECT count(*) AS n, avg(response_mean_us) AS m FROM runs", "--json"),
        "resume": ("run", str(sweep), "--json"),
        "doctor": ("admin", "doctor", "--store", str(sweep.parent.parent)),
    }[command]
    codes = set()
    for count in FEW_FILES:
        done = run_limited(resource.RLIMIT_NOFILE, count, *arguments)
        assert "damage" not in done.stdout + done.stderr.replace("no file is damaged", "")
        assert "quarantine" not in done.stderr
        if done.returncode and "{" in done.stdout:
            codes |= {error["code"] for error in json.loads(done.stdout)["errors"]}
            assert done.returncode == 4, done
    assert codes <= {"system.too-many-open-files"}
    assert command != "sql" or codes
    assert not (sweep / "quarantine").exists()
    assert not check_sweep(SweepLayout(sweep)).problems


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOMEM])
def test_a_fragment_that_cannot_be_opened_stays_where_it_is(
    sweep: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    before = sorted(path.name for path in (sweep / "fragments").iterdir())

    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("pyarrow.parquet.ParquetFile", fail)
    layout = SweepLayout(sweep)
    for read in (lambda: adopt_fragments(layout), lambda: check_sweep(layout)):
        with pytest.raises(MachineError) as caught:
            read()
        assert caught.value.data["errno"] == number
        assert caught.value.code.startswith("system.")
    assert sorted(path.name for path in (sweep / "fragments").iterdir()) == before
    assert not (sweep / "quarantine").exists()


@pytest.mark.parametrize("mebibytes", [300, 586, 1000, 2000])
@pytest.mark.parametrize("command", ["sql", "run", "report"])
def test_a_small_address_space_ends_in_one_line(
    sweep: Path, tmp_path: Path, command: str, mebibytes: int
) -> None:
    study = tmp_path / "small.yaml"
    study.write_text(small_study("small", "workload.users: [5]"))
    arguments = {
        "sql": ("query", str(sweep), "SELECT 1"),
        "run": ("run", str(study), "--store", str(tmp_path)),
        "report": ("report", str(sweep)),
    }[command]
    done = run_limited(resource.RLIMIT_AS, mebibytes << 20, *arguments)
    assert done.returncode == 4
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("error: system.out-of-memory at ulimit -v: ")


def test_an_error_of_a_library_is_known_by_its_text() -> None:
    text = 'IO Error: Cannot open file "x.parquet": Too many open files'
    known = read_shortage(text, "x")
    assert known is not None
    assert (known.code, known.place) == ("system.too-many-open-files", "x")
    for error in (MemoryError(), RuntimeError("can't start new thread"), OSError(errno.ENOMEM, "no")):
        assert (shortage := find_shortage(error)) is not None
        assert shortage.code == "system.out-of-memory"
    for other in (OSError(errno.EIO, "Input/output error"), ValueError("damaged"), RuntimeError("")):
        assert find_shortage(other) is None


def test_a_statement_without_a_file_to_open_has_the_code() -> None:
    with Database({}) as database, pytest.raises(MachineError) as caught:
        database.query("SELECT error('IO Error: Cannot open file: Too many open files')")
    assert caught.value.code == "system.too-many-open-files"
