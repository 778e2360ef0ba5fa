"""Vdbench's parameter files: storage, workload and run definitions, the values of `default`, selections.

A line that begins with `*`, `/` or `#` is a comment, as is everything behind a blank; a line that ends with
a comma continues; `eof` ends the file. A keyword may be shortened to its first two letters or more.
Selections name definitions.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from destage.errors import Issue
from destage.spec.near_names import suggest
from destage.tools.options import OptionReader
from destage.tools.scripts.statements import Statement
from destage.tools.values import OptionValueError, Word, parse_positive
from destage.tools.vdbench import keywords

KINDS = ("sd", "wd", "rd", "hd", "fsd", "fwd")
"""The keywords that begin a definition."""
_BEFORE_BLANK = re.compile(r'(?:[^\s"]|"[^"]*(?:"|$))*')
_LATER_PARAMETER = re.compile(r",\s+\w+=")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter.

    Attributes:
        key: Its keyword in small letters, as written.
        values: Its values; several if they are in parentheses.
    """

    key: str
    word: Word
    values: tuple[Word, ...]

    @property
    def value(self) -> str:
        """Its values without parentheses."""
        return ",".join(value.text for value in self.values)

    @property
    def text(self) -> str:
        """Return its value as written."""
        return self.value if len(self.values) == 1 else f"({self.value})"

    def __str__(self) -> str:
        """Return the parameter as it is written."""
        return f"{self.key}={self.text}"

    def issue(self, code: str, message: str, value: Word | None = None) -> Issue:
        """Return an issue at a value, or at the keyword."""
        word = value or (self.values[0] if self.values else self.word)
        given = value.text if value is not None else self.text
        return Issue(code, self.key, message, given, line=word.line, column=word.column)


def _group(parameters: list[Parameter]) -> list[list[Parameter]]:
    """Return the parameters of each definition of a line, whose keyword may come again."""
    groups: list[list[Parameter]] = []
    for parameter in parameters:
        if not groups or (parameter.key in KINDS and parameter.key == groups[0][0].key):
            groups.append([])
        groups[-1].append(parameter)
    return groups


def _join_lines(text: str, warnings: list[Issue]) -> Iterator[Statement]:
    """Yield the logical lines."""
    letters, places = "", list[tuple[int, int]]()
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if line.startswith("eof"):
            break
        if not line or line[0] in "/#*":
            continue
        kept, begin = _BEFORE_BLANK.match(line)[0], len(raw) - len(raw.lstrip())  # type: ignore[index]
        match = _LATER_PARAMETER.match(line, len(kept) - 1)
        if match is not None and kept.endswith(","):
            message = "is a comment, as everything behind a blank; Vdbench does not read it"
            ignored = Word(line[len(kept) :].strip(), number, begin + len(kept) + 2)
            warnings.append(ignored.issue("vdbench.comment", "", message))
        letters += kept
        places += [(number, begin + column) for column in range(1, len(kept) + 1)]
        if not kept.endswith(","):
            yield Statement(letters, tuple(places))
            letters, places = "", []
    if letters:
        yield Statement(letters.rstrip(","), tuple(places))


def _read_parameters(line: Statement, issues: list[Issue]) -> list[Parameter]:
    letters, places = line.text, line.places
    parameters = []
    for start, end in _split(letters, 0, len(letters)):
        part = letters[start:end]
        if not part.strip():
            continue
        key, equals, _ = part.partition("=")
        word = Word(key.strip().lower(), *places[start])
        if not equals or not key.strip():
            message = "must have the form keyword=value"
            issues.append(word.with_text(part).issue("import.bad-syntax", "", message))
            continue
        begin, stop = start + len(key) + 1, end
        if letters[begin : begin + 1] == "(" and letters[stop - 1] == ")":
            begin, stop = begin + 1, stop - 1
            spans = _split(letters, begin, stop)
        else:
            spans = [(begin, stop)]
        values = [
            Word(letters[first:last].strip().strip('"()'), *places[min(first, len(places) - 1)])
            for first, last in spans
        ]
        parameters.append(Parameter(word.text, word, tuple(value for value in values if value.text)))
    empty = [parameter for parameter in parameters if not parameter.values]
    issues += [parameter.issue("import.bad-syntax", "needs a value") for parameter in empty]
    return [parameter for parameter in parameters if parameter.values]


