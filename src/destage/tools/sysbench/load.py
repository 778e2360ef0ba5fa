"""Import of sysbench's fileio tests, from a command or a script, as workloads.

docs/workloads.md has a table of how each option is translated.
"""

import re

from destage.errors import ConfigError, Issue
from destage.tools.import_options import DEFAULTS, ImportOptions
from destage.tools.imported_workload import ImportedWorkload
from destage.tools.naming import name_by_difference
from destage.tools.scripts import ScriptCommand, check_number, read_commands
from destage.tools.sysbench.options import FileTest, read_options
from destage.tools.sysbench.streams import build_workload
from destage.tools.words import sort_by_place

_PROGRAM = re.compile(r"sysbench(?:\.exe|[\d.-]*)?", re.IGNORECASE)
_OTHER_COMMANDS = frozenset({"prepare", "cleanup", "help", "version"})


def is_command(text: str) -> bool:
    """Return whether a text has a command of sysbench's fileio test."""
    return "sysbench" in text.lower() and any(map(_is_file_test, read_commands(text, _PROGRAM)))


recognizes = is_command


def read_tests(text: str, file: str, options: ImportOptions = DEFAULTS) -> list[ImportedWorkload]:
    """Read the fileio tests of a script or a command; those that only prepare or clean up are skipped.

    Raises:
        ConfigError: With every option that cannot be read, each with line, column, value and what is allowed.
    """
    commands = read_commands(text, _PROGRAM)
    tests = [command for command in commands if _is_file_test(command)]
    runs = [command for command in tests if not _is_other(command)]
    if not runs:
        place = next(iter(tests or commands), None)
        message = "no `sysbench fileio ... run`"
        if tests:
            message += "; prepare and cleanup only create and delete the files"
        elif commands:
            message += "; the other tests of sysbench do not use disks directly"
        line, column = (None, None) if place is None else (place.line, 1)
        raise ConfigError([Issue("import.no-test", "", message, line=line, column=column)], file)
    check_number(commands, file)
    issues: list[Issue] = []
    names = name_by_difference([[word.text for word in command.words] for command in runs])
    read: list[FileTest] = []
    for command, name in zip(runs, names, strict=True):
        read.append(read_options(command, name, issues, is_lenient=options.ignore_unknown))
    imported = [] if issues else [build_workload(test, file, issues) for test in read]
    if issues:
        raise ConfigError(sort_by_place(issues), file)
    return imported


def _is_file_test(command: ScriptCommand) -> bool:
    words = [word.text for word in command.words]
    return "fileio" in words or "--test=fileio" in words or any(word.startswith("--file-") for word in words)


def _is_other(command: ScriptCommand) -> bool:
    return any(word.text in _OTHER_COMMANDS for word in command.words)
