"""Syntax of a Vdbench parameter file: definitions, their parameters and values.

A line that begins with `*`, `/` or `#` is a comment, as is everything behind a blank; a line that ends with
a comma continues; `eof` ends the file. A keyword may be shortened to its first two letters or more.
"""

import re
from dataclasses import dataclass, field
from itertools import pairwise

from destage.errors import Issue
from destage.tools.words import Word

KINDS = ("sd", "wd", "rd", "hd", "fsd", "fwd")
"""The keywords that begin a definition."""
_LATER_PARAMETER = re.compile(r",\s+\w+=")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter.

    Attributes:
        key: Its keyword in small letters, as written.
        word: The keyword at its place.
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
        at = value or (self.values[0] if self.values else self.word)
        given = value.text if value is not None else self.text
        return Issue(code, self.key, message, given, line=at.line, column=at.column)


@dataclass
class Definition:
    """A definition, or a general parameter.

    Attributes:
        kind: One of `KINDS`; empty for general parameters.
        name: Its name; `default` for values of the definitions that follow.
    """

    kind: str
    name: str
    word: Word
    parameters: list[Parameter] = field(default_factory=list)


def read_definitions(text: str, issues: list[Issue], warnings: list[Issue]) -> list[Definition]:
    """Return the definitions; mistakes are added to `issues`."""
    definitions = []
    for letters, places in _join_lines(text, warnings):
        parameters = _read_parameters(letters, places, issues)
        if not parameters:
            continue
        for group in _group(parameters):
            first = group[0]
            if first.key in KINDS:
                names = [value.text for value in first.values]
                definitions += [Definition(first.key, name, first.word, group[1:]) for name in names]
            else:
                definitions.append(Definition("", first.key, first.word, group))
    return definitions


def _group(parameters: list[Parameter]) -> list[list[Parameter]]:
    """Return the parameters of each definition of a line, whose keyword may come again."""
    kind = parameters[0].key
    starts = [
        index for index, one in enumerate(parameters) if not index or (kind in KINDS and one.key == kind)
    ]
    return [parameters[start:end] for start, end in pairwise([*starts, len(parameters)])]


def _join_lines(text: str, warnings: list[Issue]) -> list[tuple[str, list[tuple[int, int]]]]:
    """Return the logical lines, with line and column of each character."""
    joined: list[tuple[str, list[tuple[int, int]]]] = []
    letters, places = "", list[tuple[int, int]]()
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if line.startswith("eof"):
            break
        if not line or line[0] in "/#*":
            continue
        kept, begin = _cut_comment(line), len(raw) - len(raw.lstrip())
        match = _LATER_PARAMETER.match(line, len(kept) - 1)
        if match is not None and kept.endswith(","):
            message = "is a comment, as everything behind a blank; Vdbench does not read it"
            ignored = Word(line[len(kept) :].strip(), number, begin + len(kept) + 2)
            warnings.append(ignored.issue("vdbench.comment", "", message))
        letters += kept
        places += [(number, begin + column) for column in range(1, len(kept) + 1)]
        if not kept.endswith(","):
            joined.append((letters, places))
            letters, places = "", []
    if letters:
        joined.append((letters.rstrip(","), places))
    return joined


def _cut_comment(line: str) -> str:
    quoted = False
    for index, letter in enumerate(line):
        quoted ^= letter == '"'
        if letter.isspace() and not quoted:
            return line[:index]
    return line


def _read_parameters(letters: str, places: list[tuple[int, int]], issues: list[Issue]) -> list[Parameter]:
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
    issues += [
        parameter.issue("import.bad-syntax", "needs a value")
        for parameter in parameters
        if not parameter.values
    ]
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
