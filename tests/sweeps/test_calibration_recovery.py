"""Synthetic recovery: figures of known unknowns come back inside the intervals at their stated rate."""

import math
from collections.abc import Callable, Mapping

import numpy as np
import pytest
from scipy import stats

from destage.sweeps.calibration.judgement import judge
from destage.sweeps.calibration.proposals import (
    Prior,
    Proposal,
    draw_cube,
    focus,
    log_prior_over_mixture,
    to_levels,
)
from destage.sweeps.calibration.result_tables import make_tables
from destage.sweeps.calibration.sample import Sample, predict
from destage.sweeps.keys.calibrate_settings import Calibration, Figure, Waves
from destage.sweeps.space.distributions import Continuous

REPEATS = 300
POINTS = 128
WAVES = 3
DISCREPANCY = 0.05
TOLERANCE = 0.02
LIMITS = {"service": (0.002, 0.02), "share": (0.1, 0.9)}
pytestmark = pytest.mark.xdist_group("calibration recovery")
"""In one process, which calibrates once for all tests."""
Model = Callable[[Mapping[str, np.ndarray]], dict[str, np.ndarray]]


def _respond(unknowns: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return response times of an M/M/1 queue that gets a share of the requests, at three loads."""
    service, share = np.asarray(unknowns["service"]), np.asarray(unknowns["share"])
    return {f"at {load}": service / (1 - service * share * load) for load in (10, 25, 45)}


def _calibrate(values: Mapping[str, float], seed: int) -> tuple[Calibration, Sample]:
    figures = {
        name: Figure(
            name=name,
            set={},
            of="response_mean",
            column="response_mean_us",
            value=value,
            tolerance=TOLERANCE * value,
            discrepancy=DISCREPANCY,
            odds=(),
            against=None,
        )
        for name, value in values.items()
    }
    priors = {name: Continuous(*ends, is_log=True, is_whole=False) for name, ends in LIMITS.items()}
    calibration = Calibration(
        unknowns=priors,
        figures=figures,
        fits={"both": ("at 10", "at 25")},
        where=None,
        waves=Waves(points=POINTS, most=WAVES, effective=1e9, cutoff=4, seed=seed),
    )
    proposals: list[Proposal] = [Prior()]
    scores = np.empty((0, 2))
    for wave in range(WAVES):
        scores = np.concatenate([scores, proposals[-1].draw(draw_cube(POINTS, 2, seed, wave))])
        levels = to_levels(scores)
        drawn = {name: prior.quantiles(levels[:, at]) for at, (name, prior) in enumerate(priors.items())}
        sample = Sample(
            waves=np.repeat(np.arange(wave + 1), POINTS),
            scores=scores,
            values=drawn,
            log_ratios=log_prior_over_mixture(scores, proposals, [POINTS] * len(proposals)),
            figures=_respond({name: np.array(column) for name, column in drawn.items()}),
            errors={name: np.zeros(len(scores)) for name in values},
        )
        found = judge(calibration, sample, calibration.leading)
        proposals.append(focus(scores, sample.log_ratios, found.log_likelihoods, POINTS / 8))
    return calibration, sample


def _count_covered(levels: list[float], share: float) -> int:
    return sum(abs(level - 0.5) <= share / 2 for level in levels)


@pytest.fixture(scope="module")
def levels() -> dict[str, list[float]]:
    """Return where the truth lies in each posterior, and the third figure in its prediction [0 to 1]."""
    generator = np.random.default_rng(7)
    found: dict[str, list[float]] = {"service": [], "share": [], "prediction": []}
    for repeat in range(REPEATS):
        truth = {
            name: np.array([math.exp(generator.uniform(math.log(low), math.log(high)))])
            for name, (low, high) in LIMITS.items()
        }
        values = {}
        for name, simulated in _respond(truth).items():
            real = float(simulated[0]) * (1 + DISCREPANCY * generator.normal())
            # What is predicted is the real figure, not a measurement of it.
            values[name] = real if name == "at 45" else real * (1 + TOLERANCE * generator.normal())
        calibration, sample = _calibrate(values, seed=repeat)
        weights = judge(calibration, sample, calibration.leading).weights
        for name, value in truth.items():
            below = np.array(sample.values[name]) < value
            found[name].append(float(weights[below].sum()))
        mixture, _ = predict(calibration.figures["at 45"], sample, weights)
        assert mixture is not None
        found["prediction"].append(mixture.probability_below(values["at 45"]))
    return found


@pytest.mark.parametrize("share", [0.5, 0.9])
@pytest.mark.parametrize("name", ["service", "share", "prediction"])
def test_intervals_cover_at_their_stated_rate(
    levels: Mapping[str, list[float]], name: str, share: float
) -> None:
    covered = _count_covered(levels[name], share)
    assert stats.binomtest(covered, REPEATS, share).pvalue > 0.01, covered / REPEATS


def test_levels_are_uniform(levels: Mapping[str, list[float]]) -> None:
    """Not only two intervals: the predictive distribution is right at every level."""
    assert stats.kstest(levels["prediction"], "uniform").pvalue > 0.01


def test_figures_that_nothing_explains_are_ruled_out() -> None:
    """A response that falls with the load: no queue does that."""
    calibration, sample = _calibrate({"at 10": 0.02, "at 25": 0.004, "at 45": 0.02}, seed=1)
    tables = make_tables(calibration, sample)
    (row,) = tables["calibration"].to_pylist()
    assert row["is_ruled_out"]
    assert row["not_ruled_out"] == 0
    assert row["smallest_implausibility"] > 4
    (missed,) = tables["missed_figures"].to_pylist()
    assert missed["figure"] in {"at 10", "at 25"}
    assert missed["low_90"] is None
    assert tables["odds"].num_rows == 0
    assert {row["median"] for row in tables["predictive"].to_pylist()} == {None}


def test_what_a_fit_needs_to_know_is_named() -> None:
    """At a low load the share says little, so that it is what decides the response at a high one."""
    calibration, sample = _calibrate({"at 10": 0.0105, "at 25": 0.0115, "at 45": 0.015}, seed=3)
    worth = {
        (row["kind"], row["known"]): row["variance_removed"]
        for row in make_tables(calibration, sample)["worth_knowing"].to_pylist()
    }
    assert worth["unknown", "share"] > worth["unknown", "service"]
    assert sum(worth.values()) < 1.3
