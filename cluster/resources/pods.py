"""The pods of a sweep, at Pod Security level `restricted`: head, workers, submitter and keeper.

The root file system is read-only; they write to the store and to `/tmp`, an emptyDir with Ray's session.
The submitter and the keeper have no access to the store and no credentials.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from destage.cluster.resources.storage import (
    build_identity_labels,
    build_store_env,
    build_store_env_from,
    build_store_mounts,
    build_store_volumes,
)
from destage.cluster.setup.cluster_settings import Head, Settings, Workers
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
    container = _ray_container("ray-head", release, settings, head.cpu, head.memory)
    container["ports"] = [{"name": name, "containerPort": port} for name, port in _PORTS.items()]
    container["volumeMounts"] += _study_mounts(settings)
    volumes = [*build_store_volumes(release, settings), *_study_volumes(release, settings)]
    pod = _pod(settings, container, volumes, release.pods_account, head, head.priority_class)
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
    placed = replace(group, tolerations=(*spot, *group.tolerations))
    pod = _pod(settings, container, build_store_volumes(release, settings), release.pods_account, placed)
    return {
        "metadata": {"labels": release.pod_labels("worker") | build_identity_labels(settings)},
        "spec": pod,
    }


def build_submitter_template(release: Release, settings: Settings) -> Manifest:
    """Return the template of the pod that submits the job to the head and waits for its end."""
    container = _container("submitter", release, settings, "500m", "512Mi")
    pod = _pod(settings, container, [], release.submitter_account)
    pod["restartPolicy"] = "Never"
    return {"metadata": {"labels": release.pod_labels("submitter")}, "spec": pod}


def build_keeper_template(release: Release, settings: Settings) -> Manifest:
    """Return the template of the pod that restarts the job; only this pod can change a RayJob's status."""
    command = ["destage", "cluster", "keep", release.job_name(settings)]
    command += [release.keeper_job_name(settings), "--max-failures", str(settings.keeper.max_failures)]
    container = _container("keeper", release, settings, "50m", "128Mi", command=command)
    head = settings.head
    pod = _pod(settings, container, [], release.keeper_account, head, head.priority_class)
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
    container = _container(name, release, settings, cpu, memory, env_from=build_store_env_from(settings))
    container["env"] += [*build_store_env(settings), {"name": "RAY_USAGE_STATS_ENABLED", "value": "0"}]
    container["volumeMounts"] += build_store_mounts(settings)
    return container


def _container(
    name: str,
    release: Release,
    settings: Settings,
    cpu: str,
    memory: str,
    *,
    command: Sequence[str] = (),
    env_from: Manifest | None = None,
) -> Manifest:
    image = settings.image
    suffix = f"@{image.digest}" if image.digest else f":{image.tag or release.version}"
    return {
        "name": name,
        **({"command": command} if command else {}),
        "image": f"{image.repository}{suffix}",
        "imagePullPolicy": image.pull_policy,
        "env": [{"name": "HOME", "value": "/tmp"}],  # noqa: S108 - the only writable folder
        **(env_from or {}),
        "resources": build_resources(cpu, memory),
        "securityContext": build_container_security(),
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108 - same
    }


def _pod(
    settings: Settings,
    container: Manifest,
    volumes: list[Manifest],
    account: str,
    placed: Head | Workers | None = None,
    priority_class: str = "",
) -> Manifest:
    """Return the spec of a pod.

    Args:
        placed: Where it runs: node labels and tolerations.
    """
    pod: Manifest = {
        "serviceAccountName": account,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": _GRACE_S,
        "securityContext": build_pod_security(),
        "containers": [container],
        "volumes": [{"name": "tmp", "emptyDir": {}}, *volumes],
    }
    if settings.image.pull_secrets:
        pod["imagePullSecrets"] = [{"name": name} for name in settings.image.pull_secrets]
    if priority := priority_class or settings.priority_class:
        pod["priorityClassName"] = priority
    if placed and placed.node_selector:
        pod["nodeSelector"] = dict(placed.node_selector)
    if placed and placed.tolerations:
        pod["tolerations"] = [dict(toleration) for toleration in placed.tolerations]
    return pod


def _study_volumes(release: Release, settings: Settings) -> list[Manifest]:
    sweep = settings.sweep
    name = sweep.config_map or (release.job_name(settings) if sweep.spec else "")
    return [{"name": "study", "configMap": {"name": name}}] if name else []


def _study_mounts(settings: Settings) -> list[Manifest]:
    is_mounted = settings.sweep.spec or settings.sweep.config_map
    return [{"name": "study", "mountPath": STUDY, "readOnly": True}] if is_mounted else []
