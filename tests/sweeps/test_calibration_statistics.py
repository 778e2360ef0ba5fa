"""Weights, scores and predictions of a calibration against closed forms."""

import math

import numpy as np
import pytest
from scipy import integrate, special, stats

from destage.sweeps.calibration.knowledge import share_of_figure, share_of_unknown
from destage.sweeps.calibration.proposals import (
    Kernels,
    Prior,
    Proposal,
    draw_cube,
    focus,
    log_prior_over_mixture,
    to_levels,
    to_scores,
)
from destage.sweeps.calibration.sample import (
    Mixture,
    crps_uniform,
    effective_size,
    normalise,
    odds_interval,
    pool_errors,
    weighted_quantiles,
)

TWO = Mixture(np.array([-1.0, 3.0]), np.array([0.5, 2.0]), np.array([0.3, 0.7]))


def test_equal_weights_are_worth_all_draws() -> None:
    assert effective_size(np.full(40, 0.025)) == pytest.approx(40)
    assert effective_size(np.array([1.0, 0, 0])) == 1
    assert effective_size(np.zeros(3)) == 0


def test_weights_do_not_overflow_and_may_all_vanish() -> None:
    assert normalise(np.array([1000.0, 1000.0])).tolist() == [0.5, 0.5]
    assert normalise(np.array([-math.inf, -math.inf])).tolist() == [0, 0]


@pytest.mark.parametrize("value", [-3.0, 0.0, 0.7, 5.0])
def test_crps_of_a_normal_is_its_closed_form(value: float) -> None:
    """Gneiting and Raftery (2007), equation 21."""
    mean, deviation = 1.0, 2.0
    z = (value - mean) / deviation
    expected = deviation * (z * (2 * stats.norm.cdf(z) - 1) + 2 * stats.norm.pdf(z) - 1 / math.sqrt(math.pi))
    one = Mixture(np.array([mean]), np.array([deviation]), np.array([1.0]))
    assert one.crps(value) == pytest.approx(expected)


@pytest.mark.parametrize("value", [-2.0, 0.5, 6.0])
def test_crps_is_the_integral_of_the_squared_error(value: float) -> None:
    below, _ = integrate.quad(lambda x: TWO.probability_below(x) ** 2, -30, value, limit=200)
    above, _ = integrate.quad(lambda x: (1 - TWO.probability_below(x)) ** 2, value, 40, limit=200)
    assert TWO.crps(value) == pytest.approx(below + above, rel=1e-6)


RATIOS = Mixture(np.array([2.0, 5.0]), np.array([3.0, 1.0]), np.array([0.4, 0.6]), is_ratio=True)


@pytest.mark.parametrize("value", [-1.0, 0.0, 0.5, 4.0, 30.0])
def test_crps_of_ratios_is_the_integral(value: float) -> None:
    start = min(value, 0.0)
    below, _ = integrate.quad(lambda x: RATIOS.probability_below(x) ** 2, start, value, limit=400)
    points = [max(value, 5.0), 20.0]
    above, _ = integrate.quad(
        lambda x: (1 - RATIOS.probability_below(x)) ** 2, value, 400, limit=800, points=points
    )
    assert RATIOS.crps(value) == pytest.approx(below + above, rel=1e-4)


def test_ratios_have_their_mean_and_no_share_below_0() -> None:
    mean, _ = integrate.quad(
        lambda x: 1 - RATIOS.probability_below(x), 0, 2000, limit=800, points=[2.0, 5.0, 50.0]
    )
    assert mean == pytest.approx(RATIOS.mean, rel=1e-3)
    assert RATIOS.probability_below(0.0) == 0
    assert RATIOS.probability_below(RATIOS.quantile(0.3)) == pytest.approx(0.3)


@pytest.mark.parametrize("value", [10.0, 52.0, 60.0, 97.0, 120.0])
def test_crps_of_a_plain_rule_is_the_integral(value: float) -> None:
    low, high = 50.7, 97.5

    def squared(x: float) -> float:
        return (min(max((x - low) / (high - low), 0.0), 1.0) - (x >= value)) ** 2

    expected, _ = integrate.quad(squared, 0, 150, points=[low, high, value], limit=200)
    assert crps_uniform(low, high, value) == pytest.approx(expected, rel=1e-6)


