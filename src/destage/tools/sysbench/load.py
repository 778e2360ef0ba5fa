"""sysbench's fileio tests as workloads, from a command or a script."""

import re
from collections.abc import Iterator

from destage.errors import ConfigError, Issue
from destage.tools.imported_workload import DEFAULTS, ImportedWorkload, ImportOptions, name_by_difference
from destage.tools.scripts import ScriptCommand, check_number, read_commands
from destage.tools.sysbench.options import FileTest, read_options
from destage.tools.values import ALL, SECTOR, sort_by_place
from destage.tools.workload_parts import (
    MOST_OUTSTANDING,
    Part,
    contiguous,
    operations_of,
    render_rate,
    size_of,
    times_of,
    warn_page_cache,
)


def build_workload(test: FileTest, issues: list[Issue]) -> ImportedWorkload:
    """Return the workload of a test; mistakes are added to `issues`."""
    length = test.total // test.files // SECTOR * SECTOR
    depth = test.depth
    if length < test.block:
        message = f"leaves less than a request for each of {test.files} files"
        issues.append(test.place.mark("import.bad-value", "--file-total-size", message))
    if depth > MOST_OUTSTANDING:
        message = f"more than {MOST_OUTSTANDING} outstanding requests"
        issues.append(test.place.mark("import.bad-value", "--threads", message))
    arrival: Part = {"kind": "fixed_outstanding", "depth": depth}
    if test.rate:
        arrival = {"kind": "poisson", "rate": render_rate(test.rate)}
    is_cached = "direct" not in test.flags
    warnings = [warn_page_cache("--file-extra-flags", ("direct",), test.place)] if is_cached else []
    kind = "sequential" if test.mode.startswith("seq") else "uniform"
    stream = {
        "name": "files",
        "arrival": arrival,
        "operations": _operations(test),
        "address": {"kind": kind, **contiguous(0, length * test.files)},
    }
    return ImportedWorkload(
        workload={"users": 1, "streams": [stream]},
        run=times_of(test.warm_up, test.duration),
        remarks=tuple(dict.fromkeys((*_write_remarks(test), *test.reader.remarks))),
        mapping={"files": (f"line {test.line}:", *test.reader.notes)},
        warnings=(*test.reader.warnings, *warnings),
        name=test.name,
    )


def _operations(test: FileTest) -> Part:
    ratio = test.read_write_ratio
    reads = {"rndrw": ALL * ratio / (ratio + 1), "rndrd": ALL, "seqrd": ALL}.get(test.mode, 0.0)
    # sysbench counts the reads of a random test as well.
    flush_every = test.flush_every and max(1, round(test.flush_every * (1 - reads / ALL)))
    if test.is_flushed_always:
        flush_every = 1
    return operations_of(reads, size_of(test.block), is_forced=test.is_forced, flush_every=flush_every)


def _write_remarks(test: FileTest) -> Iterator[str]:
    yield "Assumed: the files follow one another on the array, each contiguous."
    if test.mode not in {"rndrd", "seqrd"} and test.flush_every and not test.is_flushed_always:
        yield (
            f"Approximated: one flush after every {test.flush_every} requests; sysbench calls fsync for "
            f"each of {test.files} files in turn."
        )
    if test.mode == "seqwr":
        yield "Approximated: the files exist; sysbench's seqwr creates them."


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
    runs = [command for command in tests if not any(word.text in _OTHER_COMMANDS for word in command.words)]
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
    imported = [] if issues else [build_workload(test, issues) for test in read]
    if issues:
        raise ConfigError(sort_by_place(issues), file)
    return imported


def _is_file_test(command: ScriptCommand) -> bool:
    words = [word.text for word in command.words]
    return "fileio" in words or "--test=fileio" in words or any(word.startswith("--file-") for word in words)
