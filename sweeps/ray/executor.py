"""Batches on Ray: joins a cluster or starts one, checks its machines, and follows its size.

Of Ray's messages on the driver's terminal, that of a lost machine is one line instead of Ray's own state.
"""

import logging
import math
import os
import re
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import ray
from ray import exceptions
from ray._private import worker
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from destage.errors import InfrastructureError, Issue, SweepError
from destage.objects import Location
from destage.sweeps.ray.demand import WORTH_S, RayDemand
from destage.sweeps.ray.pool import RayPool, read_result
from destage.sweeps.ray.ray_cluster import RayHead, check_address, explain_failure, is_retryable
from destage.sweeps.ray.ray_status import RayStatus, read_status, request_processors
from destage.sweeps.ray.ray_worker import RayWorker
from destage.sweeps.ray.watchdog import RayWatchdog
from destage.sweeps.workers.batches import Batch, FinishedBatch
from destage.sweeps.workers.executors import AHEAD
from destage.sweeps.workers.machine_failures import Marker, check_marker, remove_markers, write_marker

_MARKED_DEAD = re.compile(
    r"The node with node id: (\w+) and address: (\S+) .*has been marked dead", re.DOTALL
)
"""What the head reports of each lost machine."""
_LAST_WORDS = "Raylet is terminated."
"""What two processes of a machine report before, with twenty lines of its log, if they outlive its raylet."""
Print = Callable[[dict[str, Any], bool], None]


class MessageFilter:
    """Prints Ray's messages, and each loss of a machine as one line."""

    def __init__(self, print_message: Print) -> None:
        self._print = print_message
        self._lost: set[str] = set()

    def __call__(self, data: dict[str, Any], ignore_prefix: bool) -> None:
        """Print a message, given as Ray's table with `lines`."""
        text = "\n".join(data["lines"])
        if _LAST_WORDS in text:
            return
        lost = _MARKED_DEAD.search(text)
        if lost is None:
            self._print(data, ignore_prefix)
        elif lost[1] not in self._lost:
            self._lost.add(lost[1])
            line = f"the machine {lost[2]} of the Ray cluster was lost; others execute its runs"
            self._print({**data, "lines": [line]}, ignore_prefix)


def shorten_messages() -> None:
    """Replace Ray's printing of messages, for which it has no setting."""
    if not isinstance(worker.print_to_stdstream, MessageFilter):
        worker.print_to_stdstream = MessageFilter(worker.print_to_stdstream)


# Read by ray when it is first imported: no usage reports, no copying of uv environments to workers.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
# The default of future releases; without it ray warns on stderr.
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
# By default ray uses a token only for clusters of this machine.
if "RAY_AUTH_TOKEN" in os.environ or "RAY_AUTH_TOKEN_PATH" in os.environ:
    os.environ.setdefault("RAY_AUTH_MODE", "token")


LOOK_S = 2.0
"""Interval at which the status of the cluster is read [s]."""
_PROBE_S = 60.0
"""Timeout for the check of all machines; each batch repeats the check [s]."""
_STEP_S = 0.2
_SHUTDOWN_S = 5.0
"""Time that Ray may take to disconnect from a cluster whose head is lost [s]."""
_ATTEMPTS = 3


@ray.remote(num_cpus=0, max_retries=0)
def _probe(marker: Marker) -> None:
    check_marker(marker)


