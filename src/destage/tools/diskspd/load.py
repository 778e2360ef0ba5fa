"""Import of DiskSpd's command lines, scripts and XML profiles as workloads.

docs/workloads.md has a table of how each option is translated.
"""

import re

from destage.errors import ConfigError, Issue
from destage.tools.diskspd.command_line import is_option, read_command
from destage.tools.diskspd.profile import ProfileReader
from destage.tools.diskspd.settings import Test
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
    if is_profile(text):
        reader = ProfileReader(file, options.ignore_unknown, issues)
        tests = reader.read(text)
    else:
        tests = _read_script(text, file, issues, is_lenient=options.ignore_unknown)
    imported = [] if issues else [build_workload(test, file, issues) for test in tests]
    if issues:
        raise ConfigError(sort_by_place(issues), file)
    return imported


def _read_script(text: str, file: str, issues: list[Issue], *, is_lenient: bool) -> list[Test]:
    commands = read_commands(text, _PROGRAM)
    if not commands:
        message = "no DiskSpd command, such as `diskspd -b8K -o32 -r file`, and no XML profile"
        raise ConfigError([Issue("import.no-test", "", message)], file)
    check_number(commands, file)
    names = name_by_difference(
        [[word.text for word in command.words if is_option(word.text)] for command in commands]
    )
    return [
        read_command(command.words, name, command.line, issues, is_lenient=is_lenient)
        for command, name in zip(commands, names, strict=True)
    ]
