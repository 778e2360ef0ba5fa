"""The configurations of a study's points from their assignments, a block of points at a time.

The engine composes a block from the columns of its assignments: it validates, writes and identifies every
point in one call. It asks for a top-level field with its names and units resolved once for each combination
of the assigned values in it that are not numbers. A point with a mistake is built again by itself, so that
its messages are those of a single configuration.
"""

import copy
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial

import numpy as np
import pyarrow as pa

from destage import engine
from destage.errors import ConfigError, DestageError
from destage.store.state.plan import CONFIG_COLUMNS
from destage.sweeps.points.point_blocks import AssignedValues, Block
from destage.sweeps.space import parameters
from destage.sweeps.study.valid_study import Study

_MOST_REBUILT = 100
"""Invalid points that are all built again, some milliseconds each; later ones only for other mistakes."""

_ONLY_WHOLE = "null"
"""The reason of a point that the engine cannot build from its columns."""

REPLICATE = "run.replicate"
Assignments = Mapping[str, object]
"""Values by dotted path."""
Report = Callable[[int, ConfigError], None]
"""Takes the position of an invalid point in its block, and its mistakes."""


class Configurations:
    """Builds the configurations of a study's points.

    Attributes:
        axes: The parameters whose values are columns of the runs.
        names: The catalogue names that points assign; the canonical form has none.
    """

    def __init__(self, study: Study, paths: Sequence[str], replicates: int) -> None:
        """Prepare for points that assign some of these parameters."""
        self._study = study
        self._replicates = replicates
        self.names = [path for path in paths if path.rpartition(".")[2] == "use"]
        self.axes = [path for path in paths if path not in self.names]
        self._sampled = frozenset({} if study.design is None else study.design.axes)
        self._seen: set[tuple[object, ...]] = set()
        self._rebuilt = 0
        self._named: dict[tuple[str, str], str | None] = {}
        self._composer = engine.Composer([split_path(path) for path in self.axes], self._list_fields)

    def build(self, block: AssignedValues, report: Report, *, every: bool = False) -> pa.RecordBatch:
        """Return the rows of `engine.Composer.compose` for some points.

        Args:
            report: Called for the invalid points, which the rows returned lack.
            every: Whether it is called for each, even if many have the same mistake.
        """

        def rebuild(position: int, reason: str) -> str | None:
            assignments = block.assigned(position)
            is_tried = reason != _ONLY_WHOLE
            if is_tried and not every and self._is_repeated(reason, assignments):
                return None
            try:
                return self._build(assignments, is_tried=is_tried)
            except ConfigError as error:
                report(position, error)
            return None

        return self._compose(block, rebuild)[0]

    def compose(self, points: Sequence[Assignments]) -> tuple[pa.RecordBatch, list[int]]:
        """Return the rows of points, and the positions of those that are invalid, which have none."""
        return self._compose(AssignedValues.from_points(points), lambda at, _: self._read(points[at]))

    def make_block(self, ids: pa.Array, runs: pa.RecordBatch, points: AssignedValues) -> Block:
        """Return the block of valid points, without labels, given the rows of their runs."""
        replicates = len(runs) // len(ids)
        every = pa.array(np.arange(0, len(runs), replicates))
        axes = {path: runs.column(f"axis.{index}").take(every) for index, path in enumerate(self.axes)}
        axes |= {path: self._list_names(points, path) for path in self.names}
        parts = tuple(runs.column(name) for name in CONFIG_COLUMNS)
        labels = pa.nulls(len(ids), pa.string())
        return Block(ids, labels, replicates, runs.column("run_id"), parts, points, axes)

    def _list_names(self, block: AssignedValues, path: str) -> pa.DictionaryArray:
        """Return the catalogue name of each point at a path, as JSON."""
        place = split_path(path)
        # One of these tables, or the name itself, is assigned.
        above = [name for name in block.codes if place[: len(split_path(name))] == split_path(name)]
        codes = np.stack([np.zeros(block.count, np.int64), *[block.codes[name] for name in above]])
        _, first, inverse = np.unique(codes, axis=1, return_index=True, return_inverse=True)
        texts = []
        for point in first.tolist():
            assigned = {name: value for name, value in block.assigned(point).items() if name in above}
            key = path, repr(assigned)
            if key not in self._named:
                name = parameters.read(assign(self._study, copy.deepcopy(assigned)), path)
                self._named[key] = None if name is None else json.dumps(str(name))
            texts.append(self._named[key])
        return pa.array(texts, pa.string()).take(pa.array(inverse.ravel())).dictionary_encode()

    def _compose(
        self, block: AssignedValues, rebuild: Callable[[int, str], str | None]
    ) -> tuple[pa.RecordBatch, list[int]]:
        """Compose points; `rebuild` returns the fields of a point that is valid as a whole."""
        columns = engine.list_columns(block.values, block.codes, block.count)
        points = columns, block.count, self._replicates, partial(self._resolve, block)
        runs, invalid = self._composer.compose(*points, {})
        rebuilt = {position: rebuild(position, reason) for position, reason in invalid}
        whole = {position: members for position, members in rebuilt.items() if members is not None}
        if whole:
            runs, _ = self._composer.compose(*points, whole)
        return pa.record_batch(runs), [position for position in rebuilt if position not in whole]

    def _list_fields(self, paths: Sequence[str]) -> list[tuple[str, list[str]]] | None:
        """Return the top-level fields of points that assign these parameters, with those in each.

        None if one assignment is inside the table of another.
        """
        if is_nested(self._study, paths):
            return None
        settings = [path for path, _ in list_settings(self._study, dict.fromkeys(paths))]
        fields = dict.fromkeys(split_path(name)[0] for name in (*self._study.scenario, *settings))
        fields.pop(engine.catalog.OWN, None)
        return [(field, [path for path in paths if split_path(path)[0] == field]) for field in fields]

    def _resolve(self, block: AssignedValues, field: str, point: int) -> str | None:
        """Return one top-level field of a point as JSON members; None if it has mistakes."""
        study = self._study
        needed = {field, engine.catalog.OWN}
        written = {name: value for name, value in study.scenario.items() if split_path(name)[0] in needed}
        fields = copy.deepcopy(written)
        try:
            for path, value in list_settings(study, block.assigned(point)):
                if split_path(path)[0] == field:
                    parameters.assign(fields, path, value)
            bound = engine.traces.bind(fields, ".") if engine.configuration.find_replays(fields) else fields
            return engine.prepare(bound)
        except (DestageError, TypeError, ValueError):
            # The mistake is reported by the build of the whole configuration.
            return None

    def _build(self, assignments: Assignments, *, is_tried: bool) -> str:
        """Return the canonical fields of a point.

        Args:
            is_tried: Whether it is invalid at the seek's start.

        Raises:
            ConfigError: It is invalid; where the smallest value of a parameter is sought, with all values.
        """
        seek = self._study.seek
        alternatives = [] if seek is None else [{seek.path: value} for value in seek.alternatives]
        for sought in alternatives if is_tried else [{}, *alternatives]:
            if (fields := self._read({**assignments, **sought})) is not None:
                return fields
        scenario = assign(self._study, copy.deepcopy(dict(assignments)))
        return engine.canonical_json(engine.traces.bind(scenario, "."))[1:-1]

    def _read(self, assignments: Assignments) -> str | None:
        """Return the canonical fields of a point; None if it is invalid.

        This explains no mistakes, which takes most of the time of a check.
        """
        scenario = assign(self._study, copy.deepcopy(dict(assignments)))
        with suppress(ConfigError):
            return engine.assemble(engine.traces.bind(scenario, "."))[1:-1]
        return None

    def _is_repeated(self, reason: str, assignments: Assignments) -> bool:
        """Return whether many points are invalid, and an earlier one for the same rules and values.

        Args:
            reason: The broken rules, or the `paths` of a field that cannot be read, as JSON.
        """
        broken = json.loads(reason)
        rules: object
        if isinstance(broken, dict):
            named = broken["paths"]
            rules = named[0] if named else ""
        else:
            named = [path for path in assignments if f'"{path}"' in reason or _quote_place(path) in reason]
            # A sampled axis has another value at each point, which messages repeat.
            rules = tuple((rule["code"], rule["place"]) for rule in broken) if self._sampled else reason
        key = (rules, *[repr(assignments[path]) for path in named if path not in self._sampled])
        is_known = key in self._seen
        self._seen.add(key)
        self._rebuilt += 1
        return is_known and self._rebuilt > _MOST_REBUILT


