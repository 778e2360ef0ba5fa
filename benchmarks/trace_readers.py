"""Benchmarks of the trace readers on one core, compared with `wc -l` and DuckDB's CSV reader.

Each format has a generated file of the same requests. *read* converts bytes to columns of records for a
replay; *profile* is what `destage trace info` does. DuckDB reads all columns of the csv file into memory with
one thread. Rates are records per second of processor time, the best of several runs.

    python benchmarks/trace_readers.py --records 1000000
"""

import argparse
import shutil
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import duckdb
import numpy as np

from destage.engine import _engine

PIECE = 1 << 20
MD5 = "531e779d9eadf2b4d54bf5f1f7a4a3c5"
BINARY = {"blktrace", "oracle_general", "vscsi_v1", "vscsi_v2"}
CSV = {"alibaba", "cloudphysics_csv", "msr", "spc", "systor17", "tencent"}

Request = tuple[int, int, int, int, int]
"""Time [us], volume, first sector, sectors, 1 for a write."""


def requests(count: int) -> Iterator[Request]:
    """Yield requests a few tens of microseconds apart, of 4 to 64 KiB, on four volumes."""
    draw = np.random.default_rng(1)
    times = np.cumsum(draw.integers(1, 100, count)) + 1_577_808_144_000_000
    volumes, sectors = draw.integers(0, 4, count), 8 * draw.integers(1, 17, count)
    lbas, writes = 8 * draw.integers(0, 1 << 30, count), draw.integers(0, 2, count)
    columns = (times, volumes, lbas, sectors, writes)
    yield from zip(*(column.tolist() for column in columns), strict=True)


def _text(line: Callable[[Request], str], head: str = "") -> Callable[[Iterable[Request]], bytes]:
    return lambda requests: (head + "".join(map(line, requests))).encode()


def _binary(
    layout: str, values: Callable[[Request], tuple[int, ...]]
) -> Callable[[Iterable[Request]], bytes]:
    pack = struct.Struct(layout).pack
    return lambda requests: b"".join(pack(*values(request)) for request in requests)


