"""The waves of a calibration: which points come next, a pure function of the results so far."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from destage.errors import Issue
from destage.sweeps.calibration.draws import (
    Draw,
    PointBuilder,
    assign_figure,
    find_allowed,
    list_columns,
    make_fields,
    read_draws,
)
from destage.sweeps.calibration.judgement import Judgement, is_hopeless, judge
from destage.sweeps.calibration.next_measurement import MOST_DRAWS, choose_draws
from destage.sweeps.calibration.proposals import (
    Prior,
    Proposal,
    draw_cube,
    focus,
    log_prior_over_mixture,
)
from destage.sweeps.calibration.result_tables import make_tables
from destage.sweeps.calibration.sample import Sample, pool_errors
from destage.sweeps.keys.calibrate_settings import CEILING, Calibration
from destage.sweeps.points.configurations import Configurations
from destage.sweeps.points.point import Expansion
from destage.sweeps.points.point_blocks import Block
from destage.sweeps.points.point_results import PointResults
from destage.sweeps.study.valid_study import Study

Measure = Callable[[str | None, str], Sequence[float]]
"""Returns a result column, or the study's answer, of each replicate of a point; nothing without a value."""
_KERNEL_SHARE = 8
"""The kernels of a wave need this effective size at least, as a divisor of its draws."""


@dataclass
class _Wave:
    """One wave.

    Attributes:
        proposal: What it was drawn from.
        scores: The normal scores of the draws that the prior allows, one a row.
        draws: Their values.
        points: By figure, the id of the point of each draw; None where there is none.
    """

    proposal: Proposal
    scores: np.ndarray
    draws: list[Draw]
    points: dict[str, list[str | None]] = field(default_factory=dict)


class Waves:
    """Adds points until the waves end: call `next_blocks` whenever all points so far have results.

    Attributes:
        examples: The points of every figure for the draws of the first wave.
    """

    def __init__(self, study: Study, calibration: Calibration, configurations: Configurations) -> None:
        self._study = study
        self._calibration = calibration
        self._configurations = configurations
        self.builder = PointBuilder(study, calibration, configurations)
        self._waves: list[_Wave] = []
        self._candidates: dict[str, list[str | None]] | None = None
        self.examples: list[Block] = []

    @property
    def count(self) -> int:
        """The number of waves so far."""
        return len(self._waves)

    @property
    def has_candidates(self) -> bool:
        """Whether the points of the candidates were returned, which come last."""
        return self._candidates is not None

    def start(self) -> list[Block]:
        """Return the points of the first wave, for the figures of the leading fit.

        Raises:
            ConfigError: No draw meets the condition, or a draw is an invalid configuration.
        """
        self._draw(Prior())
        wave = self._waves[0]
        if not wave.draws:
            where = self._calibration.where
            raise self._study.error(
                [Issue("study.no-points", "where", "no draw of the prior meets it", where)]
            )
        blocks, issues = self._add_points(wave, self._calibration.leading, range(len(wave.draws)))
        # So that a mistake in a later figure is found now, too. The points themselves are added when needed.
        other = PointBuilder(self._study, self._calibration, self._configurations)
        self.examples = list(blocks)
        for name in self._calibration.others:
            figure = self._calibration.figures[name]
            _, built, mistakes = other.build([assign_figure(draw, figure) for draw in wave.draws])
            self.examples += built
            issues += mistakes
        for candidate in self._calibration.candidates.values():
            _, built, mistakes = other.build([assign_figure(wave.draws[0], candidate)])
            self.examples += built
            issues += mistakes
        if issues:
            raise self._study.error({(issue.place, repr(issue.value)): issue for issue in issues}.values())
        return blocks

    def next_blocks(self, measure: Measure) -> list[Block] | None:
        """Return the points that come next; None when the calibration has ended.

        The figures of the leading fit come first. The others are simulated only for the draws that it does
        not rule out, which have no weight in any fit. Candidates come last, for a few draws.

        Where no draw of all waves explains every figure, but some draw explains enough of them, as many waves
        again follow, near the draws that do; which draws are left is known after these. Where most figures
        are out of reach of the first wave, none follows.
        """
        calibration, settings = self._calibration, self._calibration.waves
        sample = self.sample(measure)
        if len(self._waves) == 1 and is_hopeless(
            calibration, sample, judge(calibration, sample, calibration.leading)
        ):
            return None
        # Before the last wave, a later one may still explain every figure.
        is_last = len(self._waves) >= settings.most
        judgement = judge(calibration, sample, calibration.leading, may_miss=is_last)
        is_extended = len(self._waves) > settings.most or (
            bool(judgement.missed) and not judgement.is_ruled_out
        )
        if not is_extended and calibration.others and calibration.others[0] not in self._waves[-1].points:
            blocks = self._add_others(judgement, sample, len(self._waves) - 1)
            if blocks:
                return blocks
        most = settings.most * (2 if is_extended else 1)
        if len(self._waves) == most or judgement.effective >= settings.effective:
            blocks = self._add_others(judgement, sample, 0) if is_extended else []
            return blocks or self._add_candidates(judgement)
        if not np.isfinite(judgement.log_likelihoods).any():
            return None
        least = settings.points / _KERNEL_SHARE
        self._draw(focus(sample.scores, sample.log_ratios, judgement.log_likelihoods, least))
        wave = self._waves[-1]
        blocks, _ = self._add_points(wave, calibration.leading, range(len(wave.draws)))
        return blocks

    def sample(self, measure: Measure) -> Sample:
        """Return the draws of all waves with their figures."""
        calibration, waves = self._calibration, self._waves
        draws = [draw for wave in waves for draw in wave.draws]
        scores = np.concatenate([wave.scores for wave in waves])
        ceilings = [draw[CEILING] for draw in draws] if CEILING in calibration.unknowns else None
        figures, errors = {}, {}
        for name, figure in calibration.figures.items():
            points = [point for wave in waves for point in wave.points.get(name, [None] * len(wave.draws))]
            measured = [() if point is None else measure(figure.column, point) for point in points]
            figures[name], errors[name] = pool_errors(measured, ceilings)
        for name, points in (self._candidates or {}).items():
            column = calibration.candidates[name].column
            measured = [() if point is None else measure(column, point) for point in points]
            figures[name], errors[name] = pool_errors(measured, ceilings)
        # Draws outside the condition count in the density of the mixture.
        sizes = [calibration.waves.points] * len(waves)
        return Sample(
            waves=np.repeat(np.arange(len(waves)), [len(wave.draws) for wave in waves]),
            scores=scores,
            values={name: [draw[name] for draw in draws] for name in calibration.unknowns},
            log_ratios=log_prior_over_mixture(scores, [wave.proposal for wave in waves], sizes),
            figures=figures,
            errors=errors,
        )

    def _add_others(self, judgement: Judgement, sample: Sample, first: int) -> list[Block]:
        """Return the points of the figures outside the leading fit, of the draws left from a wave on."""
        is_left = judgement.implausibility <= self._calibration.waves.cutoff
        blocks: list[Block] = []
        for number, wave in enumerate(self._waves[first:], start=first):
            chosen = np.flatnonzero(is_left[sample.waves == number])
            blocks += self._add_points(wave, self._calibration.others, chosen)[0]
        return blocks

    def _add_candidates(self, judgement: Judgement) -> list[Block] | None:
        """Return the points of the candidates; None if there are none, or they were returned before."""
        if self._candidates is not None:
            return None
        chosen = np.flatnonzero(choose_draws(judgement.weights))
        draws = [draw for wave in self._waves for draw in wave.draws]
        self._candidates = {}
        blocks: list[Block] = []
        for name, candidate in self._calibration.candidates.items():
            # A candidate that is invalid for a draw has no figure there.
            ids, built, _ = self.builder.build([assign_figure(draws[index], candidate) for index in chosen])
            points: list[str | None] = [None] * len(draws)
            for index, identity in zip(chosen, ids, strict=True):
                points[index] = identity
            self._candidates[name] = points
            blocks += built
        return blocks or None

    def _draw(self, proposal: Proposal) -> None:
        calibration = self._calibration
        cube = draw_cube(
            calibration.waves.points, len(calibration.unknowns), calibration.waves.seed, len(self._waves)
        )
        scores = proposal.draw(cube)
        draws = read_draws(calibration, scores)
        allowed = find_allowed(self._study, calibration, draws)
        kept = [draw for draw, is_kept in zip(draws, allowed, strict=True) if is_kept]
        self._waves.append(_Wave(proposal, scores[allowed], kept))

    def _add_points(
        self, wave: _Wave, names: Sequence[str], chosen: Sequence[int] | np.ndarray
    ) -> tuple[list[Block], list[Issue]]:
        blocks: list[Block] = []
        mistakes: list[Issue] = []
        for name in names:
            figure = self._calibration.figures[name]
            requests = [assign_figure(wave.draws[index], figure) for index in chosen]
            ids, built, issues = self.builder.build(requests)
            points: list[str | None] = [None] * len(wave.draws)
            for index, identity in zip(chosen, ids, strict=True):
                points[index] = identity
            wave.points[name] = points
            mistakes += issues
            blocks += built
        return blocks, mistakes


