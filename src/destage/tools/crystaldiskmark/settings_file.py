"""CrystalDiskMark's settings (.ini) of version 7 and later.

Keys, defaults and profiles are those of its source (DiskMarkDlg.cpp, github.com/hiyohiyo/CrystalDiskMark).
"""

import re

from destage.errors import ConfigError, Issue
from destage.tools.crystaldiskmark.tests import Plan, make_test
from destage.tools.words import Word
from destage.tools.workload_parts import ALL

_ENTRY = re.compile(r"^\s*(?P<key>\w+)\s*=\s*\"?(?P<value>[^\"\r\n]*?)\"?\s*$")
_SETTINGS = re.compile(r"^\s*(?:Bench(?:Type|Size|Queues|Threads)\d|TestSize|MeasureTime)\s*=", re.MULTILINE)
_SIZES = tuple(16 << 20 << index for index in range(13))
"""Test sizes by the index in the settings: 16 MiB to 64 GiB."""
_PROFILES = {0: (0, 1, 2, 3), 1: (4, 5), 2: (6, 7), 3: (8,), 4: (0, 1, 2, 3), 5: (4, 5), 6: (6, 7)}
"""The tests of each profile: default, peak, real world, demo, and the first three with a mix."""
_FIRST_MIX = 4
_DEFAULTS = {
    "Type": (0, 0, 1, 1, 0, 1, 0, 1, 0),
    "Size": (1024, 1024, 4, 4, 1024, 4, 1024, 4, 1024),
    "Queues": (8, 1, 32, 1, 8, 32, 1, 1, 8),
    "Threads": (1, 1, 1, 1, 1, 1, 1, 1, 1),
}
_READ, _WRITE = 1, 2


def is_settings(text: str) -> bool:
    """Return whether a text looks like settings."""
    return "[setting]" in text.lower() and bool(_SETTINGS.search(text))


def read_settings(text: str, file: str) -> Plan:
    """Return the tests that the settings select."""
    reader = _Reader(text)
    profile = reader.read("Profile", 0, most=max(_PROFILES))
    chosen = reader.read("Benchmark", _READ | _WRITE, most=7)
    size = reader.read("TestSize", 6, most=len(_SIZES) - 1)
    plan = Plan(size=_SIZES[size], duration=max(1, reader.read("MeasureTime", 5, most=86_400)))
    writes = [0] * bool(chosen & _READ) + [ALL] * bool(chosen & _WRITE)
    if profile >= _FIRST_MIX:
        writes.append((9 - reader.read("TestMix", 6, most=9)) * 10)
    for way in writes:
        for number in _PROFILES[profile]:
            kind, block, queues, threads = (
                reader.read(f"Bench{key}{number}", _DEFAULTS[key][number], most=1 << 20) for key in _DEFAULTS
            )
            plan.tests.append(
                make_test(
                    reader.place(f"BenchSize{number}"),
                    is_random=kind == 1,
                    block=block << 10,
                    queues=max(1, queues),
                    threads=max(1, threads),
                    writes=way,
                )
            )
    if reader.issues:
        raise ConfigError(reader.issues, file)
    for key, why in (
        ("TestCount", "the number of runs is `replicates` of a study"),
        ("IntervalTime", "pauses between tests are not simulated"),
        ("TestData", "simulated data has no content"),
        ("Affinity", "the host's processors and memory are not simulated"),
    ):
        if key in reader.values:
            plan.remarks.append(f"Without effect: {key}: {why}.")
    return plan


class _Reader:
    def __init__(self, text: str) -> None:
        self.issues: list[Issue] = []
        self.values: dict[str, Word] = {}
        for number, line in enumerate(text.splitlines(), 1):
            match = _ENTRY.match(line)
            if match is not None:
                self.values[match["key"]] = Word(match["value"], number, match.start("value") + 1)

    def place(self, key: str) -> Word:
        return self.values.get(key, Word(key, 1, 1))

    def read(self, key: str, default: int, *, most: int) -> int:
        word = self.values.get(key)
        if word is None or not word.text:
            return default
        if not (word.text.isascii() and word.text.isdigit() and int(word.text[:12]) <= most):
            message = f"must be a whole number from 0 to {most}"
            self.issues.append(word.issue("import.bad-value", key, message))
            return default
        return int(word.text)
