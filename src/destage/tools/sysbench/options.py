"""Options of a sysbench fileio command.

Names, meanings and defaults are those of sysbench 1.0 and 0.4 (sb_fileio.c, github.com/akopytov/sysbench).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from destage.errors import Issue
from destage.spec.validation import suggest
from destage.tools.scripts import ScriptCommand, find_variable
from destage.tools.values import OptionValueError, parse_count
from destage.tools.words import Word

MODES = ("seqwr", "seqrewr", "seqrd", "rndrd", "rndwr", "rndrw")
_ALIASES = {
    "num-threads": "threads",
    "max-time": "time",
    "max-requests": "events",
    "tx-rate": "rate",
    "init-rng": "rand-init",
}
_OUTPUT = "it affects sysbench's output only"
_END = "it ends the test in sysbench; the simulated load lasts as long as the run"
_WITHOUT_EFFECT = {
    "test": "it selects the fileio test",
    "events": _END,
    "forced-shutdown": _END,
    "report-interval": _OUTPUT,
    "report-checkpoints": _OUTPUT,
    "percentile": _OUTPUT,
    "histogram": _OUTPUT,
    "verbosity": _OUTPUT,
    "debug": _OUTPUT,
    "thread-stack-size": "the host's processors and memory are not simulated",
    "thread-init-timeout": "the host's processors and memory are not simulated",
    "luajit-cmd": "the host's processors and memory are not simulated",
    "rand-init": "the seed is run.seed",
    "rand-seed": "the seed is run.seed",
    "rand-type": "the fileio test draws addresses uniformly, whatever it is",
    "rand-spec-iter": "the fileio test draws addresses uniformly, whatever it is",
    "rand-spec-pct": "the fileio test draws addresses uniformly, whatever it is",
    "rand-spec-res": "the fileio test draws addresses uniformly, whatever it is",
    "rand-pareto-h": "the fileio test draws addresses uniformly, whatever it is",
    "rand-zipfian-exp": "the fileio test draws addresses uniformly, whatever it is",
    "validate": "simulated data has no content",
    "file-fsync-end": "it applies at the end of the test, and the simulated load does not end",
    "file-fsync-mode": "fsync and fdatasync are both a flush",
}
_UNSUPPORTED = {
    "file-merged-requests": "is not simulated; requests are of --file-block-size",
}
_KNOWN = (
    *("file-num", "file-block-size", "file-total-size", "file-test-mode", "file-io-mode"),
    *("file-async-backlog", "file-extra-flags", "file-fsync-freq", "file-fsync-all", "file-rw-ratio"),
    *("threads", "time", "rate", "warmup-time"),
)
_POWERS = {"": 0, "b": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_SIZE = re.compile(r"(\d{1,16})([bkmgt]?)i?b?", re.IGNORECASE | re.ASCII)
_SECTOR = 512
_TRUE, _FALSE = ("on", "1", "yes", "true"), ("off", "0", "no", "false")


@dataclass
class FileTest:
    """A fileio test with sysbench's defaults. Sizes in bytes, times in seconds.

    Attributes:
        mode: One of `MODES`; empty if the command has none.
        read_write_ratio: Reads per write of `rndrw`.
        flush_every: Requests between flushes; 0 for none.
        is_asynchronous: Whether each thread has `backlog` requests outstanding.
        notes: What each option means.
        remarks: What has no effect, with the reason.
        warnings: Options that were skipped.
    """

    name: str
    line: int
    place: Word
    mode: str = ""
    files: int = 128
    block: int = 16_384
    total: int = 2 << 30
    read_write_ratio: float = 1.5
    flush_every: int = 100
    is_flushed_always: bool = False
    is_asynchronous: bool = False
    backlog: int = 128
    is_forced: bool = False
    is_direct: bool = False
    threads: int = 1
    duration: int = 10
    warm_up: int = 0
    rate: float = 0.0
    notes: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    warnings: list[Issue] = field(default_factory=list)


def read_options(command: ScriptCommand, name: str, issues: list[Issue], *, is_lenient: bool) -> FileTest:
    """Return the test of a command; mistakes are added to `issues`."""
    place = command.words[0] if command.words else Word("", command.line, 1)
    test = FileTest(name, command.line, place)
    for word in command.words:
        if word.text.startswith("--"):
            _read_option(test, word, issues, is_lenient=is_lenient)
        elif word.text not in {"fileio", "run"} and find_variable(word.text) is None:
            issues.append(word.issue("import.unsupported-option", "", "is not a word of the fileio test"))
    if not test.mode and not issues:
        message = f"missing; must be one of {', '.join(MODES)}"
        found = Issue(
            "sysbench.missing-mode", "--file-test-mode", message, line=place.line, column=place.column
        )
        issues.append(found)
    return test


def _read_option(test: FileTest, word: Word, issues: list[Issue], *, is_lenient: bool) -> None:
    written, equals, value = word.text[2:].partition("=")
    name = _ALIASES.get(written, written)
    place = f"--{written}"
    if name in _WITHOUT_EFFECT:
        test.remarks.append(f"Without effect: {word.text}: {_WITHOUT_EFFECT[name]}.")
        return
    read = _READERS.get(name)
    if read is None:
        hint = suggest(name, _KNOWN)
        why = _UNSUPPORTED.get(name, f"is not an option of the fileio test{hint}")
        if is_lenient:
            skipped = word.issue("import.option-skipped", place, f"skipped: it {why}")
            test.warnings.append(skipped)
        else:
            message = f"{why}; --ignore-unknown skips it"
            issues.append(word.issue("import.unsupported-option", place, message))
        return
    at_value = word.part(len(written) + 3, value) if equals else word
    variable = find_variable(value)
    if variable is not None:
        message = f"{variable} is not set by the script; write its value"
        issues.append(at_value.issue("import.unknown-variable", place, message))
        return
    try:
        note = read(test, value)
    except OptionValueError as error:
        issues.append(at_value.issue("import.bad-value", place, str(error)))
    else:
        test.notes.append(f"{word.text}: {note}")


def _read_files(test: FileTest, text: str) -> str:
    test.files = parse_count(text, least=1)
    return "files of equal size, one after the other on the array"


def _read_block(test: FileTest, text: str) -> str:
    test.block = _size(text)
    if test.block % _SECTOR:
        raise OptionValueError(f"is {test.block} bytes; must be a multiple of {_SECTOR}")
    return "request size"


def _read_total(test: FileTest, text: str) -> str:
    test.total = _size(text)
    return "size of all files together"


def _read_mode(test: FileTest, text: str) -> str:
    if text not in MODES:
        raise OptionValueError(f"must be one of {', '.join(MODES)}{suggest(text, MODES)}")
    test.mode = text
    if text.startswith("seq"):
        return "sequential through all files; the threads share one position"
    return "random over all files, each address drawn independently"


def _read_io_mode(test: FileTest, text: str) -> str:
    if text not in {"sync", "async"}:
        raise OptionValueError("must be sync or async; memory-mapped files are not simulated")
    test.is_asynchronous = text == "async"
    return "one outstanding request per thread" if text == "sync" else "a backlog of requests per thread"


def _read_backlog(test: FileTest, text: str) -> str:
    test.backlog = parse_count(text, least=1)
    return "outstanding requests per thread with --file-io-mode=async"


def _read_flags(test: FileTest, text: str) -> str:
    flags = [flag.strip() for flag in text.split(",") if flag.strip()]
    for flag in flags:
        if flag not in {"sync", "dsync", "direct"}:
            raise OptionValueError("must be a list of sync, dsync and direct")
    test.is_forced = bool({"sync", "dsync"} & set(flags))
    test.is_direct = "direct" in flags
    forced = "every write waits for stable storage (FUA)" if test.is_forced else "no FUA"
    return f"{forced}; the host has no cache"


def _read_flush_every(test: FileTest, text: str) -> str:
    test.flush_every = parse_count(text)
    if not test.flush_every:
        return "no flushes"
    return "approximated: one flush after this many requests, for an fsync of each file"


def _read_flush_always(test: FileTest, text: str) -> str:
    test.is_flushed_always = _switch(text)
    return "a flush after every write" if test.is_flushed_always else "no flush after each write"


def _read_ratio(test: FileTest, text: str) -> str:
    try:
        test.read_write_ratio = float(text)
    except ValueError:
        raise OptionValueError("must be a number of reads per write") from None
    if not 0 <= test.read_write_ratio < 1e9:  # noqa: PLR2004 - also rejects nan
        raise OptionValueError("must be at least 0")
    return "reads per write of rndrw"


def _read_threads(test: FileTest, text: str) -> str:
    test.threads = parse_count(text, least=1)
    return "threads"


def _read_duration(test: FileTest, text: str) -> str:
    test.duration = parse_count(text)
    return "length of the measurement" if test.duration else "unlimited; the run decides"


def _read_warm_up(test: FileTest, text: str) -> str:
    test.warm_up = parse_count(text)
    return "warm-up before the measurement"


def _read_rate(test: FileTest, text: str) -> str:
    test.rate = float(parse_count(text))
    if not test.rate:
        return "no limit"
    return "approximated: open arrivals with exponential gaps; they do not wait for threads"


def _size(text: str) -> int:
    match = _SIZE.fullmatch(text)
    size = 0 if match is None else int(match[1]) * 1024 ** _POWERS[match[2].lower()]
    if not 0 < size < 2**63:
        raise OptionValueError("must be a size such as 16384, 16K or 2G")
    return size


def _switch(text: str) -> bool:
    if text.lower() not in _TRUE + _FALSE and text:
        raise OptionValueError("must be on or off")
    return not text or text.lower() in _TRUE


_READERS: dict[str, Callable[[FileTest, str], str]] = {
    "file-num": _read_files,
    "file-block-size": _read_block,
    "file-total-size": _read_total,
    "file-test-mode": _read_mode,
    "file-io-mode": _read_io_mode,
    "file-async-backlog": _read_backlog,
    "file-extra-flags": _read_flags,
    "file-fsync-freq": _read_flush_every,
    "file-fsync-all": _read_flush_always,
    "file-rw-ratio": _read_ratio,
    "threads": _read_threads,
    "time": _read_duration,
    "warmup-time": _read_warm_up,
    "rate": _read_rate,
}
