"""Vdbench's keywords by definition: what each means, why it has no effect, or why it is not supported.

Names and their order, which decides what an abbreviation means, are those of Vdbench 5.04 (SD_entry.java,
WD_entry.java, RD_entry.java, For_loop.java).
"""

import re
from collections.abc import Mapping, Sequence

from destage.tools.options import Setting, by_reason
from destage.tools.values import ALL, OptionValueError, Parser, SizeForm, parse_decimal, parse_positive

SIZES = SizeForm(re.compile(r"(\d{1,18}(?:\.\d+)?)([kmgt]?)b?", re.IGNORECASE | re.ASCII), "4k, 64m or 10g")
_TIME = re.compile(r"(\d{1,9})([smh]?)", re.IGNORECASE | re.ASCII)
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}
_DISTRIBUTIONS = {"exponential": "poisson", "deterministic": "constant", "uniform": "constant"}


def parse_percentage(text: str) -> float:
    """Return a percentage, which may have decimals."""
    value = parse_decimal(text.removesuffix("%"))
    if value > ALL:
        raise OptionValueError(f"must be between 0 and {ALL}")
    return value


def _parse_seconds(text: str) -> int:
    match = _TIME.fullmatch(text)
    if match is None:
        raise OptionValueError("must be a number of seconds, or with m or h")
    return int(match[1]) * _SECONDS[match[2].lower()]


def _parse_seeks(text: str) -> float:
    """Return the share of random addresses [%]."""
    lower = text.lower()
    if "sequential".startswith(lower) or lower in {"eof", "seqnz", "-1"}:
        return 0.0
    if "random".startswith(lower):
        return 100.0
    if "poisson".startswith(lower):
        raise OptionValueError("poisson is not simulated; must be a share of random requests in per cent")
    return parse_percentage(text)


def _parse_distribution(text: str) -> str:
    kind = next((kind for word, kind in _DISTRIBUTIONS.items() if word.startswith(text.lower())), None)
    if kind is None:
        raise OptionValueError("must be exponential, uniform or deterministic")
    return kind


_ROWS: Sequence[tuple[str, Parser, str]] = (
    ("lun", str, "a contiguous range of the array"),
    ("size", SIZES.parse_sectors, "size of the storage"),
    ("count", parse_positive, "storages of the same kind"),
    ("threads", parse_positive, "outstanding requests of a storage"),
    ("hitarea", SIZES.parse_sectors, "the part of a storage that hits go to"),
    ("offset", SIZES.parse, "first byte used"),
    ("align", SIZES.parse_sectors, "random addresses are multiples of this"),
    ("openflags", str, "the host has no cache; o_sync and o_dsync force writes to stable storage (FUA)"),
    ("range", str, "the part of the storage that is used"),
    ("sd", str, "its storages, each with the same share"),
    ("skew", parse_percentage, "share of all requests"),
    ("xfersize", SIZES.parse_sectors, "request sizes"),
    ("rdpct readpct", parse_percentage, "share of reads [%]"),
    ("writepct wrpct", parse_percentage, "share of writes [%]"),
    ("seekpct", _parse_seeks, "share of requests with a random address, each drawn independently [%]"),
    ("stride", SIZES.parse, "gap before each request with a new address"),
    ("iorate", parse_decimal, "requests per second; max keeps all threads busy"),
    ("rhpct", parse_percentage, "share of reads in the hit area [%]"),
    ("whpct", parse_percentage, "share of writes in the hit area [%]"),
    ("wd", str, "its workloads"),
    ("elapsed", _parse_seconds, "length of the measurement"),
    ("warmup", _parse_seconds, "warm-up before the measurement"),
    ("distribution", _parse_distribution, "gaps between arrivals"),
    ("curve", str, "shares of a measured rate"),
)
KEYWORDS: Mapping[str, Setting] = {
    name: Setting(name, parse, meaning) for names, parse, meaning in _ROWS for name in names.split()
}
"""The keywords that define the workload: how one value is read, and what it means."""
LOOPS = ("xfersize", "threads", "rdpct", "rhpct", "whpct", "seekpct", "hitarea")
"""Parameters of a run that Vdbench loops over, with `for` in front or without."""
_LISTED = " ".join(LOOPS)
_NAMES = {
    "sd": (
        "host hd lun count size threads hitarea offset align kstat instance replay journal resetlun resetbus "
        "openflags range dedup dedupratio dedupunit dedupsets streams validate"
    ),
    "wd": (
        "sd skew xfersize readpct rdpct writepct wrpct range hotband seekpct stride priority iorate rhpct "
        "whpct host hd openflags user threads streams"
    ),
    "rd": (
        f"for{_LISTED.replace(' ', ' for')} forcompratio forcompression fordepth forwidth forfiles forsizes "
        "fortotalsize forwss forworkingsetsize foroperations foriorate wd sd fsd fwd iorate maxdata "
        "maxdataread maxdatawritten curve stopcurve elapsed interval warmup replay pause distribution "
        "startcmd start_cmd endcmd end_cmd fwdrate operations format openflags mount "
        f"{_LISTED} compratio compression depth width files sizes host hd"
    ),
}
ORDER: Mapping[str, list[str]] = {kind: names.split() for kind, names in _NAMES.items()}
"""The keywords of each definition."""
_CONTENT = "simulated data has no content"
_OUTPUT = "it affects Vdbench's output only"
_COMMAND = "commands are not executed"

