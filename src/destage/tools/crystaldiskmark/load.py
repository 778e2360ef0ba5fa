"""CrystalDiskMark's tests as workloads: from its result as text, its settings (.ini), or `RND4K Q32T1`.

Names are those on its buttons and in its results; settings are those of version 7 and later. Each test is
DiskSpd with the options that CrystalDiskMark gives it. Keys, defaults and profiles are those of its source
(DiskMarkDlg.cpp, github.com/hiyohiyo/CrystalDiskMark); docs/workloads.md has the table.
"""

import re
from dataclasses import dataclass, field
from functools import partial
from itertools import product

from destage.errors import ConfigError, Issue
from destage.tools.diskspd.settings import Target, Test
from destage.tools.diskspd.streams import build_workload
from destage.tools.imported_workload import DEFAULTS, ImportedWorkload, ImportOptions
from destage.tools.options import Argument, OptionReader
from destage.tools.values import ALL, SECTOR, Word, parse_count

_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_NAME = re.compile(
    r"\s*(?P<kind>SEQ|RND)\s*(?P<size>\d+)\s*(?P<unit>[KM])(?:i?B)?\s*,?\s*\(?Q=?\s*(?P<queues>\d+)\s*,?\s*"
    r"T=?\s*(?P<threads>\d+)\)?(?:\s+(?P<way>read|write|mix\s*(?P<reads>\d+)))?\s*",
    re.IGNORECASE,
)
_LINE = re.compile(
    r"(?P<kind>SEQ|RND)\s+(?P<size>\d+)\s*(?P<unit>[KM])i?B\s*\(Q=\s*(?P<queues>\d+),\s*T=\s*(?P<threads>\d+)\)"
)
_OLD_LINE = re.compile(
    r"(?P<kind>Sequential|Random) (?P<way>Read|Write)(?:\s+(?P<size>\d+)\s*(?P<unit>[KM])i?B)?"
    r"(?:\s*\((?:(?:Q|QD)=\s*(?P<queues>\d+))?,?\s*(?:T=\s*(?P<threads>\d+))?\))?\s*:"
)
_SECTION = re.compile(r"^\s*\[(?P<way>Read|Write|Mix)\](?:.*?Read\s*(?P<reads>\d+)\s*%)?", re.IGNORECASE)
_TEST_SIZE = re.compile(r"\bTest\s*:\s*(?P<size>\d+)\s*(?P<unit>[KMG])i?B")
_MEASURED = re.compile(r"Measure\s+(?P<seconds>\d+)\s*sec")
_DEFAULT_READS = 70
_OLD_BLOCK, _OLD_QUEUE_BLOCK = 1 << 20, 128 << 10


@dataclass
class Plan:
    """The tests of a result or of settings.

    Attributes:
        size: Size of the test file [bytes].
        duration: Length of a test [s].
    """

    tests: list[Target] = field(default_factory=list)
    size: int = 1 << 30
    duration: int = 5
    remarks: list[str] = field(default_factory=list)


def name_test(test: Target) -> str:
    """Return the name of a test, as in `RND4K Q32T1 read`."""
    block = test.block
    size = f"{block >> 20}M" if block >= 1 << 20 and block % (1 << 20) == 0 else f"{block >> 10}K"
    way = {0: "read", ALL: "write"}.get(test.write_percentage, f"mix{ALL - test.write_percentage}")
    return f"{'RND' if test.is_random else 'SEQ'}{size} Q{test.outstanding}T{test.threads} {way}"


def make_test(place: Word, *, is_random: bool, block: int, queues: int, threads: int, writes: int) -> Target:
    """Return a test as DiskSpd's target; several threads of a sequential one share a position (`-si`)."""
    threads = max(1, threads)
    return Target(
        path="test file",
        place=place,
        block=block,
        is_random=is_random,
        is_interlocked=not is_random and threads > 1,
        write_percentage=writes,
        threads=threads,
        outstanding=max(1, queues),
        is_cached=False,
    )


def read_name(word: Word) -> list[Target] | None:
    """Return the tests of a name such as `SEQ1M Q8T1` (read and write) or `RND4K Q32T1 mix70`."""
    match = _NAME.fullmatch(word.text)
    if match is None:
        return None
    way = (match["way"] or "").lower()
    writes = {"read": [0], "write": [ALL], "": [0, ALL]}.get(way)
    if writes is None:
        writes = [ALL - min(ALL, int(match["reads"]))]
    return [_from_match(match, word, share) for share in writes]


