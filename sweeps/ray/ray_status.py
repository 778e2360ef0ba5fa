"""What a Ray cluster has: processors, what waits for them, and the nodes that are being drained.

`ray.nodes` says neither which nodes are drained nor what they have free, and the cluster's totals include the
drained ones. `get_cluster_status` does, with one request: `ray status` prints what it returns.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ray
from ray import exceptions
from ray.autoscaler.sdk import request_resources
from ray.autoscaler.v2.schema import ClusterStatus
from ray.autoscaler.v2.sdk import get_cluster_status

_TIMEOUT_S = 5
"""Time that the head has to answer [s]."""
_CLIENT_TIMEOUT_S = 20.0
"""Time that a call from a Ray client has, for which Ray may start a process [s]."""
_DRAINING = "DRAINING"


@dataclass(frozen=True, slots=True)
class RayStatus:
    """The nodes and the demand of a cluster at one time.

    Attributes:
        processors: Processors of the nodes that are not being drained.
        free: Those of them that nothing uses.
        pending: Tasks and actors of all jobs that wait for no more than the processors of one node.
        draining: The ids of the nodes that are being drained.
    """

    processors: int
    free: int
    pending: int = 0
    draining: frozenset[str] = field(default=frozenset())


def read_status(address: str) -> RayStatus | None:
    """Return the status of the cluster; None if it cannot be read now.

    Args:
        address: The address of the head's control store; empty for a Ray client, for which a task reads it.
    """
    status: RayStatus | None = _call(_read, address)
    return status


def request_processors(address: str, processors: int) -> None:
    """Ask the autoscaler for a cluster with at least a number of processors; 0 withdraws the request.

    Ray keeps only the last request for a cluster, whichever job made it.
    """
    _call(lambda _: request_resources(num_cpus=processors), address)


def _call(function: Callable[[str], Any], address: str) -> Any:
    try:
        if address:
            return function(address)
        return ray.get(_run.remote(function), timeout=_CLIENT_TIMEOUT_S)
    except (exceptions.RayError, OSError, RuntimeError):
        return None


@ray.remote(num_cpus=0, max_retries=0)
def _run(function: Callable[[str], Any]) -> Any:
    return function(str(ray.get_runtime_context().gcs_address))


def _read(address: str) -> RayStatus:
    return parse_status(get_cluster_status(address, timeout=_TIMEOUT_S))


def parse_status(status: ClusterStatus) -> RayStatus:
    """Return the numbers of Ray's own status that a sweep needs."""
    nodes = [*status.active_nodes, *status.idle_nodes]
    draining = frozenset(str(node.node_id) for node in nodes if node.node_status == _DRAINING)
    usable = [node for node in nodes if node.node_id not in draining]
    processors = [int(node.total_resources().get("CPU", 0)) for node in usable]
    demands = [
        *status.resource_demands.ray_task_actor_demand,
        *status.resource_demands.placement_group_demand,
    ]
    pending = sum(
        shape.count
        for demand in demands
        for shape in demand.bundles_by_count
        if set(shape.bundle) <= {"CPU", "memory"}
        and 0 < shape.bundle.get("CPU", 0) <= max(processors, default=0)
    )
    free = sum(int(node.available_resources().get("CPU", 0)) for node in usable)
    return RayStatus(sum(processors), free, pending, draining)
