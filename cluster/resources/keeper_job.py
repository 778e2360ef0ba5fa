"""The Job of the keeper, which Kubernetes moves to another node when it is lost with its own."""

from destage.cluster.resources.pods import Manifest, build_keeper_template
from destage.cluster.setup.cluster_settings import Settings
from destage.cluster.setup.object_labels import Release


def build_keeper_job(release: Release, settings: Settings) -> Manifest:
    """Return the Job, which ends with the sweep."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": release.metadata(release.keeper_job_name(settings)),
        "spec": {
            "backoffLimit": 10,
            "podFailurePolicy": {
                "rules": [
                    {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
                ]
            },
            "template": build_keeper_template(release, settings),
        },
    }
