"""The verbs of recorded traces: info, convert."""

from pathlib import Path
from typing import Annotated

import typer

from destage.cli.output import Json, print_json, print_pairs, say
from destage.errors import TraceError

app = typer.Typer(help="Recorded block traces.", no_args_is_help=True, rich_markup_mode=None)
TraceFile = Annotated[
    Path, typer.Argument(metavar="TRACE", help="Compact Parquet, or blkparse text (plain, .gz or .xz).")
]
_SECTOR = 512
_READ, _WRITE, _FLUSH = 0, 1, 2
_SYNCHRONOUS, _FUA = 1, 2


@app.command("info")
def info(trace: TraceFile, as_json: Json = False) -> None:
    """Say what a trace holds."""
    import numpy as np

    from destage.engine import traces

    records = {
        name: column.to_numpy()
        for name, column in zip(traces.SCHEMA.names, traces.table(traces.load(trace)).columns, strict=True)
    }
    op, flags, count = records["op"], records["flags"], records["n_512"].astype(np.int64)
    duration = float(records["t_ns"].max()) / 1e9 if len(op) else 0.0
    facts = {
        "records": len(op),
        "reads": int((op == _READ).sum()),
        "writes": int((op == _WRITE).sum()),
        "flushes": int((op == _FLUSH).sum()),
        "synchronous": int(((flags & _SYNCHRONOUS) != 0).sum()),
        "forced_to_media": int(((flags & _FUA) != 0).sum()),
        "processes": len(np.unique(records["process"])),
        "duration_s": duration,
        "read_bytes": int(count[op == _READ].sum()) * _SECTOR,
        "written_bytes": int(count[op == _WRITE].sum()) * _SECTOR,
        "end_bytes": int((records["lba_512"].astype(np.int64) + count).max()) * _SECTOR if len(op) else 0,
        "writes_per_s": int((op == _WRITE).sum()) / duration if duration else None,
        "digest": traces.digest(trace),
    }
    print_json(facts) if as_json else print_pairs(facts)


@app.command("convert")
def convert(
    trace: TraceFile,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The compact Parquet file to make.")],
    as_json: Json = False,
) -> None:
    """Write a trace in the compact form; flushes, process ids and flags are kept."""
    from destage.engine import traces

    if out.suffix != ".parquet":
        raise TraceError(f"{out}: the compact form is Parquet; name it with .parquet")
    loaded = traces.load(trace)
    traces.write_parquet(loaded, out)
    facts = {
        "file": str(out),
        "records": len(loaded),
        "bytes": out.stat().st_size,
        "digest": traces.digest(out),
    }
    print_json(facts) if as_json else say(f"{facts['records']} records in {out} ({facts['bytes']} bytes)")
