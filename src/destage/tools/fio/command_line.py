"""fio's command line as a job file: each job begins with `--name` and becomes a section.

Options before the first `--name` are those of all jobs. Options of fio itself, such as `--output`, are
skipped.
"""

import re
from collections.abc import Iterator, Mapping

from destage.errors import ConfigError
from destage.tools.fio.job import Job, Option
from destage.tools.fio.job_file import JobFile
from destage.tools.options import OptionReader, by_reason
from destage.tools.scripts import ScriptCommand, read_commands

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
        jobs = JobFile(environment, OptionReader(is_lenient))
        _read_command(jobs, command)
        if jobs.reader.issues:
            raise ConfigError(jobs.reader.issues, file)
        found.append(jobs)
    return found


def _find_commands(text: str) -> list[ScriptCommand]:
    return [
        command
        for command in read_commands(text, _PROGRAM)
        if any(word.text.partition("=")[0] == f"--{_NAME}" for word in command.words)
    ]


def _read_command(found: JobFile, command: ScriptCommand) -> None:
    common: dict[str, Option] = {}
    current = common
    for name, value in _split_options(found, command):
        if name == _NAME:
            current = dict(common)
            found.jobs.append(Job(value or f"job{len(found.jobs) + 1}", command.line, current))
        elif name not in _OF_FIO:
            found.read_option(name if value is None else f"{name}={value}", command.line, current)


def _split_options(found: JobFile, command: ScriptCommand) -> Iterator[tuple[str, str | None]]:
    """Yield each option with its value, which follows `=` or is the next word."""
    words = [word.text for word in command.words]
    while words:
        text = words.pop(0)
        if not text.startswith("--"):
            message = "must be an option --NAME=VALUE; import a job file by itself"
            found.add_issue("import.bad-syntax", command.line, "command", text, message)
            continue
        name, separator, value = text.removeprefix("--").partition("=")
        if not separator and words and not words[0].startswith("--"):
            separator, value = "=", words.pop(0)
        yield name, value if separator else None
