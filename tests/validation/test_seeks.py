"""Answers of a seek: 95 % of their intervals cover the load that is supported, and their mean has no bias.

Synthetic cases replace the engine by an exact curve with noise, a part of which the runs of a replicate share
as in an engine with common random numbers. *Simulated* cases have a closed form: users at one exponential
server, with the mean response by mean value analysis, and open users that make an M/M/1 queue. *coverage* is
the share of root seeds whose interval covers the exact crossing of the objective and its bound.
"""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import pytest
from scipy import stats
from validation.form import SHARE
from validation.replicates import LEDGER, SEED, Mutant, Verdict, estimate
from validation.scenarios import Scenario, closed, exponential, scenario, server

from destage.engine import simulate
from destage.sweeps.keys.objectives import Objective, parse_objective
from destage.sweeps.keys.seek_key import LargestSeek
from destage.sweeps.seek.intervals import Interval
from destage.sweeps.seek.ladder import make_ladder
from destage.sweeps.seek.largest_search import PointResult, search
from destage.sweeps.seek.probes import Probe, ProbeVerdict

SEEDS = 200 // SHARE
REPLICATES = 5
LIKELY = 0.999
"""The share of correct estimators whose coverage is accepted."""
MOST_BIAS = 0.003
"""A bias below this is accepted: a tenth of a typical interval."""
SEEK = LargestSeek(maximize="workload.users", objectives=(), start=64, most=8192)

Run = Callable[[int, int, int], Probe]
"""Runs a root seed, a replicate and a number of users."""


@dataclass(frozen=True)
class Case:
    """A load whose supported users are known.

    Attributes:
        exact: The users at which the objective is exactly at its bound.
    """

    name: str
    exact: float
    run: Run


def _judge(*margins: float) -> Probe:
    return Probe(ProbeVerdict.PASS if max(margins) <= 0 else ProbeVerdict.FAIL, margins)


def _solve(run: Run, seed: int) -> tuple[Interval, int]:
    """Return the answer of a seek with a root seed, and the number of its runs."""
    known: dict[tuple[int, int], Probe] = {}

    def look(replicate: int, users: int) -> Probe | None:
        return known.get((replicate, users))

    while True:
        found = search(make_ladder(SEEK), SEEK.start, REPLICATES, REPLICATES, look)
        if isinstance(found, PointResult):
            return found.interval, len(known)
        known |= {(replicate, users): run(seed, replicate, users) for replicate, users in found}


def _draw(*key: int) -> float:
    """Return a standard normal number that belongs to a key."""
    return random.Random(repr(key)).gauss(0, 1)  # noqa: S311 - noise, no secret


def _add_noise(margin: Callable[[int], float], noise: float, common: float) -> Run:
    """Return a stand-in engine whose runs have a noise, a share of whose variance is the replicate's."""

    def run(seed: int, replicate: int, users: int) -> Probe:
        luck = math.sqrt(common) * _draw(seed, replicate) + math.sqrt(1 - common) * _draw(
            seed, replicate, users
        )
        return _judge(margin(users) + noise * luck)

    return run


def _queue(capacity: float) -> Callable[[int], float]:
    """Return the margin of the response of an M/M/1 queue, bound at 3.75 service times."""

    def margin(users: int) -> float:
        load = users / capacity
        slack = 1 - load if load < 0.97 else 0.03 * math.exp(-8 * (load - 0.97))
        return -math.log(slack * 3.75)

    return margin


def _busy(capacity: float) -> Callable[[int], float]:
    """Return the margin of a busy fraction, bound at 80 %."""
    return lambda users: math.log(min(users / capacity, 1.0) / 0.8)


def _simulate(load: Scenario, objective: Objective) -> Run:
    def run(seed: int, replicate: int, users: int) -> Probe:
        workload = {**load["workload"], "users": users}
        row = simulate(
            {
                **load,
                "workload": workload,
                "run": {**load["run"], "seed": SEED + seed, "replicate": replicate},
            }
        )
        assert row["status"] == "ok"
        return _judge(objective.margin(row[objective.column]))

    return run


