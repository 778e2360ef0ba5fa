"""The kinds of questions: the only place that tells them apart."""

from destage.sweeps.rounds.fixed_runs import FixedRuns
from destage.sweeps.rounds.largest_values import LargestValues
from destage.sweeps.rounds.point_means import PointMeans
from destage.sweeps.rounds.question import Question
from destage.sweeps.rounds.smallest_values import SmallestValues
from destage.sweeps.study.study import Study


def find_question(study: Study) -> type[Question]:
    """Return the kind of question that a study asks."""
    if study.seek is not None:
        return SmallestValues if study.seek.is_minimum else LargestValues
    return PointMeans if study.is_adaptive else FixedRuns
