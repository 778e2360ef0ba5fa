"""Blocks of points as Arrow columns: some 10,000 points with their runs, axis values and identities."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from destage.store.state.plan import CONFIG_COLUMNS
from destage.sweeps.space.axis_columns import fit, keep_written, read_values
from destage.sweeps.space.run_ids import pack_ids


@dataclass(slots=True)
class Block:
    """Some points of a study, with the same number of runs each.

    Attributes:
        ids: The id of each point.
        labels: The label of each point.
        replicates: The number of runs of each point.
        run_ids: The id of each run, point by point.
        parts: The parts of the configuration of each run.
    """

    ids: pa.Array
    labels: pa.Array
    replicates: int
    run_ids: pa.Array
    parts: tuple[pa.DictionaryArray, ...]
    _axes: Mapping[str, pa.Array]

    @classmethod
    def make(
        cls,
        ids: pa.Array,
        runs: pa.RecordBatch,
        axes: Sequence[str],
        names: Mapping[str, pa.Array],
        replicates: int,
    ) -> "Block":
        """Return the block of composed runs.

        Args:
            runs: The rows of `engine.Composer.compose` for the axes.
            names: The catalogue names of each point, by axis.
        """
        every = pa.array(np.arange(0, len(runs), replicates))
        columns = {path: runs.column(f"axis.{index}").take(every) for index, path in enumerate(axes)}
        parts = tuple(runs.column(name) for name in CONFIG_COLUMNS)
        labels = pa.nulls(len(ids), pa.string())
        return cls(ids, labels, replicates, runs.column("run_id"), parts, {**columns, **names})

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, points: np.ndarray) -> "Block":
        """Return some of the points."""
        runs = (points[:, None] * self.replicates + np.arange(self.replicates)).ravel()
        rows, some = pa.array(runs), pa.array(points)
        return Block(
            self.ids.take(some),
            self.labels.take(some),
            self.replicates,
            self.run_ids.take(rows),
            tuple(part.take(rows) for part in self.parts),
            {path: column.take(some) for path, column in self._axes.items()},
        )

    def keep_written(self, path: str, values: Sequence[object], codes: np.ndarray) -> None:
        """Take the value of an axis as it is written at the points whose configuration has another one.

        A setting without effect has one value in all configurations: every write fraction of no cache is 0.

        Args:
            values: The values that points assign.
            codes: By point, the position of its value; negative where it assigns none.
        """
        column = self._axes.get(path)
        if isinstance(column, pa.DictionaryArray):
            self._axes = {**self._axes, path: keep_written(column, values, codes)}

    def clear(self, path: str, is_inert: np.ndarray) -> None:
        """Leave out the value of an axis at points at which it has no effect, by its condition."""
        column = self._axes[path]
        inert = pa.array(is_inert)
        if isinstance(column, pa.DictionaryArray):
            indices = pc.if_else(inert, pa.scalar(None, column.indices.type), column.indices)
            cleared = pa.DictionaryArray.from_arrays(indices, column.dictionary)
        else:
            cleared = pc.if_else(inert, pa.scalar(None, column.type), column)
        self._axes = {**self._axes, path: cleared}

    def pack_run_ids(self) -> pa.Array:
        """Return the ids of the runs as bytes, point by point."""
        return pack_ids(self.run_ids)

    def first_runs(self) -> pa.Array:
        """Return the id of the first run of each point, as bytes."""
        return pack_ids(self.run_ids.take(pa.array(np.arange(0, len(self.run_ids), self.replicates))))

    def find_kinds(self, path: str) -> set[type]:
        """Return the types of the values of an axis."""
        column = self._axes[path]
        if isinstance(column, pa.DictionaryArray):
            return {type(value) for value in read_values(column.dictionary)}
        return {str} if column.null_count < len(column) else set()

    def list_values(self, path: str) -> list[object]:
        """Return the value of an axis at each point."""
        column = self._axes[path]
        if not isinstance(column, pa.DictionaryArray):
            names: list[object] = column.to_pylist()
            return names
        values = read_values(column.dictionary)
        return [None if index is None else values[index] for index in column.indices.to_pylist()]

    def list_parts(self) -> list[tuple[str | None, ...]]:
        """Return the parts of the first run of each point; equal texts are one object."""
        columns = []
        for part in self.parts:
            texts = part.dictionary.to_pylist()
            indices = part.indices.to_pylist()[:: self.replicates]
            columns.append([None if index is None else texts[index] for index in indices])
        return list(zip(*columns, strict=True))

    def tabulate(self, fields: Sequence[pa.Field]) -> pa.RecordBatch:
        """Return the columns of a plan that describe the runs, a row for each.

        Args:
            fields: The axis columns.
        """
        count = len(self) * self.replicates
        point = pa.array(np.arange(count) // self.replicates)
        columns = {
            "point_id": self.ids.take(point),
            "label": self.labels.take(point),
            "replicate": pa.array(np.arange(count) % self.replicates),
            "run_id": self.run_ids,
        }
        for field in fields:
            columns[field.name] = self._column(field).take(point)
        columns |= dict(zip(CONFIG_COLUMNS, self.parts, strict=True))
        return pa.record_batch(columns)

    def _column(self, field: pa.Field) -> pa.Array:
        column = self._axes[field.name]
        if not isinstance(column, pa.DictionaryArray):
            return pc.cast(column, field.type)
        values = read_values(column.dictionary)
        if pa.types.is_string(field.type):
            values = [fit(value, field.type) for value in values]
        return pa.array(values, field.type).take(column.indices)