def _repairman(think_ms: float, service_ms: float, bound_ms: float) -> float:
    """Return the users of one exponential server at a mean response, by mean value analysis."""
    queue, response, users = 0.0, 0.0, 0
    while True:
        before, response = response, service_ms * (1 + queue)
        users += 1
        if response > bound_ms:
            # Between whole numbers of users, as the search has it: a line in logs.
            share = math.log(bound_ms / before) / math.log(response / before)
            return (users - 1) * (users / (users - 1)) ** share
        queue = users * response / (think_ms + response)


OPEN = {"kind": "poisson", "rate": 1.0, "per_user": True}
LIMIT = parse_objective("response_mean <= 40ms", "limit")
CASES = [
    Case("queue, 2,749 users, noise 3 %", 2749.33, _add_noise(_queue(3749.09), 0.03, 0.3)),
    Case("queue, 733 users, noise 3 %", 733.333, _add_noise(_queue(1000), 0.03, 0.3)),
    Case("queue, 733 users, noise 10 %", 733.333, _add_noise(_queue(1000), 0.1, 0.3)),
    Case("queue, 880 users, noise 3 %, nothing common", 880.0, _add_noise(_queue(1200), 0.03, 0.0)),
    Case("queue, 95 users, noise 10 %", 95.3333, _add_noise(_queue(130), 0.1, 0.7)),
    Case("busy fraction, 256 users, noise 1 %", 256.0, _add_noise(_busy(320), 0.01, 0.5)),
    Case(
        "simulated: closed users, mean response",
        _repairman(1000, 10, 40),
        _simulate(
            scenario(closed(exponential("1000ms")), server(exponential("10ms")), warm_up=1000, window=4000),
            LIMIT,
        ),
    ),
    Case(
        "simulated: M/M/1, mean response",
        100 - 1000 / 40,
        _simulate(scenario(OPEN, server(exponential("10ms")), warm_up=1000, window=6000), LIMIT),
    ),
]


@cache
def _answers(name: str) -> tuple[tuple[Interval, int], ...]:
    case = next(case for case in CASES if case.name == name)
    return tuple(_solve(case.run, seed) for seed in range(SEEDS))


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_answers_cover_the_users_supported(case: Case) -> None:
    """Of 200 root seeds, the mean answer with its bias, and the share of 95 % intervals that cover it."""
    answers = [interval for interval, _ in _answers(case.name)]
    means = [interval.mean or math.nan for interval in answers]
    widths = [interval.half_width or math.nan for interval in answers]

    def covered(scale: float = 1.0) -> int:
        return sum(abs(mean - case.exact) <= scale * width for mean, width in zip(means, widths, strict=True))

    least = int(stats.binom.ppf(1 - LIKELY, SEEDS, 0.95))
    count, narrow = covered(), covered(0.4)
    runs = sum(runs for _, runs in _answers(case.name)) / SEEDS
    width = math.fsum(widths) / SEEDS / case.exact
    LEDGER.add(
        Verdict(
            f"{case.name}: coverage of {SEEDS} seeds, half-width {width:.1%}, {runs:.1f} runs",
            "%",
            95.0,
            100 * count / SEEDS,
            None,
            f"at least {100 * least / SEEDS:g} %" if count >= least else "DIFFERS",
            (Mutant("half widths 60 % smaller", 100 * narrow / SEEDS, narrow < least),),
        )
    )
    found = estimate(means)
    bias = found.mean / case.exact - 1
    is_biased = not found.covers(case.exact, MOST_BIAS)
    wrong = abs(bias - 0.03) * case.exact > found.half_width + MOST_BIAS * case.exact
    LEDGER.add(
        Verdict(
            f"{case.name}: users supported, bias {bias:+.2%}",
            "users",
            case.exact,
            found.mean,
            found.half_width,
            "MISSES" if is_biased else "covers",
            (Mutant("answers 3 % lower", found.mean * 0.97, wrong),),
        )
    )
    assert count >= least, f"{count} of {SEEDS} intervals cover {case.exact:.6g}"
    assert narrow < least, f"{narrow} of {SEEDS} too narrow intervals cover it"
    assert not is_biased, f"{found.mean:.6g} ± {found.half_width:.2g} users, bias {bias:+.2%}"
    assert wrong
