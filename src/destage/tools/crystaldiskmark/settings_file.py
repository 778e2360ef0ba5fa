"""CrystalDiskMark's settings (.ini) of version 7 and later.

Keys, defaults and profiles are those of its source (DiskMarkDlg.cpp, github.com/hiyohiyo/CrystalDiskMark).
"""

import re
from functools import partial

from destage.errors import ConfigError
from destage.tools.crystaldiskmark.tests import Plan, make_test
from destage.tools.options import Argument, OptionReader
from destage.tools.values import ALL, parse_count
from destage.tools.words import Word

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
_IGNORED = {
    "TestCount": "the number of runs is `replicates` of a study",
    "IntervalTime": "pauses between tests are not simulated",
    "TestData": "simulated data has no content",
    "Affinity": "the host's processors and memory are not simulated",
}


def is_settings(text: str) -> bool:
    """Return whether a text looks like settings."""
    return "[setting]" in text.lower() and bool(_SETTINGS.search(text))


def read_settings(text: str, file: str) -> Plan:
    """Return the tests that the settings select."""
    reader = _Reader(text)
    profile = reader.find("Profile", 0, most=max(_PROFILES))
    chosen = reader.find("Benchmark", _READ | _WRITE, most=7)
    size = reader.find("TestSize", 6, most=len(_SIZES) - 1)
    plan = Plan(size=_SIZES[size], duration=max(1, reader.find("MeasureTime", 5, most=86_400)))
    writes = [0] * bool(chosen & _READ) + [ALL] * bool(chosen & _WRITE)
    if profile >= _FIRST_MIX:
        writes.append((9 - reader.find("TestMix", 6, most=9)) * 10)
    for way in writes:
        for number in _PROFILES[profile]:
            kind, block, queues, threads = (
                reader.find(f"Bench{key}{number}", _DEFAULTS[key][number], most=1 << 20) for key in _DEFAULTS
            )
            plan.tests.append(
                make_test(
                    reader.place(f"BenchSize{number}"),
                    is_random=kind == 1,
                    block=block << 10,
                    queues=queues,
                    threads=threads,
                    writes=way,
                )
            )
    if reader.issues:
        raise ConfigError(reader.issues, file)
    for key, why in _IGNORED.items():
        if key in reader.values:
            reader.ignore(key, why)
    plan.remarks += reader.remarks
    return plan


class _Reader(OptionReader):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.values: dict[str, Word] = {}
        for number, line in enumerate(text.splitlines(), 1):
            match = _ENTRY.match(line)
            if match is not None:
                self.values[match["key"]] = Word(match["value"], number, match.start("value") + 1)

    def place(self, key: str) -> Word:
        return self.values.get(key, Word(key, 1, 1))

    def find(self, key: str, default: int, *, most: int) -> int:
        word = self.values.get(key)
        if word is None or not word.text:
            return default
        return self.parse(Argument(key, word, word.text, word), partial(parse_count, most=most), default)
