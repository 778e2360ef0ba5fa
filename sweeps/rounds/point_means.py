"""The means of points over replicates: as many as their intervals need."""

from collections.abc import Iterator, Mapping, Sequence

from destage.errors import Issue
from destage.sweeps.keys.objectives import metric_columns
from destage.sweeps.points.point import Expansion, Point
from destage.sweeps.rounds.finished_runs import FinishedRuns
from destage.sweeps.rounds.forecast import Forecast
from destage.sweeps.rounds.ledger import Ledger, Slot
from destage.sweeps.rounds.question import Question
from destage.sweeps.rounds.replication import Replication
from destage.sweeps.rounds.unanswered_texts import explain_runs, list_unsteady, make_warning
from destage.sweeps.seek.intervals import t_interval
from destage.sweeps.study.valid_study import Study


class PointMeans(Question):
    """A study that seeks nothing, and whose replicates or points depend on results."""

    def __init__(self, study: Study, ledger: Ledger) -> None:
        super().__init__(study, ledger)
        self._replication = Replication(study.replicates, ledger)

    @staticmethod
    def list_columns(study: Study) -> Sequence[str]:
        """Return the result column whose interval ends the replication."""
        metric = study.replicates.metric
        return () if metric is None else (metric_columns()[metric].name,)

    def choose_runs(self) -> Mapping[str, Sequence[Slot]]:
        """Return the replicates that points lack."""
        return self._replication.choose_runs(self._list_missing, self._extend)

    def forecast(self) -> Forecast:
        """Return the replicates that later rounds may add."""
        return self._replication.forecast()

    def find_unanswered(self, expansion: Expansion, finished: FinishedRuns) -> Iterator[Issue]:
        """Yield a warning for each point with runs that are `not_stationary` and none of status `ok`."""
        del finished
        for point in expansion.points:
            runs = self._ledger.list_facts(point)
            unsteady = list_unsteady(runs)
            if unsteady and all(facts.status != "ok" for facts in runs):
                yield make_warning(point, explain_runs(unsteady))

    def _list_missing(self, point: Point) -> list[Slot]:
        planned = self._ledger.list_slots(point)
        slots: list[Slot] = [(replicate, None) for replicate in range(self._replication.count(point))]
        return [slot for slot in slots if slot not in planned]

    def _extend(self, point: Point) -> bool:
        """Add replicates to a point if its interval is too wide and more are allowed."""
        column = metric_columns()[self._study.replicates.metric or ""].name
        measured = [one.values.get(column) for one in self._ledger.list_facts(point) if one.status == "ok"]
        return self._replication.extend(point, t_interval([one for one in measured if one is not None]))
