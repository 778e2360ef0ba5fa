"""A sweep that is killed at any moment and resumed equals an uninterrupted one; each run is stored once."""

import random
import signal
import time
from pathlib import Path

import pytest
from tests.system.conftest import KillableSweep

from destage.store.files import durable
from destage.store.files.layout import SweepLayout

LIMIT_S = 120.0
KILLS = 20
STORES = 4
"""Sweeps that share the random kills; each is killed and resumed in turn."""


_WORKERS_POINTS = ("before_tmp", "mid_tmp", "before_rename", "after_rename")
"""The points of a commit that a worker passes; the driver passes the others."""
_CHAOTIC_COUNTS = [pytest.param(count, marks=pytest.mark.chaos) for count in (1, 5)]


@pytest.mark.parametrize("count", [2, *_CHAOTIC_COUNTS])
@pytest.mark.parametrize("point", durable.NAMES)
def test_killed_at_a_fail_point(killable: KillableSweep, tmp_path: Path, point: str, count: int) -> None:
    driver = killable.start(tmp_path, DESTAGE_FAIL_POINT=f"{point}:{count}")
    assert driver.wait(LIMIT_S) == -signal.SIGKILL
    killable.finish(tmp_path)
    killable.assert_complete(tmp_path)


@pytest.mark.parametrize("count", [3, pytest.param(6, marks=pytest.mark.chaos)])
@pytest.mark.parametrize("point", ["rows_held", *_WORKERS_POINTS])
def test_killed_while_a_part_is_open(killable: KillableSweep, tmp_path: Path, point: str, count: int) -> None:
    """Every worker holds the rows of several batches: the rows of none is lost or stored twice."""
    driver = killable.start(tmp_path, holds_rows=True, DESTAGE_FAIL_POINT=f"{point}:{count}")
    assert driver.wait(LIMIT_S) == -signal.SIGKILL
    killable.finish(tmp_path, holds_rows=True)
    killable.assert_complete(tmp_path)


@pytest.mark.parametrize("point", durable.RARE_NAMES)
@pytest.mark.parametrize("resumes_merge", [True, False])
def test_killed_while_fragments_are_merged(
    killable: KillableSweep, tmp_path: Path, point: str, resumes_merge: bool
) -> None:
    driver = killable.start(tmp_path, merges=True, DESTAGE_FAIL_POINT=point)
    assert driver.wait(LIMIT_S) == -signal.SIGKILL
    killable.finish(tmp_path, merges=resumes_merge)
    killable.assert_complete(tmp_path)


@pytest.fixture(scope="module")
def working_s(killable: KillableSweep, tmp_path_factory: pytest.TempPathFactory) -> float:
    """Return the duration of an uninterrupted driver on this machine [s]."""
    driver = killable.start(tmp_path_factory.mktemp("whole"))
    began = time.monotonic()
    driver.wait(LIMIT_S)
    return time.monotonic() - began


@pytest.mark.parametrize("store", range(STORES))
def test_killed_at_random_moments(
    killable: KillableSweep, tmp_path: Path, working_s: float, store: int
) -> None:
    moments = random.Random(store)  # noqa: S311 - moments, no secrets
    killed = 0
    for _ in range(KILLS // STORES):
        driver = killable.start(tmp_path)
        time.sleep(moments.uniform(0, 0.7) * working_s)
        driver.signal(signal.SIGKILL)
        killed += driver.wait(LIMIT_S) == -signal.SIGKILL
    assert killed
    killable.finish(tmp_path)
    killable.assert_complete(tmp_path)


def test_two_resumes_at_once(killable: KillableSweep, tmp_path: Path) -> None:
    driver = killable.start(tmp_path)
    time.sleep(0.2)
    driver.signal(signal.SIGKILL)
    driver.wait(LIMIT_S)
    both = [killable.start(tmp_path) for _ in range(2)]
    codes = [driver.wait(LIMIT_S) for driver in both]
    errors = [driver.errors.read_text() for driver in both]
    assert 0 in codes
    for code, text in zip(codes, errors, strict=True):
        assert code == 0 or "store.locked" in text, text
    killable.assert_complete(tmp_path)


def test_a_torn_fragment_is_quarantined_and_its_runs_repeated(
    killable: KillableSweep, tmp_path: Path
) -> None:
    killable.finish(tmp_path)
    layout = SweepLayout(tmp_path / "sweeps" / killable.reference.name)
    torn, *_ = layout.fragments.iterdir()
    torn.write_bytes(torn.read_bytes()[:-100])
    killable.finish(tmp_path)
    assert [path.name for path in layout.quarantine.iterdir()] == [torn.name]
    (layout.quarantine / torn.name).unlink()
    layout.quarantine.rmdir()
    killable.assert_complete(tmp_path)


@pytest.mark.parametrize(
    "point",
    [
        "mid_plan_round",
        "rows_held",
        *(pytest.param(name, marks=pytest.mark.chaos) for name in _WORKERS_POINTS),
    ],
)
def test_killed_at_a_fail_point_under_ray(killable: KillableSweep, tmp_path: Path, point: str) -> None:
    mark = str(tmp_path / "mark")
    env = {"DESTAGE_FAIL_POINT": f"{point}:2", "DESTAGE_FAIL_MARK": mark}
    driver = killable.start(tmp_path / "store", "ray", holds_rows=True, **env)
    code = driver.wait(LIMIT_S)
    assert (tmp_path / "mark").exists()
    if point == "mid_plan_round":  # the driver itself passes this point
        assert code == -signal.SIGKILL
        killable.finish(tmp_path / "store")
    else:
        assert code == 0
    killable.assert_complete(tmp_path / "store", once_on_disk=False)


@pytest.mark.chaos
@pytest.mark.parametrize("executor", ["inline", "ray"])
def test_a_large_sweep_killed_at_twenty_random_moments(
    large: KillableSweep, tmp_path: Path, executor: str
) -> None:
    moments = random.Random(executor)  # noqa: S311 - moments, no secrets
    for _ in range(KILLS):
        driver = large.start(tmp_path, executor)
        time.sleep(moments.uniform(0, 3) + (4 if executor == "ray" else 0))
        driver.signal(signal.SIGKILL)
        driver.wait(LIMIT_S)
    large.finish(tmp_path, executor)
    large.assert_complete(tmp_path, once_on_disk=executor == "inline")
