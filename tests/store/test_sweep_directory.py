"""Finding sweeps, planning rounds on disk, and the lease of the one writer."""

import errno
import fcntl
import subprocess
import sys
from pathlib import Path

import pytest
from small_stores import publish

from destage.errors import StoreError
from destage.store import find_sweep, list_sweeps, open_sweep
from destage.store.files.durable import write_durably
from destage.store.files.layout import SweepLayout
from destage.store.locks.lease import find_writer, hold_lease


def _make(store: Path, name: str) -> Path:
    layout = SweepLayout(store / "sweeps" / name)
    publish(layout)
    return Path(str(layout.root))


def test_a_sweep_is_found_by_path_name_or_prefix(tmp_path: Path) -> None:
    first, second = _make(tmp_path, "call-01"), _make(tmp_path, "desk-02")
    assert set(list_sweeps(tmp_path)) == {first, second}
    for text in (str(first), "call-01", "call", "ca"):
        assert find_sweep(text, tmp_path) == first


def test_an_unknown_sweep_is_an_error_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="^store.unknown-sweep "):
        find_sweep("call", tmp_path)
    _make(tmp_path, "call-01")
    _make(tmp_path, "call-02")
    with pytest.raises(StoreError, match="^store.ambiguous-sweep .*call-01, call-02"):
        find_sweep("call", tmp_path)
    with pytest.raises(StoreError, match="^store.unknown-sweep .*call-01, call-02"):
        find_sweep("desk", tmp_path)
    with pytest.raises(StoreError, match="^store.not-a-sweep "):
        open_sweep(tmp_path)


def test_an_unwritable_store_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "sweeps").write_text("a file where the folder should be")
    with (
        pytest.raises(StoreError, match=r"^store\.not-writable "),
        hold_lease(tmp_path / "sweeps" / "x" / "lease"),
    ):
        pass
    with pytest.raises(StoreError, match="^store.not-writable "):
        write_durably(tmp_path / "absent" / "file", b"data")


_HOLDER = """
import sys, time
from pathlib import Path
from destage.store.locks.lease import hold_lease
with hold_lease(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_one_writer_holds_the_lease_until_it_ends(layout: SweepLayout) -> None:
    with subprocess.Popen([sys.executable, "-c", _HOLDER, layout.lease], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert f"process {holder.pid}" in str(find_writer(layout.lease))
        with pytest.raises(StoreError, match="^store.locked ") as caught, hold_lease(layout.lease):
            pass
        assert f"process {holder.pid}" in caught.value.data["writer"]
        holder.kill()
    assert find_writer(layout.lease) is None
    with hold_lease(layout.lease):
        pass


def test_a_file_system_without_locks_is_one_line(
    layout: SweepLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(StoreError, match="^store.no-locks "), hold_lease(layout.lease):
        pass
    assert find_writer(layout.lease) is None


def test_the_entries_of_a_new_sweep_are_forced_to_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr("destage.store.files.layout.sync_directory", synced.append)
    layout = SweepLayout(tmp_path / "store" / "sweeps" / "x-0")
    layout.make()
    assert {layout.root, layout.root.parent, tmp_path / "store"} <= set(synced)
