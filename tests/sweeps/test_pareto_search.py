"""The Pareto search: its trials repeat, extend, and find fronts that random trials miss."""

import numpy as np
import pytest

from destage.sweeps.keys.search_key import METHODS, Goal, Search
from destage.sweeps.search.trials import TrialPlanner, find_front
from destage.sweeps.space.distributions import Choice, Continuous, Distribution, Steps

GOALS = (Goal(minimize="price"), Goal(maximize="users_supported"))
AXES: dict[str, Distribution] = {
    "disks": Steps(2, 40),
    "cache": Continuous(1.0, 64.0, is_log=True, is_whole=False),
    "raid": Choice(("10", "5"), (1.0, 1.0)),
    **{f"share{number}": Continuous(0.0, 1.0, is_log=False, is_whole=False) for number in range(5)},
}


def _make(method: str, trials: int = 96, batch: int = 16, seed: int = 1) -> Search:
    return Search(goals=GOALS, trials=trials, batch=batch, method=method, seed=seed, axes=AXES)


def _evaluate(trial: dict[str, object]) -> tuple[float, float]:
    """Return the price and the users of an array, which loses users where a share is not 0.7."""
    disks, cache = float(str(trial["disks"])), float(str(trial["cache"]))
    share = 1.0 if trial["raid"] == "10" else 0.5
    share *= np.exp(-2 * sum((float(str(trial[f"share{number}"])) - 0.7) ** 2 for number in range(5)))
    return 10 * disks + 2 * cache, float(share * (disks + 3 * np.log(cache) * (disks > 8)))


def _run(search: Search) -> list[tuple[dict[str, object], tuple[float, float]]]:
    planner, done = TrialPlanner(search), []
    while batch := planner.ask():
        found = [_evaluate(trial) for trial in batch]
        done += zip(batch, found, strict=True)
        planner.tell(found)
    return done


def _volume(values: list[tuple[float, float]]) -> float:
    """Return the area that a front dominates, up to a price of 600 and down to no users."""
    best, total, end = 0.0, 0.0, 600.0
    for price, users in sorted(values):
        total += max(users - best, 0.0) * (end - price)
        best = max(best, users)
    return total


@pytest.mark.parametrize("method", METHODS)
def test_trials_repeat_and_more_trials_begin_with_fewer(method: str) -> None:
    first = _run(_make(method, trials=48))
    assert first == _run(_make(method, trials=48))
    assert first == _run(_make(method, trials=80))[:48]
    assert first != _run(_make(method, trials=48, seed=2))


@pytest.mark.parametrize("method", METHODS)
def test_a_search_dominates_more_than_random_trials(method: str) -> None:
    found, chance = [], []
    trials, seeds = (160, 5) if method == "nsga2" else (64, 2)  # the other method takes 30 ms a trial
    for seed in range(seeds):
        found.append(_volume([values for _, values in _run(_make(method, trials=trials, seed=seed))]))
        levels = np.random.default_rng(seed).random((trials, len(AXES)))
        columns = [axis.quantiles(levels[:, column]) for column, axis in enumerate(AXES.values())]
        random = [dict(zip(AXES, row, strict=True)) for row in zip(*columns, strict=True)]
        chance.append(_volume([_evaluate(trial) for trial in random]))
    assert np.mean(found) > 1.05 * np.mean(chance)


@pytest.mark.parametrize("method", METHODS)
def test_trials_are_whole_steps(method: str) -> None:
    axes: dict[str, Distribution] = {
        "plain": Steps(3, 39, 4),
        "share": Steps(0.1, 0.9, 0.2),
        "log": Steps(64, 4096, 64, is_log=True),
    }
    planner = TrialPlanner(Search(goals=GOALS, trials=64, method=method, axes=axes))
    found: list[dict[str, object]] = []
    while batch := planner.ask():
        found += batch
        planner.tell([(float(str(one["plain"])), float(str(one["log"]))) for one in batch])
    assert {one["plain"] for one in found} <= set(range(3, 40, 4))
    assert {one["share"] for one in found} <= {0.1, 0.3, 0.5, 0.7, 0.9}
    assert {one["log"] for one in found} <= set(range(64, 4097, 64))
    assert min(float(str(one["log"])) for one in found) < 512


def test_a_last_batch_is_what_is_left() -> None:
    planner = TrialPlanner(_make("nsga2", trials=20, batch=16))
    sizes = []
    while batch := planner.ask():
        sizes.append(len(batch))
        planner.tell([None for _ in batch])
    assert sizes == [16, 4]


def test_an_invalid_trial_does_not_end_the_search() -> None:
    planner = TrialPlanner(_make("nsga2", trials=64))
    while batch := planner.ask():
        planner.tell([None if trial["raid"] == "10" else _evaluate(trial) for trial in batch])
    assert planner.asked == 64


def test_the_front_is_what_nothing_dominates() -> None:
    generator = np.random.default_rng(1)
    values = generator.integers(0, 12, (200, 2)).astype(float)
    values[::17] = np.nan
    on_front = find_front(values, GOALS)
    for row, (price, users) in enumerate(values):
        beaten = any(
            other[0] <= price and other[1] >= users and tuple(other) != (price, users) for other in values
        )
        assert on_front[row] == (not beaten and not np.isnan(price))
