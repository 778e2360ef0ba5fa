"""Vdbench's keywords by definition: translated, without effect, or not supported.

Names and their order, which decides what an abbreviation means, are those of Vdbench 5.04 (SD_entry.java,
WD_entry.java, RD_entry.java, For_loop.java).
"""

from collections.abc import Mapping
from types import MappingProxyType

LOOPS = ("xfersize", "threads", "rdpct", "rhpct", "whpct", "seekpct", "hitarea")
"""Parameters of a run that Vdbench loops over, with `for` in front or without."""
_CONTENT = "simulated data has no content"
_OUTPUT = "it affects Vdbench's output only"
_HOSTS = "the requests of all hosts go to the array"
_COMMAND = "commands are not executed"

ORDER: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "sd": (
            *("host", "hd", "lun", "count", "size", "threads", "hitarea", "offset", "align", "kstat"),
            *("instance", "replay", "journal", "resetlun", "resetbus", "openflags", "range", "dedup"),
            *("dedupratio", "dedupunit", "dedupsets", "streams", "validate"),
        ),
        "wd": (
            *("sd", "skew", "xfersize", "readpct", "rdpct", "writepct", "wrpct", "range", "hotband"),
            *("seekpct", "stride", "priority", "iorate", "rhpct", "whpct", "host", "hd", "openflags"),
            *("user", "threads", "streams"),
        ),
        "rd": (
            *(f"for{name}" for name in LOOPS),
            *("forcompratio", "forcompression", "fordepth", "forwidth", "forfiles", "forsizes"),
            *("fortotalsize", "forwss", "forworkingsetsize", "foroperations", "foriorate"),
            *("wd", "sd", "fsd", "fwd", "iorate", "maxdata", "maxdataread", "maxdatawritten", "curve"),
            *("stopcurve", "elapsed", "interval", "warmup", "replay", "pause", "distribution"),
            *("startcmd", "start_cmd", "endcmd", "end_cmd", "fwdrate", "operations", "format", "openflags"),
            *("mount", *LOOPS, "compratio", "compression", "depth", "width", "files", "sizes", "host", "hd"),
        ),
    }
)
"""The keywords of each definition."""

MAPPED: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "sd": frozenset(
            {"lun", "count", "size", "threads", "hitarea", "offset", "align", "openflags", "range"}
        ),
        "wd": frozenset(
            {
                *("sd", "skew", "xfersize", "readpct", "rdpct", "writepct", "wrpct", "range", "seekpct"),
                *("stride", "iorate", "rhpct", "whpct", "openflags"),
            }
        ),
        "rd": frozenset(
            {
                *(f"for{name}" for name in LOOPS),
                *LOOPS,
                *(
                    "wd",
                    "sd",
                    "iorate",
                    "foriorate",
                    "curve",
                    "elapsed",
                    "warmup",
                    "distribution",
                    "openflags",
                ),
            }
        ),
    }
)
"""The keywords that define the workload."""

WITHOUT_EFFECT: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("host", "hd"), _HOSTS),
        **dict.fromkeys(("kstat", "instance", "interval", "stopcurve"), _OUTPUT),
        **dict.fromkeys(("resetlun", "resetbus"), _COMMAND),
        **dict.fromkeys(("startcmd", "start_cmd", "endcmd", "end_cmd"), _COMMAND),
        **dict.fromkeys(("dedup", "dedupratio", "dedupunit", "dedupsets"), _CONTENT),
        **dict.fromkeys(("compratio", "compression", "forcompratio", "forcompression"), _CONTENT),
        "maxdata": "it ends the run in Vdbench; the simulated load lasts as long as the run",
        "maxdataread": "it ends the run in Vdbench; the simulated load lasts as long as the run",
        "maxdatawritten": "it ends the run in Vdbench; the simulated load lasts as long as the run",
        "pause": "pauses between tests are not simulated",
        "priority": "the rates of the workloads are not limited by each other",
    }
)
"""The keywords of definitions that do not affect the simulation, each with the reason."""

GENERAL: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(
            (
                *("messagescan", "report", "report_run_totals", "monitor", "histogram", "debug", "swat"),
                *("abort_failed_skew", "tmpdir", "showlba", "print", "timeout", "loop", "port", "misc"),
                *("data_errors", "force_error_after", "ios_per_jvm", "master", "auxreport"),
            ),
            _OUTPUT,
        ),
        **dict.fromkeys(
            (
                *("compratio", "compression", "dedupratio", "dedupunit", "dedupsets", "dedup", "pattern"),
                *("patterns", "journal_max", "dedupflipflop", "deduphotsets"),
            ),
            _CONTENT,
        ),
        **dict.fromkeys(("startcmd", "endcmd", "start_cmd", "end_cmd"), _COMMAND),
        **dict.fromkeys(("formatsds", "formatxfersize", "create_anchors"), "files are not created"),
    }
)
"""The general parameters that do not affect the simulation, each with the reason."""

_UNSUPPORTED: Mapping[str, str] = MappingProxyType(
    {
        "hotband": "is not simulated; range= or rhpct= give a part of the storage that is busier",
        "streams": "is not simulated; a workload with several sequences is several wd=",
        "user": "is a program of the user, which is not run",
        "threads": "is allowed with concatenatesds=yes only, which is not simulated",
        "concatenatesds": "is not simulated; each sd= is a storage of its own",
        "validate": "is not simulated; the reads of the validation would be additional requests",
        "journal": "is not simulated; the journal would be additional requests",
        "replay": "is not simulated; `destage trace replay` replays a recorded trace",
    }
)


def resolve(kind: str, written: str) -> str:
    """Return the keyword that an abbreviation means; the text itself if it is of none."""
    order = ORDER.get(kind, tuple(GENERAL))
    if written in order or len(written) < 2:  # noqa: PLR2004 - as Vdbench requires
        return written
    return next((name for name in order if name.startswith(written)), written)


def explain_unsupported(kind: str, key: str) -> str:
    """Return why a keyword is not supported."""
    known = ORDER.get(kind, ()) if kind else GENERAL
    return _UNSUPPORTED.get(key, "is not simulated" if key in known else "is not a keyword of Vdbench")
