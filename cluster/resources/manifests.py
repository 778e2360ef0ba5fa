"""All objects of a release, built from its settings; a test checks that the chart renders the same."""

from destage.cluster.resources.keeper_job import build_keeper_job
from destage.cluster.resources.kuberay import build_ray_cluster, build_ray_job
from destage.cluster.resources.monitoring import build_monitors
from destage.cluster.resources.network import build_network_policies
from destage.cluster.resources.pods import STUDY_FILE, Manifest
from destage.cluster.resources.rbac import build_accounts, build_roles
from destage.cluster.setup.cluster_settings import Settings
from destage.cluster.setup.object_labels import Release


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
    return [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": release.metadata(release.claim_name(settings))
            | {"annotations": {"helm.sh/resource-policy": "keep"}},
            "spec": spec,
        }
    ]


def _disruption_budgets(release: Release, settings: Settings) -> list[Manifest]:
    if not settings.head.disruption_budget:
        return []
    return [
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": release.metadata(f"{release.name}-head"),
            # Kubernetes supports no other form for the pods of a custom resource.
            "spec": {"minAvailable": 1, "selector": {"matchLabels": release.pod_labels("head")}},
        }
    ]


def _study_maps(release: Release, settings: Settings) -> list[Manifest]:
    if not settings.sweep.spec:
        return []
    return [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": release.metadata(release.job_name(settings)),
            "data": {STUDY_FILE: settings.sweep.spec},
        }
    ]
