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
from destage.sweeps.space import parameters
from destage.sweeps.space.identity import canonical_text, run_id

_DERIVED: Mapping[str, str] = {"controller.cache.capacity": "controller.cache.usable"}
"""Parameters with a default that the engine derives from another one, by the path of the other one."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One top-level field of a canonical configuration; equal parts are one object.

    Attributes:
        member: Its name and value in the canonical text.
        identity: The same without the locations of traces, which change no result.
    """

    member: str
    identity: str


@dataclass(frozen=True, slots=True, eq=False)
class Canonical:
    """A canonical configuration.

    Attributes:
        parts: Its parts by name, in the order of the canonical text.
    """

    parts: Mapping[str, Part]

    @property
    def text(self) -> str:
        """The canonical text."""
        return _joined([part.member for part in self.parts.values()])

    @property
    def config(self) -> dict[str, Any]:
        """The configuration as a fresh document."""
        document: dict[str, Any] = json.loads(self.text)
        return document

    @property
    def run_id(self) -> str:
        """The identity of the run with this configuration."""
        return run_id(_joined([part.identity for part in self.parts.values()]))

    def replicate(self, replicate: int) -> "Canonical":
        """Return the same configuration with another replicate."""
        return Canonical({**self.parts, "run": _replicated(self.parts["run"], replicate)})


class CanonicalReader:
    """Splits canonical texts into parts."""

    def __init__(self) -> None:
        self._names: tuple[str, ...] = ()
        self._parts: dict[str, Part] = {}
        self._derived: dict[tuple[str, str], bool] = {}

    def read(self, text: str) -> Canonical:
        """Return a configuration by its parts from its canonical text."""
        with suppress(ValueError):
            return Canonical({name: self._part(name, member) for name, member in _split(text, self._names)})
        document = json.loads(text)
        self._names = tuple(document)
        return Canonical({name: self._part(name, _member(name, document[name])) for name in self._names})

    def join(self, members: Sequence[str | None]) -> Canonical:
        """Return the configuration of parts in the order of `engine.PARTS`; None if it lacks the part."""
        named = zip(engine.PARTS, members, strict=True)
        return Canonical({name: self._part(name, member) for name, member in named if member is not None})

    def with_value(self, canonical: Canonical, path: str, value: object) -> Canonical:
        """Return a configuration with another value of one parameter.

        Args:
            value: A value within the parameter's own range. If a rule between fields forbids it, the
                configuration keeps it, so that its run fails with the reason.
        """
        parts = self._replace(canonical, path, value)
        with suppress(ConfigError):
            return self._assemble(canonical, parts)
        return Canonical(parts)

    def allows(self, canonical: Canonical, path: str, value: object) -> bool:
        """Return whether a configuration is valid with another value of one parameter."""
        try:
            self._assemble(canonical, self._replace(canonical, path, value))
        except ConfigError:
            return False
        return True

    def _replace(self, canonical: Canonical, path: str, value: object) -> dict[str, Part]:
        """Return the parts with another value of one parameter."""
        name = _part_of(path)
        changed = _value(name, canonical.parts[name].member)
        parameters.assign(changed, path, value)
        if self._is_derived(canonical, path):
            parameters.assign(changed, _DERIVED[path], None)
        return {**canonical.parts, name: self._part(name, _member(name, changed[name]))}

    def _is_derived(self, canonical: Canonical, path: str) -> bool:
        """Return whether the parameter that depends on this one has its default."""
        if path not in _DERIVED:
            return False
        name = _part_of(path)
        key = path, canonical.parts[name].member
        if key not in self._derived:
            without = _value(name, canonical.parts[name].member)
            parameters.assign(without, _DERIVED[path], None)
            parts = {**canonical.parts, name: self._part(name, _member(name, without[name]))}
            self._derived[key] = self._assemble(canonical, parts).parts[name] is canonical.parts[name]
        return self._derived[key]

    def _assemble(self, canonical: Canonical, parts: Mapping[str, Part]) -> Canonical:
        """Return the canonical configuration of parts, most of which are those of another one."""
        if all(part is canonical.parts[name] for name, part in parts.items()):
            # The canonical form of a canonical form is itself.
            return canonical
        # The canonical form of another field may depend on the one that differs.
        return self.read(engine.assemble([part.member for part in parts.values()]))

    def _part(self, name: str, member: str) -> Part:
        """Return the part of a text, shared with equal texts."""
        part = self._parts.get(member)
        if part is None:
            part = _read_part(name, _value(name, member))
            # The same text is kept once.
            self._parts[part.member if part.member == member else member] = part
        return part


def column_value(value: object) -> object:
    """Return a parameter's value as its column holds it: tables and lists as text."""
    return canonical_text(value) if isinstance(value, Mapping | list) else value


def _part_of(path: str) -> str:
    """Return the name of the part of a dotted path; `array` is short for the first of `arrays`."""
    name = path.partition(".")[0]
    return "arrays" if name == "array" else name


def _split(text: str, names: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return the text of each field of a configuration that has exactly these.

    A name may also occur deeper: the split is right if each text is one field by itself.

    Raises:
        ValueError: The configuration has other fields.
    """
    if not names:
        raise ValueError("no fields known yet")
    fields = []
    start = 1
    for name, following in pairwise(names):
        end = text.index(f',"{following}":', start)
        fields.append((name, text[start:end]))
        start = end + 1
    return [*fields, (names[-1], text[start:-1])]


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


def _read_part(name: str, document: dict[str, Any]) -> Part:
    member = identity = _member(name, document[name])
    if replays := engine.traces.find_replays(document):
        for arrival in replays:
            del arrival["file"]
        identity = _member(name, document[name])
    return Part(member, identity)


@lru_cache(maxsize=4096)
def _replicated(run: Part, replicate: int) -> Part:
    """Return the part `run` with another replicate."""
    document = _value("run", run.member)
    document["run"]["replicate"] = replicate
    return _read_part("run", document)
