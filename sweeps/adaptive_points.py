"""The ways in which a study adds points to its own: a search, and a refinement."""

from destage.sweeps.added_points import AddedPoints
from destage.sweeps.points import Expansion
from destage.sweeps.refinement import RefinedGrid
from destage.sweeps.study import Study
from destage.sweeps.trials import Trials


def start_adding(study: Study, expansion: Expansion) -> AddedPoints | None:
    """Return what adds points to a study; None if nothing does."""
    if study.search is not None:
        return Trials(study, study.search, expansion)
    return None if study.refinement is None else RefinedGrid(study, study.refinement, expansion)