def test_a_quantile_is_where_the_probability_is_reached() -> None:
    for level in (0.05, 0.5, 0.95):
        assert TWO.probability_below(TWO.quantile(level)) == pytest.approx(level)
    assert TWO.mean == pytest.approx(1.8)
    assert TWO.deviation == pytest.approx(math.sqrt(0.3 * 0.25 + 0.7 * 4 + 0.21 * 16))


def test_weighted_quantiles_of_equal_weights_are_order_statistics() -> None:
    values = np.array([5.0, 1.0, 3.0, 2.0, 4.0])
    found = weighted_quantiles(values, np.full(5, 0.2), np.array([0.2, 0.5, 1.0]))
    assert found.tolist() == [1, 3, 5]


def test_the_interval_of_odds_is_wilsons() -> None:
    low, high = odds_interval(0.1, 50)
    expected = stats.binomtest(5, 50).proportion_ci(method="wilson")
    assert (low, high) == pytest.approx((expected.low, expected.high), rel=1e-6)
    assert odds_interval(0.5, 0) == (0, 1)


def test_levels_and_scores_are_inverse() -> None:
    levels = np.linspace(0.01, 0.99, 50)[:, None]
    assert to_levels(to_scores(levels)) == pytest.approx(levels, abs=1e-8)


def _fit_normal(unknowns: int, value: float, deviation: float, points: int = 256) -> tuple[np.ndarray, ...]:
    """Measure the sum of standard normal unknowns; return the scores and the weights of three waves."""
    proposals: list[Proposal] = [Prior()]
    scores = np.empty((0, unknowns))
    for wave in range(3):
        cube = draw_cube(points, unknowns, 1, wave)
        scores = np.concatenate([scores, proposals[-1].draw(cube)])
        ratios = log_prior_over_mixture(scores, proposals, [points] * len(proposals))
        likelihoods = -(((scores.sum(axis=1) - value) / deviation) ** 2) / 2
        proposals.append(focus(scores, ratios, likelihoods, points / 8))
    return scores, ratios, normalise(ratios + likelihoods)


@pytest.mark.parametrize(("unknowns", "value"), [(1, 1.5), (3, -2.0), (8, 4.0)])
def test_weighted_draws_recover_the_conjugate_posterior(unknowns: int, value: float) -> None:
    """The sum of standard normals, measured with a normal error, has a normal posterior."""
    deviation = 0.3
    scores, _, weights = _fit_normal(unknowns, value, deviation)
    total = scores.sum(axis=1)
    shrunk = unknowns / (unknowns + deviation**2)
    mean = float(total @ weights)
    spread = math.sqrt(float((total - mean) ** 2 @ weights))
    error = deviation / math.sqrt(effective_size(weights))
    assert mean == pytest.approx(shrunk * value, abs=5 * error)
    assert spread == pytest.approx(math.sqrt(shrunk) * deviation, rel=0.2)
    # Each unknown has its share of the sum.
    assert scores[:, 0] @ weights == pytest.approx(shrunk * value / unknowns, abs=0.2)


def test_later_waves_are_worth_more_than_the_prior() -> None:
    scores, _, weights = _fit_normal(3, 4.0, 0.2)
    is_first = np.arange(len(scores)) < 256
    first = normalise(np.where(is_first, -(((scores.sum(axis=1) - 4) / 0.2) ** 2) / 2, -math.inf))
    assert effective_size(weights) > 5 * effective_size(first)


def test_prior_over_mixture_averages_to_one() -> None:
    """The mean over all draws of prior over mixture is the mass of the prior."""
    _, ratios, _ = _fit_normal(2, 1.0, 0.5, points=1024)
    assert np.exp(ratios).mean() == pytest.approx(1, abs=0.02)


def test_the_density_of_kernels_has_the_mass_one() -> None:
    kernels = Kernels(np.array([[1.0], [-2.0]]), np.array([0.4, 0.6]), np.array([[0.3]]))
    places = np.linspace(-12, 12, 20_001)[:, None]
    density = np.exp(kernels.log_density(places)) / math.sqrt(2 * math.pi)
    assert np.trapezoid(density, places[:, 0]) == pytest.approx(1, abs=1e-6)
    drawn = kernels.draw(draw_cube(4096, 1, 1, 1))[:, 0]
    assert drawn.mean() == pytest.approx(0.8 * (0.4 * 1.0 + 0.6 * -2.0), abs=0.02)


