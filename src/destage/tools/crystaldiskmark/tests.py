"""Tests of CrystalDiskMark by name, as on its buttons and in its results."""

import re
from dataclasses import dataclass, field

from destage.tools.diskspd.settings import Target
from destage.tools.values import ALL
from destage.tools.words import Word

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
        remarks: What has no effect, or is assumed.
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
    return [_from_match(match, word, writes=each) for each in writes]


def read_result(text: str) -> Plan:
    """Return the tests of a result as text."""
    plan = Plan()
    writes: int | None = None
    for number, line in enumerate(text.splitlines(), 1):
        section = _SECTION.match(line)
        if section is not None:
            reads = int(section["reads"] or _DEFAULT_READS)
            writes = {"read": 0, "write": ALL}.get(section["way"].lower(), ALL - min(ALL, reads))
        match = _LINE.search(line)
        if match is not None:
            place = Word(match[0], number, match.start() + 1)
            plan.tests.append(_from_match(match, place, writes=writes or 0))
            continue
        match = _OLD_LINE.search(line)
        if match is not None:
            plan.tests.append(_from_old_line(match, Word(match[0], number, match.start() + 1)))
        elif (size := _TEST_SIZE.search(line)) is not None:
            plan.size = int(size["size"]) * _UNITS[size["unit"]]
        if (measured := _MEASURED.search(line)) is not None:
            plan.duration = max(1, int(measured["seconds"]))
    return plan


def _from_match(match: re.Match[str], place: Word, *, writes: int) -> Target:
    return make_test(
        place,
        is_random=match["kind"].upper() == "RND",
        block=int(match["size"]) * _UNITS[match["unit"].upper()],
        queues=int(match["queues"]),
        threads=int(match["threads"]),
        writes=writes,
    )


def _from_old_line(match: re.Match[str], place: Word) -> Target:
    """Return a test of versions 3 to 6, whose sequential blocks are not printed."""
    queues = int(match["queues"] or 1)
    block = _OLD_QUEUE_BLOCK if queues > 1 else _OLD_BLOCK
    if match["size"]:
        block = int(match["size"]) * _UNITS[match["unit"]]
    return make_test(
        place,
        is_random=match["kind"] == "Random",
        block=block,
        queues=queues,
        threads=int(match["threads"] or 1),
        writes=0 if match["way"] == "Read" else ALL,
    )
