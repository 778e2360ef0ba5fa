"""The first points of a calibration, and the columns that all its points have."""

from destage.sweeps.calibration.draws import list_columns, make_fields
from destage.sweeps.calibration.settings import Calibration
from destage.sweeps.calibration.waves import Waves
from destage.sweeps.points import Expansion
from destage.sweeps.study import Study


def expand_draws(study: Study, calibration: Calibration) -> Expansion:
    """Return the points of the first wave for the figures of the leading fit.

    Raises:
        ConfigError: A draw is an invalid configuration, or the condition leaves none; with every mistake.
    """
    waves = Waves(study, calibration)
    blocks = waves.start()
    fields = make_fields(calibration, list_columns(calibration), waves.examples)
    # Draws are built by wave, not one by one.
    return Expansion(study, blocks, fields, lambda _: None)
