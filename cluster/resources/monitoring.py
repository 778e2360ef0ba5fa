"""Ray's metrics: a PodMonitor for Prometheus, and a Grafana dashboard in a ConfigMap."""

import json

from destage.cluster.resources.pods import Manifest
from destage.cluster.setup.cluster_settings import Settings
from destage.cluster.setup.object_labels import Release

_PANELS = (
    ("Tasks by state", 'sum by (State) (ray_tasks{SessionName=~".+"})', "short"),
    ("CPUs in use", 'sum(ray_resources{Name="CPU",State="USED"})', "short"),
    ("CPUs available", 'sum(ray_resources{Name="CPU"})', "short"),
    ("Memory used by node", "sum by (instance) (ray_node_mem_used)", "bytes"),
)


def build_monitors(release: Release, settings: Settings) -> list[Manifest]:
    """Return the PodMonitor and the dashboard's ConfigMap, if enabled."""
    manifests = []
    if settings.pod_monitor.enabled:
        monitor = settings.pod_monitor
        endpoint = {"port": "metrics", "interval": monitor.interval}
        manifests.append(
            {
                "apiVersion": "monitoring.coreos.com/v1",
                "kind": "PodMonitor",
                "metadata": release.metadata(release.name, **monitor.labels),
                "spec": {"selector": {"matchLabels": release.selector}, "podMetricsEndpoints": [endpoint]},
            }
        )
    if settings.dashboard.enabled:
        labels = {"grafana_dashboard": "1"} | dict(settings.dashboard.labels)
        manifests.append(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": release.metadata(f"{release.name}-dashboard", **labels),
                "data": {"destage.json": json.dumps(build_dashboard(), indent=1)},
            }
        )
    return manifests


def build_dashboard() -> Manifest:
    """Return the Grafana dashboard."""
    panels = [
        {
            "type": "timeseries",
            "title": title,
            "gridPos": {"x": 12 * (at % 2), "y": 8 * (at // 2), "w": 12, "h": 8},
            "fieldConfig": {"defaults": {"unit": unit}, "overrides": []},
            "targets": [{"expr": expression, "refId": "A"}],
        }
        for at, (title, expression, unit) in enumerate(_PANELS)
    ]
    return {
        "title": "Destage sweeps",
        "uid": "destage",
        "schemaVersion": 39,
        "refresh": "30s",
        "panels": panels,
    }
