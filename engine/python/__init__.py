"""The Python interface of the simulation engine: configurations in, result rows out.

A configuration is a mapping like a study's `scenario`: catalogue names by `use`, quantities with units.
`simulate` runs one and returns its row; `simulate_batch` runs many and returns an Arrow table; `validate`
returns all mistakes; `catalog` and `traces` hold hardware, workloads and recorded input.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from destage.engine import catalog, configuration, traces
from destage.engine.configuration import (
    Scenario,
    assemble,
    canonical_json,
    normalise,
    prepare,
    schema,
    usable_capacity,
    validate,
)
from destage.engine.result_columns import Column, columns, results_schema
from destage.engine.simulation import RESULTS_VERSION, StopSignal, simulate
from destage.spec import quantities
from destage.spec.schema_tree import Node

if TYPE_CHECKING:
    from destage.engine.batch_simulation import execute_canonical, simulate_batch, simulate_canonical
    from destage.engine.composition import PARTS, Composer, canonical_text, list_columns, point_ids, run_id
    from destage.engine.miss_ratio_curves import miss_ratio_curve

_OF_ARROW = {
    "PARTS": "composition",
    "Composer": "composition",
    "canonical_text": "composition",
    "execute_canonical": "batch_simulation",
    "miss_ratio_curve": "miss_ratio_curves",
    "list_columns": "composition",
    "point_ids": "composition",
    "run_id": "composition",
    "simulate_batch": "batch_simulation",
    "simulate_canonical": "batch_simulation",
}
"""The modules of names that need pyarrow, by name."""


def authoring_schema() -> Node:
    """Return the schema for editors, which allows unit strings and catalogue names."""
    return configuration.authoring_schema(
        {kind: [entry.name for entry in catalog.entries(kind)] for kind in catalog.KINDS}
    )


__all__ = [
    "PARTS",
    "RESULTS_VERSION",
    "Column",
    "Composer",
    "Scenario",
    "StopSignal",
    "assemble",
    "authoring_schema",
    "canonical_json",
    "canonical_text",
    "catalog",
    "columns",
    "execute_canonical",
    "list_columns",
    "miss_ratio_curve",
    "normalise",
    "point_ids",
    "prepare",
    "quantities",
    "results_schema",
    "run_id",
    "schema",
    "simulate",
    "simulate_batch",
    "simulate_canonical",
    "traces",
    "usable_capacity",
    "validate",
]


def __getattr__(name: str) -> Any:
    """Import the modules that need pyarrow on first use: they take as long as a short run."""
    if name not in _OF_ARROW:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_OF_ARROW[name]}"), name)
