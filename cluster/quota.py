"""What a sweep's pods request in all, and whether the namespace's quotas leave that much."""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from kubernetes.utils import parse_quantity

from destage.cluster.check_result import Finding
from destage.cluster.jobs import parse_job
from destage.cluster.pods import Manifest
from destage.cluster.reader_pod import build_reader_pod

Amounts = dict[str, Decimal]
_GI = 2**30
_NAMES = {
    "pods": ("pods", "count/pods"),
    "cpu": ("cpu", "requests.cpu", "limits.cpu"),
    "memory": ("memory", "requests.memory", "limits.memory"),
}
"""What quotas call each amount; requests are limits."""


def check_quotas(quotas: Sequence[Manifest], job: Manifest | None) -> Finding:
    """Return what is left in the quotas of a namespace, and whether a sweep fits.

    Args:
        quotas: The ResourceQuotas, as the server has them.
        job: The RayJob that would be made; None to compare with nothing.
    """
    used, short = [], []
    pods = list(_pods(job)) if job else []
    for quota in quotas:
        status = quota.get("status", {})
        asked = _sum(amounts for pod, amounts in pods if _counts(quota, pod))
        for name, most in sorted(status.get("hard", {}).items()):
            there = status.get("used", {}).get(name, "0")
            used.append(f"{name} {there} of {most}")
            left = parse_quantity(most) - parse_quantity(there)
            if name in asked and asked[name] > left:
                told = f"{name} {_shown(name, asked[name])}, and {_shown(name, left)} are left"
                short.append(f"{quota['metadata']['name']}: {told}")
    told = f"used: {'; '.join(used)}" if used else "none set"
    if not short:
        return Finding("quota", told)
    mend = "ask for less (cpu, memory, fewer workers.N.replicas), delete what has ended, or have it raised"
    return Finding("quota", f"{told}; the sweep's pods ask for more: {'; '.join(short)}", mend)


def _pods(job: Manifest) -> Iterator[tuple[Manifest, Amounts]]:
    """Yield the spec of each kind of pod, the reader's too, with what all of its kind ask for."""
    cluster = job["spec"]["rayClusterSpec"]
    head = cluster["headGroupSpec"]["template"]["spec"]
    beside = cluster.get("autoscalerOptions")
    yield head, _asked([*head["containers"], *([beside] if beside else [])], 1)
    for group in cluster["workerGroupSpecs"]:
        worker = group["template"]["spec"]
        yield worker, _asked(worker["containers"], group["replicas"])
    for pod in (job["spec"]["submitterPodTemplate"]["spec"], build_reader_pod(parse_job(job))["spec"]):
        yield pod, _asked(pod["containers"], 1)


def _asked(containers: Sequence[Manifest], pods: int) -> Amounts:
    requests = [each["resources"]["requests"] for each in containers]
    amounts = {
        kind: sum((parse_quantity(one[kind]) for one in requests), Decimal()) for kind in ("cpu", "memory")
    }
    amounts["pods"] = Decimal(1)
    return {name: amounts[kind] * pods for kind, names in _NAMES.items() for name in names}


def _sum(parts: Iterator[Amounts]) -> Amounts:
    whole: Amounts = {}
    for part in parts:
        whole = {name: whole.get(name, Decimal()) + amount for name, amount in part.items()}
    return whole


def _counts(quota: Manifest, pod: Manifest) -> bool:
    """Return whether a quota is about a pod; one for a priority class is taken to be about others."""
    spec = quota.get("spec", {})
    chosen = spec.get("scopeSelector", {}).get("matchExpressions", [])
    scopes = {*spec.get("scopes", []), *(each["scopeName"] for each in chosen)}
    has_end = "Terminating" if "activeDeadlineSeconds" in pod else "NotTerminating"
    return scopes <= {"NotBestEffort", has_end}


def _shown(name: str, amount: Decimal) -> str:
    return f"{amount / _GI:.4g}Gi" if "memory" in name else f"{amount:f}"
