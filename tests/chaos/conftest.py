"""Fixtures of the schedules, and their counts at the end of the tests."""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from chaos.cluster import Machines, run_machines
from chaos.places import Servers, run_servers
from chaos.schedules import EXECUTORS, FAULTS, STORES
from chaos.sweep import ChaosSweep, make_chaos_sweep
from chaos.zygote import Zygote, run_zygote


class Surroundings:
    """What all schedules of a process share, each started when a schedule first needs it.

    Attributes:
        sweep: The studies with their undisturbed results.
        servers: The servers of buckets.
    """

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder = folder
        self._stack = stack
        self._machines: Machines | None = None
        self.sweep: ChaosSweep = make_chaos_sweep(folder)
        self.servers: Servers = stack.enter_context(run_servers(folder))
        self.zygote: Zygote = stack.enter_context(run_zygote())

    def machines(self) -> Machines:
        """Return the Ray cluster with both machines."""
        if self._machines is None:
            orders = self._folder / "orders"
            orders.mkdir(exist_ok=True)
            self._machines = self._stack.enter_context(run_machines(orders))
        self._machines.ensure()
        return self._machines


@pytest.fixture(scope="session")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Surroundings]:
    """Start what the schedules share."""
    with ExitStack() as stack:
        yield Surroundings(tmp_path_factory.mktemp("chaos"), stack)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many schedules were tried, and how many sweeps were exact."""
    tried: Counter[str] = Counter()
    exact: Counter[str] = Counter()
    polls = partial = 0
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            found = dict(report.user_properties)
            if report.when != "call" or "chaos" not in found:
                continue
            polls += int(found.get("polls", 0))
            partial += int(found.get("partial", 0))
            for name in [*str(found["chaos"]).split("/"), "all"]:
                tried[name] += 1
                exact[name] += outcome == "passed"
    if not tried:
        return
    terminalreporter.section("schedules: exact of tried")
    for kind, names in (("executor", EXECUTORS), ("store", STORES), ("fault", FAULTS)):
        terminalreporter.line(
            f"{kind:9}" + "  ".join(f"{name} {exact[name]}/{tried[name]}" for name in names if tried[name])
        )
    terminalreporter.line(f"all      {exact['all']}/{tried['all']}")
    terminalreporter.line(f"readers  {polls} whole reads, {partial} of a sweep that lacked runs and said so")
