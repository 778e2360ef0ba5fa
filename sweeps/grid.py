"""The grid of a study's axes: the combinations of their values that a condition keeps, in blocks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import pyarrow as pa

from destage import engine
from destage.errors import Issue, QueryError
from destage.sweeps.axis_columns import find_type, fit, kind_of
from destage.sweeps.identity import canonical_text
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
        count: The number of points.
    """

    codes: Mapping[str, np.ndarray]
    count: int


class Grid:
    """The grid of a study; the last axis varies fastest.

    Attributes:
        axes: The values of each axis.
        count: The number of combinations, before the condition.
    """

    def __init__(self, study: Study) -> None:
        self.axes: Mapping[str, Sequence[object]] = study.axes
        self._study = study
        # Without axes the scenario is one point, unless there are explicit points.
        is_empty = not study.axes and bool(study.points)
        self.count = 0 if is_empty else prod(len(values) for values in study.axes.values())
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
                yield GridBlock(self._codes(part), len(part))

    def identify(self, block: GridBlock) -> pa.Array:
        """Return the ids of points whose assignments do not nest."""
        paths = sorted(self.axes)
        members = [[canonical_text({path: value})[1:-1] for value in self.axes[path]] for path in paths]
        return engine.point_ids(members, [block.codes[path] for path in paths], block.count)

    def _codes(self, positions: np.ndarray) -> dict[str, np.ndarray]:
        codes = {}
        stride = 1
        for path in reversed(list(self.axes)):
            codes[path] = positions // stride % len(self.axes[path])
            stride *= len(self.axes[path])
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
