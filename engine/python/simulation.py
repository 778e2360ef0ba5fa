"""Simulation of one configuration, with its result row.

Rows of many configurations are an Arrow table (`batch_simulation`), whose library takes as long to import as
a short run.
"""

from pathlib import Path
from typing import Any

from destage.engine import _engine, configuration, traces
from destage.engine.configuration import Scenario

StopSignal = _engine.StopSignal
"""Stops runs from another thread: `set()` ends each within milliseconds."""
RESULTS_VERSION: int = _engine.results_version()
"""The version of results: equal versions give equal rows for equal configurations and seeds."""


def simulate(scenario: Scenario, *, folder: str | Path = ".") -> dict[str, Any]:
    """Run one configuration.

    Returns:
        The result row by column; `columns()` describes the columns.

    Raises:
        ConfigError: With all mistakes of the configuration.
        TraceError: A trace cannot be read or replayed.
        SimulationError: The run failed inside the engine.
    """
    row = _engine.simulate(*bind_traces(configuration.canonical_json(scenario), folder))
    if row["status"] == "failed":
        raise configuration.as_run_error(row["error_kind"], row["error"])
    return row


def bind_traces(scenario: Scenario, folder: str | Path) -> tuple[str, dict[str, _engine.Trace]]:
    """Return the canonical text of a configuration, and its traces by digest."""
    if isinstance(scenario, str) and '"trace"' not in scenario:
        return scenario, {}
    bound = traces.bind(configuration.read(scenario), folder)
    return configuration.canonical_json(bound), traces.load_bound(bound)
