"""A sweep in a bucket: it is what it would be in a folder, whatever is killed, torn or cut off meanwhile."""

import random
import re
import signal
import subprocess
import sys
import time

import pytest
from objects.faulty_proxy import ALL, FaultyProxy
from tests.system.conftest import KillableSweep

from destage.errors import StoreError, UnreachableError
from destage.store import ObjectPath, failpoints, locate, open_sweep
from destage.store.layout import SweepLayout
from destage.store.lease import find_writer, hold_lease
from destage.store.location import list_sizes, list_tree
from destage.store.removal import remove_sweep

_DESTAGE = "from destage.cli import app; app()"


@pytest.fixture
def store(store_url: str) -> ObjectPath:
    """Return a store of its own in a bucket."""
    place = locate(store_url)
    assert isinstance(place, ObjectPath)
    return place


def _layout(killable: KillableSweep, store: ObjectPath) -> SweepLayout:
    return SweepLayout(store / "sweeps" / killable.reference.name)


def _fragments(layout: SweepLayout) -> dict[str, object]:
    """Return those that are committed: on Azure each is begun as an object without a byte."""
    assert isinstance(layout.fragments, ObjectPath)
    return {
        each.path.name: (each.size, each.modified_at) for each in layout.fragments.list_objects() if each.size
    }


def test_a_bucket_holds_what_a_folder_holds(
    killable: KillableSweep, store: ObjectPath, proxy: FaultyProxy, proxied_url: str
) -> None:
    killable.finish(locate(proxied_url))
    puts = [path for method, path in proxy.requests if method == "PUT" and "/fragments/" in path]
    requests = 3 if store.service.startswith("abfs") else 1  # Azure's client knows no single one
    assert len(puts) == requests * len(_fragments(_layout(killable, store)))
    killable.assert_complete(store)
    there = {path for path, _ in list_tree(_layout(killable, store).root)}
    here = {path for path, _ in list_tree(killable.reference)}
    assert {path for path in here ^ there if not path.startswith(("fragments/", "manifest/"))} == {"lease"}
    assert not [path for path in there if path.endswith(".tmp")]


def test_a_store_that_refuses_its_lease_is_told_by_its_own_name(
    store: ObjectPath, proxy: FaultyProxy, proxied_url: str
) -> None:
    (store / "sweeps" / "x" / "spec.yaml").touch()
    proxy.spoil("deny", times=ALL)
    denied = f"^bucket.access-denied at {re.escape(store.service)}/{store.key}: "
    layout = SweepLayout(locate(proxied_url) / "sweeps" / "x")
    with pytest.raises(UnreachableError, match=denied), hold_lease(layout.lease):
        pass


_OFTEN = ("before_rename", "mid_manifest", "mid_plan_round")


@pytest.mark.parametrize(
    "point",
    [pytest.param(name, marks=() if name in _OFTEN else pytest.mark.chaos) for name in failpoints.NAMES],
)
def test_killed_at_a_fail_point(killable: KillableSweep, store: ObjectPath, point: str) -> None:
    count = 1 if point == "mid_manifest" else 3  # a part is written seldom
    driver = killable.start(store, DESTAGE_FAIL_POINT=f"{point}:{count}")
    driver.communicate(timeout=60)
    assert driver.returncode == -signal.SIGKILL
    committed = _fragments(_layout(killable, store))
    killable.finish(store)
    killable.assert_complete(store)
    after = _fragments(_layout(killable, store))
    assert {name: after.get(name) for name in committed} == committed  # not one was written again


@pytest.mark.chaos
def test_killed_at_random_moments(killable: KillableSweep, store: ObjectPath) -> None:
    moments = random.Random(5)  # noqa: S311 - moments, no secrets
    for _ in range(6):
        driver = killable.start(store)
        time.sleep(moments.uniform(0, 1.5))
        driver.kill()
        driver.communicate(timeout=60)
        time.sleep(9)
    killable.finish(store)
    killable.assert_complete(store)


def test_under_ray(killable: KillableSweep, store: ObjectPath) -> None:
    killable.finish(store, "ray")
    killable.assert_complete(store)


def test_of_two_who_begin_at_once_one_is_told_to_wait(killable: KillableSweep, store: ObjectPath) -> None:
    both = [killable.start(store) for _ in range(2)]
    errors = [driver.communicate(timeout=120)[1].decode() for driver in both]
    codes = [driver.returncode for driver in both]
    assert 0 in codes
    for code, text in zip(codes, errors, strict=True):
        assert code == 0 or "store.locked" in text
    killable.assert_complete(store)


def test_a_lease_is_held_told_and_given_back(store: ObjectPath) -> None:
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


