"""The ways in which a study adds points to its own: a search, a refinement, and a calibration."""

from destage.sweeps.calibration.points import WavePoints
from destage.sweeps.points.points import Expansion
from destage.sweeps.search.added_points import AddedPoints
from destage.sweeps.search.refinement import RefinedGrid
from destage.sweeps.search.trials import Trials
from destage.sweeps.study.study import Study


def start_adding(study: Study, expansion: Expansion) -> AddedPoints | None:
    """Return what adds points to a study; None if nothing does."""
    if study.search is not None:
        return Trials(study, study.search, expansion)
    if study.calibration is not None:
        return WavePoints(study, study.calibration, expansion)
    return None if study.refinement is None else RefinedGrid(study, study.refinement, expansion)