WRITERS: dict[str, Callable[[Iterable[Request]], bytes]] = {
    "alibaba": _text(lambda r: f"{r[1]},{'RW'[r[4]]},{r[2] * 512},{r[3] * 512},{r[0]}\n"),
    "blkparse": _text(
        lambda r: (
            f"  8,{r[1]}    0        1 {r[0] // 10**6}.{r[0] % 10**6:06}000   697  Q"
            f"  {'RW'[r[4]]}S {r[2]} + {r[3]} [postgres]\n"
        )
    ),
    "cloudphysics_csv": _text(
        lambda r: f"1,{r[0] // 10**6},{('28', '2a')[r[4]]},{r[3] * 512},{r[2]}\n",
        "version,time,op,size,lbn\n",
    ),
    "disksim": _text(lambda r: f"{r[0] // 1000}.{r[0] % 1000:03}000 {r[1]} {r[2]} {r[3]} {1 - r[4]}\n"),
    "disksim_validate": _text(lambda r: f"{'RW'[r[4]]} Hit {r[2]} {r[3]} 1300.00000 57.00000\n"),
    "fio_iolog": _text(
        lambda r: f"{r[0]} /dev/sd{'abcd'[r[1]]} {('read', 'write')[r[4]]} {r[2] * 512} {r[3] * 512}\n",
        "fio version 3 iolog\n",
    ),
    "fiu": _text(lambda r: f"{r[0] * 1000} 697 postgres {r[2]} {r[3]} {'RW'[r[4]]} 8 {r[1]} {MD5}\n"),
    "msps": _text(
        lambda r: (
            f"  Disk{('Read', 'Write')[r[4]]}, {r[0]}, System (   4), 56, 0xfffffa80,"
            f" 0x{r[2] * 512:010x}, 0x{r[3] * 512:08x}, 801, {r[1]}, 0x060a00\n"
        )
    ),
    "msr": _text(
        lambda r: f"{r[0] * 10 + 10**17},hm,{r[1]},{('Read', 'Write')[r[4]]},{r[2] * 512},{r[3] * 512},2833\n"
    ),
    "spc": _text(lambda r: f"{r[1]},{r[2]},{r[3] * 512},{'RW'[r[4]]},{r[0] // 10**6}.{r[0] % 10**6:06}\n"),
    "systor17": _text(
        lambda r: (
            f"{r[0] // 10**6}.{r[0] % 10**6:06}000,0.000806000,{'RW'[r[4]]},{r[1]}"
            f",{r[2] * 512},{r[3] * 512}\n"
        ),
        "Timestamp,Response,IOType,LUN,Offset,Size\n",
    ),
    "tencent": _text(lambda r: f"{r[0] // 10**6},{r[2]},{r[3]},{r[4]},{r[1]}\n"),
    "blktrace": _binary(
        "<IIQQIIIIIHH",
        lambda r: (
            0x65617407,
            1,
            r[0] * 1000,
            r[2],
            r[3] * 512,
            1 << 20 | 1 | 1 << 16 + r[4],
            697,
            8 << 20,
            0,
            0,
            0,
        ),
    ),
    "oracle_general": _binary("<IQIq", lambda r: (r[0] // 10**6, r[2], r[3] * 512, -1)),
    "vscsi_v1": _binary("<IIIHHQQ", lambda r: (1, r[3] * 512, 1, (0x28, 0x2A)[r[4]], 0x100, r[2], r[0])),
    "vscsi_v2": _binary("<HHIIIQQQ", lambda r: ((0x28, 0x2A)[r[4]], 0x200, 1, r[3] * 512, 1, r[2], r[0], 90)),
}


def read(name: str, data: bytes) -> None:
    """Read all records of a trace, as a replay does, without building the trace."""
    reader = _engine.TraceReader(name)
    for at in range(0, len(data), PIECE):
        reader.feed(data[at : at + PIECE])
    reader.finish()


def profile(name: str, data: bytes) -> None:
    """Summarise a trace, as `destage trace info` does."""
    reader, summary = _engine.TraceReader(name, keep=False, accept_late=True), _engine.TraceSummariser()
    for at in range(0, len(data), PIECE):
        reader.feed(data[at : at + PIECE])
        summary.add(reader)
    reader.finish()
    summary.add(reader)


def measure_rate(run: Callable[[], object], count: int, runs: int, clock: Callable[[], float]) -> float:
    """Return records per second, the best of several runs."""
    best = float("inf")
    for _ in range(runs):
        start = clock()
        run()
        best = min(best, clock() - start)
    return count / best


def count_lines(path: Path) -> None:
    """Count the lines of a file, the fastest way to read a text."""
    wc = shutil.which("wc") or "wc"
    subprocess.run([wc, "-l", path], stdout=subprocess.DEVNULL, check=True)  # noqa: S603 - our own file


def measure_duckdb(path: Path, count: int, runs: int) -> float:
    """Return records per second of DuckDB's CSV reader with one thread."""
    with duckdb.connect() as session:
        session.execute("SET threads = 1")
        return measure_rate(
            lambda: session.read_csv(str(path)).to_arrow_table(), count, runs, time.perf_counter
        )


def main() -> None:
    """Generate the files, read them, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="", help="only formats whose name contains this")
    options = parser.parse_args()
    records = list(requests(options.records))
    print(f"{options.records} records, best of {options.runs}, millions of records per second")
    print(f"{'format':<18} {'bytes':>6} {'read':>7} {'profile':>8} {'wc -l':>7} {'DuckDB':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for name, write in WRITERS.items():
            if options.only not in name:
                continue
            data = write(records)
            path = Path(folder, "trace")
            path.write_bytes(data)
            arguments = (options.records, options.runs)
            cells = [
                measure_rate(partial(read, name, data), *arguments, time.thread_time),
                measure_rate(partial(profile, name, data), *arguments, time.thread_time),
                measure_rate(partial(count_lines, path), *arguments, time.perf_counter)
                if name not in BINARY
                else None,
                measure_duckdb(path, *arguments) if name in CSV else None,
            ]
            shown = [f"{cell / 1e6:.2f}" if cell else "-" for cell in cells]
            per_record = f"{len(data) / options.records:.0f}"
            print(f"{name:<18} {per_record:>6} {shown[0]:>7} {shown[1]:>8} {shown[2]:>7} {shown[3]:>7}")


if __name__ == "__main__":
    main()
