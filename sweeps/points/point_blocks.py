"""Blocks of points in Arrow columns, of a grid too.

Combinations of a grid as columns, and what conditions and expressions over them make of them.

Blocks of points as Arrow columns: some 10,000 points with their runs, axis values and identities.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from destage.errors import ConfigError, Issue, QueryError
from destage.spec.base_units import as_word
from destage.store.state.plan import CONFIG_COLUMNS
from destage.sweeps.space.axes import find_type, fit, in_base_units, keep_written, kind_of, read_values
from destage.sweeps.space.identity import pack_ids
from destage.sweeps.space.parameters import Parameter, find_parameter

UNASSIGNED = -1
"""The code of a parameter that a point does not assign."""
Points = np.ndarray | slice
_NEAR = 1e-6
"""Distance from a whole number up to which a computed value is that number: rounding of expressions."""


@dataclass(frozen=True, slots=True)
class GridBlock:
    """Some points of a grid.

    Attributes:
        values: The values of each parameter.
        codes: By parameter, the position of each point's value in `values`, or `UNASSIGNED`.
        positions: The number of each point among all combinations.
    """

    values: Mapping[str, Sequence[object]]
    codes: Mapping[str, np.ndarray]
    positions: np.ndarray

    @property
    def count(self) -> int:
        """The number of points."""
        return len(self.positions)

    def take(self, points: Points) -> "GridBlock":
        """Return some of the points."""
        codes = {path: column[points] for path, column in self.codes.items()}
        return GridBlock(self.values, codes, self.positions[points])

    def assigned(self, point: int) -> dict[str, object]:
        """Return the parameters that a point assigns."""
        return {
            path: self.values[path][column[point]]
            for path, column in self.codes.items()
            if column[point] != UNASSIGNED
        }

    def find_patterns(self) -> list[tuple[tuple[str, ...], Points]]:
        """Return the sets of parameters that points assign, with the points of each."""
        optional = [path for path, codes in self.codes.items() if codes.min(initial=0) == UNASSIGNED]
        if not optional:
            return [(tuple(self.codes), slice(None))]
        is_assigned = np.stack([self.codes[path] != UNASSIGNED for path in optional])
        distinct, inverse = np.unique(is_assigned, axis=1, return_inverse=True)
        patterns: list[tuple[tuple[str, ...], Points]] = []
        for number, pattern in enumerate(distinct.T):
            left = {path for path, assigns in zip(optional, pattern, strict=True) if not assigns}
            paths = tuple(path for path in self.codes if path not in left)
            patterns.append((paths, np.flatnonzero(inverse.ravel() == number)))
        return patterns

    def tabulate(self) -> pa.Table:
        """Return the values as columns, NULL where a parameter is not assigned, and the numbers `_point`."""
        columns = {}
        for path, codes in self.codes.items():
            values = self.values[path]
            kind = find_type({kind_of(value) for value in values})
            is_whole = codes.min(initial=0) != UNASSIGNED
            taken = pa.array(codes, mask=None if is_whole else codes == UNASSIGNED)
            columns[path] = pa.array([fit(value, kind) for value in values], kind).take(taken)
        names = [*columns, "_point"]
        return pa.table([*columns.values(), pa.array(np.arange(self.count))], names=names)


class DerivedValues:
    """The values of one derived parameter; those found later are added at the end."""

    def __init__(self, path: str, expression: str) -> None:
        self.values: list[object] = []
        self._path = path
        self._expression = expression
        self._codes: dict[str, int] = {}

    def evaluate(self, block: GridBlock) -> np.ndarray:
        """Return the codes of the values at the points of a block; NULL is not assigned.

        Raises:
            ConfigError: The expression does not bind, or a value is none of the parameter.
        """
        from destage import sql  # noqa: PLC0415 - loads duckdb, which only an expression needs

        place = f"derived.{self._path}"
        try:
            column = sql.compute_column(block.tabulate(), self._expression, place).combine_chunks()
        except QueryError as error:
            raise ConfigError([Issue("study.bad-sql", place, error.message, self._expression)]) from error
        if len(column) != block.count:
            message = "must have one value for each point, without aggregates"
            raise ConfigError([Issue("study.bad-sql", place, message, self._expression)])
        if pa.types.is_nested(column.type) or pa.types.is_temporal(column.type):
            message = f"must be a number, a text or true or false, not {column.type}"
            raise ConfigError([Issue("study.bad-derived", place, message, self._expression)])
        if pa.types.is_null(column.type):
            return np.full(block.count, UNASSIGNED)
        encoded = column.dictionary_encode()
        indices = pc.fill_null(encoded.indices, UNASSIGNED).to_numpy(zero_copy_only=False)
        parameter = find_parameter(self._path)
        codes = [UNASSIGNED for _ in encoded.dictionary]
        for number, computed in enumerate(encoded.dictionary.to_pylist()):
            try:
                value = _read_value(computed, parameter, place)
            except (ConfigError, ValueError) as error:
                first = block.assigned(int(np.argmax(indices == number)))
                assigned = ", ".join(f"{path}={value}" for path, value in first.items())
                message = f"{error.message if isinstance(error, ConfigError) else error} (at {assigned})"
                issue = Issue("study.bad-derived", place, message, self._expression)
                raise ConfigError([issue]) from None
            codes[number] = self._codes.setdefault(repr(value), len(self._codes))
            if codes[number] == len(self.values):
                self.values.append(value)
        # The last one is for NULL.
        found_codes: np.ndarray = np.array([*codes, UNASSIGNED])[indices]
        return found_codes


def unassign(block: GridBlock, path: str, condition: str) -> GridBlock:
    """Return a block whose points assign a parameter only where a condition is true.

    Raises:
        ConfigError: The condition does not bind.
    """
    is_met = np.zeros(block.count, bool)
    is_met[_find(block, condition, f"when.{path}")] = True
    codes = np.where(is_met, block.codes[path], UNASSIGNED)
    return replace(block, codes={**block.codes, path: codes})


def keep(block: GridBlock, condition: str) -> GridBlock:
    """Return the points of a block that meet a condition; errors as in `unassign`."""
    return block.take(_find(block, condition, "where"))


class Distinct:
    """Drops the points of a grid that are equal to an earlier one, over all blocks."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = list(paths)
        self._seen: pa.Array | None = None

    def drop(self, block: GridBlock) -> GridBlock:
        """Return the points of a block that are not equal to earlier ones."""
        rows = np.stack([block.codes[path] for path in self._paths], axis=1).astype(np.int32)
        width = 4 * len(self._paths)
        keys = pa.Array.from_buffers(pa.binary(width), len(rows), [None, pa.py_buffer(rows.tobytes())])
        encoded = keys.dictionary_encode()
        _, first = np.unique(encoded.indices.to_numpy(), return_index=True)
        if self._seen is None:
            self._seen = encoded.dictionary
        else:
            is_new = pc.invert(pc.is_in(encoded.dictionary, self._seen))
            first = first[is_new.to_numpy(zero_copy_only=False)]
            self._seen = pa.concat_arrays([self._seen, encoded.dictionary.filter(is_new)])
        return block.take(np.sort(first))


