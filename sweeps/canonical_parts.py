"""Canonical configurations by their parts, the top-level fields: what is equal is held in common."""

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
    """One top-level field of a canonical configuration; equal ones are one object.

    Attributes:
        member: Its name and its value, as they stand in the canonical text.
        identity: The same without where traces lie, which changes no result.
        values: The axes that are in it: their values by dotted path.
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
        """Return the id and the canonical text of one replicate.

        Args:
            replicate: Which random streams.
        """
        parts = {**self.parts, "run": _replicated(self.parts["run"], replicate)}
        text = _joined([part.member for part in parts.values()])
        # Only what replays traces is identified by another text.
        is_itself = all(part.identity is part.member for part in parts.values())
        return run_id(text if is_itself else _joined([part.identity for part in parts.values()])), text


class CanonicalReader:
    """Reads canonical texts into parts."""

    def __init__(self, axes: Sequence[str] = ()) -> None:
        """Make a reader.

        Args:
            axes: The dotted paths of the axes.
        """
        self._axes = axes
        self._names: tuple[str, ...] = ()
        self._parts: dict[str, Part] = {}

    def read(self, text: str) -> Canonical:
        """Return a configuration by its parts.

        Args:
            text: A canonical configuration as the engine writes it.
        """
        with suppress(ValueError):
            return Canonical({name: self._part(name, member) for name, member in _split(text, self._names)})
        document = json.loads(text)
        self._names = tuple(document)
        return Canonical({name: self._part(name, _member(name, document[name])) for name in self._names})

    def with_value(self, canonical: Canonical, path: str, value: object) -> Canonical:
        """Return a configuration with another value of one parameter.

        Args:
            canonical: The configuration.
            path: The parameter's dotted path.
            value: A value within the parameter's own range. Where a rule between fields forbids it, the
                configuration holds it as it is, so that its run fails and says why.
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
            # Judged anew: the canonical form of another field may follow from this one.
            return self.read(engine.assemble([part.member for part in parts.values()]))
        return Canonical(parts)

    def _part(self, name: str, member: str) -> Part:
        """Return a part, the one that is there already if its text was seen before.

        Raises:
            ValueError: The text is not this field alone.
        """
        part = self._parts.get(member)
        if part is None:
            part = _read_part(name, _value(name, member), self._axes)
            # The same text is kept once.
            self._parts[part.member if part.member == member else member] = part
        return part


def part_of(path: str) -> str:
    """Return the name of the part that a parameter is in; `array` is short for the first of `arrays`.

    Args:
        path: The parameter's dotted path.
    """
    name = path.partition(".")[0]
    return "arrays" if name == "array" else name


def as_shown(value: object) -> object:
    """Return a value as a column has it: tables and lists as their text.

    Args:
        value: A parameter's value.
    """
    return canonical_text(value) if isinstance(value, Mapping | list) else value


def _split(text: str, names: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the fields of a configuration that has exactly these, each with its text.

    A name may stand deeper, too: the texts are the fields if each is one by itself.

    Raises:
        ValueError: The configuration has other fields.
    """
    if not names:
        raise ValueError("no fields are known")
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
    """Return the document that has this field and no other.

    Raises:
        ValueError: The text is something else.
    """
    document: dict[str, Any] = json.loads(f"{{{member}}}")
    if list(document) != [name]:
        raise ValueError(f"not {name} alone")
    return document


def _read_part(name: str, document: dict[str, Any], axes: Sequence[str]) -> Part:
    member = identity = _member(name, document[name])
    values = {path: as_shown(parameters.read(document, path)) for path in axes if part_of(path) == name}
    if replays := engine.traces.replays(document):
        for arrival in replays:
            del arrival["file"]
        identity = _member(name, document[name])
    return Part(member, identity, values)


@lru_cache(maxsize=4096)
def _replicated(run: Part, replicate: int) -> Part:
    """Return the part `run` of one replicate."""
    document = _value("run", run.member)
    document["run"]["replicate"] = replicate
    return _read_part("run", document, ())
