"""Syntax of a fio job file or command: sections, options with their lines, and inheritance from `[global]`.

A `;` or `#` starts a comment anywhere in a line. A section is `[name]`; sections whose name begins with
`global`, of which there may be several, set defaults for the jobs below them. An option is `name=value` or
`name` alone. `${NAME}` in a value is replaced from the environment.

A command line is a job file, too: each job begins with `--name` and becomes a section, options before the
first `--name` are those of all jobs, and options of fio itself, such as `--output`, are skipped.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from destage.errors import ConfigError, Issue
from destage.tools.fio.options import OPTIONS
from destage.tools.fio.settings import Option
from destage.tools.options import OptionReader, by_reason
from destage.tools.scripts import ScriptCommand, read_commands

_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_KEYWORD = re.compile(r"\$(pagesize|mb_memory|ncpus)\b")
_COMMENT = re.compile(r"[;#]")


_PROGRAM = re.compile(r"fio(\.exe)?", re.IGNORECASE)
_NAME = "name"
_SECTION = re.compile(r"^\s*\[[^\]]+\]\s*$", re.MULTILINE)
_OF_FIO = by_reason(
    {
        "it does not change a job": (
            "output output-format minimal append-terse terse-version bandwidth-log eta eta-interval "
            "eta-newline status-interval warnings-fatal max-jobs alloc-size debug idle-prof inflate-log "
            "aux-path readonly thread-stats"
        )
    }
)
"""Options of fio itself, which do not change a job."""


@dataclass
class JobFile:
    """The jobs of a job file or a command.

    Attributes:
        jobs: Name, line and options of each, inherited ones included.
        common: The options of the global sections so far.
        section: The options of the current section; None before the first one.
    """

    reader: OptionReader
    jobs: list[tuple[str, int, dict[str, Option]]] = field(default_factory=list)
    common: dict[str, Option] = field(default_factory=dict)
    section: dict[str, Option] | None = None

    def begin_job(self, name: str, line: int) -> None:
        """Begin a job, which inherits the options of the global sections above."""
        self.section = dict(self.common)
        self.jobs.append((name, line, self.section))

    def read_option(self, text: str, line: int) -> None:
        """Read one line of a section, or one option of a command."""
        if self.section is None:
            self.add_issue("import.bad-syntax", line, "option", text, "option before the first [section]")
            return
        written, separator, value = (part.strip() for part in text.partition("="))
        if not separator and written.partition(" ")[0] == "include":
            message = "include is not read; insert that file's lines"
            self.add_issue("import.include", line, "include", None, message)
            return
        try:
            expanded = self.expand(value) if separator else None
        except KeyError as error:
            message = f"{error.args[0]} is not set; write the value or set the variable"
            self.add_issue("import.unknown-variable", line, written, value, message)
            return
        name = OPTIONS.aliases.get(written, written)
        option = Option(written, expanded, line)
        if name in OPTIONS.ignored:
            self.reader.ignore(option, OPTIONS.ignored[name], line)
        elif name not in OPTIONS.settings:
            self.reader.reject(option, OPTIONS.explain_unsupported(name))
            return
        # The later of two wins and moves to the end, as the order decides between related options.
        self.section.pop(name, None)
        self.section[name] = option

    def expand(self, value: str) -> str:
        """Replace environment variables; raise KeyError for fio's keywords, which depend on its machine."""
        keyword = _KEYWORD.search(value)
        if keyword is not None:
            raise KeyError(keyword[0])
        return _VARIABLE.sub(lambda match: os.environ[match[1]], value)

    def add_issue(self, code: str, line: int, name: str, value: str | None, message: str) -> None:
        """Add an issue at an option."""
        self.reader.issues.append(Issue(code, f"line {line}, {name}", message, value))


def read_sections(text: str, file: str, *, is_lenient: bool) -> list[JobFile]:
    """Read the sections of a job file."""
    job_file = JobFile(OptionReader(is_lenient))
    for line, raw in enumerate(text.splitlines(), 1):
        stripped = _COMMENT.split(raw, maxsplit=1)[0].strip()
        if not stripped.startswith("["):
            if stripped:
                job_file.read_option(stripped, line)
            continue
        name = stripped[1:].partition("]")[0].strip()
        if not stripped.endswith("]") or not name:
            job_file.add_issue("import.bad-syntax", line, "section", stripped, "must have the form [name]")
            job_file.section = {}
        elif name.startswith("global"):
            # As in fio, any name with this prefix is global.
            job_file.section = job_file.common
        else:
            job_file.begin_job(name, line)
    if not job_file.jobs and not job_file.reader.issues:
        message = "no job; a job is a section [name] other than [global]"
        job_file.reader.issues.append(Issue("import.no-test", "", message))
    if job_file.reader.issues:
        raise ConfigError(job_file.reader.issues, file)
    return [job_file]


def is_command(text: str) -> bool:
    """Return whether a text has a command of fio with a job, and is not a job file."""
    return "--name" in text and not _SECTION.search(text) and bool(_find_commands(text))


def read_jobs(text: str, file: str, *, is_lenient: bool) -> list[JobFile]:
    """Read the jobs of each command in a text.

    Raises:
        ConfigError: With every option that cannot be read.
    """
    job_files = []
    for command in _find_commands(text):
        job_file = JobFile(OptionReader(is_lenient))
        job_file.section = job_file.common
        for name, value in _split_options(job_file, command):
            if name == _NAME:
                job_file.begin_job(value or f"job{len(job_file.jobs) + 1}", command.line)
            elif name not in _OF_FIO:
                job_file.read_option(name if value is None else f"{name}={value}", command.line)
        if job_file.reader.issues:
            raise ConfigError(job_file.reader.issues, file)
        job_files.append(job_file)
    return job_files


def _find_commands(text: str) -> list[ScriptCommand]:
    return [
        command
        for command in read_commands(text, _PROGRAM)
        if any(word.text.partition("=")[0] == f"--{_NAME}" for word in command.words)
    ]


def _split_options(job_file: JobFile, command: ScriptCommand) -> Iterator[tuple[str, str | None]]:
    """Yield each option with its value, which follows `=` or is the next word."""
    words = [word.text for word in command.words]
    while words:
        text = words.pop(0)
        if not text.startswith("--"):
            message = "must be an option --NAME=VALUE; import a job file by itself"
            job_file.add_issue("import.bad-syntax", command.line, "command", text, message)
            continue
        name, separator, value = text.removeprefix("--").partition("=")
        if not separator and words and not words[0].startswith("--"):
            separator, value = "=", words.pop(0)
        yield name, value if separator else None
