"""The configurations of a study's points, a block of points at a time.

Neighbouring points differ in a few fields. A field is written once per combination of the axes in it; the
engine then validates, writes and identifies every point of the block in one call. A point with a mistake is
built again by itself, so that its messages are those of a single configuration.
"""

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import prod

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from destage import engine
from destage.errors import ConfigError
from destage.sweeps.points.config_template import (
    Assignments,
    FragmentWriter,
    is_nested,
    list_fields,
    read_names,
    segments_of,
    settings_of,
)
from destage.sweeps.points.point_blocks import GridBlock
from destage.sweeps.space import parameters
from destage.sweeps.study.valid_study import Study

_MOST_KEPT = 50_000
"""Fragments kept in memory, about 5 kB each."""
_MOST_NUMBERED = 2**62
"""Combinations that one whole number can stand for."""
_MOST_REBUILT = 100
"""Invalid points that are all built again, some milliseconds each; later ones only for other mistakes."""

Report = Callable[[int, ConfigError], None]
"""Takes the position of an invalid point in its block, and its mistakes."""


@dataclass(frozen=True, slots=True)
class Built:
    """The configurations of a block of points.

    Attributes:
        runs: The rows of `engine.Composer.compose`.
        names: The catalogue names of each point, by axis.
    """

    runs: pa.RecordBatch
    names: Mapping[str, pa.Array]


class Configurations:
    """Builds the configurations of a study's points; `axes` are all dotted paths that they assign."""

    def __init__(self, study: Study, axes: Sequence[str], replicates: int) -> None:
        self._study = study
        self._replicates = replicates
        # The canonical form has no catalogue names.
        self._names = [path for path in axes if path.rpartition(".")[2] == "use"]
        self.axes = [path for path in axes if path not in self._names]
        self._writers: dict[tuple[str, ...], list[FragmentWriter]] = {}
        self._by_field: dict[tuple[str | None, ...], FragmentWriter] = {}
        self._sampled = frozenset({} if study.design is None else study.design.axes)
        self._seen: set[tuple[object, ...]] = set()
        self._rebuilt = 0
        self._start_composer()

    def build_grid(self, block: GridBlock, report: Report) -> Built:
        """Build some points of a grid.

        Args:
            report: Called for each invalid point; the rows returned lack it.
        """
        self._limit_memory()
        patterns = block.find_patterns()
        written = [self._write_grid(block.take(points), paths) for paths, points in patterns]
        fragments = np.full((max(map(len, written)), block.count), self._empty, np.uint32)
        for (_, points), columns in zip(patterns, written, strict=True):
            fragments[: len(columns), points] = columns
        return self._compose(fragments, block.assigned, report)

    def _write_grid(self, block: GridBlock, paths: tuple[str, ...]) -> np.ndarray:
        """Return the numbers of the fields of points that assign the same parameters, a column per point."""
        axes = block.values
        columns = []
        for writer in self._writers_of(paths):
            combinations, first, inverse = _find_combinations(
                axes, {path: block.codes[path] for path in writer.paths}, block.count
            )
            # The values of derived parameters get more from block to block, and the combinations others.
            sizes = tuple([len(axes[path]) for path in writer.paths])
            numbers = [
                self._number(
                    (writer, sizes, combination),
                    writer,
                    {path: axes[path][block.codes[path][point]] for path in writer.paths},
                )
                for combination, point in zip(combinations, first, strict=True)
            ]
            columns.append(np.array(numbers, np.uint32)[inverse])
        return np.stack(columns)

    def build_each(self, points: Sequence[Assignments], report: Report) -> Built:
        """Build points that assign different parameters; otherwise as `build_grid`."""
        self._limit_memory()
        written = [
            [
                self._number((writer, *[repr(point[path]) for path in writer.paths]), writer, point)
                for writer in self._writers_of(tuple(point))
            ]
            for point in points
        ]
        fragments = np.full((max(map(len, written)), len(points)), self._empty, np.uint32)
        for position, numbers in enumerate(written):
            fragments[: len(numbers), position] = numbers
        return self._compose(fragments, points.__getitem__, report)

    def _start_composer(self) -> None:
        self._composer = engine.Composer(self.axes)
        self._numbers: dict[tuple[object, ...], int] = {}
        self._names_of: list[Mapping[str, object]] = []
        self._field_of: dict[int, FragmentWriter] = {}
        self._empty = self._add("", {})

    def _limit_memory(self) -> None:
        if len(self._names_of) > _MOST_KEPT:
            self._start_composer()

    def _add(self, members: str, names: Mapping[str, object]) -> int:
        self._names_of.append(names)
        return self._composer.add(members)

    def _number(self, key: tuple[object, ...], writer: FragmentWriter, assignments: Assignments) -> int:
        """Return the number of a field of a point, written once."""
        number = self._numbers.get(key)
        if number is None:
            fragment = writer.write(assignments)
            # What cannot be read makes the points that use it invalid.
            number = self._add("null", {}) if fragment is None else self._add(*fragment)
            self._field_of[number] = writer
            self._numbers[key] = number
        return number

    def _writers_of(self, paths: tuple[str, ...]) -> list[FragmentWriter]:
        """Return the writers of the fields of points that assign these parameters."""
        if paths not in self._writers:
            study = self._study
            keys = [None] if is_nested(study, paths) else list_fields(study, paths)
            made = [FragmentWriter(study, key, paths, self._names) for key in keys]
            # Points that differ in the parameters of other fields share the fragments of a field.
            self._writers[paths] = [
                self._by_field.setdefault((key, *writer.paths), writer)
                for key, writer in zip(keys, made, strict=True)
            ]
        return self._writers[paths]

    def _compose(
        self, fragments: np.ndarray, assigned: Callable[[int], Assignments], report: Report
    ) -> Built:
        runs, invalid = self._composer.compose(fragments, self._replicates)
        valid_again = False
        for position, rules in invalid:
            assignments = assigned(position)
            if self._is_repeated(rules, assignments):
                continue
            try:
                scenario, text = self._build(assignments)
            except ConfigError as error:
                report(position, error)
            else:
                fragments[:, position] = self._empty
                fragments[0, position] = self._add(text[1:-1], read_names(scenario, self._names))
                valid_again = True
        if valid_again:
            runs, _ = self._composer.compose(fragments, self._replicates)
        return Built(runs, {path: self._names_at(path, fragments) for path in self._names})

    def _build(self, assignments: Assignments) -> tuple[Mapping[str, object], str]:
        """Return the scenario and the canonical configuration of a point.

        Raises:
            ConfigError: It is invalid; where the smallest value of a parameter is sought, with all values.
        """
        seek = self._study.seek
        for sought in [] if seek is None else [{seek.path: value} for value in seek.alternatives]:
            scenario = _assign(self._study, copy.deepcopy(dict(assignments) | sought))
            with suppress(ConfigError):
                # This explains no mistakes, which takes most of the time of what follows.
                return scenario, engine.assemble([engine.prepare(engine.traces.bind(scenario, "."))])
        scenario = _assign(self._study, copy.deepcopy(dict(assignments)))
        return scenario, engine.canonical_json(engine.traces.bind(scenario, "."))

    def _is_repeated(self, rules: str, assignments: Assignments) -> bool:
        """Return whether many points are invalid, and an earlier one for the same rules and values.

        Args:
            rules: The broken rules as JSON, or the number of a field that cannot be read, if there is one.
        """
        parsed = json.loads(rules)
        if isinstance(parsed, int):
            # A configuration without a required field has no field that cannot be read.
            writer = self._field_of.get(parsed)
            named = [] if writer is None else writer.paths
            broken: object = named[0] if named else ""
        else:
            named = [path for path in assignments if f'"{path}"' in rules or _canonical_place(path) in rules]
            # A sampled axis has another value at each point, which messages repeat.
            broken = tuple((rule["code"], rule["place"]) for rule in parsed) if self._sampled else rules
        key = (broken, *[repr(assignments[path]) for path in named if path not in self._sampled])
        is_known = key in self._seen
        self._seen.add(key)
        self._rebuilt += 1
        return is_known and self._rebuilt > _MOST_REBUILT

    def _names_at(self, path: str, fragments: np.ndarray) -> pa.Array:
        """Return the catalogue name of each point at a path."""
        named = pa.nulls(fragments.shape[1], pa.string())
        for numbers in fragments:
            used, inverse = np.unique(numbers, return_inverse=True)
            names = [self._names_of[number].get(path) for number in used.tolist()]
            if any(name is not None for name in names):
                texts = pa.array([None if name is None else str(name) for name in names], pa.string())
                # A point that was built as a whole has all its names in one fragment.
                named = pc.coalesce(texts.take(pa.array(inverse)), named)
        return named


