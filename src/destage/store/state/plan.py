"""The plan: a table of runs, one file per planning round, published before its first run starts.

Columns: `point_id`, `label`, `replicate`, `run_id`, `round`, one per axis (its dotted path), for a seek the
probed value (the sought parameter's dotted path), `config.<part>` for each top-level field of the canonical
configuration, and `estimated_events`. The schema's metadata names the axes and the sought parameter, so that
a reader needs no study file; that of the first round has the text of the study as well.

A part is a JSON member, `"name":{...}`. The parts joined by commas in braces are the canonical configuration
(`join_configs`). They are dictionaries: the runs of a large plan share a few texts.
"""

import json
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from destage.engine import PARTS
from destage.objects import Location
from destage.store.files.digests import invalid
from destage.store.files.layout import SweepLayout
from destage.store.files.parquet import as_parquet, check_types, open_parquet
from destage.store.state.head import Generation, Head

LEADING = (
    pa.field("point_id", pa.string()),
    pa.field("label", pa.string()),
    pa.field("replicate", pa.int64()),
    pa.field("run_id", pa.string()),
    pa.field("round", pa.int64()),
)
_STUDY = b"destage.study"
_KEYS = ("point_id", "run_id", "replicate")
"""Columns without nulls."""
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
    parts = [plan[name].cast(pa.string()) for name in CONFIG_COLUMNS if name in plan.column_names]
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
    places = [layout.generations / name for name in head.rounds]
    tables = [read_round(place) for place in places]
    try:
        return pa.concat_tables(tables, promote_options="default")
    except pa.ArrowException as error:
        raise invalid(places[-1], "its columns are not those of the earlier rounds") from error


def read_round(place: Location, columns: list[str] | None = None) -> pa.Table:
    """Return the planned runs of one round.

    Args:
        columns: The columns (default: all).

    Raises:
        StoreError: The file is damaged, or no round of a plan.
    """
    with open_parquet(place) as file:
        check_round(file.schema_arrow, place)
        table = file.read(columns=columns)
    if any(table[name].null_count for name in _KEYS if name in table.column_names):
        raise invalid(place, "a run without id or point")
    return table


def read_config(place: Location, row: int) -> tuple[str | None, int]:
    """Return the canonical configuration of a run of a round, as JSON text, and the number of runs.

    The text is None if the round has no such row.

    Raises:
        StoreError: As in `read_round`.
    """
    with open_parquet(place) as file:
        check_round(file.schema_arrow, place)
        for batch in file.iter_batches(columns=list(CONFIG_COLUMNS)):
            if row < batch.num_rows:
                (text,) = join_configs(pa.Table.from_batches([batch.slice(row, 1)])).to_pylist()
                return text, file.metadata.num_rows
            row -= batch.num_rows
        return None, file.metadata.num_rows


def read_round_schema(place: Location) -> pa.Schema:
    """Return the schema of a round, whose metadata names the axes; errors as in `read_round`."""
    with open_parquet(place) as file:
        check_round(file.schema_arrow, place)
        return file.schema_arrow


def check_round(schema: pa.Schema, place: Location) -> None:
    """Check that a schema is that of a round of a plan.

    Raises:
        StoreError: A column is missing or of another type, or the axes are not columns.
    """
    check_types(schema, (*LEADING, *TRAILING), place)
    if missing := {field.name for field in LEADING}.difference(schema.names):
        raise invalid(place, f"has no column {min(missing)}")
    named = [*_read_metadata(schema, "destage.axes", place), _read_metadata(schema, "destage.seek", place)]
    for name in filter(None, named):
        number = schema.get_field_index(name)
        if number < 0 or not name.isprintable() or not _is_axis_type(schema.field(number).type):
            raise invalid(place, f"the axis {name!r} is not a column of numbers, texts or truth values")
    _read_metadata(schema, "destage.answer", place)


def _is_axis_type(kind: pa.DataType) -> bool:
    checks = (
        pa.types.is_integer,
        pa.types.is_floating,
        pa.types.is_boolean,
        pa.types.is_string,
        pa.types.is_null,
    )
    return any(check(kind) for check in checks)


def _read_metadata(schema: pa.Schema, key: str, place: Location) -> Any:
    """Return a value of a plan's metadata: a list of names for the axes, else a name or None."""
    try:
        value = json.loads((schema.metadata or {})[key.encode()])
    except (KeyError, ValueError, RecursionError) as error:
        raise invalid(place, f"its metadata has no valid {key}") from error
    if key == "destage.axes":
        is_valid = isinstance(value, list) and all(isinstance(name, str) and name for name in value)
        is_valid = is_valid and len(set(value)) == len(value)
    else:
        is_valid = value is None or (isinstance(value, str) and value.isprintable() and bool(value))
    if not is_valid:
        raise invalid(place, f"its metadata has no valid {key}")
    return value


def read_axes(plan: pa.Schema) -> list[str]:
    """Return the dotted paths of a plan's axes."""
    return [str(path) for path in json.loads(plan.metadata[b"destage.axes"])]


def read_answer(plan: pa.Schema) -> str | None:
    """Return the name of the answers of a plan's seek, if it has one."""
    name = json.loads(plan.metadata[b"destage.answer"])
    return None if name is None else str(name)


def add_study(plan: pa.Table, study: str) -> pa.Table:
    """Return the first round of a plan with the text of its study, from which a damaged one is restored."""
    return plan.replace_schema_metadata({**(plan.schema.metadata or {}), _STUDY: study.encode()})


def read_study(plan: pa.Schema) -> str | None:
    """Return the text of the study that the first round of a plan has; one of an earlier version has none."""
    text: bytes | None = (plan.metadata or {}).get(_STUDY)
    return None if text is None else text.decode(errors="replace")


def read_seek(plan: pa.Schema) -> str | None:
    """Return the dotted path of the parameter that a plan seeks, if any."""
    path = json.loads(plan.metadata[b"destage.seek"])
    return None if path is None else str(path)
