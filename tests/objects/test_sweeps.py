"""A sweep in a bucket equals one in a folder, despite kills, damaged objects and lost connections."""

import io
import json
import random
import re
import signal
import time

import pyarrow.parquet as pq
import pytest
from objects.faulty_proxy import ALL, FaultyProxy
from tests.system.conftest import KillableSweep

from destage.cli import app
from destage.errors import StoreError, UnreachableError
from destage.store import ObjectPath, locate, open_sweep
from destage.store.files import durable
from destage.store.files.layout import SweepLayout, list_sizes, list_tree
from destage.store.locks.lease import find_writer, hold_lease
from destage.store.state.removal import remove_sweep

LIMIT_S = 120.0


@pytest.fixture
def store(store_url: str) -> ObjectPath:
    """Return an empty store in a bucket."""
    place = locate(store_url)
    assert isinstance(place, ObjectPath)
    return place


def _layout(killable: KillableSweep, store: ObjectPath) -> SweepLayout:
    return SweepLayout(store / "sweeps" / killable.reference.name)


def _fragments(layout: SweepLayout) -> dict[str, object]:
    """Return the committed fragments."""
    assert isinstance(layout.fragments, ObjectPath)
    return {each.path.name: (each.size, each.modified_at) for each in layout.fragments.list_objects()}


def test_a_bucket_has_the_same_files_as_a_folder(
    killable: KillableSweep, store: ObjectPath, proxy: FaultyProxy, proxied_url: str
) -> None:
    killable.finish(locate(proxied_url))
    puts = [path for method, path in proxy.requests if method == "PUT" and "/fragments/" in path]
    assert len(puts) == len(_fragments(_layout(killable, store)))
    killable.assert_complete(store)
    there = {path for path, _ in list_tree(_layout(killable, store).root)}
    here = {path for path, _ in list_tree(killable.reference)}
    assert {path for path in here ^ there if not path.startswith(("fragments/", "generations/"))} == {"lease"}
    assert not [path for path in there if path.endswith(".tmp")]


def test_a_rejected_lease_names_the_store(store: ObjectPath, proxy: FaultyProxy, proxied_url: str) -> None:
    (store / "sweeps" / "x" / "generations" / "000001-0123abcd-000001.json").touch()
    proxy.add_fault("deny", times=ALL)
    denied = f"^bucket.access-denied at {re.escape(store.service)}/{store.key}: "
    layout = SweepLayout(locate(proxied_url) / "sweeps" / "x")
    with pytest.raises(UnreachableError, match=denied), hold_lease(layout.lease):
        pass


_OFTEN = ("before_rename", "mid_plan_round")


@pytest.mark.parametrize(
    "point",
    [pytest.param(name, marks=() if name in _OFTEN else pytest.mark.chaos) for name in durable.NAMES],
)
def test_killed_at_a_fail_point(killable: KillableSweep, store: ObjectPath, point: str) -> None:
    driver = killable.start(store, DESTAGE_FAIL_POINT=f"{point}:3")
    assert driver.wait(LIMIT_S) == -signal.SIGKILL
    committed = _fragments(_layout(killable, store))
    killable.finish(store)
    killable.assert_complete(store)
    after = _fragments(_layout(killable, store))
    assert {name: after.get(name) for name in committed} == committed  # none was rewritten


@pytest.mark.chaos
def test_killed_at_random_moments(killable: KillableSweep, store: ObjectPath) -> None:
    moments = random.Random(5)  # noqa: S311 - moments, no secrets
    for _ in range(6):
        driver = killable.start(store)
        time.sleep(moments.uniform(0, 1.5))
        driver.signal(signal.SIGKILL)
        driver.wait(LIMIT_S)
        time.sleep(9)
    killable.finish(store)
    killable.assert_complete(store)


def test_under_ray(killable: KillableSweep, store: ObjectPath) -> None:
    killable.finish(store, "ray")
    killable.assert_complete(store)


def test_one_of_two_concurrent_writers_is_rejected(killable: KillableSweep, store: ObjectPath) -> None:
    both = [killable.start(store) for _ in range(2)]
    codes = [driver.wait(LIMIT_S) for driver in both]
    errors = [driver.errors.read_text() for driver in both]
    assert 0 in codes
    for code, text in zip(codes, errors, strict=True):
        assert code == 0 or "store.locked" in text
    killable.assert_complete(store)


def test_a_lease_is_held_reported_and_released(store: ObjectPath) -> None:
    place = store / "lease"
    assert find_writer(place) is None
    with hold_lease(place) as lease:
        assert not lease.is_lost
        assert "process" in str(find_writer(place))
        with pytest.raises(StoreError, match="^store.locked .*process"), hold_lease(place):
            pass
    assert find_writer(place) is None
    with hold_lease(place):
        assert len(list(list_sizes(place))) == 1


