"""The hidden commands that pods run: pack, probe, discard."""

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from destage.cluster.in_pod.fetched_results import write_archive
from destage.store import list_sweeps
from destage.store.files.layout import SweepLayout
from destage.store.locks.lease import hold_lease


@pytest.fixture
def sweep(sweep: str, tmp_path: Path) -> Path:
    """Return the path of the finished sweep of the small study."""
    (path,) = (tmp_path / "store" / "sweeps").glob(f"{sweep}-*")
    return path


def test_a_list_names_every_file_with_its_size(destage: Any, sweep: Path) -> None:
    lines = destage("cluster", "pack", sweep.name, "--list").out.splitlines()
    files = {
        path.relative_to(sweep).as_posix(): path.stat().st_size for path in sweep.rglob("*") if path.is_file()
    }
    assert {line.partition(" ")[2]: int(line.partition(" ")[0]) for line in lines} == files
    assert destage("cluster", "pack", "unknown", "--list").out == ""


def test_an_archive_holds_the_requested_files(destage: Any, sweep: Path) -> None:
    names = [path.relative_to(sweep).as_posix() for path in sorted((sweep / "generations").glob("*-*-*"))]
    out = io.BytesIO()
    write_archive(sweep, names, out)
    out.seek(0)
    with tarfile.open(fileobj=out) as archive:
        found = {member.name: archive.extractfile(member) for member in archive}
        assert {name: file.read() for name, file in found.items() if file} == {
            name: (sweep / name).read_bytes() for name in names
        }
    missing = destage("cluster", "pack", sweep.name, "gone.parquet")
    assert (missing.code, missing.issues) == (1, [("system.file-not-found", str(sweep / "gone.parquet"))])


def test_a_probe_checks_the_store_and_the_secret(
    destage: Any, sweep: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert sweep.is_dir()
    done = destage("cluster", "probe")
    assert (done.code, done.out) == (0, "")
    assert "is writable (sweeps: 1)" in done.err
    (tmp_path / "file").write_text("")
    failed = destage("cluster", "probe", "--store", str(tmp_path / "file"))
    assert (failed.code, failed.issues) == (1, [("store.not-writable", str(tmp_path / "file"))])
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    failed = destage("cluster", "probe", "--secret", "--store", "s3://bucket/p?region=us-east-1")
    assert (failed.code, failed.issues[0][0]) == (1, "cluster.secret-incomplete")
    assert "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY" in failed.err


def test_only_an_unlocked_sweep_is_discarded(
    destage: Any, sweep: Path, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study.write_text(study.read_text().replace("small", "other"))
    destage("run", str(study), "--executor", "inline", "--quiet")
    monkeypatch.setattr("destage.cli.commands.cluster.pods._LEASE_S", 0.0)
    with hold_lease(SweepLayout(sweep).lease):
        failed = destage("cluster", "discard", sweep.name)
    assert (failed.code, failed.issues) == (1, [("store.locked", str(sweep))])
    files = sum(path.is_file() for path in sweep.rglob("*"))
    assert destage("cluster", "discard", sweep.name).out == f"{sweep.name} {files}\n"
    assert not sweep.exists()
    assert [path.name.partition("-")[0] for path in list_sweeps()] == ["other"]


def test_commands_for_pods_are_hidden(destage: Any) -> None:
    shown = destage("cluster", "--help").out
    assert "submit" in shown
    for command in ("drive", "pack", "probe", "discard"):
        assert f" {command} " not in shown


@pytest.mark.parametrize("text", [None, "-----BEGIN PRIVATE KEY-----", json.dumps({"client": 1})])
def test_a_probe_checks_a_key_file_of_google(
    destage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None
) -> None:
    key = tmp_path / "key.json"
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(key))
    if text is not None:
        key.write_text(text)
    done = destage("cluster", "probe", "--secret", "--store", "gs://bucket")
    assert (done.code, done.issues) == (1, [("cluster.secret-incomplete", "gs://bucket/")])
    assert "key.json" in done.err