def test_a_dead_holder_s_flag_runs_out_and_a_live_one_s_does_not(
    store: ObjectPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Azurite now and then takes seven seconds for a deletion, where a connection is used again.
    slower = 5 if store.service.startswith("abfs") else 1
    for name, seconds in (("EXPIRY_S", 6.0), ("TRUST_S", 4.5), ("RENEWAL_S", 0.5)):
        monkeypatch.setattr(f"destage.store.object_lease.{name}", seconds * slower)
    place = store / "lease"
    dead = place / "0000000000000000.json"
    dead.write_text('{"pid": 1, "host": "gone", "since": "long ago"}')
    with pytest.raises(StoreError, match="^store.locked .*process 1 on gone"), hold_lease(place):
        pass
    time.sleep(7 * slower)
    with hold_lease(place) as lease:
        assert not dead.is_file()
        time.sleep(7 * slower)
        assert not lease.is_lost
        with pytest.raises(StoreError, match="^store.locked "), hold_lease(place):
            pass


def test_what_is_torn_or_foreign_is_put_aside_and_its_runs_are_run_again(
    killable: KillableSweep, store: ObjectPath
) -> None:
    killable.finish(store)
    layout = _layout(killable, store)
    (torn, _), (renamed, _), *_ = list_sizes(layout.fragments)
    torn.write_bytes(torn.read_bytes()[:-100])
    (layout.fragments / f"{'0' * 32}.parquet").write_bytes(renamed.read_bytes())
    (layout.fragments / "notes.txt").write_text("mine")
    (layout.fragments / f"{'1' * 32}.parquet").write_bytes(
        b""
    )  # begun by a writer that was killed, as on Azure
    killable.finish(store)
    aside = {path.name for path, _ in list_sizes(layout.quarantine)}
    assert aside == {torn.name, f"{'0' * 32}.parquet", "notes.txt"}
    for path, _ in list_sizes(layout.quarantine):
        path.unlink()
    killable.assert_complete(store)


def test_answers_that_get_lost_and_refusals_that_pass_change_nothing(
    killable: KillableSweep, store: ObjectPath, proxy: FaultyProxy, proxied_url: str
) -> None:
    proxy.spoil("lose the answer", method="PUT", part="fragments/", times=3)
    proxy.spoil("slow down", method="PUT", part="plan", times=2)
    proxy.spoil("cut the body", method="GET", part="fragments/", times=2)
    killable.finish(locate(proxied_url))
    killable.assert_complete(store)
    killable.finish(locate(proxied_url))
    killable.assert_complete(store)


def test_a_writer_cut_off_from_its_lease_ends_and_another_goes_on(
    killable: KillableSweep, store: ObjectPath, proxy: FaultyProxy, proxied_url: str
) -> None:
    driver = killable.start(locate(proxied_url))
    while not any(_fragments(_layout(killable, store))):
        time.sleep(0.1)
    proxy.spoil(
        "delay", method="PUT", part="fragments/", times=ALL, seconds=1
    )  # so that it lasts long enough
    proxy.spoil("deny", method="PUT", part="lease/", times=ALL)
    driver.communicate(timeout=120)
    assert driver.returncode == 4  # infrastructure: to be tried again
    proxy.heal()
    committed = _fragments(_layout(killable, store))
    killable.finish(store)
    killable.assert_complete(store)
    assert {name: _fragments(_layout(killable, store)).get(name) for name in committed} == committed


def test_a_sweep_is_removed_with_all_its_objects(killable: KillableSweep, store: ObjectPath) -> None:
    killable.finish(store)
    (store / "sweeps" / "other" / "spec.yaml").write_text("name: other\n")
    with hold_lease(_layout(killable, store).lease), pytest.raises(StoreError, match="^store.locked "):
        remove_sweep(_layout(killable, store))
    assert remove_sweep(_layout(killable, store)) > 10
    assert [path for path, _ in list_tree(store)] == ["sweeps/other/spec.yaml"]
    assert [path.name for path in (store / "sweeps").list_prefixes()] == ["other"]  # no empty marker stays


def test_every_verb_takes_a_bucket(killable: KillableSweep, store: ObjectPath) -> None:
    def destage(*arguments: str) -> str:
        said = subprocess.run(
            [sys.executable, "-c", _DESTAGE, *arguments, "--store", str(store)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert said.returncode == 0, said.stderr
        return said.stdout

    destage("run", str(killable.study), "--executor", "inline", "--quiet")
    killable.assert_complete(store)
    name, runs = killable.reference.name, open_sweep(killable.reference).rows().num_rows
    assert f"{name}  finished" in destage("status")
    assert "users supported" in destage("query", "killable", "design_space")
    assert destage("sql", name, "SELECT count(*) AS n FROM runs", "--format", "csv") == f'"n"\n{runs}\n'
    assert "different  0" in destage("verify", "killable", "--sample", "10%")
    assert destage("report", "killable").startswith(f"{store.service}/")
    assert "<h1>" in (_layout(killable, store).root / "report" / "report.html").read_text()
    assert "already in the store" in destage("plan", str(killable.study))
    assert "(sweeps: 1" in destage("doctor")
