"""Options of a sysbench fileio command.

Names, meanings and defaults are those of sysbench 1.0 and 0.4 (sb_fileio.c, github.com/akopytov/sysbench).
"""

import re
from dataclasses import dataclass, field

from destage.errors import Issue
from destage.tools.options import Argument, OptionReader, OptionTable, by_reason, list_settings, option
from destage.tools.scripts import ScriptCommand, find_variable
from destage.tools.values import OptionValueError, SizeForm, Word, one_of, parse_count, parse_positive, switch

MODES = ("seqwr", "seqrewr", "seqrd", "rndrd", "rndwr", "rndrw")
_SIZES = SizeForm(re.compile(r"(\d{1,16})([bkmgt]?)i?b?", re.IGNORECASE | re.ASCII), "16384, 16K or 2G")
_parse_switch = switch(("on", "1", "yes", "true", ""), ("off", "0", "no", "false"), "on or off")


def _parse_size(text: str) -> int:
    size = _SIZES.parse(text)
    if not size:
        raise OptionValueError("must be greater than zero")
    return size


def _parse_flags(text: str) -> frozenset[str]:
    flags = frozenset(flag.strip() for flag in text.split(",") if flag.strip())
    if flags - {"sync", "dsync", "direct"}:
        raise OptionValueError("must be a list of sync, dsync and direct")
    return flags


def _parse_ratio(text: str) -> float:
    try:
        ratio = float(text)
    except ValueError:
        raise OptionValueError("must be a number of reads per write") from None
    if not 0 <= ratio < 1e9:  # noqa: PLR2004 - also rejects nan
        raise OptionValueError("must be at least 0")
    return ratio


def _explain_mode(mode: str) -> str:
    if mode.startswith("seq"):
        return "sequential through all files; the threads share one position"
    return "random over all files, each address drawn independently"


def _explain_flags(flags: frozenset[str]) -> str:
    forced = "every write waits for stable storage (FUA)" if flags - {"direct"} else "no FUA"
    return f"{forced}; the host has no cache"


@dataclass
class FileTest:
    """A fileio test with sysbench's defaults. Sizes in bytes, times in seconds."""

    name: str
    line: int
    place: Word
    mode: str = option("file-test-mode", one_of(*MODES), "", _explain_mode)
    files: int = option(
        "file-num", parse_positive, 128, "files of equal size, one after the other on the array"
    )
    block: int = option("file-block-size", _SIZES.parse_sectors, 16_384, "request size")
    total: int = option("file-total-size", _parse_size, 2 << 30, "size of all files together")
    read_write_ratio: float = option("file-rw-ratio", _parse_ratio, 1.5, "reads per write of rndrw")
    flush_every: int = option(
        *("file-fsync-freq", parse_count, 100),
        lambda every: (
            "approximated: one flush after this many requests, for an fsync of each file"
            if every
            else "no flushes"
        ),
    )
    is_flushed_always: bool = option(
        *("file-fsync-all", _parse_switch, False),
        lambda is_on: "a flush after every write" if is_on else "no flush after each write",
    )
    io_mode: str = option(
        *("file-io-mode", one_of("sync", "async"), "sync"),
        lambda mode: (
            f"{'a backlog of requests' if mode == 'async' else 'one outstanding request'} per thread"
        ),
    )
    backlog: int = option(
        *("file-async-backlog", parse_positive, 128),
        "outstanding requests per thread with --file-io-mode=async",
    )
    flags: frozenset[str] = option("file-extra-flags", _parse_flags, frozenset(), _explain_flags)
    threads: int = option("threads", parse_positive, 1, "threads")
    duration: int = option(
        *("time", parse_count, 10),
        lambda time: "length of the measurement" if time else "unlimited; the run decides",
    )
    warm_up: int = option("warmup-time", parse_count, 0, "warm-up before the measurement")
    rate: int = option(
        *("rate", parse_count, 0),
        lambda rate: (
            "approximated: open arrivals with exponential gaps; they do not wait for threads"
            if rate
            else "no limit"
        ),
    )
    reader: OptionReader = field(default_factory=OptionReader)

    @property
    def is_forced(self) -> bool:
        """Whether each write waits for stable storage."""
        return bool(self.flags - {"direct"})

    @property
    def depth(self) -> int:
        """Outstanding requests of all threads."""
        return self.threads * (self.backlog if self.io_mode == "async" else 1)


_OPTIONS = OptionTable(
    list_settings(FileTest),
    ignored=by_reason(
        {
            "it selects the fileio test": "test",
            "it ends the test in sysbench; the simulated load lasts as long as the run": (
                "events forced-shutdown"
            ),
            "it affects sysbench's output only": (
                "report-interval report-checkpoints percentile histogram verbosity debug"
            ),
            "the host's processors and memory are not simulated": (
                "thread-stack-size thread-init-timeout luajit-cmd"
            ),
            "the seed is run.seed": "rand-init rand-seed",
            "the fileio test draws addresses uniformly, whatever it is": (
                "rand-type rand-spec-iter rand-spec-pct rand-spec-res rand-pareto-h rand-zipfian-exp"
            ),
            "simulated data has no content": "validate",
            "it applies at the end of the test, and the simulated load does not end": "file-fsync-end",
            "fsync and fdatasync are both a flush": "file-fsync-mode",
        }
    ),
    unsupported={"file-merged-requests": "is not simulated; requests are of --file-block-size"},
    aliases={
        "num-threads": "threads",
        "max-time": "time",
        "max-requests": "events",
        "tx-rate": "rate",
        "init-rng": "rand-init",
    },
    unknown="is not an option of the fileio test",
)


def read_options(command: ScriptCommand, name: str, issues: list[Issue], *, is_lenient: bool) -> FileTest:
    """Return the test of a command; mistakes are added to `issues`."""
    place = command.words[0] if command.words else Word("", command.line, 1)
    test = FileTest(name, command.line, place, reader=OptionReader(is_lenient, issues))
    for word in command.words:
        if word.text.startswith("--"):
            written, equals, value = word.text[2:].partition("=")
            option = _OPTIONS.aliases.get(written, written)
            shown = word.part(len(written) + 3, value) if equals and option in _OPTIONS.settings else word
            test.reader.read(_OPTIONS, option, Argument(f"--{written}", word, value, shown), test)
        elif word.text not in {"fileio", "run"} and find_variable(word.text) is None:
            issues.append(word.issue("import.unsupported-option", "", "is not a word of the fileio test"))
    if not test.mode and not issues:
        message = f"missing; must be one of {', '.join(MODES)}"
        issues.append(place.mark("sysbench.missing-mode", "--file-test-mode", message))
    return test
