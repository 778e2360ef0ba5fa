"""Who may talk to a sweep's pods: themselves, and the operator to the head's dashboard."""

from destage.cluster.labels import COMPONENT, Release
from destage.cluster.pods import Manifest
from destage.cluster.settings import Settings

_DNS, _DASHBOARD, _METRICS = 53, 8265, 8080
_API_SERVER = (443, 6443)


def network_policies(release: Release, settings: Settings) -> list[Manifest]:
    """Return the NetworkPolicy of a release.

    Args:
        release: What it belongs to.
        settings: What is asked for.
    """
    if not settings.network_policy.enabled:
        return []
    own = {"podSelector": {"matchLabels": release.selector}}
    operator = {
        "namespaceSelector": {},
        "podSelector": {"matchLabels": {"app.kubernetes.io/name": "kuberay-operator"}},
    }
    ingress: list[Manifest] = [{"from": [own]}, {"from": [operator], "ports": _tcp(_DASHBOARD)}]
    if settings.pod_monitor.enabled:
        ingress.append({"from": [{"namespaceSelector": {}}], "ports": _tcp(_METRICS)})
    dns = [{"port": _DNS, "protocol": "UDP"}, {"port": _DNS, "protocol": "TCP"}]
    policies = [
        _policy(release, release.name, release.selector, ingress, [{"to": [own]}, {"ports": dns}]),
    ]
    if settings.autoscaling.enabled:
        # No selector names the API server; its ports have to do.
        policies.append(
            _policy(
                release,
                f"{release.name}-autoscaler",
                release.selector | {COMPONENT: "head"},
                [],
                [{"ports": _tcp(*_API_SERVER)}],
            )
        )
    return policies


def _policy(
    release: Release, name: str, selector: dict[str, str], ingress: list[Manifest], egress: list[Manifest]
) -> Manifest:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name, "namespace": release.namespace, "labels": release.labels},
        "spec": {
            "podSelector": {"matchLabels": selector},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": ingress,
            "egress": egress,
        },
    }


def _tcp(*ports: int) -> list[Manifest]:
    return [{"port": port, "protocol": "TCP"} for port in ports]
