"""Syntax of a fio job file: sections, options with their lines, and inheritance from `[global]`.

A `;` or `#` starts a comment anywhere in a line. A section is `[name]`; sections whose name begins with
`global`, of which there may be several, set defaults for the jobs below them. An option is `name=value` or
`name` alone. `${NAME}` in a value is replaced from the environment.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from destage.errors import ConfigError, Issue
from destage.tools.fio.job import Job, Option
from destage.tools.fio.options import OPTIONS
from destage.tools.options import OptionReader

_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_KEYWORD = re.compile(r"\$(pagesize|mb_memory|ncpus)\b")
_COMMENT = re.compile(r"[;#]")


@dataclass
class JobFile:
    """The jobs of a job file or a command.

    Attributes:
        reader: What is wrong with the options, or has no effect.
    """

    environment: Mapping[str, str]
    reader: OptionReader
    jobs: list[Job] = field(default_factory=list)

    def read_option(self, text: str, line: int, section: dict[str, Option]) -> None:
        """Read one line of a section, or one option of a command."""
        written, separator, value = (part.strip() for part in text.partition("="))
        if not separator and written.partition(" ")[0] == "include":
            self.add_issue(
                "import.include", line, "include", None, "include is not read; insert that file's lines"
            )
            return
        try:
            expanded = self.expand(value) if separator else None
        except KeyError as error:
            message = f"{error.args[0]} is not set; write the value or set the variable"
            self.add_issue("import.unknown-variable", line, written, value, message)
            return
        name = OPTIONS.aliases.get(written, written)
        option = Option(name, written, expanded, line)
        if name in OPTIONS.ignored:
            self.reader.ignore(option, OPTIONS.ignored[name], line)
        elif name not in OPTIONS.settings:
            self.reader.reject(option, OPTIONS.explain_unsupported(name))
            return
        # The later of two wins and moves to the end, as the order decides between related options.
        section.pop(name, None)
        section[name] = option

    def expand(self, value: str) -> str:
        """Replace environment variables; raise KeyError for fio's keywords, which depend on its machine."""
        keyword = _KEYWORD.search(value)
        if keyword is not None:
            raise KeyError(keyword[0])
        return _VARIABLE.sub(lambda match: self.environment[match[1]], value)

    def add_issue(self, code: str, line: int, name: str, value: str | None, message: str) -> None:
        """Add an issue at an option."""
        self.reader.issues.append(Issue(code, f"line {line}, {name}", message, value))


def read_sections(text: str, file: str, environment: Mapping[str, str], *, is_lenient: bool) -> JobFile:
    """Read the sections of a job file."""
    found = JobFile(environment, OptionReader(is_lenient))
    common: dict[str, Option] = {}
    current: dict[str, Option] | None = None
    for line, raw in enumerate(text.splitlines(), 1):
        stripped = _COMMENT.split(raw, maxsplit=1)[0].strip()
        if not stripped:
            continue
        if stripped.startswith("["):
            name = stripped[1:].partition("]")[0].strip()
            if not stripped.endswith("]") or not name:
                found.add_issue("import.bad-syntax", line, "section", stripped, "must have the form [name]")
                current = {}
            elif name.startswith("global"):
                # As in fio, any name with this prefix is global.
                current = common
            else:
                current = dict(common)
                found.jobs.append(Job(name, line, current))
        elif current is None:
            message = "option before the first [section]"
            found.add_issue("import.bad-syntax", line, "option", stripped, message)
        else:
            found.read_option(stripped, line, current)
    if not found.jobs and not found.reader.issues:
        message = "no job; a job is a section [name] other than [global]"
        found.reader.issues.append(Issue("import.no-test", "", message))
    if found.reader.issues:
        raise ConfigError(found.reader.issues, file)
    return found
