"""Import of DiskSpd's command lines, scripts and XML profiles as workloads."""

import re

from destage.errors import ConfigError, Issue
from destage.tools.diskspd.command_line import is_option, read_command
from destage.tools.diskspd.profile import read_profile
from destage.tools.diskspd.streams import build_workload
from destage.tools.imported_workload import DEFAULTS, ImportedWorkload, ImportOptions, name_by_difference
from destage.tools.scripts import check_number, read_commands
from destage.tools.values import sort_by_place

_PROGRAM = re.compile(r"diskspd\w*(?:\.exe)?", re.IGNORECASE)


def is_profile(text: str) -> bool:
    """Return whether a text looks like a profile, or a result that holds one."""
    return text.lstrip("\ufeff \t\r\n").startswith("<") and "<TimeSpan" in text


def is_command(text: str) -> bool:
    """Return whether a text has a command of DiskSpd."""
    return "diskspd" in text.lower() and bool(read_commands(text, _PROGRAM))


def recognizes(text: str) -> bool:
    """Return whether a text is a profile, or a script with a command of DiskSpd."""
    return is_profile(text) or is_command(text)


def read_tests(text: str, file: str, options: ImportOptions = DEFAULTS) -> list[ImportedWorkload]:
    """Read the tests of a script, a command or a profile.

    Raises:
        ConfigError: With every option that cannot be read, each with line, column, value and what is allowed.
    """
    issues: list[Issue] = []
    is_lenient = options.ignore_unknown
    if is_profile(text):
        tests = read_profile(text, file, issues, is_lenient=is_lenient)
    elif not (commands := read_commands(text, _PROGRAM)):
        message = "no DiskSpd command, such as `diskspd -b8K -o32 -r file`, and no XML profile"
        raise ConfigError([Issue("import.no-test", "", message)], file)
    else:
        check_number(commands, file)
        names = name_by_difference(
            [[word.text for word in command.words if is_option(word.text)] for command in commands]
        )
        tests = [
            read_command(command, name, issues, is_lenient=is_lenient)
            for command, name in zip(commands, names, strict=True)
        ]
    imported = [] if issues else [build_workload(test, issues) for test in tests]
    if issues:
        raise ConfigError(sort_by_place(issues), file)
    return imported
