"""Storage, workload and run definitions with the values of `default`, and selections of them by name."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, TypeVar

from destage.spec.validation import suggest
from destage.tools.options import OptionReader
from destage.tools.values import OptionValueError, parse_positive
from destage.tools.vdbench import keywords
from destage.tools.vdbench.parameter_file import Definition, Parameter, read_definitions
from destage.tools.words import Word

T = TypeVar("T")
_NUMBERED = re.compile(r"(.*?)(\d+)")
_MOST_COPIES = 1_024


@dataclass(frozen=True, slots=True)
class Settings:
    """The parameters of a definition by keyword, those of `default` included.

    Attributes:
        order: Its own parameters in the order of the file.
    """

    name: str
    word: Word
    parameters: Mapping[str, Parameter]
    order: tuple[tuple[str, Parameter], ...] = ()

    def get(self, names: str, default: Any, reader: OptionReader) -> Any:
        """Return the only value of a parameter, which may have several names; a mistake is noted."""
        name = next((name for name in names.split() if name in self.parameters), names)
        return self.get_all(name, partial(_parse_only, name), default, reader)

    def get_all(self, name: str, parse: Callable[[Sequence[str]], T], default: T, reader: OptionReader) -> T:
        """Return what the values of a parameter are together; a mistake is noted."""
        parameter = self.parameters.get(name)
        if parameter is None:
            return default
        texts = [value.text for value in parameter.values]
        return reader.parse(parameter, lambda _: parse(texts), default)


def _parse_only(name: str, texts: Sequence[str]) -> Any:
    if len(texts) > 1:
        raise OptionValueError("must be one value")
    return keywords.parse(name, texts[0])


@dataclass
class ParameterFile:
    """The definitions of a file.

    Attributes:
        reader: Mistakes, parameters that were skipped, and what has no effect.
    """

    reader: OptionReader
    storages: dict[str, Settings] = field(default_factory=dict)
    workloads: dict[str, Settings] = field(default_factory=dict)
    runs: list[Settings] = field(default_factory=list)

    def read(self, text: str) -> None:
        """Read the definitions of a file."""
        defaults: dict[str, dict[str, Parameter]] = {kind: {} for kind in keywords.ORDER}
        for definition in read_definitions(text, self.reader.issues, self.reader.warnings):
            if definition.kind in {"fsd", "fwd"}:
                message = "file system tests are not simulated; use sd=, wd= and rd= on the array's storage"
                self.reader.issues.append(
                    definition.word.issue("vdbench.file-system", definition.kind, message)
                )
                return
            if definition.kind == "hd":
                self.reader.remarks.append(
                    f"Without effect, line {definition.word.line}: hd={definition.name}."
                )
            elif not definition.kind:
                self._read_general(definition)
            else:
                self._read_definition(definition, defaults[definition.kind])

    def _read_general(self, definition: Definition) -> None:
        for parameter in definition.parameters:
            key = keywords.resolve("", parameter.key)
            if key == "include":
                message = "is not read; insert the lines of that file"
                self.reader.issues.append(parameter.issue("import.include", message))
            elif key in keywords.GENERAL:
                self.reader.ignore(parameter, keywords.GENERAL[key], parameter.word.line)
            else:
                self.reader.reject(parameter, keywords.explain_unsupported("", key))

    def _read_definition(self, definition: Definition, defaults: dict[str, Parameter]) -> None:
        kind = definition.kind
        own: list[tuple[str, Parameter]] = []
        for parameter in definition.parameters:
            key = keywords.resolve(kind, parameter.key)
            if keywords.is_setting(kind, key):
                own.append((key, parameter))
            elif key in keywords.WITHOUT_EFFECT:
                self.reader.ignore(parameter, keywords.WITHOUT_EFFECT[key], parameter.word.line)
            elif kind == "rd" and key in {"fsd", "fwd", "fwdrate", "operations", "format"}:
                message = "file system tests are not simulated"
                self.reader.issues.append(parameter.issue("vdbench.file-system", message))
            else:
                self.reader.reject(parameter, keywords.explain_unsupported(kind, key))
        if definition.name == "default":
            defaults.update(own)
            return
        settings = Settings(definition.name, definition.word, {**defaults, **dict(own)}, tuple(own))
        if kind == "rd":
            inherited = [(key, parameter) for key, parameter in defaults.items() if key not in dict(own)]
            self.runs.append(Settings(settings.name, settings.word, settings.parameters, (*inherited, *own)))
        elif kind == "wd":
            self.workloads[definition.name] = settings
        else:
            for name in self._copy(settings):
                self.storages[name] = Settings(name, settings.word, settings.parameters, settings.order)

    def _copy(self, settings: Settings) -> list[str]:
        """Return the names that `count=(from,number)` makes of a storage."""
        return settings.get_all("count", partial(_number, settings.name), [settings.name], self.reader)

    def select(self, kind: str, known: Mapping[str, Settings], parameter: Parameter | None) -> list[Settings]:
        """Return the definitions that a parameter names, by wildcards and ranges; without it, all of them."""
        if parameter is None:
            return list(known.values())
        chosen: dict[str, Settings] = {}
        for value in parameter.values:
            names = list(_match(value.text, known))
            if not names:
                hint = suggest(value.text, known)
                message = f"no such {kind}{hint}; defined: {', '.join(known) or 'none'}"
                self.reader.issues.append(parameter.issue("vdbench.unknown-name", message, value))
            chosen.update((name, known[name]) for name in names)
        return list(chosen.values())


def _number(name: str, texts: Sequence[str]) -> list[str]:
    numbers = [parse_positive(text) for text in texts]
    first, number = (numbers[0], numbers[1]) if len(numbers) > 1 else (1, numbers[0])
    if number > _MOST_COPIES:
        raise OptionValueError(f"more than {_MOST_COPIES} storages")
    return [f"{name}{index}" for index in range(first, first + number)]


def _match(pattern: str, known: Iterable[str]) -> Iterable[str]:
    first, dash, last = pattern.partition("-")
    if dash and pattern not in known:
        begin, end = _NUMBERED.fullmatch(first), _NUMBERED.fullmatch(last)
        if begin is not None and end is not None and begin[1] == end[1]:
            numbers = range(int(begin[2]), int(end[2]) + 1)
            return [
                name
                for name in known
                if (one := _NUMBERED.fullmatch(name)) is not None
                and one[1] == begin[1]
                and int(one[2]) in numbers
            ]
    return [name for name in known if fnmatchcase(name, pattern.replace("[", "[[]"))]