def _split(letters: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return start and end of the parts between commas outside parentheses and quotes."""
    parts, depth, quoted, begin = [], 0, False, start
    for index in range(start, end):
        letter = letters[index]
        if letter == '"':
            quoted = not quoted
        elif not quoted:
            depth += (letter == "(") - (letter == ")")
            if letter == "," and depth <= 0:
                parts.append((begin, index))
                begin = index + 1
    return [*parts, (begin, end)]


T = TypeVar("T")
_NUMBERED = re.compile(r"(.*?)(\d+)")
_MOST_COPIES = 1_024


@dataclass(frozen=True, slots=True)
class Settings:
    """The parameters of a definition by keyword, those of `default` included."""

    name: str
    word: Word
    parameters: Mapping[str, Parameter]

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
    return keywords.KEYWORDS[name].parse(texts[0])


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
        issues, warnings = self.reader.issues, self.reader.warnings
        defaults: dict[str, dict[str, Parameter]] = {kind: {} for kind in keywords.ORDER}
        lines = [_group(_read_parameters(line, issues)) for line in _join_lines(text, warnings)]
        for first, *parameters in chain.from_iterable(lines):
            names = [value.text for value in first.values]
            if first.key in {"fsd", "fwd"}:
                message = "file system tests are not simulated; use sd=, wd= and rd= on the array's storage"
                issues.append(first.word.issue("vdbench.file-system", first.key, message))
                return
            if first.key == "hd":
                self.reader.remarks += [
                    f"Without effect, line {first.word.line}: hd={name}." for name in names
                ]
            elif first.key not in KINDS:
                self._read_general([first, *parameters])
            else:
                for name in names:
                    self._read_definition(name, first.word, parameters, defaults[first.key])

    def _read_general(self, parameters: Sequence[Parameter]) -> None:
        for parameter in parameters:
            key = keywords.resolve("", parameter.key)
            if key == "include":
                message = "is not read; insert the lines of that file"
                self.reader.issues.append(parameter.issue("import.include", message))
            elif key in keywords.GENERAL:
                self.reader.ignore(parameter, keywords.GENERAL[key], parameter.word.line)
            else:
                self.reader.reject(parameter, keywords.explain_unsupported("", key))

    def _read_definition(
        self, name: str, word: Word, parameters: Sequence[Parameter], defaults: dict[str, Parameter]
    ) -> None:
        kind = word.text
        own: dict[str, Parameter] = {}
        for parameter in parameters:
            key = keywords.resolve(kind, parameter.key)
            is_setting = key in keywords.ORDER[kind] and key.removeprefix("for") in keywords.KEYWORDS
            if is_setting and (kind, key) != ("wd", "threads"):
                own[key] = parameter
            elif key in keywords.WITHOUT_EFFECT:
                self.reader.ignore(parameter, keywords.WITHOUT_EFFECT[key], parameter.word.line)
            elif kind == "rd" and key in {"fsd", "fwd", "fwdrate", "operations", "format"}:
                message = "file system tests are not simulated"
                self.reader.issues.append(parameter.issue("vdbench.file-system", message))
            else:
                self.reader.reject(parameter, keywords.explain_unsupported(kind, key))
        if name == "default":
            defaults.update(own)
            return
        # The order of a run's own parameters is that of its loops.
        inherited = {key: given for key, given in defaults.items() if kind != "rd" or key not in own}
        settings = Settings(name, word, {**inherited, **own})
        if kind == "rd":
            self.runs.append(settings)
        elif kind == "wd":
            self.workloads[name] = settings
        else:
            # `count=(from,number)` makes several of a storage.
            for copy in settings.get_all("count", partial(_number, name), [name], self.reader):
                self.storages[copy] = replace(settings, name=copy)

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


def _match(pattern: str, names: Iterable[str]) -> Iterable[str]:
    first, dash, last = pattern.partition("-")
    if dash and pattern not in names:
        begin, end = _NUMBERED.fullmatch(first), _NUMBERED.fullmatch(last)
        if begin is not None and end is not None and begin[1] == end[1]:
            numbers = range(int(begin[2]), int(end[2]) + 1)
            matches = filter(None, map(_NUMBERED.fullmatch, names))
            return [match[0] for match in matches if match[1] == begin[1] and int(match[2]) in numbers]
    return [name for name in names if fnmatchcase(name, pattern.replace("[", "[[]"))]
