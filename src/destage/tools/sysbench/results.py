"""sysbench's `fileio` test, of versions 0.4 to 1.1: a line per run.

Its latency is that of all file operations, `fsync` among them, so that it is a response time of requests only
if the run did not call it (`--file-fsync-freq=0`); a note says so otherwise.
"""

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

from destage.measured.line import MeasuredLine
from destage.tools.result_parts import Readings, ResultFile, find_percentile, measure_times, merge_operations

_MODES = {
    "rndrd": ("random read test", 1.0),
    "rndwr": ("random write test", 1.0),
    "rndrw": ("random r/w test", 1.0),
    "seqrd": ("sequential read test", 0.0),
    "seqwr": ("sequential write (creation) test", 0.0),
    "seqrewr": ("sequential rewrite test", 0.0),
}
_SIZES = {"": 1, "B": 1, "b": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_TIMES = {"": 1000.0, "ms": 1000.0, "s": 1e6, "us": 1.0}
_MIB = 1 << 20
_RATES = (
    (
        {"read": r"reads/s: +([\d.]+)", "write": r"writes/s: +([\d.]+)"},
        {"read": r"read, MiB/s: +([\d.]+)", "write": r"written, MiB/s: +([\d.]+)"},
        r"fsyncs/s: +([\d.]+)",
    ),
    (
        {"read": r"read: +IOPS=([\d.]+)", "write": r"write: +IOPS=([\d.]+)"},
        {"read": r"read: +IOPS=[\d.]+ +([\d.]+) MiB/s", "write": r"write: +IOPS=[\d.]+ +([\d.]+) MiB/s"},
        r"fsync: +IOPS=([\d.]+)",
    ),
)
"""Requests per second, data rates and syncs per second, in the words of 1.0 and of 1.1."""
_COUNTS = re.compile(r"Operations performed: +(\d+) [Rr]eads?, (\d+) [Ww]rites?, (\d+) Other")
_START = re.compile(r"^sysbench v?(\d[\w.]*)", re.MULTILINE)
_RESPONSE = re.compile(r"^(?:Latency \(ms\)|.*per-request statistics|.*[Rr]esponse time):", re.MULTILINE)
_PERCENTILE = re.compile(r"^ +(?:approx\. +)?(\d+)(?:th)? percentile: +([\d.]+)(ms|us|s|)$", re.MULTILINE)


def recognizes(text: str) -> bool:
    """Return whether a text is what `sysbench fileio run` prints."""
    return _START.search(text) is not None and "Doing " in text and "Threads fairness" in text


def read(file: ResultFile) -> Readings:
    """Read all runs in a file."""
    starts = [match.start() for match in _START.finditer(file.text)]
    lines: list[MeasuredLine] = []
    notes: list[str] = []
    for start, end in pairwise([*starts, len(file.text)]):
        # Others are the preparation of a run.
        if "Threads fairness" in file.text[start:end]:
            # Empty lines before a run keep the numbers of its lines.
            first = file.line_of(start)
            run = replace(file, text="\n" * (first - 1) + file.text[start:end])
            lines.append(_read_run(run, first, notes))
    if not lines:
        raise file.mistake("measured.no-figures", "has no completed run")
    return Readings(lines, notes)


def _read_run(run: ResultFile, first: int, notes: list[str]) -> MeasuredLine:
    """Return the line of a run, which is a part of the file; remarks on it are added to `notes`."""
    mode = next((name for name, (words, _) in _MODES.items() if f"Doing {words}" in run.text), None)
    seconds = _read_number(run, first, r"total time: +([\d.]+)s", "total time")
    kinds, syncs = _read_rates(run, first, seconds)
    rates = {name: kind["iops"] for name, kind in kinds.items()}
    total = sum(rates.values())
    if not seconds or not total:
        raise run.mistake("measured.no-figures", "no request was completed", line=first)
    response, line = _read_response(run, first)
    figures = merge_operations(kinds["read"], kinds["write"])
    measure_times(figures, response)
    one_kind = [name for name, rate in rates.items() if rate]
    if len(one_kind) == 1:
        figures.derive(**{f"{one_kind[0]}_response_{key}_us": value for key, value in response.items()})
    if syncs:
        share = syncs / (syncs + total)
        notes.append(f"line {line}: {share:.0%} of the operations behind the latency are fsync")
    threads = re.search(r"^Number of threads: (\d+)", run.text, re.MULTILINE)
    # Asynchronous threads have a backlog of requests, and a rate leaves threads without one.
    is_asynchronous = "\nUsing asynchronous I/O mode" in run.text
    if threads is None or is_asynchronous or "\nTarget transaction rate:" in run.text:
        figures.reject("asynchronous, or at a rate: not all threads have one request", "outstanding")
    else:
        figures.derive(outstanding=float(threads[1]))
    figures.measure(duration_s=seconds, request_bytes=_find_block(run))
    counts = {f"{name}s": round(rate * seconds) for name, rate in rates.items()}
    figures.derive(requests=round(total * seconds), **counts)
    return MeasuredLine(
        tool_version=_START.search(run.text)[1],  # type: ignore[index]
        source_line=first,
        workload=mode,
        test="fileio",
        depth=None if is_asynchronous else 1,
        threads=None if threads is None else int(threads[1]),
        random_fraction=None if mode is None else _MODES[mode][1],
        **figures.columns(),
    )


def _read_rates(run: ResultFile, first: int, seconds: float) -> tuple[dict[str, dict[str, Any]], float]:
    """Return the rates of reads and writes, and syncs per second."""
    kinds: dict[str, dict[str, Any]]
    for rate, data, sync in _RATES:
        if re.search(sync, run.text):
            kinds = {
                name: {
                    "iops": _read_number(run, first, rate[name], f"{name}s/s"),
                    "bytes_per_s": _read_number(run, first, data[name], f"{name}, MiB/s") * _MIB,
                }
                for name in ("read", "write")
            }
            return kinds, _read_number(run, first, sync, "fsyncs/s")
    # Versions below 1.0 print counts of operations.
    match = _COUNTS.search(run.text)
    if match is None:
        raise run.mistake("measured.missing-value", "missing", line=first, place="File operations")
    if not seconds:
        line = run.line_of(match.start())
        raise run.mistake("measured.no-figures", "the run lasted 0 s", line=line)
    reads, writes, others = (int(count) / seconds for count in match.groups())
    block = _find_block(run)
    kinds = {
        name: {"iops": rate, "bytes_per_s": None if block is None else rate * block}
        for name, rate in (("read", reads), ("write", writes))
    }
    return kinds, others


def _read_response(run: ResultFile, first: int) -> tuple[dict[str, float], int]:
    """Return the response times [us], and the line where they start."""
    match = _RESPONSE.search(run.text)
    if match is None:
        raise run.mistake("measured.missing-value", "missing", line=first, place="Latency (ms)")
    part = run.text[match.end() :]
    times = {}
    for key, name in (("mean", "avg"), ("max", "max")):
        value = re.search(rf"^ +{name}: +([\d.]+)(ms|us|s|)$", part, re.MULTILINE)
        if value:
            times[key] = float(value[1]) * _TIMES[value[2]]
    for value in _PERCENTILE.finditer(part):
        end = find_percentile(value[1])
        # 0 stands for `--percentile=0`, which records none.
        if end is not None and float(value[2]):
            times[end] = float(value[2]) * _TIMES[value[3]]
    return times, run.line_of(match.start())


def _read_number(run: ResultFile, first: int, form: str, place: str) -> float:
    match = re.search(form, run.text)
    if match is None:
        raise run.mistake("measured.missing-value", "missing", line=first, place=place)
    return run.read_number(match[1], run.line_of(match.start(1)), place)


def _find_block(run: ResultFile) -> float | None:
    size = re.search(r"^Block size ([\d.]+)([KMG]?)(?:i?[Bb])?", run.text, re.MULTILINE)
    return None if size is None else float(size[1]) * _SIZES[size[2]]
