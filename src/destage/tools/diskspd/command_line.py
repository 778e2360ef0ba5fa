"""Options of a DiskSpd command line.

Names and meanings are those of DiskSpd's usage text (CmdLineParser.cpp, github.com/microsoft/diskspd).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from destage.errors import Issue
from destage.tools.diskspd.quantities import Sizes, parse_count, parse_percentage
from destage.tools.diskspd.settings import Target, Test
from destage.tools.scripts import find_variable
from destage.tools.values import OptionValueError
from destage.tools.words import Word

_HOST = "the host's processors and memory are not simulated"
_OUTPUT = "it affects DiskSpd's output only"
_WITHOUT_EFFECT = {
    "a": _HOST,
    "n": _HOST,
    "l": _HOST,
    "x": _HOST,
    "e": _OUTPUT,
    "D": _OUTPUT,
    "L": _OUTPUT,
    "P": _OUTPUT,
    "R": _OUTPUT,
    "v": _OUTPUT,
    "Z": "simulated data has no content",
    "z": "the seed is run.seed",
    "C": "nothing is measured in the cool-down",
    "I": "requests have no priority",
    "N": "it applies to memory-mapped files only",
    "y": "tests are not synchronised with other programs",
    ":": "it is an experiment of DiskSpd",
}
_UNSUPPORTED = {
    "X": "is not read here; import the profile itself",
    "?": "prints DiskSpd's usage",
}
_HINTS = re.compile(r"[rst]+")
_DISTRIBUTION = re.compile(r"(pct|abs)(.*)")
_PLURAL = 2


@dataclass
class CommandLine:
    """Reader of one command line.

    Attributes:
        issues: Mistakes; options that cannot be read.
    """

    words: Sequence[Word]
    is_lenient: bool = False
    issues: list[Issue] = field(default_factory=list)
    _target: Target = field(default_factory=Target)
    _bounds: tuple[int, int | None] = (0, None)

    def read(self, name: str, line: int) -> Test:
        """Return the test; mistakes are added to `issues`."""
        self._test = Test(name, line)
        self._given: dict[str, Word] = {}
        block = next((word for word in self.words if word.text[:2] in {"-b", "/b"}), None)
        self._sizes = Sizes()
        if block is not None:
            # Other sizes may be in units of blocks, before the block is given.
            self._read_option(block)
            self._sizes = Sizes(self._target.block)
        paths = []
        for word in self.words:
            if is_option(word.text):
                if word is not block:
                    self._read_option(word)
            elif word.text:
                paths.append(word)
        self._check(paths, line)
        self._test.targets = [self._make_target(path) for path in paths]
        return self._test

    def _read_option(self, word: Word) -> None:
        letter, value = word.text[1], word.part(2, word.text[2:])
        place = f"-{letter}"
        variable = find_variable(word.text)
        if variable is not None and letter not in _WITHOUT_EFFECT:
            message = f"{variable} is not set by the script; write its value"
            self.issues.append(word.issue("import.unknown-variable", place, message))
            return
        if letter in _WITHOUT_EFFECT:
            self._test.remarks.append(f"Without effect: {word.text}: {_WITHOUT_EFFECT[letter]}.")
            return
        read = getattr(self, f"_read_{_METHODS[letter]}") if letter in _METHODS else None
        if read is None:
            self._reject(word, place, _UNSUPPORTED.get(letter, "is not an option of DiskSpd"))
            return
        self._given[letter] = word
        try:
            note = read(value.text)
        except OptionValueError as error:
            self.issues.append(word.issue("import.bad-value", place, str(error)))
        else:
            if note:
                self._test.notes.append(f"{word.text}: {note}")

    def _reject(self, word: Word, place: str, why: str) -> None:
        if self.is_lenient:
            skipped = word.issue("import.option-skipped", place, f"skipped: it {why}")
            self._test.warnings.append(skipped)
        else:
            message = f"{why}; --ignore-unknown skips it"
            self.issues.append(word.issue("import.unsupported-option", place, message))

    def _read_block(self, text: str) -> str:
        self._target.block = self._sizes.parse_sectors(text)
        return "request size"

    def _read_base(self, text: str) -> str:
        base, colon, length = text.partition(":")
        self._target.base = self._sizes.parse_aligned(base)
        if colon:
            self._target.end = self._target.base + self._sizes.parse_sectors(length)
        return "the range of the target"

    def _read_created(self, text: str) -> str:
        self._target.file_size = self._sizes.parse_sectors(text)
        return "size of each file"

    def _read_duration(self, text: str) -> str:
        self._test.duration = parse_count(text, least=1)
        return "length of the measurement"

    def _read_warm_up(self, text: str) -> str:
        self._test.warm_up = parse_count(text)
        return "warm-up before the measurement" if self._test.warm_up else "the warm-up ends by itself"

    def _read_end(self, text: str) -> str:
        if _HINTS.fullmatch(text):
            self._test.remarks.append(f"Without effect: -f{text}: it is a hint to the host's cache.")
            return ""
        self._target.end = self._sizes.parse_sectors(text)
        return "end of the range that is used"

    def _read_threads(self, text: str) -> str:
        self._target.threads = parse_count(text, least=1)
        return "threads per target"

    def _read_total_threads(self, text: str) -> str:
        self._test.threads = parse_count(text, least=1)
        return "threads, each of which uses all targets"

    def _read_outstanding(self, text: str) -> str:
        self._target.outstanding = parse_count(text, least=1)
        return "outstanding requests per thread and target"

    def _read_total_outstanding(self, text: str) -> str:
        self._test.outstanding = parse_count(text, least=1)
        return "outstanding requests per thread, over all targets"

    def _read_rate(self, text: str) -> str:
        target, is_iops = self._target, text.endswith("i")
        target.rate = float(parse_count(text.removesuffix("i")))
        target.is_rate_in_bytes = not is_iops
        if not is_iops:
            target.rate *= 1000
        return "approximated: open arrivals at this rate per thread; they do not wait for completions"

    def _read_burst(self, text: str) -> str:
        self._target.burst = parse_count(text, least=1)
        return "requests between pauses"

    def _read_pause(self, text: str) -> str:
        self._target.pause_ms = parse_count(text, least=1)
        return "approximated: the pause [ms] begins when the burst is complete"

    def _read_parallel(self, text: str) -> str:
        if text:
            raise OptionValueError("takes no value")
        self._target.is_parallel = True
        return "each outstanding request is a sequence of its own from the same start"

    def _read_random(self, text: str) -> str:
        target = self._target
        if text.startswith("s"):
            target.random_percentage = parse_percentage(text[1:])
            target.is_random = True
            return "share of the requests with a random address; others continue from the last one"
        if text.startswith("d"):
            return self._read_distribution(text[1:])
        target.is_random = True
        if text:
            target.alignment = self._sizes.parse_sectors(text)
        return "random, each address drawn independently" + (", aligned" if text else "")

    def _read_distribution(self, text: str) -> str:
        match = _DISTRIBUTION.fullmatch(text)
        if match is None:
            raise OptionValueError("must be -rdpct or -rdabs with IO%/size for each zone")
        is_absolute = match[1] == "abs"
        zones = []
        for part in match[2].split(":"):
            accesses, slash, size = part.partition("/")
            if not slash:
                raise OptionValueError("must have IO%/size for each zone, with colons between")
            extent = self._sizes.parse(size) if is_absolute else parse_percentage(size)
            zones.append((parse_percentage(accesses), extent))
        check_zones(zones, is_absolute=is_absolute)
        self._target.zones, self._target.is_absolute = tuple(zones), is_absolute
        self._target.is_random = True
        return "shares of the requests by zones of the target"

    def _read_stride(self, text: str) -> str:
        target = self._target
        target.is_interlocked = text.startswith("i")
        size = text.removeprefix("i")
        if size:
            target.stride = self._sizes.parse_sectors(size)
        position = (
            "all threads share one position" if target.is_interlocked else "each thread has its position"
        )
        return f"sequential, {position}"

    def _read_caching(self, text: str) -> str:
        if set(text) - set("bhmruw"):
            raise OptionValueError("must be -S with any of b, h, m, r, u and w")
        if "m" in text:
            raise OptionValueError("m, memory-mapped I/O, is not simulated; the host decides its requests")
        # Several -S add up.
        self._target.is_cached &= bool(text) and not set(text) & set("hur")
        self._target.is_written_through |= bool(set(text) & set("hw"))
        forced = "every write waits for stable storage (FUA)" if self._target.is_written_through else "no FUA"
        return f"{forced}; the host has no cache"

    def _read_uncached(self, text: str) -> str:
        if text:
            raise OptionValueError("takes no value")
        return self._read_caching("h")

    def _read_thread_stride(self, text: str) -> str:
        self._target.thread_stride = self._sizes.parse_aligned(text)
        return "distance between the starts of the threads"

    def _read_writes(self, text: str) -> str:
        self._target.write_percentage = parse_percentage(text) if text else 0
        return "share of writes [%]"

    def _check(self, paths: Sequence[Word], line: int) -> None:
        """Add mistakes that concern several options."""
        given, target = self._given, self._target
        if not paths:
            message = "no target; give a file, a drive (D:) or a disk (#1)"
            first = self.words[0] if self.words else Word("", line, 1)
            self.issues.append(Issue("diskspd.no-target", "", message, line=first.line, column=first.column))
        for one, other, why in (
            ("F", "t", "exclude each other"),
            ("g", "i", "exclude each other here; give a rate or bursts"),
            ("O", "g", "exclude each other"),
            ("O", "i", "exclude each other"),
            ("O", "p", "exclude each other"),
        ):
            if one in given and other in given:
                message = f"-{one} and -{other} {why}"
                self.issues.append(given[other].issue("import.conflicting-options", f"-{other}", message))
        for one, other in (("i", "j"), ("j", "i"), ("O", "F")):
            if one in given and other not in given:
                message = f"needs -{other} as well"
                self.issues.append(given[one].issue("import.conflicting-options", f"-{one}", message))
        for other in ("T", "p") if target.is_interlocked and not target.is_random else ():
            if other in given:
                message = f"-si and -{other} exclude each other"
                self.issues.append(given[other].issue("import.conflicting-options", f"-{other}", message))
        message = find_zone_mistake(target)
        if message:
            self.issues.append(given["r"].issue("import.conflicting-options", "-r", message))
        self._check_sizes()

    def _check_sizes(self) -> None:
        """Add mistakes of sizes that do not fit each other."""
        given, target = self._given, self._target
        if target.stride is not None and target.stride < target.block and not target.is_random:
            message = f"is smaller than the request size, {target.block} bytes; overlaps are not simulated"
            self.issues.append(given["s"].issue("import.bad-value", "-s", message))
        for letter in ("B", "f", "c"):
            limit = target.limit
            if letter in given and limit is not None and target.base + target.block > limit:
                message = f"leaves no room for a request of {target.block} bytes"
                self.issues.append(given[letter].issue("import.bad-value", f"-{letter}", message))
                break

    def _make_target(self, path: Word) -> Target:
        return Target(**{**vars(self._target), "path": path.text, "place": path})


_METHODS: dict[str, str] = {
    "b": "block",
    "B": "base",
    "c": "created",
    "d": "duration",
    "W": "warm_up",
    "f": "end",
    "t": "threads",
    "F": "total_threads",
    "o": "outstanding",
    "O": "total_outstanding",
    "g": "rate",
    "i": "burst",
    "j": "pause",
    "p": "parallel",
    "r": "random",
    "s": "stride",
    "S": "caching",
    "h": "uncached",
    "T": "thread_stride",
    "w": "writes",
}


def is_option(text: str) -> bool:
    """Return whether a word is an option, which may start with a slash, instead of a path of Linux."""
    is_path = "/" in text[1:] and not text.startswith("/rd")
    return len(text) > 1 and (text[0] == "-" or (text[0] == "/" and not is_path))


def find_zone_mistake(target: Target) -> str:
    """Return why zones are impossible with the other settings of a target; empty if they are possible."""
    if target.zones and target.random_percentage < 100:  # noqa: PLR2004 - per cent
        return "a distribution of partly sequential requests (-rd with -rs) is not simulated"
    return ""


def check_zones(zones: Sequence[tuple[int, int]], *, is_absolute: bool) -> None:
    """Raise if the zones of a distribution are impossible."""
    accesses, sizes = sum(share for share, _ in zones), sum(size for _, size in zones)
    if not 0 < accesses <= 100:  # noqa: PLR2004 - per cent
        raise OptionValueError(f"has IO shares that add up to {accesses} %; allowed is up to 100")
    if not all(size for _, size in zones) or (not is_absolute and sizes > 100):  # noqa: PLR2004 - per cent
        raise OptionValueError("has a zone of size 0, or zones of more than 100 % in total")