def _quote_place(path: str) -> str:
    return f'"{".".join(split_path(path))}"'


def list_settings(study: Study, assignments: Assignments) -> list[tuple[str, object]]:
    """Return a point's assignments in their order; replicate 0 and the seek at its start unless assigned."""
    settings: list[tuple[str, object]] = []
    # What an entry of the catalogue has below a path depends on its name.
    for path, value in sorted(assignments.items(), key=lambda item: not item[0].endswith(".use")):
        settings.append((path, value))
        if (
            path.endswith(parameters.TRACE_FILE)
            and (digest := f"{path.removesuffix('file')}digest") not in assignments
        ):
            # The scenario's digest is that of another trace.
            settings.append((digest, None))
    if study.seek is not None and study.seek.path not in assignments:
        settings.append((study.seek.path, study.seek.written))
    return settings if REPLICATE in assignments else [*settings, (REPLICATE, 0)]


def is_nested(study: Study, paths: Iterable[str]) -> bool:
    """Return whether one assignment of these points is inside the table of another."""
    places = [split_path(path) for path, _ in list_settings(study, dict.fromkeys(paths))]
    return any(
        inner[: len(outer)] == outer
        for position, inner in enumerate(places)
        for outer in (*places[:position], *places[position + 1 :])
    )


def assign(study: Study, assignments: Assignments) -> dict[str, object]:
    """Return the study's scenario with a point's assignments; tables get those that are nested in them."""
    scenario = copy.deepcopy(dict(study.scenario))
    for path, value in list_settings(study, assignments):
        parameters.assign(scenario, path, value)
    return scenario


def complete(study: Study, assignments: Assignments) -> Assignments:
    """Return a point's assignments, tables with the assignments nested in them."""
    if not is_nested(study, assignments):
        return assignments
    values = copy.deepcopy(dict(assignments))
    with suppress(ConfigError):
        assign(study, values)
    return values


def split_path(path: str) -> list[str]:
    """Return the segments of a path; `array` is short for the first of `arrays`."""
    first, *rest = path.split(".")
    return ["arrays", "0", *rest] if first == "array" else [first, *rest]