def expand_draws(study: Study, calibration: Calibration) -> Expansion:
    """Return the points of the first wave for the figures of the leading fit.

    Raises:
        ConfigError: A draw is an invalid configuration, or the condition leaves none; with every mistake.
    """
    columns = list_columns(calibration)
    configurations = Configurations(study, columns, 1)
    waves = Waves(study, calibration, configurations)
    blocks = waves.start()
    return Expansion(study, blocks, make_fields(calibration, columns, waves.examples), configurations)


class WavePoints:
    """Adds the points of the waves after the first."""

    def __init__(self, study: Study, calibration: Calibration, expansion: Expansion) -> None:
        self._calibration = calibration
        self._expansion = expansion
        self._waves = Waves(study, calibration, expansion.configurations)
        self._waves.start()

    @property
    def left(self) -> tuple[int, int]:
        """The points of later waves, of what is predicted and of the candidates, expected and at most.

        At most, no draw explains all figures, so that as many waves again follow. How many draws are left to
        predict with is not known: half of them are expected.
        """
        if self._waves.has_candidates:
            return 0, 0
        calibration, count = self._calibration, self._waves.count
        settings, measured = calibration.waves, MOST_DRAWS * len(calibration.candidates)
        fitted, predicted = (
            settings.points * len(names) for names in (calibration.leading, calibration.others)
        )
        last = 2 * settings.most if count > settings.most else settings.most
        expected = (last - count) * fitted + (last - count + 1) * predicted // 2 + measured
        longest = 2 * settings.most
        return expected, (longest - count) * fitted + longest * predicted + measured

    def add(self, results: PointResults) -> bool:
        """Add the next points; return whether the calibration goes on."""
        blocks = self._waves.next_blocks(self._measure(results))
        self._expansion.extend(blocks or [])
        return blocks is not None

    def tabulate(self, results: PointResults) -> dict[str, pa.Table]:
        """Return the tables of the calibration by name."""
        return make_tables(self._calibration, self._waves.sample(self._measure(results)))

    def _measure(self, results: PointResults) -> Measure:
        points = {point.id: point for point in self._expansion.points}
        return lambda column, identity: results.list_figures(column, points[identity])
