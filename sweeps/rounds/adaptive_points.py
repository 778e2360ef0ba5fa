"""The ways in which a study adds points to its own: a search, a refinement, and a calibration."""

from collections.abc import Callable, Mapping
from typing import Any

from destage.sweeps.calibration.wave_points import WavePoints
from destage.sweeps.keys.calibrate_settings import Calibration
from destage.sweeps.keys.refine_key import Refinement
from destage.sweeps.keys.search_key import Search
from destage.sweeps.points.point import Expansion
from destage.sweeps.search.added_points import AddedPoints
from destage.sweeps.search.refinement import RefinedGrid
from destage.sweeps.search.trials import Trials
from destage.sweeps.study.valid_study import Study

WAYS: Mapping[type, Callable[[Study, Any, Expansion], AddedPoints]] = {
    Search: Trials,
    Calibration: WavePoints,
    Refinement: RefinedGrid,
}
"""What adds points, by the type of its settings in a study."""


def start_adding(study: Study, expansion: Expansion) -> AddedPoints | None:
    """Return what adds points to a study; None if nothing does."""
    return None if study.adding is None else WAYS[type(study.adding)](study, study.adding, expansion)
