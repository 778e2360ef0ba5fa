"""The pods of a sweep, at Pod Security level `restricted`: head, workers, submitter and keeper.

The root file system is read-only; they write to the store and to `/tmp`, an emptyDir with Ray's session.
The submitter and the keeper have no access to the store and no credentials.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from destage.cluster.resources.storage import (
    build_identity_labels,
    build_store_env,
    build_store_env_from,
    build_store_mounts,
    build_store_volumes,
)
from destage.cluster.setup.cluster_settings import Image, Settings, Workers
from destage.cluster.setup.object_labels import READER_PRIORITY, Release

STUDY = "/etc/destage"
"""The mount path of the ConfigMap with the study."""
STUDY_FILE = "study.yaml"
_USER = 1000
_GRACE_S = 10
_SPOT_TAINTS = ("cloud.google.com/gke-spot", "kubernetes.azure.com/scalesetpriority")
_PORTS = {"gcs-server": 6379, "dashboard": 8265, "client": 10001, "metrics": 8080}

Manifest = dict[str, Any]


def build_head_template(release: Release, settings: Settings) -> Manifest:
    """Return the template of the pod that drives the sweep."""
    head = settings.head
    ports = [{"name": name, "containerPort": port} for name, port in _PORTS.items()]
    container = _ray_container("ray-head", release, settings, head.cpu, head.memory) | {"ports": ports}
    container["volumeMounts"] += _study_mounts(settings)
    pod = _pod(
        settings,
        [container],
        [_scratch_volume(), *build_store_volumes(release, settings), *_study_volumes(release, settings)],
        release.pods_account,
        head.node_selector,
        head.tolerations,
        head.priority_class,
    )
    pod["automountServiceAccountToken"] = settings.autoscaling.enabled
    metadata: Manifest = {"labels": release.pod_labels("head") | build_identity_labels(settings)}
    if settings.reader.priority_class:
        metadata["annotations"] = {READER_PRIORITY: settings.reader.priority_class}
    return {"metadata": metadata, "spec": pod}


def build_worker_template(release: Release, settings: Settings, group: Workers) -> Manifest:
    """Return the template of the pods that execute runs."""
    taints = _SPOT_TAINTS if group.spot else ()
    spot = tuple({"key": key, "operator": "Exists", "effect": "NoSchedule"} for key in taints)
    container = _ray_container("ray-worker", release, settings, group.cpu, group.memory)
    container["ports"] = [{"name": "metrics", "containerPort": _PORTS["metrics"]}]
    pod = _pod(
        settings,
        [container],
        [_scratch_volume(), *build_store_volumes(release, settings)],
        release.pods_account,
        group.node_selector,
        (*spot, *group.tolerations),
    )
    return {
        "metadata": {"labels": release.pod_labels("worker") | build_identity_labels(settings)},
        "spec": pod,
    }


def build_submitter_template(release: Release, settings: Settings) -> Manifest:
    """Return the template of the pod that submits the job to the head and waits for its end."""
    container = {
        "name": "submitter",
        **_image(settings.image, release.version),
        "env": [{"name": "HOME", "value": "/tmp"}],  # noqa: S108 - the only writable folder
        "resources": build_resources("500m", "512Mi"),
        "securityContext": build_container_security(),
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108 - same
    }
    pod = _pod(settings, [container], [_scratch_volume()], release.submitter_account, {}, ())
    pod["restartPolicy"] = "Never"
    return {"metadata": {"labels": release.pod_labels("submitter")}, "spec": pod}


def build_keeper_template(release: Release, settings: Settings) -> Manifest:
    """Return the template of the pod that restarts the job; only this pod can change a RayJob's status."""
    command = ["destage", "cluster", "keep", release.job_name(settings)]
    command += [release.keeper_job_name(settings), "--max-failures", str(settings.keeper.max_failures)]
    container = {
        "name": "keeper",
        "command": command,
        **_image(settings.image, release.version),
        "env": [{"name": "HOME", "value": "/tmp"}],  # noqa: S108 - the only writable folder
        "resources": build_resources("50m", "128Mi"),
        "securityContext": build_container_security(),
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108 - same
    }
    head = settings.head
    pod = _pod(
        settings,
        [container],
        [_scratch_volume()],
        release.keeper_account,
        head.node_selector,
        head.tolerations,
        head.priority_class,
    )
    pod |= {"automountServiceAccountToken": True, "restartPolicy": "Never"}
    return {"metadata": {"labels": release.pod_labels("keeper")}, "spec": pod}


def build_pod_security() -> Manifest:
    """Return the security context of a pod: an unprivileged user, whose group owns the volume."""
    return {
        "runAsNonRoot": True,
        "runAsUser": _USER,
        "runAsGroup": _USER,
        "fsGroup": _USER,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def build_container_security() -> Manifest:
    """Return the security context of a container: no privileges, no capabilities, a read-only root."""
    return {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }


def build_resources(cpu: str, memory: str) -> Manifest:
    """Return resources with requests equal to limits, so that pods do not compete for a node's resources."""
    amounts = {"cpu": cpu, "memory": memory}
    return {"requests": dict(amounts), "limits": dict(amounts)}


def _ray_container(name: str, release: Release, settings: Settings, cpu: str, memory: str) -> Manifest:
    return {
        "name": name,
        **_image(settings.image, release.version),
        "env": [
            {"name": "HOME", "value": "/tmp"},  # noqa: S108 - the only writable folder
            *build_store_env(settings),
            {"name": "RAY_USAGE_STATS_ENABLED", "value": "0"},
        ],
        **build_store_env_from(settings),
        "resources": build_resources(cpu, memory),
        "securityContext": build_container_security(),
        "volumeMounts": [
            {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108 - same
            *build_store_mounts(settings),
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
    priority_class: str = "",
) -> Manifest:
    pod: Manifest = {
        "serviceAccountName": account,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": _GRACE_S,
        "securityContext": build_pod_security(),
        "containers": containers,
        "volumes": volumes,
    }
    if settings.image.pull_secrets:
        pod["imagePullSecrets"] = [{"name": name} for name in settings.image.pull_secrets]
    if priority := priority_class or settings.priority_class:
        pod["priorityClassName"] = priority
    if node_selector:
        pod["nodeSelector"] = dict(node_selector)
    if tolerations:
        pod["tolerations"] = [dict(toleration) for toleration in tolerations]
    return pod


def _scratch_volume() -> Manifest:
    return {"name": "tmp", "emptyDir": {}}


def _study_volumes(release: Release, settings: Settings) -> list[Manifest]:
    sweep = settings.sweep
    name = sweep.config_map or (release.job_name(settings) if sweep.spec else "")
    return [{"name": "study", "configMap": {"name": name}}] if name else []


def _study_mounts(settings: Settings) -> list[Manifest]:
    is_mounted = settings.sweep.spec or settings.sweep.config_map
    return [{"name": "study", "mountPath": STUDY, "readOnly": True}] if is_mounted else []
