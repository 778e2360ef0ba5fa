"""Options of a DiskSpd command line (CmdLineParser.cpp, github.com/microsoft/diskspd)."""

import re
from dataclasses import replace

from destage.errors import Issue
from destage.tools.diskspd.settings import SIZES, Target, Test, parse_aligned
from destage.tools.options import Action, Argument, OptionReader, OptionTable, by_reason, list_settings
from destage.tools.scripts import ScriptCommand
from destage.tools.values import OptionValueError, Word, parse_percentage

_HINTS = re.compile(r"[rst]+")
_DISTRIBUTION = re.compile(r"(pct|abs)(.*)")
_BLOCKS = re.compile(r"(\d{1,12})b\b", re.IGNORECASE | re.ASCII)
_EXCLUDED = (("F", "t"), ("g", "i"), ("O", "g"), ("O", "i"), ("O", "p"))
_REQUIRED = (("i", "j"), ("j", "i"), ("O", "F"))
"""Options that exclude each other, and options with one that they need."""


def read_command(command: ScriptCommand, name: str, issues: list[Issue], *, is_lenient: bool) -> Test:
    """Return the test of a command; mistakes are added to `issues`."""
    hint = "; the value follows the option without a space"
    test, target = Test(name, command.line, OptionReader(is_lenient, issues, hint=hint)), Target()
    words = command.words
    given = [
        Argument(f"-{word.text[1]}", word, word.text[2:], word) for word in words if is_option(word.text)
    ]
    # Other sizes may be in units of blocks, before the block is given.
    given.sort(key=lambda argument: argument.place != "-b")
    for written in given:
        letter, argument = written.place[1], written
        if letter in _SIZED:
            blocks = _BLOCKS.sub(lambda match: str(int(match[1]) * target.block), argument.value)
            argument = replace(written, value=blocks)
        if letter == "f" and _HINTS.fullmatch(argument.value):
            test.reader.ignore(argument, "it is a hint to the host's cache")
        else:
            test.reader.read(_OPTIONS, letter, argument, test if letter in _OF_TEST else target)
    paths = [word for word in words if word.text and not is_option(word.text)]
    if not paths:
        message = "no target; give a file, a drive (D:) or a disk (#1)"
        first = words[0] if words else Word("", command.line, 1)
        issues.append(first.mark("diskspd.no-target", "", message))
    _check(test.reader, target, {argument.place[1]: argument for argument in given})
    test.targets = [Target(**{**vars(target), "path": path.text, "place": path}) for path in paths]
    return test


def _check(reader: OptionReader, target: Target, given: dict[str, Argument]) -> None:
    """Add mistakes that concern several options."""
    interlocked = (("s", "T"), ("s", "p")) if target.is_interlocked and not target.is_random else ()
    for first, second in (*_EXCLUDED, *interlocked):
        if first in given and second in given:
            # Only `-si` excludes others.
            name = "-si" if first == "s" else f"-{first}"
            reader.conflict(given[second], f"{name} and -{second} exclude each other")
    for first, second in _REQUIRED:
        if first in given and second not in given:
            reader.conflict(given[first], f"needs -{second} as well")
    for letter, message in target.list_mistakes():
        options = "Bfc" if letter == "f" else letter
        argument = next(given[candidate] for candidate in options if candidate in given)
        code = "import.conflicting-options" if letter == "r" else "import.bad-value"
        reader.issues.append(argument.issue(code, message))


def _set_range(target: Target, text: str) -> str:
    base, colon, length = text.partition(":")
    target.base = parse_aligned(base)
    if colon:
        target.end = target.base + SIZES.parse_sectors(length)
    return "the range of the target"


def _set_rate(target: Target, text: str) -> str:
    target.set_rate(text.removesuffix("i"), is_in_bytes=not text.endswith("i"))
    return "approximated: open arrivals at this rate per thread; they do not wait for completions"


def _set_random(target: Target, text: str) -> str:
    if text.startswith("d"):
        match = _DISTRIBUTION.fullmatch(text[1:])
        if match is None or not all("/" in part for part in match[2].split(":")):
            raise OptionValueError("must be -rdpct or -rdabs with IO%/size for each zone, colons between")
        zones = [(part.partition("/")[0], part.partition("/")[2]) for part in match[2].split(":")]
        target.set_zones(zones, is_absolute=match[1] == "abs")
        return "shares of the requests by zones of the target"
    if text.startswith("s"):
        target.random_percentage = parse_percentage(text[1:])
        target.is_random = True
        return "share of the requests with a random address; others continue from the last one"
    target.is_random = True
    if text:
        target.alignment = SIZES.parse_sectors(text)
    return "random, each address drawn independently" + (", aligned" if text else "")


def _set_stride(target: Target, text: str) -> str:
    target.is_interlocked = text.startswith("i")
    if text.removeprefix("i"):
        target.stride = SIZES.parse_sectors(text.removeprefix("i"))
    return "sequential, " + (
        "all threads share one position" if target.is_interlocked else "each thread has its position"
    )


def _set_caching(target: Target, text: str) -> str:
    if set(text) - set("bhmruw"):
        raise OptionValueError("must be -S with any of b, h, m, r, u and w")
    if "m" in text:
        raise OptionValueError("m, memory-mapped I/O, is not simulated; the host decides its requests")
    # Several -S add up.
    target.is_cached &= bool(text) and not set(text) & set("hur")
    target.is_written_through |= bool(set(text) & set("hw"))
    forced = "every write waits for stable storage (FUA)" if target.is_written_through else "no FUA"
    return f"{forced}; the host has no cache"


def _set_uncached(target: Target, text: str) -> str:
    if text:
        raise OptionValueError("takes no value")
    return _set_caching(target, "h")


_SIZED = "bBcfrsT"
_OF_TEST = list_settings(Test)
_OPTIONS = OptionTable(
    {
        **list_settings(Target),
        **_OF_TEST,
        "B": Action(_set_range),
        "g": Action(_set_rate),
        "r": Action(_set_random),
        "s": Action(_set_stride),
        "S": Action(_set_caching),
        "h": Action(_set_uncached),
    },
    ignored=by_reason(
        {
            "the host's processors and memory are not simulated": "a n l x",
            "it affects DiskSpd's output only": "e D L P R v",
            "simulated data has no content": "Z",
            "the seed is run.seed": "z",
            "nothing is measured in the cool-down": "C",
            "requests have no priority": "I",
            "it applies to memory-mapped files only": "N",
            "tests are not synchronised with other programs": "y",
            "it is an experiment of DiskSpd": ":",
        }
    ),
    unsupported={"X": "is not read here; import the profile itself", "?": "prints DiskSpd's usage"},
    unknown="is not an option of DiskSpd",
)


def is_option(text: str) -> bool:
    """Return whether a word is an option, which may start with a slash, instead of a path of Linux."""
    is_path = "/" in text[1:] and not text.startswith("/rd")
    return len(text) > 1 and (text[0] == "-" or (text[0] == "/" and not is_path))
