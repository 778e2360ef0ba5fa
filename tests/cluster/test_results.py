"""Results are fetched once, whole, and asked where they lie; here the pod is this process."""

import io
import json
import shutil
import tarfile
from pathlib import Path

import pyarrow as pa
import pytest
from in_process_pod import Pod, is_tar

from destage.cluster import results
from destage.errors import ClusterError, StoreError
from destage.store import open_sweep
from destage.store.fragments import write_fragment
from destage.store.layout import SweepLayout
from destage.store.rows import rows_schema


def rows(*run_ids: str) -> pa.Table:
    made = [{"run_id": run_id, "status": "ok", "prov_attempt": 0} for run_id in run_ids]
    return pa.Table.from_pylist(made, schema=rows_schema())


@pytest.fixture
def there(tmp_path: Path) -> SweepLayout:
    """Return a sweep as it lies on the volume, a half-written file and a lease among it."""
    layout = SweepLayout(tmp_path / "volume" / "sweeps" / "small-01")
    layout.make()
    layout.spec.write_text("name: small\n")
    layout.lease.write_text("held")
    for number in range(5):
        write_fragment(layout.fragments, rows(f"{number:032x}", f"{number + 50:032x}"))
    (layout.fragments / ".half.worker.1.tmp").write_bytes(b"PAR1")
    return layout


@pytest.fixture
def pod(tmp_path: Path, there: SweepLayout) -> Pod:
    """Return the pod that mounts it."""
    assert there.spec.is_file()
    return Pod(tmp_path / "volume")


def test_a_fetch_brings_every_row_and_nothing_of_the_writers(
    pod: Pod, there: SweepLayout, tmp_path: Path
) -> None:
    told: list[tuple[int, int]] = []
    found = results.fetch(pod, "small-01", tmp_path / "here", lambda done, total: told.append((done, total)))
    assert open_sweep(found.path).rows().equals(open_sweep(there.root).rows())
    assert (found.files, found.kept) == (6, 0)
    assert told[-1] == (found.size, found.size)
    names = {path.name for path in found.path.rglob("*") if path.is_file()}
    assert not any(name.endswith(".tmp") for name in names)
    assert (found.path / "lease").read_bytes() == b""


def test_what_is_here_is_not_fetched_again_and_what_is_rewritten_is(
    pod: Pod, there: SweepLayout, tmp_path: Path
) -> None:
    first = results.fetch(pod, "small-01", tmp_path / "here")
    write_fragment(there.fragments, rows("f" * 32))
    there.spec.write_text("name: small\nquestion: new\n")
    there.finished.touch()
    again = results.fetch(pod, "small-01", tmp_path / "here")
    assert (again.files, again.kept) == (2, 5)
    assert open_sweep(first.path).spec()["question"] == "new"
    assert open_sweep(first.path).rows().num_rows == 11
    assert SweepLayout(first.path).finished.is_file()


def test_a_fetch_that_broke_off_goes_on_where_it_did(
    pod: Pod, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "_MOST_PATHS", 2)
    pod.break_off(2)
    with pytest.raises(ClusterError, match=r"goes on from there|did not send"):
        results.fetch(pod, "small-01", tmp_path / "here")
    found = results.fetch(pod, "small-01", tmp_path / "here")
    assert found.kept >= 1
    assert open_sweep(found.path).rows().num_rows == 10


def test_a_pod_that_sends_what_nobody_asked_for_is_not_believed(pod: Pod, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        member = tarfile.TarInfo("../../escaped")
        member.size = 1
        archive.addfile(member, io.BytesIO(b"x"))
    pod.spoil = lambda command, data: buffer.getvalue() if is_tar(command) else data
    with pytest.raises(ClusterError, match="nobody asked for"):
        results.fetch(pod, "small-01", tmp_path / "here")
    assert not list(tmp_path.rglob("escaped"))


def test_a_fragment_that_was_damaged_on_the_way_is_seen(pod: Pod, tmp_path: Path) -> None:
    pod.spoil = lambda command, data: data.replace(b"PAR1", b"PAR0") if is_tar(command) else data
    with pytest.raises(StoreError, match="is torn"):
        results.fetch(pod, "small-01", tmp_path / "here")
    pod.spoil = lambda _, data: data
    found = results.fetch(pod, "small-01", tmp_path / "here")
    assert open_sweep(found.path).rows().num_rows == 10


def test_how_far_a_sweep_is_is_read_from_the_store_and_sql_is_asked_there(
    pod: Pod, there: SweepLayout
) -> None:
    remote = results.find_results(pod, "")
    assert (remote.name, remote.status["planned"], remote.status["finished"]) == ("small-01", 0, False)
    with pytest.raises(ClusterError, match="no results yet of other-02"):
        results.find_results(pod, "other-02")
    answer = json.loads(results.query(pod, "small-01", "SELECT 1 AS one", "json"))
    assert answer == [{"one": 1}]
    with pytest.raises(ClusterError, match="SELECT"):
        results.query(pod, "small-01", "DROP TABLE runs", "json")
    shutil.copytree(there.root, there.root.parent / "small-02")
    with pytest.raises(ClusterError, match=r"holds 2 sweeps: .*--sweep"):
        results.find_results(pod, "")