class RayExecutor:
    """Runs batches on Ray, on the cluster of `RAY_ADDRESS` or on one started on this machine.

    Ray itself never retries: the driver does, since it alone knows which rows are committed.
    """

    name = "ray"

    def __init__(
        self,
        slots: int | None,
        fragments: Location,
        facts: tuple[str, ...],
        *,
        timeout_s: float | None = None,
        on_start: Callable[[], None] = lambda: None,
    ) -> None:
        """Start or join Ray, call `on_start`, and check all machines."""
        self._sweep = fragments.parent
        self._owns_ray = not ray.is_initialized()
        self._watchdog = RayWatchdog()
        if self._owns_ray:
            _start(slots, self._watchdog)
        on_start()
        self._head = RayHead(_head_address())
        self._marker = write_marker(self._sweep)
        self._most_slots = slots
        self.slots = 1
        self.hold_s = 0.0
        self.has_more = False
        self.left_s = 0.0
        start = partial(RayWorker.remote, self._marker, facts, timeout_s)  # type: ignore[attr-defined]
        is_shared = bool(os.environ.get("RAY_ADDRESS"))
        self._pool = RayPool(start, is_shared=is_shared)
        self._demand = RayDemand(partial(request_processors, self._head.address)) if is_shared else None
        self._look()
        try:
            _check_machines(self._marker, ray.nodes())  # type: ignore[no-untyped-call]
        except SweepError:
            self.close()
            raise

    @property
    def waiting(self) -> int:
        """Batches that were submitted and are not executed."""
        return self._pool.waiting

    @property
    def ahead(self) -> int:
        """Batches taken per slot: several times as many while they take milliseconds."""
        return AHEAD * self._pool.batches_per_call

    def submit(self, batch: Batch) -> None:
        """Submit a batch; returns immediately."""
        self._pool.submit(batch)

    def collect(self, timeout_s: float) -> list[FinishedBatch]:
        """Return the batches committed or failed since the last call, waiting up to the timeout [s]."""
        if time.monotonic() >= self._next_look:
            self._look()
        if self._head.is_lost:
            return self._give_up()
        self._pool.fit(self._most_slots)
        self._pool.send(self.hold_s, has_more=self.has_more)
        return self._pool.receive(timeout_s)

    def _give_up(self) -> list[FinishedBatch]:
        """Return all batches in flight as not executed: their state cannot be determined."""
        message = "no answer from the head of the Ray cluster for 45 s; resume the sweep once it runs again"
        lost = Issue("sweep.ray-lost", self._head.address, message)
        return [FinishedBatch(batch, lost) for batch in self._pool.give_up()]

    def _look(self) -> None:
        """Read what the cluster has: nodes join, leave and are drained."""
        self._next_look = time.monotonic() + LOOK_S
        if not self._head.answers():
            return
        status = read_status(self._head.address)
        if status is None:
            return
        count = max(1, status.processors)
        self.slots = count if self._most_slots is None else min(count, self._most_slots)
        self._pool.observe(status)
        self._ask(status)

    def _ask(self, status: RayStatus) -> None:
        """Ask the autoscaler for what the plan can use."""
        if self._demand is None:
            return
        wanted = math.ceil(self.left_s / WORTH_S)
        if self._most_slots is not None:
            wanted = min(wanted, self._most_slots)
        workers = self._pool.workers
        others = max(0, status.processors - status.free - workers)
        self._demand.update(wanted, workers + self._pool.free, others)

    def stop(self) -> None:
        """Stop the batches in flight: the runs that have ended are committed, the others are not."""
        self._pool.stop()

    def close(self) -> None:
        """Kill the workers, withdraw the demand, and stop Ray if it was started here."""
        if self._head.is_lost:
            remove_markers(self._sweep)
            # While connected, Ray's library may end this process. Disconnecting may block, hence the timeout.
            disconnection = threading.Thread(target=ray.shutdown, daemon=True)
            disconnection.start()
            disconnection.join(_SHUTDOWN_S)
            return
        if self._demand is not None:
            self._demand.withdraw()
        self._pool.kill()
        remove_markers(self._sweep)
        if self._owns_ray:
            ray.shutdown()
            self._watchdog.end()


def _head_address() -> str:
    """Return the address of the head's control store; empty for a Ray client, which has none."""
    if ray.util.client.ray.is_connected():  # type: ignore[no-untyped-call]
        return ""
    return str(ray.get_runtime_context().gcs_address)


def _start(slots: int | None, watchdog: RayWatchdog) -> None:
    address = os.environ.get("RAY_ADDRESS")
    shorten_messages()
    try:
        if address:
            _join(address)
        else:
            with watchdog.guard():
                _start_here(slots)
    except SystemExit:  # Ray's handler of SIGTERM, until ours is installed again
        raise KeyboardInterrupt from None


def _start_here(slots: int | None) -> None:
    try:
        ray.init(
            address="local",
            num_cpus=slots,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
            object_store_memory=128 * 1024**2,
        )
    except Exception as error:  # Ray's own for a start that takes too long
        first = " ".join(str(error).split())[:300]
        message = f"Ray cannot be started on this machine: {first}; use --executor inline"
        raise InfrastructureError("sweep.ray-not-started", message) from error


def _join(address: str) -> None:
    """Connect to a running cluster; Ray's own failure is three minutes of log lines."""
    check_address(address)
    for attempt in range(_ATTEMPTS):
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.CRITICAL)
        except (exceptions.RayError, OSError, RuntimeError, ValueError, ImportError) as error:
            if not is_retryable(error) or attempt == _ATTEMPTS - 1:
                raise explain_failure(address, error) from error
            ray.shutdown()
        else:
            return


def _check_machines(marker: Marker, nodes: Iterable[dict[str, Any]]) -> None:
    """Check every machine with processors before it gets a batch."""
    asked = {
        _probe.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)).remote(
            marker
        ): node
        for node in nodes
        if node["Alive"] and node["Resources"].get("CPU", 0) >= 1
    }
    if not asked:
        return
    ended: list[Any] = []
    deadline = time.monotonic() + _PROBE_S
    # In short steps: Python handles signals only between them, and counts those of one step as one.
    while len(ended) < len(asked) and time.monotonic() < deadline:
        ended, _ = ray.wait(list(asked), num_returns=len(asked), timeout=_STEP_S)
    results = {asked[reference]["NodeID"]: read_result(reference) for reference in ended}
    mismatches = [result for result in results.values() if isinstance(result, Issue)]
    if mismatches:
        first = mismatches[0]
        message = f"{len(mismatches)} of {len(asked)} machines cannot execute runs: {first.message}"
        raise SweepError(first.code, message, first.place, first.data)
