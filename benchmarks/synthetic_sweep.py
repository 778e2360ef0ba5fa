"""A synthetic sweep of any size, as `destage admin compact` leaves one, to measure readers without a run.

The rows are those of one simulated run: what is zero or null there stays so, and every other number is
multiplied by a random factor of its own, so that files compress as real ones do. One run in a hundred did not
become stationary. Points are combinations of four axes, each with five replicates.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from destage import engine
from destage.store.files.layout import SweepLayout
from destage.store.fragment_files.fragments import write_fragment
from destage.store.fragment_files.stored_rows import rows_schema
from destage.store.state.head import Head, claim_generation
from destage.store.state.plan import CONFIG_COLUMNS, plan_schema, write_round
from destage.sweeps import parse_study
from destage.sweeps.reading.expansion import expand

REPLICATES = 5
FRAGMENT_ROWS = 150_000
"""Rows of a large fragment: about 64 MB."""
ROUND_RUNS = 1_000_000
"""Runs of one planning round; each is a file."""
_POINT_DIGITS = 16
_NOT_STATIONARY = 0.01
_SPREAD = 0.3
STUDY = """
name: synthetic
scenario:
  workload: {use: call_center}
  controller: {use: smart_array_5i_plus, battery: {state: present}}
  array: {raid: "5", disks: 4, disk: {use: u320_10k_36gb}, stripe_unit: 64KiB}
replicates: 5
axes:
  controller.cache.capacity: [32MiB, 64MiB]
  controller.cache.write_fraction: [0.5, 1.0]
  array.disks: [4, 6]
  workload.users: {range: [10, 20, 10]}
"""
AXES = (
    pa.field("controller.cache.capacity", pa.int64()),
    pa.field("controller.cache.write_fraction", pa.float64()),
    pa.field("array.disks", pa.int64()),
    pa.field("workload.users", pa.int64()),
)
_SIDES = (8, 4, 4)
"""Values of each axis but the last."""


def write_sweep(folder: Path, runs: int, fragment_rows: int = FRAGMENT_ROWS) -> Path:
    """Write a finished sweep with this number of runs below a folder; return its directory."""
    root = folder / "sweeps" / f"synthetic-{runs:08x}"
    layout = SweepLayout(root)
    layout.make()
    generation = claim_generation(layout)
    rounds = []
    random = np.random.default_rng(1)
    template = simulate_row()
    for number, first in enumerate(range(0, runs, ROUND_RUNS)):
        plan = _plan(first, min(ROUND_RUNS, runs - first), number)
        rounds.append(write_round(generation, None, number, plan))
        # Runs end in another order than the plan's.
        run_ids = plan["run_id"].take(random.permutation(plan.num_rows))
        for start in range(0, len(run_ids), fragment_rows):
            rows = _rows(run_ids.slice(start, fragment_rows), template, random)
            write_fragment(layout.fragments, rows)
    study = generation.write("study", ".yaml", STUDY.encode())
    generation.publish(Head(study, tuple(rounds), planned=runs, finished=True))
    return root


def simulate_row() -> dict[str, Any]:
    """Return the row of a short run of the study."""
    scenario = parse_study(STUDY).scenario
    short = {**scenario, "run": {"window": {"requests": 1000}, "warm_up": "none"}}
    row: dict[str, Any] = engine.simulate_batch([short]).to_pylist()[0]
    return row


def _plan(first: int, count: int, number: int) -> pa.Table:
    """Return a round of the plan: the runs from `first` on."""
    at = np.arange(first, first + count)
    place = at // REPLICATES
    point_ids = pc.utf8_slice_codeunits(
        _digests("point", range(int(place[0]), int(place[-1]) + 1)), 0, _POINT_DIGITS
    )
    columns: dict[str, Any] = {
        "point_id": point_ids.take(place - place[0]),
        "label": pa.nulls(count, pa.string()),
        "replicate": at % REPLICATES,
        "run_id": _digests("run", range(first, first + count)),
        "round": np.full(count, number),
        "estimated_events": np.full(count, 1e4),
    }
    rest = place
    for field, side in zip(AXES, _SIDES, strict=False):
        columns[field.name] = _axis_value(field.name, rest % side)
        rest = rest // side
    columns[AXES[-1].name] = 10 + rest
    schema = plan_schema(list(AXES), None)
    parts = expand(parse_study(STUDY)).points[0].parts
    for part, column in zip(parts, CONFIG_COLUMNS, strict=True):
        repeated = pa.array(np.zeros(count, np.int32), mask=np.full(count, part is None))
        columns[column] = pa.DictionaryArray.from_arrays(repeated, pa.array([part or ""]))
    return pa.table({name: columns[name] for name in schema.names}, schema)


def _axis_value(name: str, place: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    if name.endswith("capacity"):
        return np.asarray((32 << 20) * 2**place)
    if name.endswith("write_fraction"):
        return np.asarray((place + 1) / 4)
    return np.asarray(4 + 2 * place)


def _digests(kind: str, numbers: range) -> pa.Array:
    """Return a text of 32 hexadecimal digits for each number, scattered as digests are."""
    halves = [
        (np.arange(numbers.start, numbers.stop, dtype=np.uint64) + np.uint64(shift)) * np.uint64(factor)
        for shift, factor in ((len(kind), 0x9E3779B97F4A7C15), (7 * len(kind), 0xC2B2AE3D27D4EB4F))
    ]
    data = np.column_stack([half.astype(">u8") for half in halves]).tobytes().hex().encode()
    offsets = np.arange(0, 32 * len(numbers) + 1, 32, dtype=np.int32)
    return pa.StringArray.from_buffers(len(numbers), pa.py_buffer(offsets), pa.py_buffer(data))


def make_results(count: int, template: dict[str, Any], random: np.random.Generator) -> pa.Table:
    """Return rows of results: those of `template`, with a random factor for each number."""
    schema = engine.results_schema()
    columns = {field.name: _column(field, template.get(field.name), count, random) for field in schema}
    settled = random.random(count) >= _NOT_STATIONARY
    columns["status"] = pc.if_else(pa.array(settled), "ok", "not_stationary")
    return pa.table(columns, schema)


def _rows(run_ids: pa.ChunkedArray, template: dict[str, Any], random: np.random.Generator) -> pa.Table:
    count = len(run_ids)
    results = make_results(count, template, random)
    columns: dict[str, Any] = {name: results[name] for name in results.column_names}
    columns["run_id"] = run_ids.combine_chunks()
    for field in rows_schema():
        if field.name not in columns:
            columns[field.name] = pa.nulls(count, field.type)
    columns["prov_host"] = pa.array(["host-1"]).take(pa.array(np.zeros(count, np.int32)))
    columns["prov_engine_s"] = 0.005 * random.lognormal(0, _SPREAD, count)
    return pa.table({name: columns[name] for name in rows_schema().names}, rows_schema())


def _column(field: pa.Field, value: Any, count: int, random: np.random.Generator) -> Any:
    if value is None:
        return pa.nulls(count, field.type)
    if not value or not isinstance(value, int | float):
        return pa.array([value], field.type).take(pa.array(np.zeros(count, np.int32)))
    values = value * random.lognormal(0, _SPREAD, count)
    if field.name.endswith(("_fraction", "_ratio")):
        values = np.minimum(values, 1.0)
    return pa.array(
        np.rint(values).astype(np.int64) if pa.types.is_integer(field.type) else values, field.type
    )
