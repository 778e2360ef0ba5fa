"""fio's command line as a job file: each job begins with `--name` and becomes a section.

Options before the first `--name` are those of all jobs. Options of fio itself, such as `--output`, are
skipped.
"""

import re
from collections.abc import Iterator, Mapping

from destage.errors import ConfigError
from destage.tools.fio.job_file import Job, JobFile, Option, Parser
from destage.tools.scripts import ScriptCommand, read_commands

_PROGRAM = re.compile(r"fio(\.exe)?", re.IGNORECASE)
_NAME = "name"
_SECTION = re.compile(r"^\s*\[[^\]]+\]\s*$", re.MULTILINE)
_OF_FIO = frozenset(
    {
        *("output", "output-format", "minimal", "append-terse", "terse-version", "bandwidth-log", "eta"),
        *("eta-interval", "eta-newline", "status-interval", "warnings-fatal", "max-jobs", "alloc-size"),
        *("debug", "idle-prof", "inflate-log", "aux-path", "readonly", "thread-stats"),
    }
)
"""Options of fio itself, which do not change a job."""


def is_command(text: str) -> bool:
    """Return whether a text has a command of fio with a job, and is not a job file."""
    return "--name" in text and not _SECTION.search(text) and bool(_find_commands(text))


def read_jobs(text: str, file: str, environment: Mapping[str, str], *, is_lenient: bool) -> list[JobFile]:
    """Read the jobs of each command in a text.

    Raises:
        ConfigError: With every option that cannot be read.
    """
    found = []
    for command in _find_commands(text):
        parser = Parser(environment, is_lenient)
        jobs = _read_command(parser, command)
        if parser.issues:
            raise ConfigError(parser.issues, file)
        found.append(JobFile(tuple(jobs), tuple(parser.without_effect), tuple(parser.skipped)))
    return found


def _find_commands(text: str) -> list[ScriptCommand]:
    return [
        command
        for command in read_commands(text, _PROGRAM)
        if any(word.text.partition("=")[0] == f"--{_NAME}" for word in command.words)
    ]


def _read_command(parser: Parser, command: ScriptCommand) -> list[Job]:
    common: dict[str, Option] = {}
    current = common
    jobs: list[Job] = []
    for name, value in _split_options(parser, command):
        if name == _NAME:
            current = dict(common)
            jobs.append(Job(value or f"job{len(jobs) + 1}", command.line, current))
        elif name not in _OF_FIO:
            option = parser.read_option(name if value is None else f"{name}={value}", command.line)
            if option is not None:
                current.pop(option.name, None)
                current[option.name] = option
    return jobs


def _split_options(parser: Parser, command: ScriptCommand) -> Iterator[tuple[str, str | None]]:
    """Yield each option with its value, which follows `=` or is the next word."""
    words = [word.text for word in command.words]
    while words:
        text = words.pop(0)
        if not text.startswith("--"):
            message = "must be an option --NAME=VALUE; import a job file by itself"
            parser.add_issue("import.bad-syntax", command.line, "command", text, message)
            continue
        name, separator, value = text.removeprefix("--").partition("=")
        if not separator and words and not words[0].startswith("--"):
            separator, value = "=", words.pop(0)
        yield name, value if separator else None
