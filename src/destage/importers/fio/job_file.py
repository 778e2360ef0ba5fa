"""The form of a fio job file: sections, options with their lines, and what jobs inherit from `[global]`.

A line that begins with `;` or `#` is a comment, and so is what follows either sign in any line. A section is
`[name]`; one whose name begins with `global`, of which there may be several, gives defaults to the jobs below
it. An option is `name=value` or `name` alone. `${NAME}` in a value is replaced from the environment.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from destage.errors import ConfigError, Issue
from destage.importers.fio import options

_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_KEYWORD = re.compile(r"\$(pagesize|mb_memory|ncpus)\b")
_COMMENT = re.compile(r"[;#]")


@dataclass(frozen=True, slots=True)
class Option:
    """One option as it was written.

    Attributes:
        name: Its name, one for all its spellings.
        written: The name as it was spelt.
        value: The text after `=`; None if there is no `=`.
        line: The line of the file, from 1.
    """

    name: str
    written: str
    value: str | None
    line: int

    def __str__(self) -> str:
        """Return the option as a job file has it."""
        return self.written if self.value is None else f"{self.written}={self.value}"


@dataclass(frozen=True, slots=True)
class Job:
    """One job with all options that hold for it.

    Attributes:
        name: The name of its section.
        line: The line of the section, from 1.
        options: Its options by name, its own over those of the global sections above, as they were written.
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
    """A job file that was read.

    Attributes:
        jobs: Its jobs, in order.
        mute: The options that change nothing that is simulated, with why.
        left_out: The options skipped by `ignore_unknown`, with why each matters.
    """

    jobs: tuple[Job, ...]
    mute: tuple[tuple[Option, str], ...]
    left_out: tuple[tuple[Option, str], ...]


@dataclass
class _Reading:
    environment: Mapping[str, str]
    is_lenient: bool
    issues: list[Issue] = field(default_factory=list)
    mute: list[tuple[Option, str]] = field(default_factory=list)
    left_out: list[tuple[Option, str]] = field(default_factory=list)

    def option(self, text: str, line: int) -> Option | None:
        """Read one line of a section; None where it is not one that makes a workload."""
        written, separator, value = (part.strip() for part in text.partition("="))
        if not separator and written.partition(" ")[0] == "include":
            self.add_issue(
                "fio.include", line, "include", None, "include is not read; insert that file's lines"
            )
            return None
        try:
            expanded = self.expand(value) if separator else None
        except KeyError as error:
            message = f"{error.args[0]} is not set; write the value or set the variable"
            self.add_issue("fio.unknown-variable", line, written, value, message)
            return None
        name = options.ALIASES.get(written, written)
        option = Option(name, written, expanded, line)
        if name in options.MUTE:
            self.mute.append((option, options.MUTE[name]))
        elif name not in options.MAPPED:
            self.refuse(option)
            return None
        return option

    def expand(self, value: str) -> str:
        """Replace variables of the environment; fio's own keywords depend on a machine that is not here."""
        keyword = _KEYWORD.search(value)
        if keyword is not None:
            raise KeyError(keyword[0])
        return _VARIABLE.sub(lambda match: self.environment[match[1]], value)

    def refuse(self, option: Option) -> None:
        why = options.explain_unsupported(option.name)
        if self.is_lenient:
            self.left_out.append((option, why))
        else:
            message = f"{why}; --ignore-unknown skips it"
            self.add_issue("fio.unsupported-option", option.line, option.written, option.value, message)

    def add_issue(self, code: str, line: int, name: str, value: str | None, message: str) -> None:
        self.issues.append(Issue(code, f"line {line}, {name}", message, value))


def read_sections(
    text: str,
    file: str,
    *,
    environment: Mapping[str, str] = MappingProxyType({}),
    ignore_unknown: bool = False,
) -> JobFile:
    """Read the sections of a job file.

    Args:
        ignore_unknown: Whether options that cannot be simulated are left out and listed, not refused.

    Raises:
        ConfigError: With every line that cannot be read, each with its place and what is allowed.
    """
    reading = _Reading(environment, ignore_unknown)
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
                reading.add_issue("fio.bad-syntax", line, "section", stripped, "must have the form [name]")
                current = {}
            elif name.startswith("global"):
                # So does fio.
                current = common
            else:
                current = dict(common)
                jobs.append(Job(name, line, current))
        elif current is None:
            message = "option before the first [section]"
            reading.add_issue("fio.bad-syntax", line, "option", stripped, message)
        else:
            option = reading.option(stripped, line)
            if option is not None:
                # The later of two wins, and its place in the order tells which that is.
                current.pop(option.name, None)
                current[option.name] = option
    if not jobs and not reading.issues:
        message = "no job; a job is a section [name] other than [global]"
        reading.issues.append(Issue("fio.no-job", "", message))
    if reading.issues:
        raise ConfigError(reading.issues, file)
    return JobFile(tuple(jobs), tuple(reading.mute), tuple(reading.left_out))
