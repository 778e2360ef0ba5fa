"""A sweep survives being killed at any moment: every run is there once, as if nothing had happened."""

import random
import signal
import time
from pathlib import Path

import pytest
from tests.system.conftest import Fragile

from destage.store import failpoints
from destage.store.layout import SweepLayout

KILLS = 20
STORES = 4
"""The random kills are spread over so many sweeps, each killed again and again while it resumes."""


_CHAOTIC_COUNTS = [pytest.param(count, marks=pytest.mark.chaos) for count in (1, 5)]


@pytest.mark.parametrize("count", [2, *_CHAOTIC_COUNTS])
@pytest.mark.parametrize("point", failpoints.NAMES)
def test_killed_at_a_fail_point(fragile: Fragile, tmp_path: Path, point: str, count: int) -> None:
    driver = fragile.start(tmp_path, DESTAGE_FAIL_POINT=f"{point}:{count}")
    driver.communicate(timeout=60)
    assert driver.returncode == -signal.SIGKILL
    fragile.finish(tmp_path)
    fragile.assert_whole(tmp_path)


@pytest.fixture(scope="module")
def working_s(fragile: Fragile, tmp_path_factory: pytest.TempPathFactory) -> float:
    """Return how long a driver works here that nobody kills [s]."""
    driver = fragile.start(tmp_path_factory.mktemp("whole"))
    began = time.monotonic()
    driver.communicate(timeout=60)
    return time.monotonic() - began


@pytest.mark.parametrize("store", range(STORES))
def test_killed_at_random_moments(fragile: Fragile, tmp_path: Path, working_s: float, store: int) -> None:
    moments = random.Random(store)  # noqa: S311 - moments, no secrets
    killed = 0
    for _ in range(KILLS // STORES):
        driver = fragile.start(tmp_path)
        time.sleep(moments.uniform(0, 0.7) * working_s)
        driver.kill()
        driver.communicate(timeout=60)
        killed += driver.returncode == -signal.SIGKILL
    assert killed
    fragile.finish(tmp_path)
    fragile.assert_whole(tmp_path)


def test_two_resumes_at_once(fragile: Fragile, tmp_path: Path) -> None:
    driver = fragile.start(tmp_path)
    time.sleep(0.2)
    driver.kill()
    driver.communicate(timeout=60)
    both = [fragile.start(tmp_path) for _ in range(2)]
    errors = [driver.communicate(timeout=60)[1].decode() for driver in both]
    codes = [driver.returncode for driver in both]
    assert 0 in codes
    for code, text in zip(codes, errors, strict=True):
        # Whoever has just got the lease may not have written its name yet.
        assert code == 0 or "is being written by" in text, text
    fragile.assert_whole(tmp_path)


def test_a_torn_fragment_is_put_aside_and_its_runs_are_run_again(fragile: Fragile, tmp_path: Path) -> None:
    fragile.finish(tmp_path)
    layout = SweepLayout(tmp_path / "sweeps" / fragile.reference.name)
    torn, *_ = layout.fragments.iterdir()
    torn.write_bytes(torn.read_bytes()[:-100])
    fragile.finish(tmp_path)
    assert [path.name for path in layout.quarantine.iterdir()] == [torn.name]
    (layout.quarantine / torn.name).unlink()
    layout.quarantine.rmdir()
    fragile.assert_whole(tmp_path)


_WORKERS_POINTS = [name for name in failpoints.NAMES if name.startswith(("before", "mid_tmp", "after"))]


@pytest.mark.parametrize(
    "point", ["mid_manifest", *(pytest.param(name, marks=pytest.mark.chaos) for name in _WORKERS_POINTS)]
)
def test_killed_at_a_fail_point_under_ray(fragile: Fragile, tmp_path: Path, point: str) -> None:
    env = {"DESTAGE_FAIL_POINT": point, "DESTAGE_FAIL_MARK": str(tmp_path / "mark")}
    driver = fragile.start(tmp_path / "store", "ray", **env)
    driver.communicate(timeout=120)
    assert (tmp_path / "mark").exists()
    if point == "mid_manifest":  # the driver itself passes there
        assert driver.returncode == -signal.SIGKILL
        fragile.finish(tmp_path / "store")
    else:
        assert driver.returncode == 0
    fragile.assert_whole(tmp_path / "store", once_on_disk=False)


@pytest.mark.chaos
@pytest.mark.parametrize("executor", ["inline", "ray"])
def test_a_big_sweep_killed_at_twenty_random_moments(big: Fragile, tmp_path: Path, executor: str) -> None:
    moments = random.Random(executor)  # noqa: S311 - moments, no secrets
    for _ in range(KILLS):
        driver = big.start(tmp_path, executor)
        time.sleep(moments.uniform(0, 3) + (4 if executor == "ray" else 0))
        driver.kill()
        driver.communicate(timeout=60)
    big.finish(tmp_path, executor)
    big.assert_whole(tmp_path, once_on_disk=executor == "inline")
