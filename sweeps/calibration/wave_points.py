"""The points of a calibration: those of the first wave, and those that later waves add."""

import pyarrow as pa

from destage.sweeps.calibration.draws import list_columns, make_fields
from destage.sweeps.calibration.result_tables import make_tables
from destage.sweeps.calibration.waves import Measure, Waves
from destage.sweeps.keys.calibrate_settings import Calibration
from destage.sweeps.points.point import Expansion
from destage.sweeps.points.point_results import PointResults
from destage.sweeps.study.valid_study import Study


def expand_draws(study: Study, calibration: Calibration) -> Expansion:
    """Return the points of the first wave for the figures of the leading fit.

    Raises:
        ConfigError: A draw is an invalid configuration, or the condition leaves none; with every mistake.
    """
    waves = Waves(study, calibration)
    blocks = waves.start()
    fields = make_fields(calibration, list_columns(calibration), waves.examples)
    return Expansion(study, blocks, fields)


class WavePoints:
    """Adds the points of the waves after the first."""

    def __init__(self, study: Study, calibration: Calibration, expansion: Expansion) -> None:
        self._calibration = calibration
        self._expansion = expansion
        self._waves = Waves(study, calibration)
        self._waves.start()

    @property
    def left(self) -> int:
        """The points of waves that may still come, for the figures of the leading fit."""
        calibration = self._calibration
        return (calibration.most - self._waves.count) * calibration.points * len(calibration.leading)

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
