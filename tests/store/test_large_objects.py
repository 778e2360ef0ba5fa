"""An object of gigabytes in place of a file of a sweep is not read into memory."""

import shutil
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyarrow.fs import LocalFileSystem
from small_studies import small_study

from destage.errors import StoreError
from destage.objects import ObjectPath, Version, object_path
from destage.objects.arrow_bucket import ArrowBucket
from destage.queries import open_session
from destage.queries.exports.report_record import read_summary
from destage.store import open_sweep
from destage.store.fragment_files.fragments import NotAFragmentError, open_fragment
from destage.store.locks.object_lease import find_live_flag, hold_object_lease
from destage.sweeps import parse_study, run

HOLE = 400 << 20
MOST = 150 << 20
"""Peak of the memory of Python's objects [bytes]: of pieces, not of the hole."""


class FolderBucket(ArrowBucket):
    """A folder in place of a bucket, whose objects may have holes."""

    def read_version(self, key: str) -> Version:
        found = self.find(key)
        if found is None:
            raise FileNotFoundError(key)
        return Version(str(found.modified_at), found.size)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of a finished sweep."""
    text = small_study("small", "array.disks: [4, 6]", requests=100)
    return Path(str(run(parse_study(text), tmp_path_factory.mktemp("finished"), executor="inline").path))


@pytest.fixture
def folder(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the sweep's objects."""
    monkeypatch.setattr(object_path, "open_bucket", lambda *_: FolderBucket(LocalFileSystem(), str(tmp_path)))
    return shutil.copytree(finished, tmp_path / "sweeps" / finished.name)


def make_hole(folder: Path, pattern: str) -> ObjectPath:
    """Replace a file by one of `HOLE` bytes, and return it as an object."""
    place = next(folder.glob(pattern))
    with place.open("wb") as file:
        file.truncate(HOLE)
    return ObjectPath.parse("s3://bucket") / "/".join(place.relative_to(folder.parents[1]).parts)


@pytest.fixture
def peak() -> Iterator[Callable[[], int]]:
    """Return a function that returns the peak of the memory so far."""
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("pattern", "code"),
    [("generations/*.json", "store.head-restored"), ("generations/*-study-*", "store.study-restored")],
)
def test_a_head_or_study_is_restored(folder: Path, peak: Callable[[], int], pattern: str, code: str) -> None:
    with open_session(make_hole(folder, pattern).parent.parent) as session:
        assert session.warnings[0].code == code
        assert session.sql("SELECT count(*) AS n FROM runs").to_pylist() == [{"n": 4}]
    assert peak() < MOST


def test_a_plan_is_damaged(folder: Path, peak: Callable[[], int]) -> None:
    place = make_hole(folder, "generations/*-plan-0-*")
    with pytest.raises(StoreError) as caught:
        open_session(place.parent.parent)
    assert (caught.value.code, caught.value.place) == ("store.damaged-file", str(place))
    assert peak() < MOST


def test_a_fragment_is_damaged(folder: Path, peak: Callable[[], int]) -> None:
    place = make_hole(folder, "fragments/*.parquet")
    with pytest.raises(NotAFragmentError) as caught, open_fragment(place):
        pass
    assert caught.value.code == "store.damaged-fragment"
    assert peak() < MOST


def test_a_lease_names_no_holder(folder: Path, peak: Callable[[], int]) -> None:
    (folder / "flags").mkdir()
    (folder / "flags" / "flag.json").touch()
    flag = make_hole(folder, "flags/flag.json")
    assert find_live_flag(flag.parent) == b""
    with pytest.raises(StoreError) as caught, hold_object_lease(flag.parent, b"{}"):
        pass
    assert caught.value.code == "store.locked"
    assert peak() < MOST


def test_a_report_is_rendered_again(folder: Path, peak: Callable[[], int]) -> None:
    (folder / "report.html").touch()
    assert read_summary(make_hole(folder, "report.html"), "inputs") is None
    assert peak() < MOST


def test_a_whole_object_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in pieces, which those above the largest one at once are."""
    monkeypatch.setattr("destage.store.files.digests._AT_ONCE", 100)
    with open_session(ObjectPath.parse("s3://bucket") / "sweeps" / folder.name) as session:
        assert session.warnings == ()
        assert session.sql("SELECT count(*) AS n FROM runs").to_pylist() == [{"n": 4}]
    assert open_sweep(folder).spec()["name"] == "small"