def test_only_a_dead_holders_flag_expires(store: ObjectPath, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("EXPIRY_S", 6.0), ("TRUST_S", 4.5), ("RENEWAL_S", 0.5)):
        monkeypatch.setattr(f"destage.store.locks.object_lease.{name}", seconds)
    place = store / "lease"
    dead = place / "0000000000000000.json"
    dead.write_text('{"pid": 1, "host": "gone", "since": "long ago"}')
    with pytest.raises(StoreError, match="^store.locked .*process 1 on gone"), hold_lease(place):
        pass
    time.sleep(7)
    with hold_lease(place) as lease:
        assert not dead.is_file()
        time.sleep(7)
        assert not lease.is_lost
        with pytest.raises(StoreError, match="^store.locked "), hold_lease(place):
            pass


def test_damaged_fragments_are_quarantined_and_rerun(killable: KillableSweep, store: ObjectPath) -> None:
    killable.finish(store)
    layout = _layout(killable, store)
    (torn, _), (renamed, _), *_ = list_sizes(layout.fragments)
    torn.write_bytes(torn.read_bytes()[:-100])
    (layout.fragments / f"{'0' * 32}.parquet").write_bytes(renamed.read_bytes())
    (layout.fragments / "notes.txt").write_text("mine")
    (layout.fragments / f"{'1' * 32}.parquet").write_bytes(b"")
    killable.finish(store)
    aside = {path.name for path, _ in list_sizes(layout.quarantine)}
    assert aside == {torn.name, f"{'0' * 32}.parquet", f"{'1' * 32}.parquet", "notes.txt"}
    for path, _ in list_sizes(layout.quarantine):
        path.unlink()
    killable.assert_complete(store)


def test_lost_responses_and_retries_change_no_result(
    killable: KillableSweep, store: ObjectPath, proxy: FaultyProxy, proxied_url: str
) -> None:
    proxy.add_fault("lose the response", method="PUT", part="fragments/", times=3)
    proxy.add_fault("slow down", method="PUT", part="plan", times=2)
    proxy.add_fault("truncate the body", method="GET", part="fragments/", times=2)
    killable.finish(locate(proxied_url))
    killable.assert_complete(store)
    killable.finish(locate(proxied_url))
    killable.assert_complete(store)


def test_a_writer_without_its_lease_ends(
    killable: KillableSweep, store: ObjectPath, proxy: FaultyProxy, proxied_url: str
) -> None:
    driver = killable.start(locate(proxied_url))
    while not any(_fragments(_layout(killable, store))):
        time.sleep(0.1)
    proxy.add_fault(
        "delay", method="PUT", part="fragments/", times=ALL, seconds=8
    )  # slow enough to lose the lease before the end
    proxy.add_fault("deny", method="PUT", part="lease/", times=ALL)
    assert driver.wait(LIMIT_S) == 4  # infrastructure: a retry may help
    proxy.clear()
    committed = _fragments(_layout(killable, store))
    killable.finish(store)
    killable.assert_complete(store)
    assert {name: _fragments(_layout(killable, store)).get(name) for name in committed} == committed


def test_a_sweep_is_removed_with_all_its_objects(killable: KillableSweep, store: ObjectPath) -> None:
    killable.finish(store)
    (store / "sweeps" / "other" / "lease" / "x.json").write_text("{}")
    with hold_lease(_layout(killable, store).lease), pytest.raises(StoreError, match="^store.locked "):
        remove_sweep(_layout(killable, store))
    assert remove_sweep(_layout(killable, store)) > 10
    assert [path for path, _ in list_tree(store)] == ["sweeps/other/lease/x.json"]
    assert [path.name for path in (store / "sweeps").list_prefixes()] == ["other"]  # no empty marker is left


def test_every_command_accepts_a_bucket(
    killable: KillableSweep,
    store: ObjectPath,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    # pytest-xdist sets it for its workers, and tables would have that width.
    monkeypatch.delenv("COLUMNS", raising=False)

    def destage(*arguments: str) -> str:
        with pytest.raises(SystemExit) as exit_:
            app([*arguments, "--store", str(store)])
        out, errors = capfd.readouterr()
        assert not exit_.value.code, errors
        return out

    destage("run", str(killable.study), "--executor", "inline", "--quiet")
    killable.assert_complete(store)
    name, runs = killable.reference.name, open_sweep(killable.reference).rows().num_rows
    assert f"{name}  finished" in destage("status")
    assert "users supported" in destage("query", "killable", "design_space")
    assert destage("query", name, "SELECT count(*) AS n FROM runs", "--format", "csv") == f'"n"\n{runs}\n'
    assert "problems        0" in destage("admin", "verify", "killable", "--sample", "10%")
    report = json.loads(destage("report", "killable", "--json"))
    assert report["file"].startswith(f"{store.service}/")
    assert report["answer"]
    assert "<h1>" in (_layout(killable, store).root / "report" / "report.html").read_text()
    root = _layout(killable, store).root
    assert "points.parquet" in (root / "README.md").read_text()
    exported = json.loads(destage("admin", "export", "killable", "--json"))
    assert exported["folder"] == str(root)
    read = pq.read_table(io.BytesIO((root / "runs.parquet").read_bytes()))
    assert read.num_rows == exported["rows"]["runs.parquet"] >= runs
    assert "already in the store" in destage("run", "--plan", str(killable.study))
    assert "(sweeps: 1" in destage("admin", "doctor")
