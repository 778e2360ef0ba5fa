"""The calibrated call centre with 128 draws and short runs: what 39 users tell about the other figures."""

import math
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from chaos.zygote import Zygote
from tests.system.conftest import KillableSweep, make_killable

from destage.store import open_sweep
from destage.sweeps import studies

pytestmark = pytest.mark.xdist_group("calibrated call centre")
OTHER_SEEDS = {
    "users in the prior": [77.6, 78.5, 76.0, 82.5, 82.5, 72.0, 75.5, 76.8, 75.1, 79.0],
    "draws left": [6, 9, 10, 7, 8, 9, 11, 13, 7, 5],
    "no write cache": [38.0, 37.6, 38.7, 40.1, 38.4, 38.6, 38.8, 41.9, 40.9, 37.9],
    "64 MB": [107.8, 95.0, 69.6, 60.2, 84.7, 80.2, 80.1, 80.8, 88.4, 65.6],
    "256 MB": [109.4, 102.1, 99.3, 64.6, 129.6, 106.6, 89.1, 111.8, 99.9, 75.8],
}
"""Of this form with other seeds of the draws: the quantity of each seed."""
MOST_APART = 4.0
"""The most standard deviations that two forms may be apart."""
FIT = "39"
Rows = list[dict[str, Any]]


def make_form(folder: Path, zygote: Zygote, points: int) -> KillableSweep:
    """Make a short form with a number of draws, and its result after an uninterrupted run."""
    document = yaml.safe_load(studies.text("call_center_calibrated"))
    document["calibrate"]["waves"] |= {"points": points, "most": 1}
    document["scenario"]["run"] = {"warm_up": "auto", "window": {"requests": 1000}}
    return make_killable(folder, yaml.safe_dump(document, sort_keys=False), zygote)


@pytest.fixture(scope="module")
def form(tmp_path_factory: pytest.TempPathFactory, zygote: Zygote) -> KillableSweep:
    """Return the short form that the seeds of `OTHER_SEEDS` have."""
    return make_form(tmp_path_factory.mktemp("call_center"), zygote, 128)


@pytest.fixture(scope="module")
def tables(form: KillableSweep) -> Mapping[str, Rows]:
    """Return the rows of the fit on 39 users in each table."""
    found = {name: table.to_pylist() for name, table in open_sweep(form.reference).analyses().items()}
    return {name: [row for row in rows if row["fit"] == FIT] for name, rows in found.items()}


def test_results_are_those_of_other_seeds(tables: Mapping[str, Rows]) -> None:
    """The draws of another seed differ; what they say does so by chance only."""
    predicted = {row["figure"]: row["median"] for row in tables["predictive"]}
    users = [row["no write cache: users_supported"] or 0.0 for row in tables["posterior"]]
    (fit,) = tables["calibration"]
    found = {
        "users in the prior": float(np.median(users)),
        "draws left": fit["not_ruled_out"],
        **{figure: predicted[figure] for figure in ("no write cache", "64 MB", "256 MB")},
    }
    assert found.keys() == OTHER_SEEDS.keys()
    for name, others in OTHER_SEEDS.items():
        # The scatter of a new value about the mean of a few others.
        scatter = float(np.std(others, ddof=1)) * math.sqrt(1 + 1 / len(others))
        assert abs(found[name] - np.mean(others)) < MOST_APART * scatter, name


def test_odds_follow_from_the_draws(tables: Mapping[str, Rows]) -> None:
    """A share of each draw: its normal distribution beyond the bound, times its weight."""
    discrepancy = 0.1
    for odds, bound in zip(tables["odds"], (51, 96), strict=True):
        name = odds["figure"]
        assert odds["statement"] == f"users_supported >= {bound}"
        share = 0.0
        for row in tables["posterior"]:
            if row["weight"] > 0:
                users, error = row[f"{name}: users_supported"], row[f"{name}: error"]
                deviation = math.hypot(error, discrepancy * users)
                share += row["weight"] * math.erfc((bound - users) / deviation / math.sqrt(2)) / 2
        assert odds["probability"] == pytest.approx(share, abs=1e-9)
        assert odds["probability_low"] < share < odds["probability_high"]


def test_draws_beyond_the_cutoff_have_no_weight(tables: Mapping[str, Rows]) -> None:
    draws = tables["posterior"]
    assert math.fsum(row["weight"] for row in draws) == pytest.approx(1)
    assert math.fsum(row["prior_weight"] for row in draws) == pytest.approx(1)
    for row in draws:
        users = row["no write cache: users_supported"]
        deviation = (
            None if users is None else math.sqrt(1 + (0.1 * users) ** 2 + row["no write cache: error"] ** 2)
        )
        is_left = users is not None and abs(users - 39) / deviation <= 3
        assert (row["weight"] > 0, row["is_ruled_out"]) == (is_left, not is_left)
        # Only draws that are left are simulated for the other figures.
        assert (row["64 MB: users_supported"] is not None) == is_left


def test_processors_limit_every_system_of_a_draw(tables: Mapping[str, Rows]) -> None:
    """The ceiling of a draw is one for all three systems, and limits at least one of them in some draw."""
    capped = 0
    for row in tables["posterior"]:
        users = [value for name, value in row.items() if name.endswith(": users_supported")]
        assert all(value is None or value <= row["ceiling"] for value in users)
        capped += row["ceiling"] in users
    assert capped >= 5


def test_killed_and_resumed_to_equal_bytes(tmp_path: Path, zygote: Zygote) -> None:
    """It is killed while it writes the plan of a later step of its searches."""
    form = make_form(tmp_path, zygote, 32)
    rows = [
        row for row in open_sweep(form.reference).analyses()["posterior"].to_pylist() if row["fit"] == FIT
    ]
    assert any(row["64 MB: users_supported"] for row in rows), "a prediction was simulated"
    driver = form.start(tmp_path, DESTAGE_FAIL_POINT="mid_plan_round:4")
    assert driver.wait(120) == -signal.SIGKILL
    form.finish(tmp_path)
    form.assert_same_tables(tmp_path)
