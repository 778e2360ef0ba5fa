"""Results are fetched completely and once, and queried on the cluster; this process is the pod."""

import io
import json
import shutil
import tarfile
from pathlib import Path

import pyarrow as pa
import pytest
from error_codes import has_code
from in_process_pod import InProcessPod, is_tar
from small_stores import publish

from destage.cluster.in_pod import fetched_results
from destage.errors import ClusterError
from destage.store import open_sweep
from destage.store.files.layout import SweepLayout
from destage.store.fragment_files.fragments import write_fragment
from destage.store.fragment_files.stored_rows import rows_schema
from destage.store.state.head import list_heads, read_head


def rows(*run_ids: str) -> pa.Table:
    made = [{"run_id": run_id, "status": "ok", "prov_attempt": 0} for run_id in run_ids]
    return pa.Table.from_pylist(made, schema=rows_schema())


@pytest.fixture
def remote(tmp_path: Path) -> SweepLayout:
    """Return a sweep on the volume, with a temporary file and a lease."""
    layout = SweepLayout(tmp_path / "volume" / "sweeps" / "small-01")
    publish(layout, study="name: small\n")
    layout.lease.write_text("held")
    for number in range(5):
        write_fragment(layout.fragments, rows(f"{number:032x}", f"{number + 50:032x}"))
    (layout.fragments / ".half.worker.1.tmp").write_bytes(b"PAR1")
    return layout


@pytest.fixture
def pod(tmp_path: Path, remote: SweepLayout) -> InProcessPod:
    """Return the pod with the volume."""
    assert list_heads(remote)
    return InProcessPod(tmp_path / "volume")


def test_a_fetch_has_every_row_and_no_files_of_the_writer(
    pod: InProcessPod, remote: SweepLayout, tmp_path: Path
) -> None:
    assert isinstance(remote.copies, Path)
    remote.copies.mkdir()
    (remote.copies / "may-be-gone.parquet").write_bytes(b"of a reader")
    reports: list[tuple[int, int]] = []
    found = fetched_results.fetch_results(
        pod, "small-01", tmp_path / "here", lambda done, total: reports.append((done, total))
    )
    assert open_sweep(found.path).rows().equals(open_sweep(remote.root).rows())
    assert (found.files, found.kept) == (8, 0)  # five fragments, study, head and claim
    assert reports[-1] == (found.size, found.size)
    names = {path.name for path in found.path.rglob("*") if path.is_file()}
    assert not any(name.endswith(".tmp") for name in names)
    assert (found.path / "lease").read_bytes() == b""


def test_only_new_and_rewritten_files_are_fetched_again(
    pod: InProcessPod, remote: SweepLayout, tmp_path: Path
) -> None:
    first = fetched_results.fetch_results(pod, "small-01", tmp_path / "here")
    write_fragment(remote.fragments, rows("f" * 32))
    publish(remote, study="name: small\nquestion: new\n", finished=True)
    again = fetched_results.fetch_results(pod, "small-01", tmp_path / "here")
    # Heads and claims have no digest in their names: those of both generations are fetched.
    assert (again.files, again.kept) == (6, 6)
    assert open_sweep(first.path).spec()["question"] == "new"
    assert open_sweep(first.path).rows().num_rows == 11
    head = read_head(SweepLayout(first.path))
    assert head is not None
    assert head.finished


def test_an_interrupted_fetch_continues(
    pod: InProcessPod, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetched_results, "_BATCH_FILES", 2)
    pod.truncate(2)
    with pytest.raises(ClusterError, check=has_code("cluster.download-truncated")):
        fetched_results.fetch_results(pod, "small-01", tmp_path / "here")
    found = fetched_results.fetch_results(pod, "small-01", tmp_path / "here")
    assert found.kept >= 1
    assert open_sweep(found.path).rows().num_rows == 10


