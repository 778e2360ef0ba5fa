"""Canonical configurations by their parts, the top-level fields; equal parts are shared."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from destage import engine
from destage.errors import ConfigError
from destage.sweeps import parameters
from destage.sweeps.identity import canonical_text, run_id


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One top-level field of a canonical configuration; equal parts are one object.

    Attributes:
        member: Its name and value in the canonical text.
        identity: The same without the locations of traces, which change no result.
        values: The values of the axes in it, by dotted path.
    """

    member: str
    identity: str
    values: Mapping[str, object]


@dataclass(frozen=True, slots=True, eq=False)
class Canonical:
    """A canonical configuration.

    Attributes:
        parts: Its parts by name, in the order of the canonical text.
    """

    parts: Mapping[str, Part]

    @property
    def config(self) -> dict[str, Any]:
        """The configuration as a fresh document."""
        document: dict[str, Any] = json.loads(_joined([part.member for part in self.parts.values()]))
        return document

    def run(self, replicate: int) -> tuple[str, str]:
        """Return the id and the canonical text of one replicate."""
        parts = {**self.parts, "run": _replicated(self.parts["run"], replicate)}
        text = _joined([part.member for part in parts.values()])
        # Only a part that replays traces has another text as its identity.
        is_itself = all(part.identity is part.member for part in parts.values())
        return run_id(text if is_itself else _joined([part.identity for part in parts.values()])), text


class CanonicalReader:
    """Splits canonical texts into parts, with the values of some axes by dotted path."""

    def __init__(self, axes: Sequence[str] = ()) -> None:
        self._axes = axes
        self._names: tuple[str, ...] = ()
        self._parts: dict[str, Part] = {}

    def read(self, text: str) -> Canonical:
        """Return a configuration by its parts from its canonical text."""
        with suppress(ValueError):
            return Canonical({name: self._part(name, member) for name, member in _split(text, self._names)})
        document = json.loads(text)
        self._names = tuple(document)
        return Canonical({name: self._part(name, _member(name, document[name])) for name in self._names})

    def with_value(self, canonical: Canonical, path: str, value: object) -> Canonical:
        """Return a configuration with another value of one parameter.

        Args:
            value: A value within the parameter's own range. If a rule between fields forbids it, the
                configuration keeps it, so that its run fails with the reason.
        """
        name = part_of(path)
        changed = _value(name, canonical.parts[name].member)
        parameters.assign(changed, path, value)
        part = self._part(name, _member(name, changed[name]))
        if part is canonical.parts[name]:
            # The canonical form of a canonical form is itself.
            return canonical
        parts = {**canonical.parts, name: part}
        with suppress(ConfigError):
            # The canonical form of another field may depend on this one.
            return self.read(engine.assemble([part.member for part in parts.values()]))
        return Canonical(parts)

    def _part(self, name: str, member: str) -> Part:
        """Return the part of a text, shared with equal texts."""
        part = self._parts.get(member)
        if part is None:
            part = _read_part(name, _value(name, member), self._axes)
            # The same text is kept once.
            self._parts[part.member if part.member == member else member] = part
        return part


def part_of(path: str) -> str:
    """Return the name of the part of a dotted path; `array` is short for the first of `arrays`."""
    name = path.partition(".")[0]
    return "arrays" if name == "array" else name


def column_value(value: object) -> object:
    """Return a parameter's value as its column holds it: tables and lists as text."""
    return canonical_text(value) if isinstance(value, Mapping | list) else value


def _split(text: str, names: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the text of each field of a configuration that has exactly these.

    A name may also occur deeper: the split is right if each text is one field by itself.

    Raises:
        ValueError: The configuration has other fields.
    """
    if not names:
        raise ValueError("no fields known yet")
    found = []
    start = 1
    for name, following in pairwise(names):
        end = text.index(f',"{following}":', start)
        found.append((name, text[start:end]))
        start = end + 1
    return [*found, (names[-1], text[start:-1])]


def _joined(members: Sequence[str]) -> str:
    return f"{{{','.join(members)}}}"


def _member(name: str, value: Any) -> str:
    return canonical_text({name: value})[1:-1]


def _value(name: str, member: str) -> dict[str, Any]:
    """Return the document with this one field.

    Raises:
        ValueError: The text is not this field alone.
    """
    document: dict[str, Any] = json.loads(f"{{{member}}}")
    if list(document) != [name]:
        raise ValueError(f"not only {name}")
    return document


def _read_part(name: str, document: dict[str, Any], axes: Sequence[str]) -> Part:
    member = identity = _member(name, document[name])
    values = {path: column_value(parameters.read(document, path)) for path in axes if part_of(path) == name}
    if replays := engine.traces.find_replays(document):
        for arrival in replays:
            del arrival["file"]
        identity = _member(name, document[name])
    return Part(member, identity, values)


@lru_cache(maxsize=4096)
def _replicated(run: Part, replicate: int) -> Part:
    """Return the part `run` with another replicate."""
    document = _value("run", run.member)
    document["run"]["replicate"] = replicate
    return _read_part("run", document, ())
