"""Import of CrystalDiskMark's tests: its result as text, its settings (.ini), or names such as `RND4K Q32T1`.

Each test is DiskSpd with the options that CrystalDiskMark gives it. docs/workloads.md has the table.
"""

import re
from dataclasses import replace

from destage.errors import ConfigError, Issue
from destage.tools.crystaldiskmark.settings_file import is_settings, read_settings
from destage.tools.crystaldiskmark.tests import Plan, name_test, read_name, read_result
from destage.tools.diskspd.settings import Target, Test
from destage.tools.diskspd.streams import build_workload
from destage.tools.import_options import DEFAULTS, ImportOptions
from destage.tools.imported_workload import ImportedWorkload
from destage.tools.options import OptionReader
from destage.tools.values import SECTOR
from destage.tools.words import Word

__all__ = ["is_command", "read_tests", "recognizes"]

_HEADLINE = re.compile(r"CrystalDiskMark\s+\d|\(Q=\s*\d+\s*,\s*T=\s*\d+\)|\(QD=\d+\)")


def is_command(text: str) -> bool:
    """Return whether a text is the name of a test, as on the buttons of CrystalDiskMark."""
    return read_name(Word(text, 1, 1)) is not None


def recognizes(text: str) -> bool:
    """Return whether a text looks like a result, settings or the name of a test; a profile is DiskSpd's."""
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        return False
    return is_settings(text) or is_command(text) or bool(_HEADLINE.search(text))


def read_tests(text: str, file: str, _: ImportOptions = DEFAULTS) -> list[ImportedWorkload]:
    """Read the tests of a result, of settings, or the test of a name.

    Raises:
        ConfigError: There is no test, or a setting cannot be read.
    """
    named = read_name(Word(text, 1, 1))
    if named is not None:
        plan = Plan(named)
    else:
        plan = read_settings(text, file) if is_settings(text) else read_result(text)
    if not plan.tests:
        message = "no test; a result has lines such as `SEQ 1MiB (Q= 8, T= 1)`, settings have BenchSize0"
        raise ConfigError([Issue("import.no-test", "", message)], file)
    issues: list[Issue] = []
    imported = [_build(test, plan, file, issues) for test in plan.tests]
    if issues:
        raise ConfigError(issues, file)
    return imported


def _build(target: Target, plan: Plan, file: str, issues: list[Issue]) -> ImportedWorkload:
    name, place = name_test(target), target.place
    if not target.block or target.block % SECTOR or target.block > plan.size:
        message = f"{target.block} bytes; must be a multiple of 512 up to the test size, {plan.size} bytes"
        issues.append(place.mark("import.bad-value", name, message))
    target.file_size = plan.size
    reader = OptionReader(notes=[f"{name}: as DiskSpd with {_command(target)}"], remarks=plan.remarks)
    built = Test(name, place.line, reader, [target], plan.duration, 0)
    return replace(build_workload(built, file, issues), tool="CrystalDiskMark")


def _command(target: Target) -> str:
    pattern = " -r" if target.is_random else " -si" if target.is_interlocked else ""
    load = f"-b{target.block // 1024}K -o{target.outstanding} -t{target.threads}"
    return f"{load} -W0 -S -w{target.write_percentage}{pattern}"
