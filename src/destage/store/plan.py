"""The plan: a table of runs, one file per planning round, published before its first run starts.

Columns: `point_id`, `label`, `replicate`, `run_id`, `round`, one per axis (its dotted path), for a seek the
probed value (the sought parameter's dotted path), `config.<part>` for each top-level field of the canonical
configuration, and `estimated_events`. The schema's metadata names the axes and the sought parameter, so that
a reader needs no study file.

A part is a JSON member, `"name":{...}`. The parts joined by commas in braces are the canonical configuration
(`join_configs`). They are dictionaries: the runs of a large plan share a few texts.
"""

import json

import pyarrow as pa
import pyarrow.compute as pc

from destage.engine import PARTS
from destage.store.generations import Generation
from destage.store.head import Head
from destage.store.layout import SweepLayout
from destage.store.parquet import as_parquet, read_parquet

LEADING = (
    pa.field("point_id", pa.string()),
    pa.field("label", pa.string()),
    pa.field("replicate", pa.int64()),
    pa.field("run_id", pa.string()),
    pa.field("round", pa.int64()),
)
CONFIG_COLUMNS = tuple(f"config.{part}" for part in PARTS)
"""The columns of the parts of a configuration, in the order of the canonical text."""
PART_TYPE = pa.dictionary(pa.int32(), pa.string())
TRAILING = (
    *(pa.field(name, PART_TYPE) for name in CONFIG_COLUMNS),
    pa.field("estimated_events", pa.float64()),
)


def plan_schema(axes: list[pa.Field], seek: str | None, answer: str | None = None) -> pa.Schema:
    """Return the schema of a sweep's plan.

    Args:
        seek: The dotted path of the sought parameter, if any.
        answer: The name of its answers.
    """
    probe = [] if seek is None else [pa.field(seek, pa.int64())]
    metadata = {
        "destage.axes": json.dumps([field.name for field in axes]),
        "destage.seek": json.dumps(seek),
        "destage.answer": json.dumps(answer),
    }
    return pa.schema([*LEADING, *axes, *probe, *TRAILING], metadata=metadata)


def join_configs(plan: pa.Table) -> pa.ChunkedArray:
    """Return the canonical configuration of each row of a plan, as JSON text.

    Texts take about 10 kB a row: pass a slice of a large plan.
    """
    parts = [plan[name].cast(pa.string()) for name in CONFIG_COLUMNS]
    members = pc.binary_join_element_wise(*parts, ",", null_handling="skip")
    return pc.binary_join_element_wise("{", members, "}", "")


def write_round(generation: Generation, kept: str | None, number: int, table: pa.Table) -> str:
    """Write one planning round and return its name; the file `kept` stays if it has the same content."""
    return generation.keep_or_write(
        kept, f"plan-{number}", ".parquet", as_parquet(table), middle="mid_plan_round"
    )


def read_plan(layout: SweepLayout, head: Head | None) -> pa.Table | None:
    """Return all planning rounds as one table; None before the first one.

    Raises:
        StoreError: A file is damaged or lost.
    """
    if head is None or not head.rounds:
        return None
    tables = [read_parquet(layout.generations / name) for name in head.rounds]
    return pa.concat_tables(tables, promote_options="default")


def read_axes(plan: pa.Schema) -> list[str]:
    """Return the dotted paths of a plan's axes."""
    return [str(path) for path in json.loads(plan.metadata[b"destage.axes"])]


def read_answer(plan: pa.Schema) -> str | None:
    """Return the name of the answers of a plan's seek, if it has one."""
    name = json.loads(plan.metadata[b"destage.answer"])
    return None if name is None else str(name)


def read_seek(plan: pa.Schema) -> str | None:
    """Return the dotted path of the parameter that a plan seeks, if any."""
    path = json.loads(plan.metadata[b"destage.seek"])
    return None if path is None else str(path)
