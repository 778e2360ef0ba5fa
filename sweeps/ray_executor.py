"""Batches on Ray: tasks of one module-level remote function. The only module that imports ray."""

import logging
import os
import time
from pathlib import Path

# Read by ray when it is first imported: no usage reports, no copying of uv environments to workers.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
# The value of future releases: ray must not hide accelerators by itself, and says so on stderr otherwise.
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")

import ray
from ray import exceptions

from destage.errors import SweepError
from destage.sweeps.batches import Batch
from destage.sweeps.work import Done, Failure, Receipt, execute

LOOK_S = 5.0
"""How often the processors of the cluster are counted [s]."""


@ray.remote(num_cpus=1, max_retries=0)
def _execute(batch: Batch, fragments: str, facts: tuple[str, ...]) -> Receipt:
    return execute(batch, Path(fragments), facts)


class RayExecutor:
    """Runs batches as Ray tasks, on the cluster that `RAY_ADDRESS` names or on one started on this machine.

    Ray itself never retries: the driver does, within a budget of its own, since it alone knows which rows
    are there.
    """

    name = "ray"

    def __init__(self, slots: int | None, fragments: Path, facts: tuple[str, ...]) -> None:
        self._fragments = str(fragments.absolute())
        self._facts = facts
        self._under_way: dict[ray.ObjectRef[Receipt], Batch] = {}
        self._owns_ray = not ray.is_initialized()
        if self._owns_ray:
            _start(slots)
        self._most_slots = slots
        self._look_at_the_cluster()

    def submit(self, batch: Batch) -> None:
        """Hand over a batch; returns at once.

        Args:
            batch: The batch.
        """
        self._under_way[_execute.remote(batch, self._fragments, self._facts)] = batch

    def collect(self, timeout_s: float) -> list[Done]:
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
        return [Done(self._under_way.pop(reference), _result(reference)) for reference in ended]

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
        if self._owns_ray:
            ray.shutdown()


def _start(slots: int | None) -> None:
    address = os.environ.get("RAY_ADDRESS")
    try:
        if address:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        else:
            ray.init(
                address="local",
                num_cpus=slots,
                include_dashboard=False,
                log_to_driver=False,
                logging_level=logging.ERROR,
                object_store_memory=128 * 1024**2,
            )
    except (OSError, RuntimeError, ValueError) as error:
        where = f"at {address}" if address else "on this machine"
        raise SweepError(
            f"Ray could not be started {where}: {error}; --executor inline does without"
        ) from error


def _result(reference: "ray.ObjectRef[Receipt]") -> Receipt | Failure:
    try:
        receipt: Receipt = ray.get(reference)
    except exceptions.OutOfMemoryError:
        return Failure("oom", "Ray killed the worker: the node ran out of memory")
    except exceptions.RayTaskError as error:
        cause = error.cause
        if isinstance(cause, MemoryError):
            return Failure("oom", "the worker ran out of memory")
        return Failure("infrastructure", f"{type(cause).__name__}: {cause}")
    except exceptions.RayError as error:
        return Failure("infrastructure", f"{type(error).__name__}: {str(error).splitlines()[0]}")
    return receipt
