"""The tests in a file or command of any tool."""

from collections.abc import Sequence
from dataclasses import replace

from destage.errors import ConfigError, Issue
from destage.spec.near_names import suggest
from destage.tools import registry
from destage.tools.imported_workload import ImportedWorkload, ImportOptions, number_repeated
from destage.tools.log_loads import read_log


def read_tests(text: str, file: str, options: ImportOptions) -> list[ImportedWorkload]:
    """Read the tests of a file.

    Raises:
        ConfigError: With every option that cannot be read, or if no test has the name.
    """
    if options.tool == "auto" and (log := registry.detect_log(text)) is not None:
        return _choose(read_log(log, text, file), options.test, file)
    detected = registry.detect(text, "load") if options.tool == "auto" else None
    tool = registry.find_tool(options.tool) if detected is None else detected[0]
    try:
        read: list[ImportedWorkload] = tool.open_part("load").read_tests(text, file, options)
    except ConfigError:
        reject_results(text, file)
        raise
    tests = [replace(test, tool=tool.title, file=file) for test in read]
    return _choose(_merge_repeated(tests), options.test, file)


def reject_results(text: str, file: str) -> None:
    """Raise an error if a text has the results of a tool, not a test."""
    if detected := registry.detect(text, "results"):
        message = f"has results of {detected[0].title}, not a test; `destage measured import` reads them"
        raise ConfigError([Issue("import.no-test", "", message)], file)


def _merge_repeated(tests: Sequence[ImportedWorkload]) -> list[ImportedWorkload]:
    """Return different tests: a test that a script repeats is one, which a study replicates."""
    kept: list[ImportedWorkload] = []
    for test in tests:
        if not any(earlier.workload == test.workload and earlier.run == test.run for earlier in kept):
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
        names = [test.name for test in tests]
        listed = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")  # noqa: PLR2004
        message = f"no such test{suggest(name, names)}; tests: {listed}"
        raise ConfigError([Issue("usage.unknown-name", "--test", message, name)], file)
    return chosen
