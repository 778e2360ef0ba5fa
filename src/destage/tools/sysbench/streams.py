"""The stream of a sysbench fileio test."""

from destage.errors import Issue
from destage.tools.imported_workload import ImportedWorkload
from destage.tools.sysbench.options import FileTest
from destage.tools.values import ALL, SECTOR
from destage.tools.workload_parts import (
    Part,
    contiguous,
    operations_of,
    render_rate,
    size_of,
    times_of,
    warn_page_cache,
)

_MOST_OUTSTANDING = 65_536


def build_workload(test: FileTest, file: str, issues: list[Issue]) -> ImportedWorkload:
    """Return the workload of a test; mistakes are added to `issues`."""
    length = test.total // test.files // SECTOR * SECTOR
    depth = test.depth
    for is_wrong, name, message in (
        (
            length < test.block,
            "--file-total-size",
            f"leaves less than a request for each of {test.files} files",
        ),
        (depth > _MOST_OUTSTANDING, "--threads", f"more than {_MOST_OUTSTANDING} outstanding requests"),
    ):
        if is_wrong:
            issues.append(test.place.mark("import.bad-value", name, message))
    arrival: Part = {"kind": "fixed_outstanding", "depth": depth}
    if test.rate:
        arrival = {"kind": "poisson", "rate": render_rate(test.rate)}
    kind = "sequential" if test.mode.startswith("seq") else "uniform"
    stream = {
        "name": "files",
        "arrival": arrival,
        "operations": _operations(test),
        "address": {"kind": kind, **contiguous(0, length * test.files)},
    }
    return ImportedWorkload(
        tool="sysbench",
        file=file,
        workload={"users": 1, "streams": [stream]},
        run=times_of(test.warm_up, test.duration),
        remarks=tuple(dict.fromkeys((*_write_remarks(test), *test.reader.remarks))),
        mapping={"files": (f"line {test.line}:", *test.reader.notes)},
        warnings=(*test.reader.warnings, *_find_warnings(test)),
        name=test.name,
    )


def _operations(test: FileTest) -> Part:
    ratio = test.read_write_ratio
    reads = {"rndrw": ALL * ratio / (ratio + 1), "rndrd": ALL, "seqrd": ALL}.get(test.mode, 0.0)
    flush_every = _count_writes_between_flushes(test, reads)
    return operations_of(reads, size_of(test.block), is_forced=test.is_forced, flush_every=flush_every)


def _count_writes_between_flushes(test: FileTest, reads: float) -> int:
    if test.is_flushed_always:
        return 1
    # sysbench counts the reads of a random test as well.
    return max(1, round(test.flush_every * (1 - reads / ALL))) if test.flush_every else 0


def _write_remarks(test: FileTest) -> list[str]:
    remarks = ["Assumed: the files follow one another on the array, each contiguous."]
    if (
        test.mode in {"rndwr", "rndrw", "seqwr", "seqrewr"}
        and test.flush_every
        and not test.is_flushed_always
    ):
        remarks.append(
            f"Approximated: one flush after every {test.flush_every} requests; sysbench calls fsync for "
            f"each of {test.files} files in turn."
        )
    if test.mode == "seqwr":
        remarks.append("Approximated: the files exist; sysbench's seqwr creates them.")
    return remarks


def _find_warnings(test: FileTest) -> list[Issue]:
    if "direct" in test.flags:
        return []
    return [warn_page_cache("--file-extra-flags", ("direct",), test.place)]
