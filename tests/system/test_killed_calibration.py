"""A calibration that is killed and resumed takes the same way to the same bytes."""

import random
import signal
import time
from pathlib import Path

import pytest
from chaos.zygote import Zygote
from small_studies import RATE, small_calibration
from tests.system.conftest import KillableSweep, make_killable

from destage.store import open_sweep
from destage.store.files import durable

STUDY = small_calibration(
    "killable",
    {"array.disks": {"integer": [1, 4]}},
    {
        "now": {"set": {RATE: "100/s"}, "of": "response_mean", "value": "6.7ms", "tolerance": "5%"},
        "then": {"set": {RATE: "150/s"}, "of": "response_mean", "odds": ["response_mean <= 15ms"]},
    },
    {"points": 16, "most": 3, "effective": 1000},
)
KILLS = 3
LIMIT_S = 120.0


@pytest.fixture(scope="module")
def calibration(tmp_path_factory: pytest.TempPathFactory, zygote: Zygote) -> KillableSweep:
    """Return a calibration of three waves, and its result after an uninterrupted run."""
    made = make_killable(tmp_path_factory.mktemp("calibration"), STUDY, zygote)
    assert len(list(open_sweep(made.reference).plan_files())) == 6
    return made


_SOME = ("before_rename:9", "mid_plan_round:3", "before_head:4")
"""In a fragment of the second wave; in the plan of the second wave; in the head of its predictions."""
_EVERY = tuple(f"{name}:{count}" for name in durable.NAMES for count in (1, 4))


@pytest.mark.parametrize(
    "point", [*_SOME, *(pytest.param(point, marks=pytest.mark.chaos) for point in _EVERY)]
)
def test_killed_at_a_fail_point(calibration: KillableSweep, tmp_path: Path, point: str) -> None:
    driver = calibration.start(tmp_path, DESTAGE_FAIL_POINT=point)
    assert driver.wait(LIMIT_S) == -signal.SIGKILL
    calibration.finish(tmp_path)
    calibration.assert_same_tables(tmp_path)


def test_killed_at_random_moments(calibration: KillableSweep, tmp_path: Path) -> None:
    moments = random.Random(1)  # noqa: S311 - moments, no secrets
    killed = 0
    for _ in range(KILLS):
        driver = calibration.start(tmp_path)
        time.sleep(moments.uniform(0.2, 2))
        driver.signal(signal.SIGKILL)
        killed += driver.wait(LIMIT_S) == -signal.SIGKILL
    assert killed
    calibration.finish(tmp_path)
    calibration.assert_same_tables(tmp_path)
