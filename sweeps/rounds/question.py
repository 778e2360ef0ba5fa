"""What a study asks of each of its points: which runs that takes, and the answers that they give."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa

from destage.errors import Issue
from destage.sweeps.points.point import Expansion, Point
from destage.sweeps.rounds.finished_runs import FinishedRuns
from destage.sweeps.rounds.forecast import NO_MORE, Forecast
from destage.sweeps.rounds.ledger import Ledger, Slot
from destage.sweeps.seek.largest_search import PointResult
from destage.sweeps.study.valid_study import Study


class Question(ABC):
    """What a study asks; unless a kind says otherwise, it seeks nothing and plans nothing from results."""

    def __init__(self, study: Study, ledger: Ledger) -> None:
        self._study = study
        self._ledger = ledger

    @staticmethod
    def list_columns(study: Study) -> Sequence[str]:
        """Return the result columns that it needs."""
        del study
        return ()

    def choose_runs(self) -> Mapping[str, Sequence[Slot]]:
        """Return the next runs by the id of their point; none once all points of the ledger are answered."""
        return {}

    def forecast(self) -> Forecast:
        """Return the runs that later rounds will add."""
        return NO_MORE

    def find_result(self, point: Point) -> PointResult | None:
        """Return the sought value of a point; None if nothing is sought, or before the search has ended."""
        del point
        return None

    def tabulate(self, expansion: Expansion) -> tuple[pa.Table, pa.Table] | None:
        """Return the answers and their certificates, after the last round; None if nothing is sought."""
        del expansion
        return None

    @abstractmethod
    def find_unanswered(self, expansion: Expansion, finished: FinishedRuns) -> Iterator[Issue]:
        """Yield a warning for each point without an answer, after the last round.

        Args:
            finished: All planned runs.
        """