def read_result(text: str) -> Plan:
    """Return the tests of a result as text."""
    plan, writes = Plan(), 0
    for number, line in enumerate(text.splitlines(), 1):
        section = _SECTION.match(line)
        if section is not None:
            reads = int(section["reads"] or _DEFAULT_READS)
            writes = {"read": 0, "write": ALL}.get(section["way"].lower(), ALL - min(ALL, reads))
        match = _LINE.search(line)
        if match is not None:
            plan.tests.append(_from_match(match, Word(match[0], number, match.start() + 1), writes))
            continue
        match = _OLD_LINE.search(line)
        if match is not None:
            share = 0 if match["way"] == "Read" else ALL
            plan.tests.append(_from_match(match, Word(match[0], number, match.start() + 1), share))
        elif (size := _TEST_SIZE.search(line)) is not None:
            plan.size = int(size["size"]) * _UNITS[size["unit"]]
        if (measured := _MEASURED.search(line)) is not None:
            plan.duration = max(1, int(measured["seconds"]))
    return plan


def _from_match(match: re.Match[str], place: Word, writes: int) -> Target:
    """Return a test; versions 3 to 6 do not print the blocks of sequential ones."""
    queues = int(match["queues"] or 1)
    block = _OLD_QUEUE_BLOCK if queues > 1 else _OLD_BLOCK
    if match["size"]:
        block = int(match["size"]) * _UNITS[match["unit"].upper()]
    return make_test(
        place,
        is_random=match["kind"].upper() in {"RND", "RANDOM"},
        block=block,
        queues=queues,
        threads=int(match["threads"] or 1),
        writes=writes,
    )


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
    reader = OptionReader()
    given: dict[str, Argument] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = _ENTRY.match(line)
        if match is not None:
            word = Word(match["value"], number, match.start("value") + 1)
            given[match["key"]] = Argument(match["key"], word, word.text, word)

    def find(key: str, default: int, *, most: int) -> int:
        if key not in given or not given[key].value:
            return default
        return reader.parse(given[key], partial(parse_count, most=most), default)

    profile = find("Profile", 0, most=max(_PROFILES))
    chosen = find("Benchmark", _READ | _WRITE, most=7)
    size = find("TestSize", 6, most=len(_SIZES) - 1)
    plan = Plan(size=_SIZES[size], duration=max(1, find("MeasureTime", 5, most=86_400)))
    writes = [0] * bool(chosen & _READ) + [ALL] * bool(chosen & _WRITE)
    if profile >= _FIRST_MIX:
        writes.append((9 - find("TestMix", 6, most=9)) * 10)
    for way, number in product(writes, _PROFILES[profile]):
        kind, block, queues, threads = (
            find(f"Bench{key}{number}", _DEFAULTS[key][number], most=1 << 20) for key in _DEFAULTS
        )
        place = f"BenchSize{number}"
        test = make_test(
            given[place].word if place in given else Word(place, 1, 1),
            is_random=kind == 1,
            block=block << 10,
            queues=queues,
            threads=threads,
            writes=way,
        )
        plan.tests.append(test)
    if reader.issues:
        raise ConfigError(reader.issues, file)
    for key, why in _IGNORED.items():
        if key in given:
            reader.ignore(key, why)
    plan.remarks += reader.remarks
    return plan


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
    imported = [_build(test, plan, issues) for test in plan.tests]
    if issues:
        raise ConfigError(issues, file)
    return imported


def _build(target: Target, plan: Plan, issues: list[Issue]) -> ImportedWorkload:
    name, place = name_test(target), target.place
    if not target.block or target.block % SECTOR or target.block > plan.size:
        message = f"{target.block} bytes; must be a multiple of 512 up to the test size, {plan.size} bytes"
        issues.append(place.mark("import.bad-value", name, message))
    target.file_size = plan.size
    pattern = " -r" if target.is_random else " -si" if target.is_interlocked else ""
    load = f"-b{target.block // 1024}K -o{target.outstanding} -t{target.threads}"
    note = f"{name}: as DiskSpd with {load} -W0 -S -w{target.write_percentage}{pattern}"
    built = Test(
        name, place.line, OptionReader(notes=[note], remarks=plan.remarks), [target], plan.duration, 0
    )
    return build_workload(built, issues)
