"""Batches on Ray: tasks of one module-level remote function. The only module that imports ray."""

import logging
import os
import platform
import time
from collections.abc import Iterable
from typing import Any, TypeVar

# Read by ray when it is first imported: no usage reports, no copying of uv environments to workers.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
# The value of future releases: ray must not hide accelerators by itself, and says so on stderr otherwise.
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
# Whoever hands over a token means it; by itself ray uses one only for clusters of this machine.
if "RAY_AUTH_TOKEN" in os.environ or "RAY_AUTH_TOKEN_PATH" in os.environ:
    os.environ.setdefault("RAY_AUTH_MODE", "token")

import ray
from ray import exceptions
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from destage.errors import SweepError
from destage.objects import Location, locate
from destage.store.layout import SweepLayout
from destage.sweeps.batches import Batch
from destage.sweeps.marker import Marker, WorkerMismatchError, check_marker, remove_markers, write_marker
from destage.sweeps.ray_address import check_address, explain, is_worth_another_try
from destage.sweeps.worker import Failure, FinishedBatch, Receipt, execute

LOOK_S = 5.0
"""How often the processors of the cluster are counted [s]."""
_PROBE_S = 60.0
"""How long to wait for machines to say whether they may take part; each batch asks again [s]."""
_JOINS = 3
_NO_MODULE = "No module named 'destage"
_Got = TypeVar("_Got")


@ray.remote(num_cpus=1, max_retries=0)
def _execute(batch: Batch, mark: Marker, facts: tuple[str, ...]) -> Receipt:
    check_marker(mark)
    return execute(batch, SweepLayout(locate(mark.sweep)).fragments, facts)


@ray.remote(num_cpus=0, max_retries=0)
def _probe(mark: Marker) -> None:
    check_marker(mark)


class RayExecutor:
    """Runs batches as Ray tasks, on the cluster that `RAY_ADDRESS` names or on one started on this machine.

    Ray itself never retries: the driver does, within a budget of its own, since it alone knows which rows
    are there.
    """

    name = "ray"

    def __init__(self, slots: int | None, fragments: Location, facts: tuple[str, ...]) -> None:
        self._sweep = fragments.parent
        self._facts = facts
        self._under_way: dict[ray.ObjectRef[Receipt], Batch] = {}
        self._owns_ray = not ray.is_initialized()
        if self._owns_ray:
            _start(slots)
        self._mark = write_marker(self._sweep)
        self._most_slots = slots
        self._look_at_the_cluster()
        try:
            _check_machines(self._mark, ray.nodes())  # type: ignore[no-untyped-call]
        except SweepError:
            self.close()
            raise

    def submit(self, batch: Batch) -> None:
        """Hand over a batch; returns at once.

        Args:
            batch: The batch.
        """
        self._under_way[_execute.remote(batch, self._mark, self._facts)] = batch

    def collect(self, timeout_s: float) -> list[FinishedBatch]:
        """Return batches that came back since the last call, waiting a little for the first.

        Args:
            timeout_s: How long to wait [s].
        """
        if time.monotonic() >= self._next_look:
            self._look_at_the_cluster()
        if not self._under_way:
            return []
        waiting = list(self._under_way)
        ended, _ = ray.wait(waiting, num_returns=1, timeout=timeout_s)
        if ended:
            more, _ = ray.wait(waiting, num_returns=len(waiting), timeout=0)
            ended = list(dict.fromkeys([*ended, *more]))
        return [FinishedBatch(self._under_way.pop(reference), _result(reference)) for reference in ended]

    def _look_at_the_cluster(self) -> None:
        """Count the processors: workers join late, and nodes come and go."""
        there = max(1, int(ray.cluster_resources().get("CPU", 1)))  # type: ignore[no-untyped-call]
        self.slots = there if self._most_slots is None else min(there, self._most_slots)
        self._next_look = time.monotonic() + LOOK_S

    def close(self) -> None:
        """Cancel what is under way and stop Ray, if it was started here."""
        for reference in self._under_way:
            ray.cancel(reference, force=True)
        self._under_way.clear()
        remove_markers(self._sweep)
        if self._owns_ray:
            ray.shutdown()


def _start(slots: int | None) -> None:
    address = os.environ.get("RAY_ADDRESS")
    if address:
        _join(address)
        return
    try:
        ray.init(
            address="local",
            num_cpus=slots,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
            object_store_memory=128 * 1024**2,
        )
    except (OSError, RuntimeError, ValueError) as error:
        raise SweepError(
            f"Ray could not be started on this machine: {error}; --executor inline does without"
        ) from error


def _join(address: str) -> None:
    """Connect to a cluster that is there; Ray's own way of saying no is three minutes of log lines."""
    check_address(address)
    for attempt in range(_JOINS):
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.CRITICAL)
        except (exceptions.RayError, OSError, RuntimeError, ValueError, ImportError) as error:
            if not is_worth_another_try(error) or attempt == _JOINS - 1:
                raise SweepError(explain(address, error)) from error
            ray.shutdown()
        else:
            return


def _check_machines(mark: Marker, nodes: Iterable[dict[str, Any]]) -> None:
    """Ask every machine with processors whether it may take part, before it is given anything to do."""
    asked = {
        _probe.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)).remote(
            mark
        ): node
        for node in nodes
        if node["Alive"] and node["Resources"].get("CPU", 0) >= 1
    }
    if not asked:
        return
    ended, _ = ray.wait(list(asked), num_returns=len(asked), timeout=_PROBE_S)
    found = {asked[reference]["NodeID"]: _result(reference) for reference in ended}
    foreign = [one.message for one in found.values() if isinstance(one, Failure) and one.kind == "foreign"]
    if foreign:
        raise SweepError(f"{len(foreign)} of {len(asked)} machines cannot take part: {foreign[0]}")


def _result(reference: "ray.ObjectRef[_Got]") -> _Got | Failure:
    try:
        got: _Got = ray.get(reference)
    except exceptions.RayError as error:
        return _failure(error)
    return got


def _failure(error: exceptions.RayError) -> Failure:
    if isinstance(error, exceptions.OutOfMemoryError):
        return Failure("oom", "Ray killed the worker: the node ran out of memory")
    if not isinstance(error, exceptions.RayTaskError):
        return Failure("infrastructure", f"{type(error).__name__}: {str(error).splitlines()[0]}")
    cause = error.cause
    if isinstance(cause, MemoryError):
        return Failure("oom", "the worker ran out of memory")
    if isinstance(cause, WorkerMismatchError):
        return Failure("foreign", str(cause))
    if _NO_MODULE in str(cause):
        python = ".".join(platform.python_version_tuple()[:2])
        return Failure("foreign", f"a worker has no Destage: install it for Python {python} on all machines")
    return Failure("infrastructure", f"{type(cause).__name__}: {cause}")
