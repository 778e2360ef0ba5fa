"""NetworkPolicies: ingress from the sweep's own pods and the operator, egress to DNS and the store."""

from destage.cluster.resources.pods import Manifest
from destage.cluster.setup.cluster_settings import Settings
from destage.cluster.setup.object_labels import COMPONENT, Release
from destage.cluster.setup.store_url import find_ports, find_scheme

_DNS, _DASHBOARD, _METRICS = 53, 8265, 8080
_API_SERVER = (443, 6443)
_IDENTITY: dict[str, tuple[tuple[tuple[str, ...], int], ...]] = {
    "s3": ((("169.254.170.23/32", "fd00:ec2::23/128"), 80),),
    "gs": ((("169.254.169.254/32",), 80), (("169.254.169.252/32",), 988)),
}
"""Identity services without TLS: the agent of EKS Pod Identity; GKE's metadata server, at the address that
pods use and, for policies applied after address translation, at its own."""


def build_network_policies(release: Release, settings: Settings) -> list[Manifest]:
    """Return the NetworkPolicies of a release."""
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
    egress: list[Manifest] = [{"to": [own]}, {"ports": dns}, *_external_rules(settings)]
    policies = [_policy(release, release.name, release.selector, ingress, egress)]
    if settings.autoscaling.enabled:
        policies.append(_allow_api_server(release, "autoscaler", "head"))
    if settings.mode == "job" and settings.keeper.enabled:
        policies.append(_allow_api_server(release, "keeper", "keeper"))
    return policies


def _allow_api_server(release: Release, suffix: str, component: str) -> Manifest:
    # No selector matches the API server, so its ports are open to any address.
    selector = release.selector | {COMPONENT: component}
    return _policy(release, f"{release.name}-{suffix}", selector, [], [{"ports": _tcp(*_API_SERVER)}])


def _external_rules(settings: Settings) -> list[Manifest]:
    """Return the egress rules to outside the cluster; no selector matches a bucket, so its ports are open."""
    url = settings.store.url
    ports = [*(find_ports(url) if url else []), *settings.network_policy.egress_ports]
    rules: list[Manifest] = [{"ports": _tcp(*dict.fromkeys(ports))}] if ports else []
    if url and not settings.store.secret:
        rules += [
            {"to": [{"ipBlock": {"cidr": cidr}} for cidr in cidrs], "ports": _tcp(port)}
            for cidrs, port in _IDENTITY.get(find_scheme(url), ())
        ]
    return rules


def _policy(
    release: Release, name: str, selector: dict[str, str], ingress: list[Manifest], egress: list[Manifest]
) -> Manifest:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": release.metadata(name),
        "spec": {
            "podSelector": {"matchLabels": selector},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": ingress,
            "egress": egress,
        },
    }


def _tcp(*ports: int) -> list[Manifest]:
    return [{"port": port, "protocol": "TCP"} for port in ports]
