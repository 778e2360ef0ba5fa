"""Files and commands of other tools: which tool they are of, and the tests in them."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from destage.errors import ConfigError, Issue
from destage.spec.validation import suggest
from destage.tools.crystaldiskmark import load as crystaldiskmark
from destage.tools.diskspd import load as diskspd
from destage.tools.fio import load as fio
from destage.tools.imported_workload import ImportedWorkload
from destage.tools.iometer import load as iometer
from destage.tools.naming import number_repeated
from destage.tools.sysbench import load as sysbench
from destage.tools.vdbench import load as vdbench


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How a file is read.

    Attributes:
        tool: fio, iometer, diskspd, vdbench, sysbench or crystaldiskmark; `auto` detects it.
        test: The name of the test to read; None for all.
        is_study: Whether groups of jobs that run one after another are tests of their own.
        ignore_unknown: Whether options that cannot be simulated are skipped with a warning.
    """

    tool: str = "auto"
    test: str | None = None
    is_study: bool = False
    ignore_unknown: bool = False


def is_command(text: str) -> bool:
    """Return whether an argument is a command or a test's name instead of a file."""
    is_of_tool = (crystaldiskmark.is_test_name, diskspd.is_script, sysbench.is_script, fio.is_script)
    return " " in text and any(is_command_of(text) for is_command_of in is_of_tool)


def recognize(text: str) -> str:
    """Return the tool that a text is of; fio if it is of none of the others."""
    recognizers: tuple[tuple[str, Callable[[str], bool]], ...] = (
        ("iometer", iometer.is_configuration),
        ("diskspd", diskspd.is_profile),
        ("crystaldiskmark", crystaldiskmark.is_result_or_settings),
        ("vdbench", vdbench.is_parameter_file),
        ("diskspd", diskspd.is_script),
        ("sysbench", sysbench.is_script),
    )
    return next((tool for tool, is_of_tool in recognizers if is_of_tool(text)), "fio")


def read_tests(text: str, file: str, options: ImportOptions) -> list[ImportedWorkload]:
    """Read the tests of a file.

    Raises:
        ConfigError: With every option that cannot be read, or if no test has the name.
    """
    tool = recognize(text) if options.tool == "auto" else options.tool
    lenient = options.ignore_unknown
    match tool:
        case "iometer":
            if options.is_study and options.test is None:
                names = iometer.list_specifications(text, file)
                return [iometer.read_access_specification(text, file, name=name) for name in names]
            return [iometer.read_access_specification(text, file, name=options.test)]
        case "diskspd":
            tests = diskspd.read_tests(text, file, ignore_unknown=lenient)
        case "vdbench":
            tests = vdbench.read_tests(text, file, ignore_unknown=lenient)
        case "sysbench":
            tests = sysbench.read_tests(text, file, ignore_unknown=lenient)
        case "crystaldiskmark":
            tests = crystaldiskmark.read_tests(text, file)
        case _ if fio.is_script(text):
            tests = fio.read_script(text, file, environment=os.environ, ignore_unknown=lenient)
        case _ if options.is_study:
            tests = fio.read_groups(text, file, environment=os.environ, ignore_unknown=lenient)
        case _:
            tests = [fio.read_job_file(text, file, environment=os.environ, ignore_unknown=lenient)]
    return _choose(_merge_repeated(tests), options.test, file)


def _merge_repeated(tests: Sequence[ImportedWorkload]) -> list[ImportedWorkload]:
    """Return different tests: a test that a script repeats is one, which a study replicates."""
    kept: list[ImportedWorkload] = []
    for test in tests:
        if not any(one.workload == test.workload and one.run == test.run for one in kept):
            kept.append(test)
    names = number_repeated([test.name for test in kept])
    kept = [replace(test, name=name) for test, name in zip(kept, names, strict=True)]
    if len(kept) < len(tests):
        remark = f"Of the {len(tests)} tests of the file, {len(kept)} differ here; `replicates` repeats runs."
        kept[0] = replace(kept[0], remarks=(remark, *kept[0].remarks))
    return kept


def _choose(tests: list[ImportedWorkload], name: str | None, file: str) -> list[ImportedWorkload]:
    if name is None:
        return tests
    chosen = [test for test in tests if test.name == name]
    if not chosen:
        known = [test.name for test in tests]
        listed = ", ".join(map(repr, known[:20])) + (", ..." if len(known) > 20 else "")  # noqa: PLR2004
        message = f"no such test{suggest(name, known)}; tests: {listed}"
        raise ConfigError([Issue("usage.unknown-name", "--test", message, name)], file)
    return chosen
