"""Traces in buckets: downloaded once, equal to files, rejected if damaged or changed."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from objects.faulty_proxy import ALL, FaultyProxy
from objects.servers import Server

from destage import engine, sweeps
from destage.engine import traces
from destage.engine.traces import trace_streams
from destage.errors import TraceError
from destage.objects import ObjectPath, object_path
from destage.store import open_sweep

_DESTAGE = "from destage.cli import app; app()"
STUDY = """\
name: replayed
scenario:
  controller: {{use: smart_array_5i_plus}}
  array: {{raid: "5", disks: 4, disk: {{use: u320_10k_36gb}}}}
  workload:
    streams:
      - {{name: replay, arrival: {{kind: trace, file: "{trace}", mode: open}}}}
axes:
  controller.cache.write_fraction: [0, 1]
replicates: 2
"""


def table(count: int = 3000, gap_ns: int = 1_000_000) -> pa.Table:
    """Return a trace of writes and reads at random addresses, which compress badly."""
    drawn = np.random.default_rng(count)
    columns = {
        "t_ns": np.arange(count, dtype=np.uint64) * np.uint64(gap_ns),
        "lba_512": drawn.integers(0, 1 << 24, count).astype(np.uint64) * np.uint64(8),
        "op": drawn.integers(0, 2, count).astype(np.uint8),
    }
    constant = {"process": 1, "n_512": 16, "flags": 1}
    return pa.table(columns | {name: np.full(count, value) for name, value in constant.items()})


def compact(path: Path, **shape: int) -> bytes:
    """Write a trace in the compact form, and return the content of the file."""
    traces.write_parquet(traces.from_table(table(**shape)), path)
    return path.read_bytes()


@pytest.fixture(autouse=True)
def copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep copies in a folder of the test, and check the object at every use."""
    folder = tmp_path / "copies"
    monkeypatch.setenv("DESTAGE_TRACES", str(folder))
    monkeypatch.setattr(traces.copies, "_VERSION_LIFETIME_S", 0.0)
    return folder


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return the file of a trace."""
    path = tmp_path / "x.parquet"
    compact(path)
    return path


@pytest.fixture
def trace(store_url: str, file: Path) -> ObjectPath:
    """Return an object with the same content."""
    place = ObjectPath.parse(store_url) / "traces" / "x.parquet"
    place.write_bytes(file.read_bytes())
    return place


@pytest.fixture
def proxied(trace: ObjectPath, proxied_url: str, proxy: FaultyProxy) -> ObjectPath:
    """Return the same object, through the proxy."""
    place = ObjectPath.parse(proxied_url) / "traces" / trace.name
    assert place.read_version().size
    proxy.clear()
    return place


@pytest.fixture
def content(object_server: Server) -> str:
    """Return a part of path or query that only GET requests for the object's content have."""
    return "alt=media" if object_server.kind == "fake-gcs-server" else "x.parquet"


def count_gets(proxy: FaultyProxy, content: str) -> int:
    """Return the number of requests for the object's content."""
    return sum(1 for method, path in proxy.requests if method == "GET" and content in path)


