"""Simulation of configurations, one or many, with one result row each."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from destage.engine import _engine, configuration, engine_errors, traces
from destage.engine.configuration import Scenario
from destage.engine.result_columns import results_schema
from destage.errors import ConfigError, DestageError, SimulationError, TraceError

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
    text, loaded = _prepare(configuration.normalise(scenario), folder)
    row: dict[str, Any] = _run([text], loaded).to_pylist()[0]
    if row["status"] == "failed":
        raise engine_errors.as_run_error(row["error_kind"], row["error"])
    return row


def simulate_batch(
    scenarios: Sequence[Scenario],
    *,
    folder: str | Path = ".",
    stop: StopSignal | None = None,
    timeout_s: float | None = None,
) -> pa.Table:
    """Run many configurations one after another, without holding the GIL.

    Args:
        scenarios: Configurations; catalogue names and unit strings are resolved. A text must be
            canonical JSON.
        stop: Stops the runs from another thread.
        timeout_s: The time limit of each run [s], after which it fails with the `error_kind` `timeout`.

    Returns:
        One row per configuration, in order. A failed run has the `status` `failed`, an `error_kind` and an
        `error`, which begins with its code and place.

    Raises:
        SimulationError: The runs were stopped; its code is `run.stopped`.
    """
    texts: list[str] = []
    loaded: dict[str, _engine.Trace] = {}
    rejected: dict[int, DestageError] = {}
    for index, scenario in enumerate(scenarios):
        try:
            text, found = _prepare(scenario, folder)
            texts.append(text)
            loaded |= found
        except (ConfigError, TraceError) as error:
            rejected[index] = error
    done = _run(texts, loaded, stop, timeout_s)
    return _insert_rejected(done, rejected) if rejected else done


def simulate_canonical(
    config: str, *, stop: StopSignal | None = None, timeout_s: float | None = None
) -> pa.Table:
    """Run one canonical configuration with bound traces, as in a plan, and return its row as a table.

    `stop` and `timeout_s` as in `simulate_batch`.

    Raises:
        SimulationError: The run was stopped; its code is `run.stopped`.
        TraceError: A trace cannot be read on this machine, or its content has another digest.
    """
    loaded = traces.load_bound(json.loads(config)) if '"trace"' in config else {}
    return _run([config], loaded, stop, timeout_s)


def _run(
    texts: Sequence[str],
    loaded: Mapping[str, _engine.Trace],
    stop: StopSignal | None = None,
    timeout_s: float | None = None,
) -> pa.Table:
    try:
        batch = pa.record_batch(_engine.simulate_batch(texts, loaded, stop, timeout_s))
    except _engine.EngineStopped as error:
        raise SimulationError("run.stopped", "the run was stopped before its end") from error
    return pa.Table.from_batches([batch]).cast(results_schema())


def _prepare(scenario: Scenario, folder: str | Path) -> tuple[str, dict[str, _engine.Trace]]:
    """Return the canonical text of a configuration, and its traces by digest."""
    if isinstance(scenario, str) and '"trace"' not in scenario:
        return scenario, {}
    bound = traces.bind(configuration.read(scenario), folder)
    return configuration.canonical_json(bound), traces.load_bound(bound)


def _insert_rejected(done: pa.Table, rejected: dict[int, DestageError]) -> pa.Table:
    """Insert a failed row for each configuration that was rejected before it reached the engine."""
    empty_lists: dict[str, Any] = {
        field.name: [] for field in results_schema() if pa.types.is_list(field.type)
    }
    failures = pa.Table.from_pylist(
        [
            {
                **empty_lists,
                "status": "failed",
                "error_kind": "configuration" if isinstance(error, ConfigError) else "trace",
                "error": " ".join(str(error).split()),
            }
            for error in rejected.values()
        ],
        schema=results_schema(),
    )
    ran, failed = iter(range(len(done))), iter(range(len(done), len(done) + len(failures)))
    order = [next(failed) if index in rejected else next(ran) for index in range(len(done) + len(failures))]
    return pa.concat_tables([done, failures]).take(order)
