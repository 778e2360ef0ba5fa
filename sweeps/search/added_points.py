"""Points that are added to a study once those so far are answered, as a function of their results."""

from collections.abc import Mapping, Sequence
from typing import Protocol

import pyarrow as pa

from destage.errors import Issue, QueryError
from destage.sweeps.points.point_results import PointResults
from destage.sweeps.space.axes import find_type, fit, kind_of
from destage.sweeps.study.valid_study import Study


class AddedPoints(Protocol):
    """What adds points to the expansion of a study."""

    @property
    def left(self) -> tuple[int, int]:
        """The points that are still to come: expected, and at most."""
        ...

    def add(self, results: PointResults) -> bool:
        """Add the next points; return whether there is a next step."""
        ...

    def tabulate(self, results: PointResults) -> dict[str, pa.Table]:
        """Return the tables of the analysis by name, after the last step."""
        ...


def meet_condition(study: Study, assignments: Sequence[Mapping[str, object]]) -> list[bool]:
    """Return whether each of some assignments of the same parameters meets the study's condition.

    Raises:
        ConfigError: The condition is invalid.
    """
    where = study.where
    if where is None or not assignments:
        return [True] * len(assignments)
    from destage import sql  # noqa: PLC0415 - loads duckdb, which only a condition needs

    columns = {}
    for path in assignments[0]:
        values = [assigned[path] for assigned in assignments]
        kind = find_type({kind_of(value) for value in values})
        columns[path] = pa.array([fit(value, kind) for value in values], kind)
    columns["_point"] = pa.array(range(len(assignments)))
    try:
        kept = set(sql.filter_rows(pa.table(columns), where)["_point"].to_pylist())
    except QueryError as error:
        raise study.error([Issue("study.bad-sql", "where", error.message, where)]) from error
    return [position in kept for position in range(len(assignments))]
