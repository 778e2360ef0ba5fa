"""The time of a command in a process of its own, with the processor time of all processes that it starts."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DESTAGE = Path(sys.executable).with_name("destage")
"""The command, beside the Python that runs this."""
_PROC = Path("/proc")
_SAMPLE_S = 0.25
# Fields of /proc/PID/stat after the name: parent, and processor time as user and as system [ticks].
_PARENT, _USER, _SYSTEM = 1, 11, 12


@dataclass(frozen=True, slots=True)
class Usage:
    """What a command took.

    Attributes:
        wall_s: Time from its start to its end [s].
        processor_s: Processor time of the command and of the processes that were waited for, as the kernel
            accounts it [s].
        own_s: Processor time of the command without the processes that it started, sampled [s].
        descendants_s: Processor time of the processes that it started, sampled, so that processes that
            nobody waited for count too [s]; 0 where there is no /proc.
        output: What it printed.
    """

    wall_s: float
    processor_s: float
    own_s: float
    descendants_s: float
    output: str

    @property
    def total_s(self) -> float:
        """Processor time of the command and all processes that it started [s].

        Samples miss the last moments of each process, and the kernel does not count processes that were not
        waited for. Neither counts anything twice, so the larger of the two is more accurate.
        """
        return max(self.processor_s, self.own_s + self.descendants_s)

    @property
    def result(self) -> dict[str, Any]:
        """The last line that it printed, as JSON."""
        return json.loads(self.output.splitlines()[-1])  # type: ignore[no-any-return]


def run_measured(command: Sequence[str], env: Mapping[str, str] | None = None, *, code: int = 0) -> Usage:
    """Run a command to its end.

    Args:
        env: Variables added to the environment.
        code: The exit code that is expected.

    Raises:
        SystemExit: It ended with another one.
    """
    before, began = os.times(), time.perf_counter()
    seen: dict[int, float] = {}
    with subprocess.Popen(  # noqa: S603 - the caller's command
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **(env or {})}
    ) as process:
        while True:
            try:
                output, errors = process.communicate(timeout=_SAMPLE_S)
                break
            except subprocess.TimeoutExpired:
                _sample(process.pid, seen)
    wall_s, after = time.perf_counter() - began, os.times()
    if process.returncode != code:
        raise SystemExit(f"{' '.join(command)} failed: {errors.decode()}")
    waited_s = after.children_user + after.children_system - before.children_user - before.children_system
    own_s = seen.pop(process.pid, 0.0)
    return Usage(wall_s, waited_s, own_s, sum(seen.values()), output.decode())


def _sample(root: int, seen: dict[int, float]) -> None:
    """Record the processor time of a process and each descendant [s], also if the parent has ended."""
    parents: dict[int, int] = {}
    used: dict[int, float] = {}
    for place in _PROC.glob("[0-9]*/stat"):
        try:
            fields = place.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        pid = int(place.parent.name)
        parents[pid] = int(fields[_PARENT])
        used[pid] = (int(fields[_USER]) + int(fields[_SYSTEM])) / os.sysconf("SC_CLK_TCK")
    family = {root, *seen}
    grown = True
    while grown:
        children = {pid for pid, parent in parents.items() if parent in family} - family
        family |= children
        grown = bool(children)
    for pid in family:
        if pid in used:
            seen[pid] = max(used[pid], seen.get(pid, 0.0))
