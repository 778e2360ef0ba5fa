"""Pods that Pod Security's level `restricted` accepts: the head, the workers, the submitter.

Their root is read-only; what they write goes to the results, or to `/tmp`, where Ray keeps its session and
which ends with them. The submitter reaches no results and has no credentials.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from destage.cluster.labels import Release
from destage.cluster.settings import Image, Settings, Workers
from destage.cluster.storage import (
    identity_labels,
    store_env,
    store_env_from,
    store_mounts,
    store_volumes,
)

STUDY = "/etc/destage"
"""Where an inline study, or a ConfigMap's, is mounted."""
STUDY_FILE = "study.yaml"
_USER = 1000
_GRACE_S = 10
_SPOT_TAINTS = ("cloud.google.com/gke-spot", "kubernetes.azure.com/scalesetpriority")
_PORTS = {"gcs-server": 6379, "dashboard": 8265, "client": 10001, "metrics": 8080}

Manifest = dict[str, Any]


def head_template(release: Release, settings: Settings) -> Manifest:
    """Return the pod that drives the sweep.

    Args:
        release: What it belongs to.
        settings: What is asked for.
    """
    head = settings.head
    ports = [{"name": name, "containerPort": port} for name, port in _PORTS.items()]
    container = _ray_container("ray-head", release, settings, head.cpu, head.memory) | {"ports": ports}
    container["volumeMounts"] += _study_mounts(settings)
    pod = _pod(
        settings,
        [container],
        [_scratch(), *store_volumes(release, settings), *_study_volumes(release, settings)],
        release.pods_account,
        head.node_selector,
        head.tolerations,
    )
    pod["automountServiceAccountToken"] = settings.autoscaling.enabled
    return {"metadata": {"labels": release.pod_labels("head") | identity_labels(settings)}, "spec": pod}


def worker_template(release: Release, settings: Settings, group: Workers) -> Manifest:
    """Return a pod that executes runs.

    Args:
        release: What it belongs to.
        settings: What is asked for.
        group: Its group.
    """
    taints = _SPOT_TAINTS if group.spot else ()
    spot = tuple({"key": key, "operator": "Exists", "effect": "NoSchedule"} for key in taints)
    container = _ray_container("ray-worker", release, settings, group.cpu, group.memory)
    container["ports"] = [{"name": "metrics", "containerPort": _PORTS["metrics"]}]
    pod = _pod(
        settings,
        [container],
        [_scratch(), *store_volumes(release, settings)],
        release.pods_account,
        group.node_selector,
        (*spot, *group.tolerations),
    )
    return {"metadata": {"labels": release.pod_labels("worker") | identity_labels(settings)}, "spec": pod}


def submitter_template(release: Release, settings: Settings) -> Manifest:
    """Return the pod that hands the job to the head and waits for its end.

    Args:
        release: What it belongs to.
        settings: What is asked for.
    """
    container = {
        "name": "submitter",
        **_image(settings.image, release.version),
        "env": [{"name": "HOME", "value": "/tmp"}],  # noqa: S108 - the only place that can be written
        "resources": resources("500m", "512Mi"),
        "securityContext": build_container_security(),
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108 - same
    }
    pod = _pod(settings, [container], [_scratch()], release.submitter_account, {}, ())
    pod["restartPolicy"] = "Never"
    return {"metadata": {"labels": release.pod_labels("submitter")}, "spec": pod}


def pod_security() -> Manifest:
    """Return as whom a pod runs: a user without rights, to whom the volume belongs."""
    return {
        "runAsNonRoot": True,
        "runAsUser": _USER,
        "runAsGroup": _USER,
        "fsGroup": _USER,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def build_container_security() -> Manifest:
    """Return what a container may do: nothing but run."""
    return {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }


def resources(cpu: str, memory: str) -> Manifest:
    """Return resources whose requests are their limits, so that nothing is taken from a neighbour.

    Args:
        cpu: Processors.
        memory: Memory.
    """
    amounts = {"cpu": cpu, "memory": memory}
    return {"requests": dict(amounts), "limits": dict(amounts)}


def _ray_container(name: str, release: Release, settings: Settings, cpu: str, memory: str) -> Manifest:
    return {
        "name": name,
        **_image(settings.image, release.version),
        "env": [
            {"name": "HOME", "value": "/tmp"},  # noqa: S108 - the only place that can be written
            *store_env(settings),
            {"name": "RAY_USAGE_STATS_ENABLED", "value": "0"},
        ],
        **store_env_from(settings),
        "resources": resources(cpu, memory),
        "securityContext": build_container_security(),
        "volumeMounts": [
            {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108 - same
            *store_mounts(settings),
        ],
    }


def _image(image: Image, version: str) -> Manifest:
    suffix = f"@{image.digest}" if image.digest else f":{image.tag or version}"
    return {"image": f"{image.repository}{suffix}", "imagePullPolicy": image.pull_policy}


def _pod(
    settings: Settings,
    containers: list[Manifest],
    volumes: list[Manifest],
    account: str,
    node_selector: Mapping[str, str],
    tolerations: Sequence[Mapping[str, Any]],
) -> Manifest:
    pod: Manifest = {
        "serviceAccountName": account,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": _GRACE_S,
        "securityContext": pod_security(),
        "containers": containers,
        "volumes": volumes,
    }
    if settings.image.pull_secrets:
        pod["imagePullSecrets"] = [{"name": name} for name in settings.image.pull_secrets]
    if node_selector:
        pod["nodeSelector"] = dict(node_selector)
    if tolerations:
        pod["tolerations"] = [dict(each) for each in tolerations]
    return pod


def _scratch() -> Manifest:
    return {"name": "tmp", "emptyDir": {}}


def _study_volumes(release: Release, settings: Settings) -> list[Manifest]:
    sweep = settings.sweep
    name = sweep.config_map or (release.job(settings) if sweep.spec else "")
    return [{"name": "study", "configMap": {"name": name}}] if name else []


def _study_mounts(settings: Settings) -> list[Manifest]:
    is_mounted = settings.sweep.spec or settings.sweep.config_map
    return [{"name": "study", "mountPath": STUDY, "readOnly": True}] if is_mounted else []
