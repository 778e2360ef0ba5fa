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
        value: What stands after `=`; None where there is no `=`.
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


@dataclass(frozen=True, slots=True)
class JobFile:
    """A job file that was read.

    Attributes:
        jobs: Its jobs, in order.
        mute: The options that change nothing that is simulated, with why.
        left_out: The options that were left out because the reader was told to, with why each matters.
    """

    jobs: tuple[Job, ...]
    mute: tuple[tuple[Option, str], ...]
    left_out: tuple[tuple[Option, str], ...]


@dataclass
class _Reading:
    file: str
    environment: Mapping[str, str]
    is_lenient: bool
    issues: list[Issue] = field(default_factory=list)
    mute: list[tuple[Option, str]] = field(default_factory=list)
    left_out: list[tuple[Option, str]] = field(default_factory=list)

    def option(self, text: str, line: int) -> Option | None:
        """Read one line of a section; None where it is not one that makes a workload."""
        written, separator, value = (part.strip() for part in text.partition("="))
        if not separator and written.partition(" ")[0] == "include":
            self.complain(
                line, "include", None, "put the lines of that file here; one file is read at a time"
            )
            return None
        try:
            expanded = self.expand(value) if separator else None
        except KeyError as error:
            name = error.args[0]
            self.complain(
                line, written, value, f"{name} is not known here; write the value, or set the variable"
            )
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
        why = options.why_refused(option.name)
        if self.is_lenient:
            self.left_out.append((option, why))
        else:
            self.complain(
                option.line, option.written, option.value, f"{why} (--ignore-unknown leaves it out)"
            )

    def complain(self, line: int, what: str, value: str | None, message: str) -> None:
        self.issues.append(Issue(f"{self.file}:{line}: {what}", value, message))


def read_sections(
    text: str,
    file: str,
    *,
    environment: Mapping[str, str] = MappingProxyType({}),
    ignore_unknown: bool = False,
) -> JobFile:
    """Read the sections of a job file.

    Args:
        text: The file's text.
        file: What messages call it.
        environment: The values of `${NAME}`.
        ignore_unknown: Whether options that cannot be simulated are left out and listed, not refused.

    Raises:
        ConfigError: With every line that cannot be read, each with its place and what is allowed.
    """
    reading = _Reading(file, environment, ignore_unknown)
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
                reading.complain(line, "section", stripped, "must have the form [name]")
                current = {}
            elif name.startswith("global"):
                # So does fio.
                current = common
            else:
                current = dict(common)
                jobs.append(Job(name, line, current))
        elif current is None:
            reading.complain(line, "option", stripped, "stands before the first [section]")
        else:
            option = reading.option(stripped, line)
            if option is not None:
                # The later of two wins, and its place in the order tells which that is.
                current.pop(option.name, None)
                current[option.name] = option
    if not jobs and not reading.issues:
        reading.complain(1, "job file", None, "has no job; a job is a section [name] other than [global]")
    if reading.issues:
        raise refusal(file, reading.issues)
    return JobFile(tuple(jobs), tuple(reading.mute), tuple(reading.left_out))


def refusal(file: str, issues: list[Issue]) -> ConfigError:
    """Return the error that reports all that is wrong with a job file.

    Args:
        file: What messages call it.
        issues: What is wrong, each with its place.
    """
    count = "a mistake" if len(issues) == 1 else f"{len(issues)} mistakes"
    return ConfigError(f"{file} has {count}", issues=tuple(issues))
