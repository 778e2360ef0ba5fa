"""Fragments of configurations: one top-level field of a study's points, as JSON members for the engine."""

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from destage import engine
from destage.errors import DestageError
from destage.sweeps.keys.trace_files import TRACE_FILE
from destage.sweeps.points.canonical_parts import column_value
from destage.sweeps.space import parameters
from destage.sweeps.study.valid_study import Study

Assignments = Mapping[str, object]
_MOST_KEPT = 10_000
"""Templates kept in memory, about 3 kB each."""
_WHOLE, _FRACTIONAL = 918_273_645_001, 0.91827364501
"""The first stand-ins for a whole and for a fractional number in a template."""


class Fragment(NamedTuple):
    """One top-level field of some points.

    Attributes:
        members: Its name and value as JSON, in base units.
        names: The catalogue names in it, by dotted path.
    """

    members: str
    names: Mapping[str, object]


class _Template(NamedTuple):
    """A fragment with gaps for numbers.

    Attributes:
        texts: The texts around the gaps.
        paths: The axis of each gap.
    """

    texts: Sequence[str]
    paths: Sequence[str]
    names: Mapping[str, object]


class FragmentWriter:
    """Writes one top-level field of points that assign the same parameters.

    `array` and `arrays` are one field. If one assignment nests in another, all fields are.

    Attributes:
        paths: The axes in it.
    """

    def __init__(self, study: Study, key: str | None, paths: Sequence[str], names: Sequence[str]) -> None:
        self._study = study
        self._key = key
        self._scenario = {
            name: value for name, value in study.scenario.items() if key is None or top_field(name) == key
        }
        self.paths = [path for path in paths if self._has(path)]
        self._names = [path for path in names if self._has(path)]
        self._templates: dict[tuple[object, ...], _Template | None] = {}

    def write(self, assignments: Assignments) -> Fragment | None:
        """Return the field of a point with these assignments; None if it has mistakes."""
        shape = tuple([_shape_of(assignments[path]) for path in self.paths])
        if shape not in self._templates:
            if len(self._templates) >= _MOST_KEPT:
                self._templates.clear()
            self._templates[shape] = self._make_template(assignments)
        template = self._templates[shape]
        if template is None:
            return self._write(assignments)
        texts = [template.texts[0]]
        for path, text in zip(template.paths, template.texts[1:], strict=True):
            texts += (repr(assignments[path]), text)
        return Fragment("".join(texts), template.names)

    def _has(self, path: str) -> bool:
        return self._key is None or segments_of(path)[0] == self._key

    def _make_template(self, assignments: Assignments) -> _Template | None:
        """Return the fragment with gaps for its numbers; None if a number has other effects than itself."""
        if self._key is None:
            return None
        stand_ins: dict[str, str] = {}
        values = {path: assignments[path] for path in self.paths}
        for number, path in enumerate(self.paths):
            if _is_number(values[path]):
                first = _WHOLE if isinstance(values[path], int) else _FRACTIONAL
                values[path] = first + number
                stand_ins[path] = json.dumps(values[path])
        written = self._write(values)
        if written is None or any(written.members.count(text) != 1 for text in stand_ins.values()):
            return None
        paths = sorted(stand_ins, key=lambda path: written.members.index(stand_ins[path]))
        texts, rest = [], written.members
        for path in paths:
            before, _, rest = rest.partition(stand_ins[path])
            texts.append(before)
        return _Template([*texts, rest], paths, written.names)

    def _write(self, assignments: Assignments) -> Fragment | None:
        fields = copy.deepcopy(self._scenario)
        # Nested assignments change the assigned tables.
        values = {path: copy.deepcopy(assignments[path]) for path in self.paths}
        try:
            for path, value in settings_of(self._study, values):
                if self._has(path):
                    parameters.assign(fields, path, value)
            bound = engine.traces.bind(fields, ".") if engine.traces.find_replays(fields) else fields
            return Fragment(engine.prepare(bound), read_names(fields, self._names))
        except (DestageError, TypeError, ValueError):
            # The mistake is reported by the build of the whole configuration.
            return None


def settings_of(study: Study, assignments: Assignments) -> list[tuple[str, object]]:
    """Return a point's assignments with replicate 0 and the seek at its start, in the order of assignment."""
    settings: list[tuple[str, object]] = []
    # What an entry of the catalogue has below a path depends on its name.
    for path, value in sorted(assignments.items(), key=lambda item: not item[0].endswith(".use")):
        settings.append((path, value))
        if path.endswith(TRACE_FILE) and (digest := f"{path.removesuffix('file')}digest") not in assignments:
            # The scenario's digest is that of another trace.
            settings.append((digest, None))
    if study.seek is not None and study.seek.path not in assignments:
        settings.append((study.seek.path, study.seek.written))
    return [*settings, ("run.replicate", 0)]


def is_nested(study: Study, paths: Sequence[str]) -> bool:
    """Return whether one assignment of these points is inside the table of another."""
    places = [segments_of(path) for path, _ in settings_of(study, dict.fromkeys(paths))]
    return any(
        inner[: len(outer)] == outer
        for position, inner in enumerate(places)
        for outer in (*places[:position], *places[position + 1 :])
    )


def list_fields(study: Study, paths: Sequence[str]) -> list[str]:
    """Return the top-level fields of points that assign these parameters."""
    places = [segments_of(path)[0] for path, _ in settings_of(study, dict.fromkeys(paths))]
    return list(dict.fromkeys(top_field(key) for key in (*study.scenario, *places)))


def read_names(scenario: Mapping[str, Any], paths: Sequence[str]) -> dict[str, object]:
    """Return the catalogue names at these paths of a scenario."""
    return {path: column_value(parameters.read(scenario, path)) for path in paths}


def segments_of(path: str) -> list[str]:
    """Return the segments of a path; `array` is short for the first of `arrays`."""
    first, *rest = path.split(".")
    return ["arrays", "0", *rest] if first == "array" else [first, *rest]


def top_field(key: str) -> str:
    """Return the group of a top-level field: `array` and `arrays` are resolved together."""
    return "arrays" if key == "array" else key


def _is_number(value: object) -> bool:
    """Return whether a value's text in a configuration is its JSON text; 5.0 may be written as 5."""
    if isinstance(value, float):
        return not value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


def _shape_of(value: object) -> object:
    """Return what values in the gaps of one template have in common."""
    # repr distinguishes 1, 1.0 and True, as the engine does.
    return type(value) if _is_number(value) else repr(value)
