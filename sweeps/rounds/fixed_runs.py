"""A fixed number of runs of each point, all of them in one round."""

from collections.abc import Iterator

import numpy as np

from destage.errors import Issue
from destage.sweeps.points.point import Expansion
from destage.sweeps.rounds.finished_runs import FinishedRuns
from destage.sweeps.rounds.question import Question
from destage.sweeps.rounds.unanswered_texts import UNSTEADY, explain_unsteady, make_warning


class FixedRuns(Question):
    """A study that plans nothing from results: the planner takes its runs from the blocks of points."""

    def find_unanswered(self, expansion: Expansion, finished: FinishedRuns) -> Iterator[Issue]:
        """Yield a warning for each point without a run of status `ok` and with one that is `not_stationary`.

        An overloaded or failed array is a result.
        """
        for block in expansion.blocks:
            numbers = finished.find(block.pack_run_ids()).reshape(len(block), block.replicates)
            unsteady = finished.have_status(numbers, UNSTEADY)
            unanswered = unsteady.any(axis=1) & ~finished.have_status(numbers, "ok").any(axis=1)
            positions = np.flatnonzero(unanswered)
            if not len(positions):
                continue
            for point, position in zip(expansion.list_points(block.take(positions)), positions, strict=True):
                needed = finished.needed_requests(numbers[position][unsteady[position]])
                yield make_warning(point, explain_unsteady(needed[~np.isnan(needed)].tolist()))