WITHOUT_EFFECT: Mapping[str, str] = by_reason(
    {
        "the requests of all hosts go to the array": "host hd",
        _OUTPUT: "kstat instance interval stopcurve",
        _COMMAND: "resetlun resetbus startcmd start_cmd endcmd end_cmd",
        _CONTENT: ("dedup dedupratio dedupunit dedupsets compratio compression forcompratio forcompression"),
        "it ends the run in Vdbench; the simulated load lasts as long as the run": (
            "maxdata maxdataread maxdatawritten"
        ),
        "pauses between tests are not simulated": "pause",
        "the rates of the workloads are not limited by each other": "priority",
    }
)
"""The keywords of definitions that do not affect the simulation, each with the reason."""

GENERAL: Mapping[str, str] = by_reason(
    {
        _OUTPUT: (
            "messagescan report report_run_totals monitor histogram debug swat abort_failed_skew tmpdir "
            "showlba print timeout loop port misc data_errors force_error_after ios_per_jvm master auxreport"
        ),
        _CONTENT: (
            "compratio compression dedupratio dedupunit dedupsets dedup pattern patterns journal_max "
            "dedupflipflop deduphotsets"
        ),
        _COMMAND: "startcmd endcmd start_cmd end_cmd",
        "files are not created": "formatsds formatxfersize create_anchors",
    }
)
"""The general parameters that do not affect the simulation, each with the reason."""

_UNSUPPORTED: Mapping[str, str] = {
    "hotband": "is not simulated; range= or rhpct= give a part of the storage that is busier",
    "streams": "is not simulated; a workload with several sequences is several wd=",
    "user": "is a program of the user, which is not run",
    "threads": "is allowed with concatenatesds=yes only, which is not simulated",
    "concatenatesds": "is not simulated; each sd= is a storage of its own",
    "validate": "is not simulated; the reads of the validation would be additional requests",
    "journal": "is not simulated; the journal would be additional requests",
    "replay": "is not simulated; `destage trace replay` replays a recorded trace",
}


def resolve(kind: str, written: str) -> str:
    """Return the keyword that an abbreviation means; the text itself if it is of none."""
    order = ORDER.get(kind, list(GENERAL))
    if written in order or len(written) < 2:  # noqa: PLR2004 - as Vdbench requires
        return written
    return next((name for name in order if name.startswith(written)), written)


def explain_unsupported(kind: str, key: str) -> str:
    """Return why a keyword is not supported."""
    allowed = ORDER.get(kind, ()) if kind else GENERAL
    return _UNSUPPORTED.get(key, "is not simulated" if key in allowed else "is not a keyword of Vdbench")