def test_files_that_were_not_requested_are_rejected(pod: InProcessPod, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        member = tarfile.TarInfo("../../escaped")
        member.size = 1
        archive.addfile(member, io.BytesIO(b"x"))
    pod.damage = lambda command, data: buffer.getvalue() if is_tar(command) else data
    with pytest.raises(ClusterError, check=has_code("cluster.unexpected-file")):
        fetched_results.fetch_results(pod, "small-01", tmp_path / "here")
    assert not list(tmp_path.rglob("escaped"))


def test_a_damaged_fragment_is_fetched_again(pod: InProcessPod, tmp_path: Path) -> None:
    pod.damage = lambda command, data: data.replace(b"PAR1", b"PAR0") if is_tar(command) else data
    with pytest.raises(ClusterError, check=has_code("cluster.download-damaged")):
        fetched_results.fetch_results(pod, "small-01", tmp_path / "here")
    pod.damage = lambda _, data: data
    found = fetched_results.fetch_results(pod, "small-01", tmp_path / "here")
    assert open_sweep(found.path).rows().num_rows == 10


def test_progress_and_queries_use_the_remote_store(pod: InProcessPod, remote: SweepLayout) -> None:
    found = fetched_results.find_results(pod, "")
    assert (found.name, found.status["planned"], found.status["finished"]) == ("small-01", 0, False)
    with pytest.raises(ClusterError, check=has_code("cluster.no-results")):
        fetched_results.find_results(pod, "other-02")
    answer = json.loads(fetched_results.query_results(pod, "small-01", "SELECT 1 AS one", "json"))
    assert answer == [{"one": 1}]
    with pytest.raises(ClusterError, check=has_code("cluster.pod-command-failed")):
        fetched_results.query_results(pod, "small-01", "DROP TABLE runs", "json")
    shutil.copytree(remote.root, remote.root.parent / "small-02")
    with pytest.raises(ClusterError, check=has_code("cluster.sweep-ambiguous")):
        fetched_results.find_results(pod, "")


@pytest.mark.parametrize(
    "path", ["/{}/escaped", "../escaped", "fragments/../../escaped", "fragments//escaped"]
)
@pytest.mark.parametrize("is_forged", [True, False])
def test_no_path_of_the_pod_leaves_the_sweep(
    pod: InProcessPod, tmp_path: Path, path: str, is_forged: bool
) -> None:
    """Neither a path in the list nor a file of that name in the archive is written."""
    path = path.format(str(tmp_path).lstrip("/"))

    def damage(command: tuple[str, ...], data: bytes) -> bytes:
        if "--list" in command:
            return data + f"7 {path}\n".encode()
        if is_tar(command) and is_forged:
            buffer = io.BytesIO(data)
            with tarfile.open(fileobj=buffer, mode="a") as archive:
                member = tarfile.TarInfo(path)
                member.size = 7
                archive.addfile(member, io.BytesIO(b"escaped"))
            return buffer.getvalue()
        return data

    pod.damage = damage
    if is_forged:
        with pytest.raises(ClusterError, check=has_code("cluster.unexpected-file")):
            fetched_results.fetch_results(pod, "small-01", tmp_path / "here")
    else:
        found = fetched_results.fetch_results(pod, "small-01", tmp_path / "here")
        assert found.left_out == (path,)
        assert open_sweep(found.path).rows().num_rows == 10
    assert not list(tmp_path.rglob("escaped"))


def test_an_object_named_as_a_folder_is_left_out(pod: InProcessPod, tmp_path: Path) -> None:
    pod.damage = lambda command, data: b"0 fragments\n" + data if "--list" in command else data
    found = fetched_results.fetch_results(pod, "small-01", tmp_path / "here")
    assert found.left_out == ("fragments",)
    assert open_sweep(found.path).rows().num_rows == 10


@pytest.mark.parametrize("name", ["../../x", "/x", "..", "", "a/b", "-x", "a\0b", ".hidden"])
def test_a_name_of_the_pod_is_that_of_a_folder(pod: InProcessPod, tmp_path: Path, name: str) -> None:
    status = {"planned": 1, "present": 1, "failed": 0, "rounds": 1, "finished": True, "writer": None}
    pod.damage = lambda _, __: json.dumps({name: status}).encode()
    with pytest.raises(ClusterError, check=has_code("cluster.unexpected-answer")):
        fetched_results.find_results(pod, "")
    with pytest.raises(ClusterError, check=has_code("cluster.unexpected-answer")):
        fetched_results.fetch_results(pod, name, tmp_path / "here")
    assert not (tmp_path / "here").exists()


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"[" * 100_000,
        b'{"small-01": null}',
        b'{"small-01": {"planned": "1"}}',
        b'{"small-01": {"planned": 1, "present": 1, "failed": 0, "rounds": 1, "finished": null}}',
        b'{"small-01": {"planned": -1, "present": 1, "failed": 0, "rounds": 1, "finished": true}}',
    ],
)
def test_an_answer_of_another_program_is_an_error(pod: InProcessPod, answer: bytes) -> None:
    pod.damage = lambda _, __: answer
    with pytest.raises(ClusterError, check=has_code("cluster.unexpected-answer")):
        fetched_results.find_results(pod, "")


def test_a_damaged_sweep_on_the_cluster_is_named(pod: InProcessPod) -> None:
    pod.damage = lambda _, __: b'{"small-01": {"error": "store.damaged-file at x"}}'
    with pytest.raises(ClusterError, check=has_code("cluster.sweep-unreadable")):
        fetched_results.find_results(pod, "")


@pytest.mark.parametrize("line", [b"x fragments/a\n", b"12\n", b"-1 a\n", b"\xff a\n", b"9" * 40 + b" a\n"])
def test_a_list_of_another_program_is_an_error(pod: InProcessPod, tmp_path: Path, line: bytes) -> None:
    pod.damage = lambda command, data: data + line if "--list" in command else data
    with pytest.raises(ClusterError, check=has_code("cluster.unexpected-answer")):
        fetched_results.fetch_results(pod, "small-01", tmp_path / "here")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE])
def test_only_regular_files_are_unpacked(pod: InProcessPod, tmp_path: Path, kind: bytes) -> None:
    def replace(command: tuple[str, ...], data: bytes) -> bytes:
        if not is_tar(command):
            return data
        buffer = io.BytesIO()
        with tarfile.open(fileobj=io.BytesIO(data)) as there, tarfile.open(fileobj=buffer, mode="w") as out:
            member = tarfile.TarInfo(there.getnames()[0])
            member.type, member.linkname = kind, "/etc/passwd"
            out.addfile(member)
        return buffer.getvalue()

    pod.damage = replace
    with pytest.raises(ClusterError, check=has_code("cluster.unexpected-file")):
        fetched_results.fetch_results(pod, "small-01", tmp_path / "here")


def test_a_fetch_has_the_exported_files_of_the_cluster(
    pod: InProcessPod, remote: SweepLayout, tmp_path: Path
) -> None:
    """Files of an earlier fetch, which may lack rows, are replaced or removed."""
    here = tmp_path / "here" / "sweeps" / "small-01"
    (remote.root / "points.parquet").write_bytes(b"first")
    fetched_results.fetch_results(pod, "small-01", tmp_path / "here")
    assert (here / "points.parquet").read_bytes() == b"first"
    (remote.root / "points.parquet").write_bytes(b"other")
    fetched_results.fetch_results(pod, "small-01", tmp_path / "here")
    assert (here / "points.parquet").read_bytes() == b"other"
    (remote.root / "points.parquet").unlink()
    fetched_results.fetch_results(pod, "small-01", tmp_path / "here")
    assert not (here / "points.parquet").exists()
