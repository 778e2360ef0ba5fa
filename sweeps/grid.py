"""The grid of a study's axes: the combinations of their values that a condition keeps, in blocks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import pyarrow as pa

from destage import engine
from destage.errors import Issue, QueryError
from destage.sweeps.axis_columns import find_type, fit, kind_of
from destage.sweeps.configurations import assigned_values
from destage.sweeps.fragments import Assignments, is_nested
from destage.sweeps.identity import canonical_text, point_id
from destage.sweeps.study import Study

MOST_COMBINATIONS = 10_000_000
"""Maximum combinations of a grid before `where`; ten million take minutes."""
BLOCK = 10_000
"""Points planned at a time."""
_FILTERED = 1_000_000
"""Combinations that a condition is applied to at a time."""


@dataclass(frozen=True, slots=True)
class GridBlock:
    """Some points of a grid.

    Attributes:
        codes: By axis, the position of each point's value.
        positions: The number of each point among all combinations.
    """

    codes: Mapping[str, np.ndarray]
    positions: np.ndarray

    @property
    def count(self) -> int:
        """The number of points."""
        return len(self.positions)


@dataclass(frozen=True, slots=True)
class _Dimension:
    """Axes that vary together: one axis of the grid, or all that a design samples.

    Attributes:
        codes: By axis, the position of its value at each step of the dimension.
        count: The number of steps.
    """

    codes: Mapping[str, np.ndarray]
    count: int


class Grid:
    """The grid of a study, combined with the points of its design; the last axis varies fastest.

    Attributes:
        axes: The values of each axis.
        count: The number of combinations, before the condition.
        rows: The step of the outermost dimension that each row of the design's sample is.
    """

    def __init__(self, study: Study) -> None:
        self.axes: dict[str, Sequence[object]] = dict(study.axes)
        self.rows = np.zeros(0, np.int64)
        self._study = study
        self._dimensions = [
            _Dimension({path: np.arange(len(values))}, len(values)) for path, values in study.axes.items()
        ]
        if study.design is not None:
            sampled, self.rows = _without_repeats(_make_dimension(study.design.sample(), self.axes))
            self._dimensions.insert(0, sampled)
        # Without axes the scenario is one point, unless there are explicit points.
        is_empty = not self.axes and bool(study.points)
        self.count = 0 if is_empty else prod(dimension.count for dimension in self._dimensions)
        if self.count > MOST_COMBINATIONS:
            message = f"{self.count:,} combinations; at most {MOST_COMBINATIONS:,} are allowed"
            raise study.error([Issue("study.too-many-values", "axes", message)])

    def list_blocks(self, most: int = BLOCK) -> Iterator[GridBlock]:
        """Yield the points in order.

        Args:
            most: The maximum number of points in a block.
        """
        for start in range(0, self.count, _FILTERED):
            positions = np.arange(start, min(start + _FILTERED, self.count))
            if self._study.where is not None and self.axes:
                positions = self._filter(positions, self._study.where)
            for first in range(0, len(positions), most):
                part = positions[first : first + most]
                yield GridBlock(self._codes(part), part)

    def assigned(self, block: GridBlock, point: int) -> Assignments:
        """Return the assignments of a point of a block, tables with the assignments nested in them."""
        values = {path: self.axes[path][codes[point]] for path, codes in block.codes.items()}
        return assigned_values(self._study, values)

    def identify(self, block: GridBlock) -> pa.Array:
        """Return the ids of the points of a block."""
        if is_nested(self._study, tuple(self.axes)):
            return pa.array([point_id(self.assigned(block, point)) for point in range(block.count)])
        paths = sorted(self.axes)
        members = [[canonical_text({path: value})[1:-1] for value in self.axes[path]] for path in paths]
        return engine.point_ids(members, [block.codes[path] for path in paths], block.count)

    def _codes(self, positions: np.ndarray) -> dict[str, np.ndarray]:
        codes: dict[str, np.ndarray] = {}
        stride = 1
        for dimension in reversed(self._dimensions):
            steps = positions // stride % dimension.count
            codes |= {path: values[steps] for path, values in dimension.codes.items()}
            stride *= dimension.count
        return {path: codes[path] for path in self.axes}

    def _filter(self, positions: np.ndarray, where: str) -> np.ndarray:
        """Return the positions whose combinations meet a condition."""
        from destage import sql  # noqa: PLC0415 - loads duckdb, which only a condition needs

        columns = {}
        for path, codes in self._codes(positions).items():
            values = self.axes[path]
            kind = find_type({kind_of(value) for value in values})
            columns[path] = pa.array([fit(value, kind) for value in values], kind).take(pa.array(codes))
        table = pa.table([*columns.values(), pa.array(positions)], names=[*columns, "position"])
        try:
            kept: np.ndarray = sql.filter_rows(table, where)["position"].to_numpy()
        except QueryError as error:
            issue = Issue("study.bad-sql", "where", error.message, where)
            raise self._study.error([issue]) from error
        return kept


def _make_dimension(values: Mapping[str, Sequence[object]], axes: dict[str, Sequence[object]]) -> _Dimension:
    """Return the dimension of axes that vary together, and add their distinct values to `axes`."""
    codes = {}
    for path, listed in values.items():
        distinct: dict[str, tuple[int, object]] = {}
        # Equal texts are equal values; 1 and 1.0 are not.
        found = [distinct.setdefault(repr(value), (len(distinct), value))[0] for value in listed]
        axes[path] = tuple(value for _, value in distinct.values())
        codes[path] = np.array(found)
    return _Dimension(codes, len(next(iter(codes.values()))))


def _without_repeats(dimension: _Dimension) -> tuple[_Dimension, np.ndarray]:
    """Return a dimension with the first of equal steps, and the step that each step has become.

    A design of few values comes to a point again.
    """
    rows = np.stack(list(dimension.codes.values()))
    _, first, inverse = np.unique(rows, axis=1, return_index=True, return_inverse=True)
    order = np.argsort(first)
    kept = first[order]
    steps = np.argsort(order)[inverse]
    return _Dimension({path: codes[kept] for path, codes in dimension.codes.items()}, len(kept)), steps
