"""Settings of the property tests, SIGINT as a terminal gives it, and the summary of what was not proven.

The property tests have the same examples on every machine, and no time limit on a busy one.
"""

import os
import re
import signal

import pytest
from external_data import describe_unproven
from hypothesis import settings

settings.register_profile("deterministic", deadline=None, derandomize=True)
settings.load_profile("deterministic")

# By default Ray's workers leave the processors to the other tests.
os.environ.setdefault("RAY_worker_niceness", "0")

# A shell starts `make test &` with SIGINT ignored, and then the programs that tests end by Ctrl-C inherit it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests that start Ray in one process, as they wait while others compute; groups begin first."""
    for item in items:
        if "ray" in re.split(r"[\W_]+", item.nodeid) and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group("raylets"))
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was not proven because data that may not be committed is missing."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = [report.longrepr[2] for report in skipped if isinstance(report.longrepr, tuple)]
    unproven = list(describe_unproven(reasons))
    if unproven:
        terminalreporter.section("not proven: data is missing that may not be committed")
        for line in unproven:
            terminalreporter.line(line)
