"""What pods beside a sweep run: pack, probe, discard."""

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from destage.cluster.archive import pack
from destage.store import list_sweeps
from destage.store.layout import SweepLayout
from destage.store.lease import hold_lease


@pytest.fixture
def sweep(destage: Any, study: Path) -> Path:
    """Run the small study, and return its sweep."""
    assert destage("run", str(study), "--executor", "inline", "--quiet").code == 0
    (path,) = list_sweeps()
    assert isinstance(path, Path)
    return path


def test_a_list_names_every_file_with_its_size(destage: Any, sweep: Path) -> None:
    lines = destage("cluster", "pack", sweep.name, "--list").out.splitlines()
    files = {
        path.relative_to(sweep).as_posix(): path.stat().st_size for path in sweep.rglob("*") if path.is_file()
    }
    assert {line.partition(" ")[2]: int(line.partition(" ")[0]) for line in lines} == files
    assert destage("cluster", "pack", "unknown", "--list").out == ""


def test_a_pack_holds_what_was_asked_for(destage: Any, sweep: Path) -> None:
    names = ["spec.yaml", "plan.parquet"]
    out = io.BytesIO()
    pack(sweep, names, out)
    out.seek(0)
    with tarfile.open(fileobj=out) as archive:
        found = {member.name: archive.extractfile(member) for member in archive}
        assert {name: file.read() for name, file in found.items() if file} == {
            name: (sweep / name).read_bytes() for name in names
        }
    missing = destage("cluster", "pack", sweep.name, "gone.parquet")
    assert missing.code == 1
    assert "gone.parquet" in missing.err


def test_a_probe_says_whether_the_store_can_be_written(
    destage: Any, sweep: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert sweep.is_dir()
    done = destage("cluster", "probe")
    assert (done.code, done.out) == (0, "")
    assert "can be written; it holds 1 sweeps" in done.err
    (tmp_path / "file").write_text("")
    refused = destage("cluster", "probe", "--store", str(tmp_path / "file"))
    assert refused.code == 1
    assert "cannot be written" in refused.err
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    lacking = destage("cluster", "probe", "--secret", "--store", "s3://bucket/p?region=us-east-1")
    assert lacking.code == 1
    assert "error: the Secret lacks AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY" in lacking.err


def test_a_sweep_is_discarded_whole_and_alone_and_not_while_it_is_written(
    destage: Any, sweep: Path, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study.write_text(study.read_text().replace("small", "other"))
    destage("run", str(study), "--executor", "inline", "--quiet")
    monkeypatch.setattr("destage.cli.driving._LEASE_S", 0.0)
    with hold_lease(SweepLayout(sweep).lease):
        refused = destage("cluster", "discard", sweep.name)
    assert refused.code == 1
    assert "is being written" in refused.err
    files = sum(path.is_file() for path in sweep.rglob("*"))
    assert destage("cluster", "discard", sweep.name).out == f"{sweep.name} {files}\n"
    assert not sweep.exists()
    assert [path.name.partition("-")[0] for path in list_sweeps()] == ["other"]


def test_these_verbs_are_not_shown_to_people(destage: Any) -> None:
    shown = destage("cluster", "--help").out
    assert "submit" in shown
    for verb in ("drive", "pack", "probe", "discard"):
        assert f" {verb} " not in shown


def test_a_verb_is_told_of_a_secret_of_google(
    destage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = tmp_path / "key.json"
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(key))
    for text, told in (
        (None, "the Secret lacks key.json"),
        ("-----BEGIN PRIVATE KEY-----", "key.json is no JSON"),
        (json.dumps({"client": 1}), "is no key of Google's"),
    ):
        if text is not None:
            key.write_text(text)
        assert told in destage("cluster", "probe", "--secret", "--store", "gs://bucket").err
