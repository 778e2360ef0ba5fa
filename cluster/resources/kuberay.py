"""The RayJob of a sweep, or the RayCluster of mode `cluster`, for KubeRay 1.7."""

from destage.cluster.resources.pods import (
    STUDY,
    STUDY_FILE,
    Manifest,
    build_container_security,
    build_head_template,
    build_resources,
    build_submitter_template,
    build_worker_template,
)
from destage.cluster.setup.cluster_settings import Job, Settings, Workers
from destage.cluster.setup.object_labels import Release

API = "ray.io/v1"


def build_ray_job(release: Release, settings: Settings) -> Manifest:
    """Return the RayJob that runs a sweep to its end."""
    job = settings.job
    spec = {
        "submissionMode": "K8sJobMode",
        # Two shells parse the entrypoint, so it has no URL: the head's DESTAGE_STORE has it.
        "entrypoint": f"destage cluster drive {settings.sweep.study or f'{STUDY}/{STUDY_FILE}'}",
        "entrypointNumCpus": 0,
        "activeDeadlineSeconds": job.active_deadline_seconds,
        "backoffLimit": job.backoff_limit,
        **_cleanup(job),
        "submitterConfig": {"backoffLimit": job.submitter_backoff_limit},
        "submitterPodTemplate": build_submitter_template(release, settings),
        "rayClusterSpec": _cluster_spec(release, settings),
    }
    return release.manifest(f"{API} RayJob", release.job_name(settings), spec=spec)


def build_ray_cluster(release: Release, settings: Settings) -> Manifest:
    """Return the RayCluster, which runs until it is deleted."""
    return release.manifest(f"{API} RayCluster", release.name, spec=_cluster_spec(release, settings))


def _cleanup(job: Job) -> Manifest:
    """Return how the pods are deleted after the end: KubeRay accepts a time to live or deletion rules."""
    if not job.deletion_rules:
        return {
            "shutdownAfterJobFinishes": True,
            "ttlSecondsAfterFinished": job.ttl_seconds_after_finished,
        }
    rules = [
        {"policy": rule.policy, "condition": {"jobStatus": rule.status, "ttlSeconds": rule.ttl_seconds}}
        for rule in job.deletion_rules
    ]
    return {"shutdownAfterJobFinishes": False, "deletionStrategy": {"deletionRules": rules}}


def _cluster_spec(release: Release, settings: Settings) -> Manifest:
    auth = {"mode": "token"} | ({"secretName": settings.auth_secret} if settings.auth_secret else {})
    spec: Manifest = {
        "rayVersion": settings.ray_version,
        "authOptions": auth,
        "headGroupSpec": {
            # No runs on the head: one that exhausts its memory would end the driver and the cluster.
            "rayStartParams": {"dashboard-host": "0.0.0.0", "num-cpus": "0"},  # noqa: S104 - the pod network
            "template": build_head_template(release, settings),
        },
        "workerGroupSpecs": [_worker_group(release, settings, group) for group in settings.workers],
    }
    if settings.autoscaling.enabled:
        spec |= {
            "enableInTreeAutoscaling": True,
            "autoscalerOptions": {
                "version": "v2",
                "idleTimeoutSeconds": settings.autoscaling.idle_timeout_seconds,
                "resources": build_resources("500m", "512Mi"),
                "securityContext": build_container_security(),
            },
        }
    return spec


def _worker_group(release: Release, settings: Settings, group: Workers) -> Manifest:
    is_elastic = settings.autoscaling.enabled
    return {
        "groupName": group.name,
        "replicas": group.replicas,
        "minReplicas": group.min_replicas if is_elastic else group.replicas,
        "maxReplicas": (group.max_replicas or group.replicas) if is_elastic else group.replicas,
        "rayStartParams": {"num-cpus": str(group.slots)},
        "template": build_worker_template(release, settings, group),
    }
