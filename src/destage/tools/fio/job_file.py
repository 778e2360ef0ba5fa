"""Syntax of a fio job file: sections, options with their lines, and inheritance from `[global]`.

A `;` or `#` starts a comment anywhere in a line. A section is `[name]`; sections whose name begins with
`global`, of which there may be several, set defaults for the jobs below them. An option is `name=value` or
`name` alone. `${NAME}` in a value is replaced from the environment.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from destage.errors import ConfigError, Issue
from destage.tools.fio import options

_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_KEYWORD = re.compile(r"\$(pagesize|mb_memory|ncpus)\b")
_COMMENT = re.compile(r"[;#]")


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a job file.

    Attributes:
        name: Its canonical name.
        written: The name as written in the file.
        value: The text after `=`; None if there is no `=`.
        line: The line of the file, from 1.
    """

    name: str
    written: str
    value: str | None
    line: int

    @property
    def place(self) -> str:
        """Its place in errors and warnings."""
        return f"line {self.line}, {self.written}"

    def __str__(self) -> str:
        """Return the option as it is written in a job file."""
        return self.written if self.value is None else f"{self.written}={self.value}"


@dataclass(frozen=True, slots=True)
class Job:
    """One job with all its options, inherited ones included.

    Attributes:
        options: Its options by name; its own override those of the global sections above.
    """

    name: str
    line: int
    options: Mapping[str, Option]

    @property
    def place(self) -> str:
        """Its place in errors."""
        return f"line {self.line}, [{self.name}]"


@dataclass(frozen=True, slots=True)
class JobFile:
    """The contents of a job file.

    Attributes:
        without_effect: The options that do not affect the simulation, with the reason.
        skipped: The options skipped by `ignore_unknown`, with the reason why they are not supported.
    """

    jobs: tuple[Job, ...]
    without_effect: tuple[tuple[Option, str], ...]
    skipped: tuple[tuple[Option, str], ...]


@dataclass
class Parser:
    """Reads options, and collects what is wrong with them or has no effect."""

    environment: Mapping[str, str]
    is_lenient: bool
    issues: list[Issue] = field(default_factory=list)
    without_effect: list[tuple[Option, str]] = field(default_factory=list)
    skipped: list[tuple[Option, str]] = field(default_factory=list)

    def read_option(self, text: str, line: int) -> Option | None:
        """Read one line of a section; return None if it is not a supported option."""
        written, separator, value = (part.strip() for part in text.partition("="))
        if not separator and written.partition(" ")[0] == "include":
            self.add_issue(
                "import.include", line, "include", None, "include is not read; insert that file's lines"
            )
            return None
        try:
            expanded = self.expand(value) if separator else None
        except KeyError as error:
            message = f"{error.args[0]} is not set; write the value or set the variable"
            self.add_issue("import.unknown-variable", line, written, value, message)
            return None
        name = options.ALIASES.get(written, written)
        option = Option(name, written, expanded, line)
        if name in options.WITHOUT_EFFECT:
            self.without_effect.append((option, options.WITHOUT_EFFECT[name]))
        elif name not in options.MAPPED:
            self.reject_or_skip(option)
            return None
        return option

    def expand(self, value: str) -> str:
        """Replace environment variables; raise KeyError for fio's keywords, which depend on its machine."""
        keyword = _KEYWORD.search(value)
        if keyword is not None:
            raise KeyError(keyword[0])
        return _VARIABLE.sub(lambda match: self.environment[match[1]], value)

    def reject_or_skip(self, option: Option) -> None:
        """Add an issue for an option that is not supported, or skip it."""
        why = options.explain_unsupported(option.name)
        if self.is_lenient:
            self.skipped.append((option, why))
        else:
            message = f"{why}; --ignore-unknown skips it"
            self.add_issue("import.unsupported-option", option.line, option.written, option.value, message)

    def add_issue(self, code: str, line: int, name: str, value: str | None, message: str) -> None:
        """Add an issue at an option."""
        self.issues.append(Issue(code, f"line {line}, {name}", message, value))


def read_sections(text: str, file: str, environment: Mapping[str, str], *, is_lenient: bool) -> JobFile:
    """Read the sections of a job file."""
    parser = Parser(environment, is_lenient)
    common: dict[str, Option] = {}
    current: dict[str, Option] | None = None
    jobs: list[Job] = []
    for line, raw in enumerate(text.splitlines(), 1):
        stripped = _COMMENT.split(raw, maxsplit=1)[0].strip()
        if not stripped:
            continue
        if stripped.startswith("["):
            name = stripped[1:].partition("]")[0].strip()
            if not stripped.endswith("]") or not name:
                parser.add_issue("import.bad-syntax", line, "section", stripped, "must have the form [name]")
                current = {}
            elif name.startswith("global"):
                # As in fio, any name with this prefix is global.
                current = common
            else:
                current = dict(common)
                jobs.append(Job(name, line, current))
        elif current is None:
            message = "option before the first [section]"
            parser.add_issue("import.bad-syntax", line, "option", stripped, message)
        else:
            option = parser.read_option(stripped, line)
            if option is not None:
                # The later of two wins and moves to the end, as the order decides between related options.
                current.pop(option.name, None)
                current[option.name] = option
    if not jobs and not parser.issues:
        message = "no job; a job is a section [name] other than [global]"
        parser.issues.append(Issue("import.no-test", "", message))
    if parser.issues:
        raise ConfigError(parser.issues, file)
    return JobFile(tuple(jobs), tuple(parser.without_effect), tuple(parser.skipped))
