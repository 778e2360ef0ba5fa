"""What a benchmark ran on: the class of the machine, and the settings with which the engine was compiled."""

import os
import platform
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from destage.engine import _engine

_GIB = 1024**3


def describe_machine() -> str:
    """Return the class of the machine: processor, number of processors, memory and Python."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GIB
    return (
        f"{platform.machine()}, {_find_processor()}, {os.cpu_count()} processors, {memory:.0f} GiB, "
        f"{platform.system()}, Python {platform.python_version()}"
    )


def describe_build() -> str:
    """Return the settings of the compiled engine, as the build recorded them."""
    settings = _engine.build_settings()
    names = ("profile", "opt-level", "lto", "profile-guided", "target")
    return ", ".join(f"{name} {settings[name]}" for name in names)


def describe_source(command: str) -> dict[str, str]:
    """Return what a stored result begins with: date, machine, build, and the command that measured it."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": describe_machine(),
        "build": describe_build(),
        "command": command,
    }


def print_heading(title: str, remark: str) -> None:
    """Print the heading of a table: what it measures, the machine and the build."""
    print(
        f"\n{title}\n  machine: {describe_machine()}\n  engine:  {describe_build()}\n  {remark}", flush=True
    )


def time_thread(act: Callable[[], Any], runs: int) -> tuple[Any, list[float]]:
    """Return the last result of `act`, and the processor time of each of `runs` calls [s]."""
    seconds: list[float] = []
    result = None
    for _ in range(runs):
        began = time.thread_time()
        result = act()
        seconds.append(time.thread_time() - began)
    return result, seconds


def find_spread(seconds: list[float]) -> float:
    """Return the range of durations as a fraction of their median."""
    return (max(seconds) - min(seconds)) / statistics.median(seconds)


def _find_processor() -> str:
    """Return the processor's name."""
    facts = Path("/proc/cpuinfo")
    if facts.exists():
        for line in facts.read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or "unknown processor"