def _find(block: GridBlock, condition: str, place: str) -> np.ndarray:
    """Return the points of a block that meet a condition."""
    from destage import sql  # noqa: PLC0415 - loads duckdb, which only a condition needs

    try:
        positions: np.ndarray = sql.filter_rows(block.tabulate(), condition)["_point"].to_numpy()
    except QueryError as error:
        raise ConfigError([Issue("study.bad-sql", place, error.message, condition)]) from error
    return positions


def _read_value(computed: object, parameter: Parameter, place: str) -> object:
    """Return a value of an expression as a value of a parameter.

    Raises:
        ValueError: It is not one.
    """
    if isinstance(computed, str):
        return as_word(in_base_units(computed, parameter.unit, place), parameter.words)
    if isinstance(computed, bool):
        return as_word(computed, parameter.words)
    number = computed if isinstance(computed, int) else _as_number(computed)
    if isinstance(number, int) or not parameter.is_integer:
        return number
    if abs(number - round(number)) > min(_NEAR, 1e-12 * abs(number)):
        message = f"{number:.15g} is not a whole number; use round, floor or ceil"
        raise ValueError(message)
    return round(number)


def _as_number(computed: object) -> int | float:
    if isinstance(computed, Decimal):
        return int(computed) if computed == computed.to_integral_value() else float(computed)
    number = float(computed)  # type: ignore[arg-type]
    if not math.isfinite(number):
        message = f"{number} is not a finite number"
        raise ValueError(message)
    return number


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
