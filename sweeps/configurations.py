"""The configurations of a study's points: the scenario with a point's assignments, in canonical form.

Neighbouring points differ in a few fields. The work on one top-level field (assignments, traces, catalogue
names, units) is done once per combination of the axes in that field; only the engine's validation of the
whole is done for every point. A point with a mistake is built again by itself, so that its messages are those
of a single configuration.
"""

import copy
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from destage import engine
from destage.errors import DestageError
from destage.sweeps import parameters
from destage.sweeps.canonical_parts import Canonical, CanonicalReader, column_value, part_of
from destage.sweeps.study import TRACE_FILE, Study

_MOST_KEPT = 20_000
"""Combinations of one field kept in memory, about 2 kB each."""

Settings = list[tuple[str, object]]
"""Dotted paths and values, in the order of assignment."""


class Configurations:
    """Builds the configurations of a study's points; `axes` are all dotted paths that they assign."""

    def __init__(self, study: Study, axes: Sequence[str]) -> None:
        self._study = study
        self._homes = [(path, part_of(path)) for path in axes]
        # The canonical form has no catalogue names.
        self._names = [path for path in axes if path.rpartition(".")[2] == "use"]
        self.reader = CanonicalReader([path for path in axes if path not in self._names])
        self._fields: dict[tuple[str, ...], list[_Field] | None] = {}

    def build(self, assignments: Mapping[str, object]) -> tuple[Canonical, dict[str, object]]:
        """Return the configuration of a point with these assignments, and its value of each axis."""
        fields = self._fields_of(tuple(assignments))
        if fields is not None:
            # A mistake is reported by the full build below.
            with suppress(DestageError, TypeError, ValueError):
                written = [each.build(assignments) for each in fields]
                text = engine.assemble([each.member for each in written])
                return self._read(text, [each.names for each in written])
        scenario = copy.deepcopy(dict(self._study.scenario))
        _set(scenario, _settings(self._study, assignments))
        text = engine.canonical_json(engine.traces.bind(scenario, "."))
        return self._read(text, [_read_values(scenario, self._names)])

    def _read(
        self, text: str, written: Iterable[Mapping[str, object]]
    ) -> tuple[Canonical, dict[str, object]]:
        """Return the parts of a canonical text and all axis values; `written` has the catalogue names."""
        canonical = self.reader.read(text)
        parts = canonical.parts
        values = {path: parts[name].values.get(path) for path, name in self._homes}
        for names in written:
            values.update(names)
        return canonical, values

    def _fields_of(self, paths: tuple[str, ...]) -> "list[_Field] | None":
        """Return the fields of points that assign these; None if one assignment nests in another."""
        if paths not in self._fields:
            settings = _settings(self._study, dict.fromkeys(paths))
            places = [_segments(path) for path, _ in settings]
            # A nested assignment changes the assigned table, and with it the point's identity.
            is_nested = any(
                inner[: len(outer)] == outer
                for position, inner in enumerate(places)
                for outer in (*places[:position], *places[position + 1 :])
            )
            keys = dict.fromkeys(
                _top(key) for key in (*self._study.scenario, *[place[0] for place in places])
            )
            self._fields[paths] = (
                None if is_nested else [_Field(self._study, key, paths, self._names) for key in keys]
            )
        return self._fields[paths]


class _Written(NamedTuple):
    """A top-level field of one point.

    Attributes:
        member: Its name and value as JSON, for the engine.
        names: The catalogue names in it, by dotted path.
    """

    member: str
    names: Mapping[str, object]


class _Field:
    """One top-level field of points that assign the same parameters; `array` and `arrays` are one field."""

    def __init__(self, study: Study, key: str, paths: Sequence[str], names: Sequence[str]) -> None:
        self._study = study
        self._key = key
        self._scenario = {name: value for name, value in study.scenario.items() if _top(name) == key}
        self._paths = [path for path in paths if _segments(path)[0] == key]
        self._names = [path for path in names if _segments(path)[0] == key]
        self._written: dict[tuple[str, ...], _Written] = {}

    def build(self, assignments: Mapping[str, object]) -> _Written:
        """Return the field of a point with these assignments."""
        # repr distinguishes 1, 1.0 and True, as the engine does.
        values = tuple([repr(assignments[path]) for path in self._paths])
        written = self._written.get(values)
        if written is None:
            if len(self._written) >= _MOST_KEPT:
                self._written.clear()
            written = self._written[values] = self._write(assignments)
        return written

    def _write(self, assignments: Mapping[str, object]) -> _Written:
        fields = copy.deepcopy(self._scenario)
        settings = _settings(self._study, {path: assignments[path] for path in self._paths})
        _set(fields, [(path, value) for path, value in settings if _segments(path)[0] == self._key])
        bound = engine.traces.bind(fields, ".") if engine.traces.find_replays(fields) else fields
        return _Written(engine.prepare(bound), _read_values(fields, self._names))


def _settings(study: Study, assignments: Mapping[str, object]) -> Settings:
    """Return a point's assignments with replicate 0 and the seek at its start."""
    settings: Settings = []
    for path, value in assignments.items():
        settings.append((path, value))
        if path.endswith(TRACE_FILE) and (digest := f"{path.removesuffix('file')}digest") not in assignments:
            # The scenario's digest is that of another trace.
            settings.append((digest, None))
    if study.seek is not None:
        settings.append((study.seek.path, study.seek.start))
    return [*settings, ("run.replicate", 0)]


def _set(scenario: dict[str, Any], settings: Settings) -> None:
    for path, value in settings:
        parameters.assign(scenario, path, value)


def _read_values(scenario: Mapping[str, Any], paths: Sequence[str]) -> dict[str, object]:
    return {path: column_value(parameters.read(scenario, path)) for path in paths}


def _segments(path: str) -> list[str]:
    """Return the segments of a path; `array` is short for the first of `arrays`."""
    first, *rest = path.split(".")
    return ["arrays", "0", *rest] if first == "array" else [first, *rest]


def _top(key: str) -> str:
    """Return the group of a top-level field: `array` and `arrays` are resolved together."""
    return "arrays" if key == "array" else key