def _find_combinations(
    axes: Mapping[str, Sequence[object]], codes: Mapping[str, np.ndarray], count: int
) -> tuple[list[object], list[int], np.ndarray]:
    """Return the combinations of some axes that occur, where each occurs first, and that of each point."""
    if prod(len(axes[path]) for path in codes) < _MOST_NUMBERED:
        combined = np.zeros(count, np.int64)
        for path, positions in codes.items():
            combined = combined * len(axes[path]) + positions
        distinct, first, inverse = np.unique(combined, return_index=True, return_inverse=True)
        return distinct.tolist(), first.tolist(), inverse
    rows = np.stack(list(codes.values()), axis=1)
    distinct, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return [tuple(row) for row in distinct.tolist()], first.tolist(), inverse


def _canonical_place(path: str) -> str:
    return f'"{".".join(segments_of(path))}"'


def assigned_values(study: Study, assignments: Assignments) -> Assignments:
    """Return a point's assignments, tables with the assignments nested in them."""
    if not is_nested(study, tuple(assignments)):
        return assignments
    values = copy.deepcopy(dict(assignments))
    with suppress(ConfigError):
        _assign(study, values)
    return values


def _assign(study: Study, assignments: Assignments) -> dict[str, object]:
    """Return the study's scenario with a point's assignments."""
    scenario = copy.deepcopy(dict(study.scenario))
    for path, value in settings_of(study, assignments):
        parameters.assign(scenario, path, value)
    return scenario
