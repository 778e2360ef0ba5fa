"""Profiles and conversion of traces in bounded memory.

Records out of order are sorted on the way, up to 65,536 records late. `profile` counts later ones; `convert`
rejects them, since it has written their successors: `traces.load` sorts any trace, in memory.
"""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from destage.engine import _engine
from destage.engine.traces import access_places, compact, files
from destage.engine.traces.delimited import Delimited
from destage.errors import TraceError
from destage.objects import Location

Progress = Callable[[int, int], None]
"""A function called with the bytes of a file read so far, and its size."""

_LEVEL = 9
"""The zstd level of conversion."""


def profile(
    path: str | Location,
    *,
    format_name: str | None = None,
    columns: Delimited | None = None,
    skip_bad: int = 0,
    volume: int | None = None,
    progress: Progress = lambda _done, _size: None,
) -> dict[str, Any]:
    """Profile a trace in one pass, in at most 256 MiB besides the window of decompression.

    The parameters are those of `traces.load`.

    Returns:
        The format, the counts (docs/traces.md lists the keys) and the problems.
    """
    place = access_places.resolve_place(path)
    summariser = _engine.TraceSummariser()
    problems: list[dict[str, Any]] = []
    with files.open_trace(place) as file:
        name = file.format_of(format_name, columns)
        if name == "parquet":
            for records in _batches(file.path, volume, progress):
                summariser.add_columns(compact.from_arrow(records))
        else:
            reader = file.open_reader(
                name, columns, skip_bad=skip_bad, volume=volume, keep=False, accept_late=True
            )
            for piece in file.read_pieces():
                reader.feed(piece)
                summariser.add(reader)
                progress(file.position, file.size)
            reader.finish()
            summariser.add(reader)
            problems = json.loads(reader.problems())
    report: dict[str, Any] = json.loads(summariser.summary())
    _check_any(report["records"], volume, place)
    return {"format": name, **report, "problems": problems}


def convert(
    path: str | Location,
    out: str | Path,
    *,
    format_name: str | None = None,
    columns: Delimited | None = None,
    skip_bad: int = 0,
    volume: int | None = None,
    progress: Progress = lambda _done, _size: None,
) -> dict[str, Any]:
    """Write the compact form of a trace, row group by row group.

    The other parameters are those of `traces.load`.

    Args:
        out: The file to write; an existing one is replaced when all records are written.

    Returns:
        The format, the number of records and the problems.

    Raises:
        TraceError: The file cannot be read, or its records are too far out of order.
    """
    place, out = access_places.resolve_place(path), Path(out)
    unfinished = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    try:
        with files.open_trace(place) as file:
            name = file.format_of(format_name, columns)
            reader = None
            if name == "parquet":
                tables = _checked(_batches(file.path, volume, progress))
            else:
                reader = file.open_reader(name, columns, skip_bad=skip_bad, volume=volume, keep=False)
                tables = _tables(file, reader, progress)
            count = _write(tables, unfinished)
            _check_any(count, volume, place)
        unfinished.replace(out)
    finally:
        unfinished.unlink(missing_ok=True)
    problems = [] if reader is None else json.loads(reader.problems())
    return {"format": name, "records": count, "problems": problems}


def _check_any(count: int, volume: int | None, place: Location) -> None:
    if count == 0:
        where = "" if volume is None else f" for volume {volume}"
        raise TraceError("trace.empty", f"no record{where}", str(place))


def _tables(file: files.TraceFile, reader: _engine.TraceReader, progress: Progress) -> Iterator[pa.Table]:
    """Yield sorted records with times from the first one."""
    first: np.uint64 | None = None

    def taken() -> pa.Table:
        nonlocal first
        columns = reader.take()
        times = np.frombuffer(columns["t_ns"], dtype=np.uint64)
        if len(times):
            first = times[0] if first is None else first
            columns["t_ns"] = (times - first).tobytes()
        return compact.to_table(columns)

    for piece in file.read_pieces():
        reader.feed(piece)
        yield taken()
        progress(file.position, file.size)
    reader.finish()
    yield taken()


def _batches(path: Path, volume: int | None, progress: Progress) -> Iterator[pa.Table]:
    """Yield the records of a compact file in batches."""
    with pq.ParquetFile(path) as file:
        done = 0
        for batch in file.iter_batches(batch_size=1 << 16):
            records = pa.Table.from_batches([batch])
            done += len(records)
            if volume is not None:
                records = compact.select_volume(records, volume)
            if len(records):
                yield records
            progress(done, file.metadata.num_rows)


def _checked(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Yield the columns of the compact form; raises at a record that `profile` rejects."""
    summariser = _engine.TraceSummariser()
    for records in tables:
        columns = compact.from_arrow(records)
        summariser.add_columns(columns)
        yield compact.to_table(columns)


def _write(tables: Iterator[pa.Table], out: Path) -> int:
    """Write tables as large row groups; return the number of records."""
    writer: pq.ParquetWriter | None = None
    held: list[pa.Table] = []
    count = 0
    try:
        for records in tables:
            if writer is None:
                writer = compact.open_writer(out, records.schema, level=_LEVEL)
            held.append(records)
            count += len(records)
            if sum(map(len, held)) >= compact.ROWS:
                writer.write_table(pa.concat_tables(held), row_group_size=compact.ROWS)
                held = []
        if writer is not None and held:
            writer.write_table(pa.concat_tables(held), row_group_size=compact.ROWS)
    finally:
        if writer is not None:
            writer.close()
    return count
