"""Simulation of many configurations, with one row each in an Arrow table."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from destage.engine import _engine, traces
from destage.engine.configuration import Scenario
from destage.engine.result_columns import results_schema
from destage.engine.simulation import StopSignal, bind_traces
from destage.errors import ConfigError, DestageError, SimulationError, TraceError


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
            text, traces = bind_traces(scenario, folder)
            texts.append(text)
            loaded |= traces
        except (ConfigError, TraceError) as error:
            rejected[index] = error
    done = _run(texts, loaded, stop, timeout_s)
    return _insert_rejected(done, rejected) if rejected else done


class Execution(NamedTuple):
    """What one call of the engine has executed.

    Attributes:
        rows: The result rows of the runs that have ended, in order.
        seconds: The time of each of them [s].
        stopped: Whether the call was stopped before the last run.
    """

    rows: pa.Table
    seconds: list[float]
    stopped: bool


def execute_canonical(
    configs: Sequence[str], *, stop: StopSignal | None = None, timeout_s: float | None = None
) -> Execution:
    """Run canonical configurations with bound traces, as in a plan, in one call of the engine.

    `timeout_s` as in `simulate_batch`; `stop`, or a signal whose handler raises KeyboardInterrupt, ends the
    call after the runs that have ended.

    Raises:
        TraceError: A trace cannot be read on this machine, or its content has another digest.
        BaseException: What the handler of a signal raised, such as SystemExit.
    """
    batch, seconds, ended = _engine.simulate_batch(configs, _load_bound(configs), stop, timeout_s)
    if ended is not None and not isinstance(ended, (_engine.EngineStopped, KeyboardInterrupt)):
        raise ended
    rows = _as_table(batch)
    return Execution(rows, seconds, ended is not None)


def simulate_canonical(config: str) -> pa.Table:
    """Run one canonical configuration with bound traces, and return its row as a table.

    Raises:
        TraceError: As in `execute_canonical`.
        BaseException: What the handler of a signal raised, such as KeyboardInterrupt.
    """
    return _run([config], _load_bound([config]))


def _run(
    texts: Sequence[str],
    loaded: Mapping[str, _engine.Trace],
    stop: StopSignal | None = None,
    timeout_s: float | None = None,
) -> pa.Table:
    batch, _, ended = _engine.simulate_batch(texts, loaded, stop, timeout_s)
    if isinstance(ended, _engine.EngineStopped):
        raise SimulationError("run.stopped", "the run was stopped before its end") from ended
    if ended is not None:
        raise ended
    return _as_table(batch)


def _as_table(batch: object) -> pa.Table:
    """Return the engine's rows with units and meanings in their schema."""
    # A cast would load pyarrow.compute, a tenth of the start of a simulation.
    return pa.Table.from_arrays(pa.record_batch(batch).columns, schema=results_schema())


def _load_bound(configs: Sequence[str]) -> dict[str, _engine.Trace]:
    """Return the traces that canonical configurations name, by digest."""
    loaded: dict[str, _engine.Trace] = {}
    for config in configs:
        if '"trace"' in config:
            loaded |= traces.load_bound(json.loads(config))
    return loaded


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
