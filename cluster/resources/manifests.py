"""All manifests of a release, built from its settings; a test checks that the chart renders the same.

Beside the sweep itself: the Job of the keeper, which Kubernetes moves to another node when it is lost with
its own; a PodMonitor for Prometheus and a Grafana dashboard in a ConfigMap for Ray's metrics; NetworkPolicies
(ingress from the sweep's own pods and the operator, egress to DNS and the store).
"""

import json

from destage.cluster.resources.kuberay import build_ray_cluster, build_ray_job
from destage.cluster.resources.pods import STUDY_FILE, Manifest, build_keeper_template
from destage.cluster.resources.rbac import build_accounts, build_roles
from destage.cluster.setup.cluster_settings import Settings, find_ports, find_scheme
from destage.cluster.setup.object_labels import COMPONENT, Release


def build_keeper_job(release: Release, settings: Settings) -> Manifest:
    """Return the Job, which ends with the sweep."""
    moved = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    spec = {
        "backoffLimit": 10,
        "podFailurePolicy": {"rules": [moved]},
        "template": build_keeper_template(release, settings),
    }
    return release.manifest("batch/v1 Job", release.keeper_job_name(settings), spec=spec)


_PANELS = (
    ("Tasks by state", 'sum by (State) (ray_tasks{SessionName=~".+"})', "short"),
    ("CPUs in use", 'sum(ray_resources{Name="CPU",State="USED"})', "short"),
    ("CPUs available", 'sum(ray_resources{Name="CPU"})', "short"),
    ("Memory used by node", "sum by (instance) (ray_node_mem_used)", "bytes"),
)


def build_monitors(release: Release, settings: Settings) -> list[Manifest]:
    """Return the PodMonitor and the dashboard's ConfigMap, if enabled."""
    manifests, monitor = [], settings.pod_monitor
    if monitor.enabled:
        endpoint = {"port": "metrics", "interval": monitor.interval}
        spec = {"selector": {"matchLabels": release.selector}, "podMetricsEndpoints": [endpoint]}
        kind = "monitoring.coreos.com/v1 PodMonitor"
        manifests.append(release.manifest(kind, release.name, labels=monitor.labels, spec=spec))
    if settings.dashboard.enabled:
        labels = {"grafana_dashboard": "1"} | dict(settings.dashboard.labels)
        data = {"destage.json": json.dumps(build_dashboard(), indent=1)}
        name = f"{release.name}-dashboard"
        manifests.append(release.manifest("v1 ConfigMap", name, labels=labels, data=data))
    return manifests


def build_dashboard() -> Manifest:
    """Return the Grafana dashboard."""
    panels = [
        {
            "type": "timeseries",
            "title": title,
            "gridPos": {"x": 12 * (index % 2), "y": 8 * (index // 2), "w": 12, "h": 8},
            "fieldConfig": {"defaults": {"unit": unit}, "overrides": []},
            "targets": [{"expr": expression, "refId": "A"}],
        }
        for index, (title, expression, unit) in enumerate(_PANELS)
    ]
    return {
        "title": "Destage sweeps",
        "uid": "destage",
        "schemaVersion": 39,
        "refresh": "30s",
        "panels": panels,
    }


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
    spec = {
        "podSelector": {"matchLabels": selector},
        "policyTypes": ["Ingress", "Egress"],
        "ingress": ingress,
        "egress": egress,
    }
    return release.manifest("networking.k8s.io/v1 NetworkPolicy", name, spec=spec)


def _tcp(*ports: int) -> list[Manifest]:
    return [{"port": port, "protocol": "TCP"} for port in ports]


def build(release: Release, settings: Settings) -> list[Manifest]:
    """Return every object of a release, in the order of creation."""
    is_job = settings.mode == "job"
    return [
        *build_accounts(release, settings),
        *build_roles(release, settings),
        *_claims(release, settings),
        *_study_maps(release, settings),
        *build_network_policies(release, settings),
        *build_monitors(release, settings),
        *_disruption_budgets(release, settings),
        *([build_keeper_job(release, settings)] if is_job and settings.keeper.enabled else []),
        build_ray_job(release, settings) if is_job else build_ray_cluster(release, settings),
    ]


def _claims(release: Release, settings: Settings) -> list[Manifest]:
    claim = settings.claim
    if claim.existing or settings.store.url:
        return []
    spec: Manifest = {
        "accessModes": [claim.access_mode],
        "resources": {"requests": {"storage": claim.size}},
    }
    if claim.storage_class:
        spec["storageClassName"] = claim.storage_class
    kept = {"helm.sh/resource-policy": "keep"}
    name = release.claim_name(settings)
    return [release.manifest("v1 PersistentVolumeClaim", name, annotations=kept, spec=spec)]


def _disruption_budgets(release: Release, settings: Settings) -> list[Manifest]:
    if not settings.head.disruption_budget:
        return []
    # Kubernetes supports no other form for the pods of a custom resource.
    spec = {"minAvailable": 1, "selector": {"matchLabels": release.pod_labels("head")}}
    return [release.manifest("policy/v1 PodDisruptionBudget", f"{release.name}-head", spec=spec)]


def _study_maps(release: Release, settings: Settings) -> list[Manifest]:
    if not settings.sweep.spec:
        return []
    data = {STUDY_FILE: settings.sweep.spec}
    return [release.manifest("v1 ConfigMap", release.job_name(settings), data=data)]
