"""The searches of points for the smallest value that meets the objectives: of all, or of the cheapest."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from destage.errors import ConfigError, Issue
from destage.sweeps.points.point import Point
from destage.sweeps.rounds.forecast import Forecast, LeastProgress, forecast_least
from destage.sweeps.rounds.ledger import Ledger, Slot
from destage.sweeps.rounds.sought_values import SoughtValues
from destage.sweeps.seek.cheapest import Candidate, choose_points
from destage.sweeps.seek.smallest_search import Standing, choose_value, conclude, examine, make_looks
from destage.sweeps.study.valid_study import Study

if TYPE_CHECKING:
    from destage.sweeps.seek.largest_search import PointResult


class SmallestValues(SoughtValues):
    """The searches of all points, of which only the cheapest may have to end."""

    def __init__(self, study: Study, ledger: Ledger) -> None:
        super().__init__(study, ledger)
        self._looks = make_looks(study.replicates.least, study.replicates.most)
        considered = range(self._seek.least, self._seek.most + 1, self._seek.step)
        points = list(ledger.points.values())
        self._values = {point.id: [value for value in considered if point.allows(value)] for point in points}
        self._results: dict[str, PointResult] = {}
        empty = [point for point in points if not self._values[point.id]]
        if empty:
            message = f"no value from {self._seek.least} to {self._seek.most} is valid at {empty[0].axes}"
            raise ConfigError([Issue("study.out-of-range", "seek.max", message)], study.name)

    def choose_runs(self) -> Mapping[str, Sequence[Slot]]:
        """Return the runs to execute next; none at the end."""
        open_points = [point for point in self._ledger.points.values() if point.id not in self._results]
        standings = {point.id: self._examine(point) for point in open_points}
        if self._seek.cheapest is None:
            positions = {
                point.id: self._choose(point, standings[point.id])
                for point in open_points
                if not standings[point.id].missing
            }
            expensive: set[str] = set()
        else:
            positions, expensive = self._choose_cheapest(standings)
        wanted: dict[str, Sequence[Slot]] = {}
        for point in open_points:
            standing, position = standings[point.id], positions.get(point.id)
            if point.id in expensive:
                self._conclude(point, standing, is_expensive=True)
            elif standing.missing:
                wanted[point.id] = standing.missing
            elif position is not None:
                value = self._values[point.id][position]
                wanted[point.id] = [(replicate, value) for replicate in range(self._looks.counts[0])]
        if not wanted:
            for point in open_points:
                if point.id not in self._results:
                    self._conclude(point, standings[point.id], is_expensive=False)
        return wanted

    def forecast(self) -> Forecast:
        """Return the runs that later rounds will add."""
        searches = [
            LeastProgress(planned, len(self._values[identity]), identity in self._results)
            for identity, planned in self._ledger.count_runs().items()
        ]
        return forecast_least(searches, self._looks.counts[0], self._seek.cheapest)

    def find_result(self, point: Point) -> "PointResult | None":
        """Return the sought value of a point; None before the search has ended."""
        return self._results.get(point.id)

    def _examine(self, point: Point) -> Standing:
        probed = {value for _, value in self._ledger.list_slots(point) if value is not None}
        return examine(self._values[point.id], probed, self._looks, partial(self._look, point))

    def _choose(self, point: Point, standing: Standing) -> int | None:
        values = self._values[point.id]
        first = next((at for at, value in enumerate(values) if value >= self._seek.start), len(values) - 1)
        return choose_value(standing, len(values), first)

    def _choose_cheapest(self, standings: Mapping[str, Standing]) -> tuple[dict[str, int | None], set[str]]:
        """Return the positions of the values to try, and the ids of the points that are too expensive."""
        # Points that are concluded are more expensive than those that were the cheapest at the time.
        points = [point for point in self._ledger.points.values() if point.id in standings]
        candidates = [
            Candidate(
                len(self._values[point.id]), standings[point.id], partial(self._price, point, point.axes)
            )
            for point in points
        ]
        choice = choose_points(candidates, self._seek.cheapest or 1, self._seek.max_price)
        values: dict[str, int | None] = {points[at].id: value for at, value in choice.values.items()}
        return values, {points[at].id for at in choice.expensive}

    def _price(self, point: Point, axes: Mapping[str, object], position: int) -> float:
        prices = self._study.prices
        if prices is None:
            raise AssertionError("a study that seeks the cheapest points has prices")
        return prices.price(axes, self._values[point.id][position])

    def _conclude(self, point: Point, standing: Standing, *, is_expensive: bool) -> None:
        self._results[point.id] = conclude(
            self._values[point.id], standing, self._looks.counts[0], is_expensive=is_expensive
        )
