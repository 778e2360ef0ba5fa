"""The points of a grid, and of a sampled design.

The grid of a study's axes: the combinations of their values that a condition keeps, in blocks.

The points of a design's rows: which point each row of the sample is, in each combination of the grid.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
import pyarrow as pa

from destage.errors import ConfigError, Issue
from destage.sweeps.points.configurations import complete, is_nested
from destage.sweeps.points.point_blocks import AssignedValues, DerivedValues, Distinct, keep, unassign
from destage.sweeps.study.valid_study import Study

MOST_COMBINATIONS = 10_000_000
"""Maximum combinations of a grid before `where`; ten million take minutes."""
BLOCK = 10_000
"""Points planned at a time."""
_FILTERED = 1_000_000
"""Combinations that conditions and expressions are applied to at a time."""


@dataclass(frozen=True, slots=True)
class _Dimension:
    """Axes that vary together: one axis of the grid, a group of them, or all that a design samples.

    Attributes:
        codes: By axis, the position of its value at each step of the dimension.
        count: The number of steps.
    """

    codes: Mapping[str, np.ndarray]
    count: int


class Grid:
    """The grid of a study, combined with the points of its design; the last axis varies fastest.

    Attributes:
        paths: The parameters that a point may assign.
        count: The number of combinations, before the condition.
        rows: The step of the outermost dimension that each row of the design's sample is.
    """

    def __init__(self, study: Study) -> None:
        self._study = study
        self.paths = study.space.paths
        self._varied = study.space.varied
        self._values: dict[str, Sequence[object]] = dict(study.axes)
        self.rows = np.zeros(0, np.int64)
        self._dimensions = [
            _Dimension({path: np.arange(len(values), dtype=np.int32)}, len(values))
            for path, values in study.axes.items()
        ]
        for group in study.zips:
            self._dimensions.append(_without_repeats(_make_dimension(group, self._values))[0])
        if study.design is not None:
            sampled, self.rows = _without_repeats(_make_dimension(study.design.sample(), self._values))
            self._dimensions.insert(0, sampled)
        self._derived = {path: DerivedValues(path, text) for path, text in study.derived.items()}
        self._values |= {path: derived.values for path, derived in self._derived.items()}
        # Without axes the scenario is one point, unless there are explicit points, or a search adds some.
        is_empty = not self._varied and bool(study.points or study.searched)
        self.count = 0 if is_empty else prod(dimension.count for dimension in self._dimensions)
        if self.count > MOST_COMBINATIONS:
            message = f"{self.count:,} combinations; at most {MOST_COMBINATIONS:,} are allowed"
            raise study.error([Issue("study.too-many-values", "axes", message)])

    @property
    def is_conditional(self) -> bool:
        """Whether there may be fewer points than combinations."""
        return self._study.where is not None or bool(self._study.when)

    def list_blocks(self, most: int = BLOCK, *, repeats: bool = False) -> Iterator[AssignedValues]:
        """Yield the points in order.

        Args:
            most: The maximum number of points in a block.
            repeats: Whether points stay that are equal, since they do not assign the axis in which their
                combinations differ.

        Raises:
            ConfigError: A condition or an expression is invalid.
        """
        is_plain = not self._varied or not (self.is_conditional or self._derived)
        size = most if is_plain else _FILTERED
        distinct = Distinct(self._varied) if self._study.when and not repeats else None
        for start in range(0, self.count, size):
            block = self._combine(np.arange(start, min(start + size, self.count)))
            if not is_plain:
                block = self._apply(block, distinct)
            for first in range(0, block.count, most):
                yield block.take(slice(first, first + most))

    def identify(self, block: AssignedValues) -> pa.Array:
        """Return the ids of the points of a block."""
        if is_nested(self._study, block.codes):
            points = [complete(self._study, block.assigned(point)) for point in range(block.count)]
            block = AssignedValues.from_points(points)
        return block.identify()

    def _combine(self, positions: np.ndarray) -> AssignedValues:
        """Return combinations by their numbers, without derived parameters."""
        codes: dict[str, np.ndarray] = {}
        stride = 1
        for dimension in reversed(self._dimensions):
            steps = positions // stride % dimension.count
            codes |= {path: values[steps] for path, values in dimension.codes.items()}
            stride *= dimension.count
        return AssignedValues(self._values, {path: codes[path] for path in self._varied}, positions)

    def _apply(self, block: AssignedValues, distinct: Distinct | None) -> AssignedValues:
        """Return combinations with derived parameters and without those that the conditions drop."""
        study = self._study
        try:
            for path, condition in study.when.items():
                block = unassign(block, path, condition)
            if distinct is not None:
                block = distinct.drop(block)
            for path, derived in self._derived.items():
                block = replace(block, codes={**block.codes, path: derived.evaluate(block)})
            return block if study.where is None else keep(block, study.where)
        except ConfigError as error:
            raise study.error(error.issues) from error


def _make_dimension(values: Mapping[str, Sequence[object]], axes: dict[str, Sequence[object]]) -> _Dimension:
    """Return the dimension of axes that vary together, and add their distinct values to `axes`."""
    codes = {}
    for path, listed in values.items():
        distinct: dict[str, tuple[int, object]] = {}
        # Equal texts are equal values; 1 and 1.0 are not.
        positions = [distinct.setdefault(repr(value), (len(distinct), value))[0] for value in listed]
        axes[path] = tuple(value for _, value in distinct.values())
        codes[path] = np.array(positions, np.int32)
    return _Dimension(codes, len(next(iter(codes.values()))))


def _without_repeats(dimension: _Dimension) -> tuple[_Dimension, np.ndarray]:
    """Return a dimension with the first of equal steps, and the step that each step has become.

    A design of few values comes to a point again.
    """
    rows = np.stack(list(dimension.codes.values()))
    _, first, inverse = np.unique(rows, axis=1, return_index=True, return_inverse=True)
    order = np.argsort(first)
    kept = first[order]
    steps = np.argsort(order)[inverse.ravel()]
    return _Dimension({path: codes[kept] for path, codes in dimension.codes.items()}, len(kept)), steps


SCHEMA = pa.schema(
    [pa.field("stratum", pa.int64()), pa.field("row", pa.int64()), pa.field("point_id", pa.string())]
)


def tabulate_design(study: Study) -> pa.Table:
    """Return the point of every row of a study's design, stratum by stratum.

    A pure function of the study. A sample of few values comes to a point more than once, and a plan has the
    point once: the rows name it each time.

    Returns:
        `stratum`: the combination of the axes that the design is crossed with, from 0; `row`: the row of the
        sample, from 0, as in `Design.sample_levels`; `point_id`: null where `where` leaves the point out. No
        rows if the study has no design.

    Raises:
        UsageError: scipy is not installed.
        ConfigError: The condition or a derived parameter is invalid.
    """
    if study.design is None:
        return SCHEMA.empty_table()
    grid = Grid(study)
    steps = grid.rows
    ids = np.full(grid.count, None, object)
    for block in grid.list_blocks(repeats=True):
        ids[block.positions] = grid.identify(block).to_numpy(zero_copy_only=False)
    # The design is the outermost dimension: the strata of one of its steps are neighbours.
    ids_by_stratum = ids.reshape(-1, grid.count // len(np.unique(steps)))[steps].T
    strata, rows = ids_by_stratum.shape
    return pa.table(
        {
            "stratum": np.repeat(np.arange(strata), rows),
            "row": np.tile(np.arange(rows), strata),
            "point_id": pa.array(ids_by_stratum.ravel(), pa.string()),
        },
        schema=SCHEMA,
    )
