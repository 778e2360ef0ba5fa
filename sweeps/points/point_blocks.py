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

from destage import engine
from destage.errors import ConfigError, Issue, QueryError
from destage.spec.schema_tree import as_word
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
class AssignedValues:
    """The values that some points assign, as columns.

    Attributes:
        values: The values of each parameter.
        codes: By parameter, the position of each point's value in `values`, or `UNASSIGNED`.
        positions: The number of each point among all combinations.
        listed: The assignments of each combination in their own order, if they were listed one by one.
    """

    values: Mapping[str, Sequence[object]]
    codes: Mapping[str, np.ndarray]
    positions: np.ndarray
    listed: Sequence[Mapping[str, object]] | None = None

    @classmethod
    def from_points(cls, points: Sequence[Mapping[str, object]]) -> "AssignedValues":
        """Return the values of points that each assign parameters of their own."""
        paths = dict.fromkeys(path for point in points for path in point)
        every = np.arange(len(points))
        values = {path: [point.get(path) for point in points] for path in paths}
        is_assigned = {path: np.array([path in point for point in points], bool) for path in paths}
        codes = {path: np.where(is_assigned[path], every, UNASSIGNED) for path in paths}
        return cls(values, codes, every, points)

    @property
    def count(self) -> int:
        """The number of points."""
        return len(self.positions)

    def take(self, points: Points) -> "AssignedValues":
        """Return some of the points."""
        codes = {path: column[points] for path, column in self.codes.items()}
        return replace(self, codes=codes, positions=self.positions[points])

    def assigned(self, point: int) -> dict[str, object]:
        """Return the parameters that a point assigns."""
        if self.listed is not None:
            return dict(self.listed[self.positions[point]])
        return {
            path: self.values[path][column[point]]
            for path, column in self.codes.items()
            if column[point] != UNASSIGNED
        }

    def identify(self) -> pa.Array:
        """Return the ids of the points, which digest what they assign."""
        return engine.point_ids(engine.list_columns(self.values, self.codes, self.count), self.count)

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

    def evaluate(self, block: AssignedValues) -> np.ndarray:
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


def unassign(block: AssignedValues, path: str, condition: str) -> AssignedValues:
    """Return a block whose points assign a parameter only where a condition is true.

    Raises:
        ConfigError: The condition does not bind.
    """
    is_met = np.zeros(block.count, bool)
    is_met[_find(block, condition, f"when.{path}")] = True
    codes = np.where(is_met, block.codes[path], UNASSIGNED)
    return replace(block, codes={**block.codes, path: codes})


def keep(block: AssignedValues, condition: str) -> AssignedValues:
    """Return the points of a block that meet a condition; errors as in `unassign`."""
    return block.take(_find(block, condition, "where"))


class Distinct:
    """Drops the points of a grid that are equal to an earlier one, over all blocks."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = list(paths)
        self._seen: pa.Array | None = None

    def drop(self, block: AssignedValues) -> AssignedValues:
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


def _find(block: AssignedValues, condition: str, place: str) -> np.ndarray:
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
        parts: The parts of the configuration of each run.
        axes: The value of each axis at each point, as JSON texts.
    """

    ids: pa.Array
    labels: pa.Array
    replicates: int
    run_ids: pa.Array
    parts: tuple[pa.DictionaryArray, ...]
    assigned: AssignedValues
    axes: Mapping[str, pa.DictionaryArray]

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
            self.assigned.take(points),
            {path: column.take(some) for path, column in self.axes.items()},
        )

    def keep_written(self, path: str, values: Sequence[object], codes: np.ndarray) -> None:
        """Take the value of an axis as it is written at the points whose configuration has another one.

        A setting without effect has one value in all configurations: every write fraction of no cache is 0.

        Args:
            values: The values that points assign.
            codes: By point, the position of its value; negative where it assigns none.
        """
        self.axes = {**self.axes, path: keep_written(self.axes[path], values, codes)}

    def clear(self, path: str, is_inert: np.ndarray) -> None:
        """Leave out the value of an axis at points at which it has no effect, by its condition."""
        column = self.axes[path]
        indices = pc.if_else(pa.array(is_inert), pa.scalar(None, column.indices.type), column.indices)
        cleared = pa.DictionaryArray.from_arrays(indices, column.dictionary)
        self.axes = {**self.axes, path: cleared}

    def pack_run_ids(self) -> pa.Array:
        """Return the ids of the runs as bytes, point by point."""
        return pack_ids(self.run_ids)

    def first_runs(self) -> pa.Array:
        """Return the id of the first run of each point, as bytes."""
        return pack_ids(self.run_ids.take(pa.array(np.arange(0, len(self.run_ids), self.replicates))))

    def find_kinds(self, path: str) -> set[type]:
        """Return the types of the values of an axis."""
        return {kind_of(value) for value in read_values(self.axes[path].dictionary)}

    def list_values(self, path: str) -> list[object]:
        """Return the value of an axis at each point."""
        column = self.axes[path]
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
        column = self.axes[field.name]
        values = read_values(column.dictionary)
        if pa.types.is_string(field.type):
            values = [fit(value, field.type) for value in values]
        return pa.array(values, field.type).take(column.indices)
