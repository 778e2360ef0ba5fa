"""The configurations of a study's points: what a point sets laid over the scenario, in canonical form.

A point's configuration differs from the next one's in a few fields. What concerns one top-level field alone
(setting parameters, traces, catalogue names, units) is done once for each combination of the axes in that
field; only the engine's judgement of the whole is asked for every point. A point with a mistake is made
anew by itself, so that its messages are those of a configuration by itself.
"""

import copy
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from destage import engine
from destage.errors import DestageError
from destage.sweeps import parameters
from destage.sweeps.canonical_parts import Canonical, CanonicalReader, as_shown, part_of
from destage.sweeps.study import TRACE_FILE, Study

_MOST_KEPT = 20_000
"""Combinations of one field that are kept, some 2 kB each."""

Settings = list[tuple[str, object]]
"""Parameters by dotted path and their values, in the order in which they are set."""


class Configurations:
    """Makes the configurations of a study's points."""

    def __init__(self, study: Study, axes: Sequence[str]) -> None:
        """Make a maker.

        Args:
            study: The study.
            axes: The dotted paths of all parameters that its points assign.
        """
        self._study = study
        self._homes = [(path, part_of(path)) for path in axes]
        # A catalogue name is only found in what is written.
        self._names = [path for path in axes if path.rpartition(".")[2] == "use"]
        self.reader = CanonicalReader([path for path in axes if path not in self._names])
        self._fields: dict[tuple[str, ...], list[_Field] | None] = {}

    def at(self, assignments: Mapping[str, object]) -> tuple[Canonical, dict[str, object]]:
        """Return a point's configuration, and what it has at each of the axes.

        Args:
            assignments: What the point assigns, by dotted path.

        Raises:
            ConfigError: The point is no possible configuration.
            TraceError: A trace cannot be read.
        """
        fields = self._fields_of(tuple(assignments))
        if fields is not None:
            # Whatever is wrong here is said below.
            with suppress(DestageError, TypeError, ValueError):
                written = [each.at(assignments) for each in fields]
                text = engine.assemble([each.member for each in written])
                return self._read(text, [each.names for each in written])
        scenario = copy.deepcopy(dict(self._study.scenario))
        _set(scenario, _settings(self._study, assignments))
        text = engine.canonical_json(engine.traces.bind(scenario, "."))
        return self._read(text, [_values(scenario, self._names)])

    def _read(
        self, text: str, written: Iterable[Mapping[str, object]]
    ) -> tuple[Canonical, dict[str, object]]:
        """Return a canonical text by its parts and all axes; `written` are those of catalogue names."""
        canonical = self.reader.read(text)
        parts = canonical.parts
        values = {path: parts[name].values.get(path) for path, name in self._homes}
        for names in written:
            values.update(names)
        return canonical, values

    def _fields_of(self, paths: tuple[str, ...]) -> "list[_Field] | None":
        """Return the fields of the points that assign these parameters; None where they hang together."""
        if paths not in self._fields:
            settings = _settings(self._study, dict.fromkeys(paths))
            places = [_place(path) for path, _ in settings]
            # A table that is assigned is changed by what is set in it, and the point's identity with it.
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
    """A top-level field as a point has it.

    Attributes:
        member: Its name and value, as the engine takes them.
        names: The catalogue's names in it, by the dotted paths of axes.
    """

    member: str
    names: Mapping[str, object]


class _Field:
    """One top-level field of the points that assign the same parameters; `array` and `arrays` are one."""

    def __init__(self, study: Study, key: str, paths: Sequence[str], names: Sequence[str]) -> None:
        self._study = study
        self._key = key
        self._scenario = {name: value for name, value in study.scenario.items() if _top(name) == key}
        self._paths = [path for path in paths if _place(path)[0] == key]
        self._names = [path for path in names if _place(path)[0] == key]
        self._written: dict[tuple[str, ...], _Written] = {}

    def at(self, assignments: Mapping[str, object]) -> _Written:
        """Return the field as a point has it.

        Args:
            assignments: What the point assigns, by dotted path.

        Raises:
            ConfigError: There is a mistake in it.
            TraceError: A trace cannot be read.
        """
        # Their representations tell 1 from 1.0 and from true, as the engine does.
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
        _set(fields, [(path, value) for path, value in settings if _place(path)[0] == self._key])
        bound = engine.traces.bind(fields, ".") if engine.traces.replays(fields) else fields
        return _Written(engine.prepare(bound), _values(fields, self._names))


def _settings(study: Study, assignments: Mapping[str, object]) -> Settings:
    """Return what is set in a point's configuration: replicate 0, the seek at its start."""
    settings: Settings = []
    for path, value in assignments.items():
        settings.append((path, value))
        if path.endswith(TRACE_FILE) and (digest := f"{path.removesuffix('file')}digest") not in assignments:
            # That of the scenario's own trace says nothing about another one.
            settings.append((digest, None))
    if study.seek is not None:
        settings.append((study.seek.path, study.seek.start))
    return [*settings, ("run.replicate", 0)]


def _set(scenario: dict[str, Any], settings: Settings) -> None:
    for path, value in settings:
        parameters.assign(scenario, path, value)


def _values(scenario: Mapping[str, Any], paths: Sequence[str]) -> dict[str, object]:
    return {path: as_shown(parameters.read(scenario, path)) for path in paths}


def _place(path: str) -> list[str]:
    """Return the steps of a path; `array` is short for the first of `arrays`."""
    first, *rest = path.split(".")
    return ["arrays", "0", *rest] if first == "array" else [first, *rest]


def _top(key: str) -> str:
    """Return what holds a top-level field together with those it depends on."""
    return "arrays" if key == "array" else key
