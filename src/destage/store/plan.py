"""The plan: a table of runs, one file per planning round, written before the round's first run starts.

Columns: `point_id`, `label`, `replicate`, `run_id`, `round`, one per axis (its dotted path), for a seek the
probed value (the sought parameter's dotted path), `config` (canonical JSON) and `estimated_events`. The
schema's metadata names the axes and the sought parameter, so that a reader needs no study file.
"""

import json
from itertools import count, takewhile

import pyarrow as pa

from destage.objects import Location
from destage.store.durable import write_durably
from destage.store.layout import SweepLayout
from destage.store.location import list_sizes
from destage.store.parquet import as_parquet, read_parquet

LEADING = (
    pa.field("point_id", pa.string()),
    pa.field("label", pa.string()),
    pa.field("replicate", pa.int64()),
    pa.field("run_id", pa.string()),
    pa.field("round", pa.int64()),
)
TRAILING = (pa.field("config", pa.string()), pa.field("estimated_events", pa.float64()))


def plan_schema(axes: list[pa.Field], seek: str | None) -> pa.Schema:
    """Return the schema of a sweep's plan."""
    probe = [] if seek is None else [pa.field(seek, pa.int64())]
    metadata = {"destage.axes": json.dumps([field.name for field in axes]), "destage.seek": json.dumps(seek)}
    return pa.schema([*LEADING, *axes, *probe, *TRAILING], metadata=metadata)


def write_round(layout: SweepLayout, number: int, table: pa.Table) -> None:
    """Write one planning round and drop the later ones, unless the same round is already stored."""
    data = as_parquet(table)
    path = layout.plan(number)
    if path.is_file() and path.read_bytes() == data:
        return
    drop_rounds(layout, number + 1)
    write_durably(path, data, middle="mid_plan_round")


def drop_rounds(layout: SweepLayout, first: int) -> None:
    """Remove the planning rounds from `first` on, in reverse order, so that readers never see a gap."""
    for path in reversed(list_rounds(layout)[first:]):
        path.unlink()


def read_plan(layout: SweepLayout) -> pa.Table | None:
    """Return all planning rounds as one table; None before the first one."""
    paths = list_rounds(layout)
    if not paths:
        return None
    tables = [read_parquet(path) for path in paths]
    return pa.concat_tables(tables, promote_options="default")


def read_axes(plan: pa.Schema) -> list[str]:
    """Return the dotted paths of a plan's axes."""
    return [str(path) for path in json.loads(plan.metadata[b"destage.axes"])]


def read_seek(plan: pa.Schema) -> str | None:
    """Return the dotted path of the parameter that a plan seeks, if any."""
    path = json.loads(plan.metadata[b"destage.seek"])
    return None if path is None else str(path)


def list_rounds(layout: SweepLayout) -> list[Location]:
    """Return the files of the planning rounds, in their order."""
    there = {path.name for path, _ in list_sizes(layout.root)}
    return list(takewhile(lambda path: path.name in there, map(layout.plan, count())))
