"""Write the request list of a benchmark case, to run other simulators on the same requests.

The list depends only on the case's seed. Formats: `csv` (time [s], operation, first sector and sectors of 512
bytes), `disksim` (DiskSim's ASCII: arrival time [ms], device, block, blocks, 1 for a read), `parquet` (a
trace for Destage). A list of cache accesses is one key per line (`csv`), 64-bit little-endian words (`raw`),
or libCacheSim's records with sizes of one (`oracle_general`).

    python benchmarks/request_list.py 4-raid5 --format disksim -o raid5.trace
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from destage.engine import _engine, traces

CASES = Path(__file__).parent / "cases"

Keys = npt.NDArray[np.uint64]


def load_case(name: str) -> dict[str, Any]:
    """Return the case with this file name, without `.json`."""
    case: dict[str, Any] = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
    return case


def request_list(case: dict[str, Any]) -> pa.Table:
    """Return the requests of a case in order, with the columns of a compact trace."""
    return traces.table(traces.record(case["scenario"]))


def accesses(case: dict[str, Any]) -> Keys:
    """Return the keys of a case of cache accesses: Zipf-distributed ranks, scattered over 48 bits."""
    load = case["accesses"]
    popularity = np.cumsum(1 / np.arange(1, load["objects"] + 1) ** load["exponent"])
    draws = np.random.default_rng(load["seed"]).random(load["count"]) * popularity[-1]
    ranks = np.searchsorted(popularity, draws).astype(np.uint64)
    keys: Keys = ranks * np.uint64(0x9E37_79B9_7F4A_7C15) >> np.uint64(16)
    return keys


def block_reads(case: dict[str, Any]) -> _engine.Trace:
    """Return the accesses of a case as reads of 4 KiB, one per nanosecond."""
    keys = accesses(case)
    columns = {
        "t_ns": np.arange(len(keys)),
        "lba_512": keys * np.uint64(8),
        "n_512": np.full(len(keys), 8),
    }
    none = np.zeros(len(keys))
    return traces.from_table(
        pa.table(
            {
                field.name: pa.array(columns.get(field.name, none).astype(field.type.to_pandas_dtype()))
                for field in traces.SCHEMA
            }
        )
    )


def write_oracle_general(keys: Keys, path: Path) -> None:
    """Write keys in libCacheSim's format: time [s], key, size, next access (-1: unknown)."""
    layout = np.dtype([("time", "<u4"), ("key", "<u8"), ("size", "<u4"), ("next", "<i8")])
    records = np.zeros(len(keys), layout)
    records["key"], records["size"], records["next"] = keys, 1, -1
    records.tofile(path)


def _write_list(table: pa.Table, form: str, path: Path) -> None:
    time, lba, sectors, op = (table[name].to_numpy() for name in ("t_ns", "lba_512", "n_512", "op"))
    with path.open("w", encoding="ascii", newline="\n") as out:
        if form == "csv":
            out.write("time_s,operation,lba_512,n_512\n")
            out.writelines(
                f"{t / 1e9:.9f},{'RWF'[o]},{b},{n}\n"
                for t, o, b, n in zip(time, op, lba, sectors, strict=True)
            )
        else:
            out.writelines(
                f"{t / 1e6:.6f} 0 {b} {n} {int(o == 0)}\n"
                for t, o, b, n in zip(time, op, lba, sectors, strict=True)
            )


def main() -> None:
    """Write the requested list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=sorted(path.stem for path in CASES.glob("*.json")))
    parser.add_argument(
        "--format", default="csv", choices=["csv", "disksim", "oracle_general", "parquet", "raw"]
    )
    parser.add_argument("-o", "--output", type=Path, required=True)
    options = parser.parse_args()
    case = load_case(options.case)
    if "accesses" in case:
        keys = accesses(case)
        if options.format == "raw":
            keys.astype("<u8").tofile(options.output)
        elif options.format == "csv":
            np.savetxt(options.output, keys, fmt="%d")
        elif options.format == "oracle_general":
            write_oracle_general(keys, options.output)
        else:
            sys.exit(f"{options.case} is a list of cache accesses: csv, raw or oracle_general")
    elif options.format == "parquet":
        traces.write_parquet(traces.record(case["scenario"]), options.output)
    elif options.format in {"raw", "oracle_general"}:
        sys.exit(f"{options.case} is a list of requests: csv, disksim or parquet")
    else:
        _write_list(request_list(case), options.format, options.output)


if __name__ == "__main__":
    main()
