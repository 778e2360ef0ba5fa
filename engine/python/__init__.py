"""The Python interface of the simulation engine: configurations in, result rows out.

A configuration is a mapping like a study's `scenario`: catalogue names by `use`, quantities with units.
`simulate` runs one and returns its row; `simulate_batch` runs many and returns an Arrow table; `validate`
returns all mistakes; `catalog` and `traces` hold hardware, workloads and recorded input.
"""

from destage.engine import catalog, scenario_schema, traces
from destage.engine.composition import PARTS, Composer, point_ids
from destage.engine.configuration import Scenario, assemble, canonical_json, normalise, prepare, validate
from destage.engine.miss_ratio_curves import miss_ratio_curve
from destage.engine.result_columns import Column, columns, results_schema
from destage.engine.scenario_schema import schema
from destage.engine.simulation import (
    RESULTS_VERSION,
    StopSignal,
    execute_canonical,
    simulate,
    simulate_batch,
    simulate_canonical,
)
from destage.spec import quantities
from destage.spec.schema_tree import Node


def authoring_schema() -> Node:
    """Return the schema for editors, which allows unit strings and catalogue names."""
    return scenario_schema.authoring_schema(
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
    "catalog",
    "columns",
    "execute_canonical",
    "miss_ratio_curve",
    "normalise",
    "point_ids",
    "prepare",
    "quantities",
    "results_schema",
    "schema",
    "simulate",
    "simulate_batch",
    "simulate_canonical",
    "traces",
    "validate",
]
