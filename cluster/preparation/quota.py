"""The resource requests of a sweep's pods, compared with the namespace's ResourceQuotas.

The reader is not among them: it runs only while there is no head.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from kubernetes.utils import parse_quantity

from destage.cluster.preparation.check_result import CheckResult
from destage.cluster.resources.pods import Manifest

Amounts = dict[str, Decimal]
_GI = 2**30
_NAMES = {
    "pods": ("pods", "count/pods"),
    "cpu": ("cpu", "requests.cpu", "limits.cpu"),
    "memory": ("memory", "requests.memory", "limits.memory"),
}
"""The names of each resource in quotas; requests equal limits."""


def check_quotas(quotas: Sequence[Manifest], manifests: Sequence[Manifest]) -> CheckResult:
    """Return whether the quotas have room for the pods of a sweep; without manifests, list the quotas."""
    used, exceeded = [], []
    pods = [pod for manifest in manifests for pod in _pods(manifest)]
    for quota in quotas:
        status = quota.get("status", {})
        requested = _sum(amounts for pod, amounts in pods if _applies(quota, pod))
        for name, limit in sorted(status.get("hard", {}).items()):
            in_use = status.get("used", {}).get(name, "0")
            used.append(f"{name} {in_use} of {limit}")
            left = parse_quantity(limit) - parse_quantity(in_use)
            if name in requested and requested[name] > left:
                text = f"{name} {_format(name, requested[name])}, available {_format(name, left)}"
                exceeded.append(f"{quota['metadata']['name']}: {text}")
    message = f"used: {'; '.join(used)}" if used else "none set"
    if not exceeded:
        return CheckResult("quota", message)
    fix = "request less (cpu, memory, workers.N.replicas), delete ended sweeps, or ask for a larger quota"
    message = f"{message}; the sweep's pods request more: {'; '.join(exceeded)}"
    return CheckResult("quota", message, "cluster.quota-exceeded", fix)


def _pods(manifest: Manifest) -> Iterator[tuple[Manifest, Amounts]]:
    """Yield the spec of each kind of pod, with the requests of all pods of the kind."""
    if manifest["kind"] == "Job":
        keeper = manifest["spec"]["template"]["spec"]
        yield keeper, _requests(keeper["containers"], 1)
    if manifest["kind"] != "RayJob":
        return
    cluster = manifest["spec"]["rayClusterSpec"]
    head = cluster["headGroupSpec"]["template"]["spec"]
    autoscaler = cluster.get("autoscalerOptions")
    yield head, _requests([*head["containers"], *([autoscaler] if autoscaler else [])], 1)
    for group in cluster["workerGroupSpecs"]:
        worker = group["template"]["spec"]
        yield worker, _requests(worker["containers"], group["replicas"])
    submitter = manifest["spec"]["submitterPodTemplate"]["spec"]
    yield submitter, _requests(submitter["containers"], 1)


def _requests(containers: Sequence[Manifest], pods: int) -> Amounts:
    requests = [each["resources"]["requests"] for each in containers]
    amounts = {
        kind: sum((parse_quantity(one[kind]) for one in requests), Decimal()) for kind in ("cpu", "memory")
    }
    amounts["pods"] = Decimal(1)
    return {name: amounts[kind] * pods for kind, names in _NAMES.items() for name in names}


def _sum(parts: Iterator[Amounts]) -> Amounts:
    total: Amounts = {}
    for part in parts:
        total = {name: total.get(name, Decimal()) + amount for name, amount in part.items()}
    return total


def _applies(quota: Manifest, pod: Manifest) -> bool:
    """Return whether a quota's scopes match a pod; a quota of a priority class is taken not to match."""
    spec = quota.get("spec", {})
    expressions = spec.get("scopeSelector", {}).get("matchExpressions", [])
    scopes = {*spec.get("scopes", []), *(each["scopeName"] for each in expressions)}
    deadline_scope = "Terminating" if "activeDeadlineSeconds" in pod else "NotTerminating"
    return scopes <= {"NotBestEffort", deadline_scope}


def _format(name: str, amount: Decimal) -> str:
    return f"{amount / _GI:.4g}Gi" if "memory" in name else f"{amount:f}"