def test_draws_without_a_figure_are_no_kernels() -> None:
    scores = np.array([[0.0], [1.0], [5.0]])
    kernels = focus(scores, np.zeros(3), np.array([0.0, 0.0, -math.inf]), 1)
    assert len(kernels.centres) == 2
    assert kernels.centres.max() < 1.01


def test_far_from_the_figures_the_next_wave_moves_towards_them() -> None:
    """No draw is near: without a smaller power of the likelihood, a single draw would be the only kernel."""
    scores = to_scores(draw_cube(128, 2, 1, 0)[:, 1:])
    likelihoods = -(((scores.sum(axis=1) - 30) / 0.1) ** 2) / 2
    kernels = focus(scores, np.zeros(128), likelihoods, 16)
    assert effective_size(kernels.weights) == pytest.approx(16, rel=0.05)
    assert kernels.weights @ kernels.centres.sum(axis=1) > 1.5


def test_an_unknown_has_its_share_of_a_linear_variance() -> None:
    scores = special.ndtri(np.clip(draw_cube(2048, 2, 3, 0)[:, 1:], 1e-9, 1 - 1e-9))
    means = 3 * scores[:, 0] + scores[:, 1]
    weights = np.full(2048, 1 / 2048)
    mixture = Mixture(means, np.full(2048, math.sqrt(10)), weights)
    share = share_of_unknown(mixture, scores[:, 0].tolist(), is_ordered=True)
    # Nine tenths of the half that is not the model's; classes see a little less than all of it.
    assert share == pytest.approx(0.45, abs=0.03)
    assert share_of_unknown(mixture, scores[:, 1].tolist(), is_ordered=True) == pytest.approx(0.05, abs=0.01)


def test_an_unknown_without_effect_has_no_share() -> None:
    generator = np.random.default_rng(1)
    shares = []
    for _ in range(200):
        mixture = Mixture(generator.normal(size=60), np.full(60, 1e-9), np.full(60, 1 / 60))
        shares.append(share_of_unknown(mixture, generator.normal(size=60).tolist(), is_ordered=True))
    # Below zero counts as zero, so that a little is left of chance.
    assert np.mean(shares) < 0.06


def test_a_choice_is_classed_by_its_values() -> None:
    mixture = Mixture(np.array([1.0, 1, 5, 5] * 20), np.full(80, 1e-9), np.full(80, 1 / 80))
    assert share_of_unknown(mixture, ["a", "a", "b", "b"] * 20, is_ordered=False) == pytest.approx(1)


@pytest.mark.parametrize("error", [0.5, 1.0, 3.0])
def test_a_figure_removes_the_variance_of_a_regression(error: float) -> None:
    """Of jointly normal figures, the expected share is the squared correlation with the measured one."""
    cube = special.ndtri(np.clip(draw_cube(2048, 1, 2, 0)[:, 1:], 1e-9, 1 - 1e-9))[:, 0]
    mixture = Mixture(cube, np.full(2048, 1e-9), np.full(2048, 1 / 2048))
    share = share_of_figure(mixture, 2 * cube, np.full(2048, error))
    assert share == pytest.approx(4 / (4 + error**2), abs=0.03)


def test_replicates_share_one_relative_scatter() -> None:
    means, errors = pool_errors([(9.0, 11.0), (90.0, 110.0), (), (50.0, 50.0)])
    assert means[[0, 1, 3]].tolist() == [10, 100, 50]
    assert math.isnan(means[2])
    relative = math.sqrt((0.02 + 0.02 + 0) / 3)
    assert errors[[0, 1]] == pytest.approx([10 * relative / math.sqrt(2), 100 * relative / math.sqrt(2)])


def test_a_ceiling_caps_figures_and_their_errors() -> None:
    """What is above it may be a bound of a search, whose replicates do not scatter."""
    values = [(36.0, 44.0), (90.0, 90.0), (56.0, 60.0)]
    figures, errors = pool_errors(values, [60, 60, 60])
    assert figures.tolist() == [40, 60, 58]
    relative = math.sqrt((2 * 0.1**2 + 2 * (2 / 58) ** 2) / 2)
    assert errors == pytest.approx([40 * relative / math.sqrt(2), 0, 58 * relative / math.sqrt(2)])
