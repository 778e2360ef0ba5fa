"""Wrong models, built from the engine with a mistake, which every check must reject.

`make validation`, the long form, builds this engine from the same sources with the feature `mutations`; the
short form uses only wrong models that a changed configuration makes.
"""

from collections.abc import Mapping, Sequence
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
from validation.form import REPORT_PATH

from destage.engine import configuration

FOLDER = Path(__file__).parents[2] / "engine" / "target" / "mutations" / "release"

LIBRARIES = ("lib_engine.so", "lib_engine.dylib")

UNMEASURED = {"one I/O in 100 dropped from the measurement": "unmeasured_request"}
UNCOUNTED = {"one disk I/O in 100 not counted": "uncounted_disk_io"}
LAST_WRITE = {"the second write left out": "last_write_left_out"}
LAST_READ = {"old parity not read": "last_read_left_out"}
UNSEEN_LINES = {"3 % of the hits lost": "unseen_line"}
UNSEEN_WRITE_HITS = {"3 % of the overwrites not seen": "unseen_write_hit"}


def _load() -> ModuleType | None:
    for library in LIBRARIES:
        if (path := FOLDER / library).exists():
            loader = ExtensionFileLoader("_engine", str(path))
            if (spec := spec_from_loader("_engine", loader)) is not None:
                engine = module_from_spec(spec)
                loader.exec_module(engine)
                return engine
    return None


ENGINE = _load() if REPORT_PATH else None
"""The engine with mutations, in the long form."""


def simulate_mutants(scenarios: Sequence[Mapping[str, Any]], mutation: str) -> list[dict[str, Any]]:
    """Return the rows of scenarios on a wrong model; none in the short form."""
    if ENGINE is None:
        return []
    texts = [configuration.canonical_json(configuration.normalise(scenario)) for scenario in scenarios]
    batch = pa.record_batch(ENGINE.simulate_mutants(texts, mutation))
    rows: list[dict[str, Any]] = batch.to_pylist()
    return rows


def simulate_unchanged(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of a scenario on the engine with mutations, without one. Precondition: long form."""
    assert ENGINE is not None
    text = configuration.canonical_json(configuration.normalise(scenario))
    batch, *_ = ENGINE.simulate_batch([text], {})
    (row,) = pa.record_batch(batch).to_pylist()
    result: dict[str, Any] = row
    return result
