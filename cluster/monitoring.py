"""Metrics for those who have Prometheus and Grafana: a PodMonitor, and a board in a ConfigMap."""

import json

from destage.cluster.labels import Release
from destage.cluster.pods import Manifest
from destage.cluster.settings import Settings

_PANELS = (
    ("Tasks by state", 'sum by (State) (ray_tasks{SessionName=~".+"})', "short"),
    ("Processors in use", 'sum(ray_resources{Name="CPU",State="USED"})', "short"),
    ("Processors there", 'sum(ray_resources{Name="CPU"})', "short"),
    ("Memory used by node", "sum by (instance) (ray_node_mem_used)", "bytes"),
)


def monitors(release: Release, settings: Settings) -> list[Manifest]:
    """Return the PodMonitor and the board, where they are asked for.

    Args:
        release: What they belong to.
        settings: What is asked for.
    """
    made = []
    if settings.pod_monitor.enabled:
        monitor = settings.pod_monitor
        endpoint = {"port": "metrics", "interval": monitor.interval}
        made.append(
            {
                "apiVersion": "monitoring.coreos.com/v1",
                "kind": "PodMonitor",
                "metadata": _metadata(release, release.name, dict(monitor.labels)),
                "spec": {"selector": {"matchLabels": release.selector}, "podMetricsEndpoints": [endpoint]},
            }
        )
    if settings.dashboard.enabled:
        labels = {"grafana_dashboard": "1"} | dict(settings.dashboard.labels)
        made.append(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": _metadata(release, f"{release.name}-dashboard", labels),
                "data": {"destage.json": json.dumps(dashboard(), indent=1)},
            }
        )
    return made


def dashboard() -> Manifest:
    """Return Grafana's board."""
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


def _metadata(release: Release, name: str, labels: dict[str, str]) -> Manifest:
    return {"name": name, "namespace": release.namespace, "labels": release.labels | labels}