def destage(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in another process."""
    command = [sys.executable, "-c", _DESTAGE, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def study(folder: Path, name: str, where: object) -> Path:
    """Write a study that replays a trace."""
    path = folder / f"{name}.yaml"
    path.write_text(STUDY.format(trace=where))
    return path


def test_info_and_mrc_of_an_object_equal_those_of_its_file(
    trace: ObjectPath, file: Path, tmp_path: Path
) -> None:
    for command in ("info", "mrc"):
        here, there = (destage("trace", command, str(place), "--json") for place in (file, trace))
        assert (here.returncode, there.returncode) == (0, 0), there.stderr
        of_file, of_object = json.loads(here.stdout), json.loads(there.stdout)
        assert of_object.pop("trace", None) == (str(trace) if command == "mrc" else None)
        of_file.pop("trace", None)
        assert of_file == of_object
    assert destage("trace", "convert", str(trace), str(tmp_path / "out.parquet")).returncode == 0
    assert traces.digest(tmp_path / "out.parquet") == traces.digest(str(trace)) == traces.digest(file)


def test_a_study_of_an_object_has_the_rows_of_its_file(trace: ObjectPath, file: Path, tmp_path: Path) -> None:
    results = []
    for name, place in (("file", file.name), ("object", trace)):
        loaded = sweeps.load_study(study(tmp_path, name, place))
        outcome = sweeps.run(loaded, tmp_path / name, executor="inline")
        assert outcome.state == "finished"
        results.append((loaded.id, open_sweep(outcome.path).rows()))
    (of_file, rows), (of_object, others) = results
    assert of_file == of_object
    names = ["run_id", *engine.results_schema().names]
    assert rows.num_rows == 4
    assert rows.select(names).sort_by("run_id").equals(others.select(names).sort_by("run_id"))
    assert sweeps.verify(tmp_path / "object" / "sweeps" / f"replayed-{of_object}", sample=1.0).problems == ()


def test_a_sweep_of_a_file_continues_with_an_object(trace: ObjectPath, file: Path, tmp_path: Path) -> None:
    sweeps.run(sweeps.load_study(study(tmp_path, "a", file)), tmp_path / "store", executor="inline")
    again = sweeps.run(sweeps.load_study(study(tmp_path, "b", trace)), tmp_path / "store", executor="inline")
    assert (again.executed, again.reused) == (0, 4)


def test_ray_workers_download_a_trace_once(
    proxied: ObjectPath, file: Path, proxy: FaultyProxy, content: str, copies: Path, tmp_path: Path
) -> None:
    here = sweeps.run(sweeps.load_study(study(tmp_path, "a", file)), tmp_path / "here", executor="inline")
    loaded = sweeps.load_study(study(tmp_path, "b", proxied))
    [copy] = copies.iterdir()
    copy.unlink()  # the driver's download, as if the workers were on another machine
    proxy.clear()
    there = sweeps.run(loaded, tmp_path / "there", executor="ray", workers=2)
    assert (there.state, there.executed) == ("finished", 4)
    names = ["run_id", *engine.results_schema().names]
    rows, others = (open_sweep(each.path).rows().select(names).sort_by("run_id") for each in (here, there))
    assert rows.equals(others)
    assert count_gets(proxy, content) == 1


_LOAD = "import sys; from destage.engine import traces; print(traces.digest(sys.argv[1]))"


def test_one_of_several_processes_downloads_it(
    proxied: ObjectPath, file: Path, proxy: FaultyProxy, content: str, copies: Path
) -> None:
    proxy.add_fault("delay", method="GET", part=content, times=1, seconds=2)
    started = [
        subprocess.Popen([sys.executable, "-c", _LOAD, str(proxied)], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    digests = {each.communicate(timeout=60)[0].strip() for each in started}
    assert digests == {traces.digest(file)}
    assert count_gets(proxy, content) == 1
    [copy] = copies.iterdir()
    assert copy.read_bytes() == file.read_bytes()


def test_a_truncated_body_is_requested_again(
    proxied: ObjectPath, file: Path, proxy: FaultyProxy, content: str, copies: Path
) -> None:
    proxy.add_fault("truncate the body", method="GET", part=content, times=2)
    assert traces.digest(str(proxied)) == traces.digest(file)
    assert count_gets(proxy, content) >= 3
    assert [copy.stat().st_size for copy in copies.iterdir()] == [file.stat().st_size]


def test_a_failed_download_leaves_no_copy(
    proxied: ObjectPath, proxy: FaultyProxy, content: str, copies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_path, "_PAUSES_S", ())
    proxy.add_fault("truncate the body", method="GET", part=content, times=ALL)
    with pytest.raises(TraceError, match=r"^bucket\.\S+ at \S+x\.parquet"):
        traces.load(str(proxied))
    assert list(copies.iterdir()) == []


def test_a_killed_download_leaves_no_readable_copy(
    proxied: ObjectPath, file: Path, proxy: FaultyProxy, content: str, copies: Path
) -> None:
    proxy.add_fault("delay", method="GET", part=content, times=1, seconds=30)
    with subprocess.Popen([sys.executable, "-c", _LOAD, str(proxied)]) as killed:
        while not count_gets(proxy, content):
            time.sleep(0.05)
        killed.send_signal(signal.SIGKILL)
    [part] = copies.iterdir()
    assert part.name.endswith(".part")
    part.write_bytes(file.read_bytes()[:1000] * 1000)  # longer than the file, and wrong
    assert traces.digest(str(proxied)) == traces.digest(file)
    assert [each.suffix for each in copies.iterdir()] == [".parquet"]


def test_an_incomplete_copy_is_downloaded_again(trace: ObjectPath, file: Path, copies: Path) -> None:
    known = traces.digest(str(trace))
    [copy] = copies.iterdir()
    os.truncate(copy, 100)
    traces._load.cache_clear()
    assert traces.digest(str(trace)) == known
    assert copy.read_bytes() == file.read_bytes()


def test_a_changed_object_is_rejected_like_a_changed_file(
    trace: ObjectPath, file: Path, tmp_path: Path
) -> None:
    planned = sweeps.load_study(study(tmp_path, "a", trace))
    outcome = sweeps.run(planned, tmp_path / "store", executor="inline")
    trace.write_bytes(compact(file, gap_ns=2_000_000))
    with pytest.raises(TraceError, match=r"^trace\.changed at \S+x\.parquet"):
        sweeps.resume(outcome.path)
    rejected = destage("run", "replayed", "--store", str(tmp_path / "store"))
    assert rejected.returncode == 2
    assert "trace.changed" in rejected.stderr


def test_an_object_changed_during_download_is_rejected(
    trace: ObjectPath, file: Path, copies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = compact(file, gap_ns=2_000_000)
    monkeypatch.setattr(object_path, "_PIECE", 1000)
    pieces = ObjectPath.read_pieces

    def change(self: ObjectPath, known: Any) -> Any:
        for number, piece in enumerate(pieces(self, known)):
            if number == 2:
                self.write_bytes(other)
            yield piece

    monkeypatch.setattr(ObjectPath, "read_pieces", change)
    with pytest.raises(TraceError, match="^bucket.changed-while-read "):
        traces.load(str(trace))
    assert list(copies.iterdir()) == []


def test_an_unavailable_object_is_one_line(proxied: ObjectPath, proxy: FaultyProxy, tmp_path: Path) -> None:
    missing = destage("trace", "info", str(proxied.parent / "none.parquet"))
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "trace.not-found" in missing.stderr
    assert "none.parquet" in missing.stderr
    proxy.add_fault("deny", times=ALL)
    rejected = destage("run", str(study(tmp_path, "a", proxied)), "--store", str(tmp_path / "store"))
    assert (rejected.returncode, rejected.stdout) == (4, "")
    assert f"bucket.access-denied at {proxied.service}/{proxied.key}" in rejected.stderr
    assert rejected.stderr.count("\n") == 1


def test_a_full_disk_is_an_error_and_leaves_no_copy(
    trace: ObjectPath, copies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(TraceError, match="^trace.no-room-for-copy "):
        traces.load(str(trace))
    assert list(copies.iterdir()) == []


def test_an_unusable_cache_folder_is_an_error(
    trace: ObjectPath, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESTAGE_TRACES", str(file / "below"))
    with pytest.raises(TraceError, match="^trace.no-room-for-copy "):
        traces.load(str(trace))


def test_least_recently_read_copies_are_removed_first(
    trace: ObjectPath, file: Path, copies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = file.stat().st_size
    monkeypatch.setenv("DESTAGE_TRACES_LIMIT", str(2 * size + 100))
    copies.mkdir()
    (copies / "mine.parquet").write_bytes(bytes(3 * size))
    others = [trace.parent / f"{name}.parquet" for name in "abc"]
    for other in others:
        other.write_bytes(file.read_bytes())
        trace_streams.profile(str(other))
    trace_streams.profile(str(others[1]))  # the most recently read
    with traces.copies.hold_copy(others[2]):
        trace_streams.profile(str(trace))
    there = {path.name.partition("-")[2] or path.name for path in copies.iterdir()}
    assert there == {"mine.parquet", "c.parquet", "x.parquet"}
    monkeypatch.setenv("DESTAGE_TRACES_LIMIT", "much")
    with pytest.raises(TraceError, match="usage.bad-quantity at DESTAGE_TRACES_LIMIT"):
        trace_streams.profile(str(others[0]))


def test_a_cluster_accepts_a_trace_in_a_bucket(
    trace: ObjectPath, file: Path, store_url: str, tmp_path: Path
) -> None:
    for place, code in ((trace, 0), (file, 2)):
        arguments = (str(study(tmp_path, "a", place)), "--dry-run", "--set", f"store.url={store_url}")
        done = destage("cluster", "submit", *arguments)
        assert done.returncode == code, done.stderr
    assert "cluster.trace-not-in-bucket" in done.stderr
    missing = (str(study(tmp_path, "a", trace.parent / "none.parquet")), *arguments[1:])
    assert "trace.not-found" in destage("cluster", "submit", *missing).stderr


def test_copies_are_in_the_users_cache_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    assert traces.copies._folder() == Path(os.environ["DESTAGE_TRACES"])
    monkeypatch.delenv("DESTAGE_TRACES")
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/cache/me")
    assert traces.copies._folder() == Path("/var/cache/me/destage/traces")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/tmp")  # noqa: S108 - a pod's
    assert traces.copies._folder() == Path("/tmp/.cache/destage/traces")  # noqa: S108 - same


def test_credentials_in_an_address_are_rejected_unprinted() -> None:
    with pytest.raises(TraceError, match="^trace.bad-address ") as caught:
        traces.load("s3://AKIA:hidden@bucket/x.parquet")
    assert "hidden" not in str(caught.value)
    with pytest.raises(TraceError, match="^trace.bad-address "):
        traces.load("s3://bucket")
    with pytest.raises(TraceError, match="^trace.bad-address at https://"):
        traces.load("https://host/x.parquet")
