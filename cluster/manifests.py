"""The one builder: settings in, every object of a release out; a test holds the chart to the same."""

from destage.cluster.kuberay import ray_cluster, ray_job
from destage.cluster.labels import Release
from destage.cluster.monitoring import monitors
from destage.cluster.network import network_policies
from destage.cluster.pods import STUDY_FILE, Manifest
from destage.cluster.rbac import accounts, roles
from destage.cluster.settings import Settings

__all__ = ["Manifest", "Release", "build"]


def build(release: Release, settings: Settings) -> list[Manifest]:
    """Return every object of a release, in the order in which they are made.

    Args:
        release: Its name and place.
        settings: What is asked for.
    """
    is_job = settings.mode == "job"
    return [
        *accounts(release, settings),
        *roles(release, settings),
        *_claims(release, settings),
        *_studies(release, settings),
        *network_policies(release, settings),
        *monitors(release, settings),
        ray_job(release, settings) if is_job else ray_cluster(release, settings),
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
    return [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {
                "name": release.claim(settings),
                "namespace": release.namespace,
                "labels": release.labels,
                "annotations": {"helm.sh/resource-policy": "keep"},
            },
            "spec": spec,
        }
    ]


def _studies(release: Release, settings: Settings) -> list[Manifest]:
    if not settings.sweep.spec:
        return []
    return [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": release.job(settings),
                "namespace": release.namespace,
                "labels": release.labels,
            },
            "data": {STUDY_FILE: settings.sweep.spec},
        }
    ]
