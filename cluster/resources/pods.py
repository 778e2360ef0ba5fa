"""The pods of a sweep, at Pod Security level `restricted`: head, workers, submitter and keeper.

The root file system is read-only; they write to the store and to `/tmp`, an emptyDir with Ray's session.
The submitter and the keeper have no access to the store and no credentials.

Beside a job are a reader of its store, and the probe of `destage cluster doctor`. They have the head's
image, account and store, but neither Ray nor the study. The probe starts the image as a sweep would and tests
writing to the store.
"""

import copy
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
from destage.cluster.setup.object_labels import COMPONENT, READER_PRIORITY, Release

STUDY = "/etc/destage"
"""The mount path of the ConfigMap with the study."""
STUDY_FILE = "study.yaml"
_USER = 1000
_GRACE_S = 10
_SPOT_TAINTS = ("cloud.google.com/gke-spot", "kubernetes.azure.com/scalesetpriority")
_PORTS = {"gcs-server": 6379, "dashboard": 8265, "client": 10001, "metrics": 8080}
_CPU = "250m"
"""Enough for a response in seconds; more would be taken from the workers' quota while the pod is idle."""
_INHERITED = ("image", "imagePullPolicy", "env", "envFrom", "securityContext")
PROBE = "destage-doctor"
"""The name of the probe's pod."""
_LIFETIME_S = 300

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


def build_auxiliary_pod(
    head: Manifest, name: str, component: str, command: Sequence[str], *, memory: str, lifetime_s: int
) -> Manifest:
    """Return a pod with the access to the results that the template of the head pod has."""
    spec = copy.deepcopy(head["spec"])
    ray = spec["containers"][0]
    container = {
        "name": component,
        "command": list(command),
        **{part: ray[part] for part in _INHERITED if part in ray},
        "resources": build_resources(_CPU, memory),
        "volumeMounts": [mount for mount in ray["volumeMounts"] if mount["name"] != "study"],
    }
    spec.pop("priorityClassName", None)  # a pod beside the sweep must not displace the sweep's pods
    if priority := head["metadata"].get("annotations", {}).get(READER_PRIORITY):
        spec["priorityClassName"] = priority
    spec |= {
        "containers": [container],
        "volumes": [volume for volume in spec["volumes"] if volume["name"] != "study"],
        "automountServiceAccountToken": False,
        "restartPolicy": "Never",
        "activeDeadlineSeconds": lifetime_s,
        "terminationGracePeriodSeconds": 0,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": head["metadata"]["labels"] | {COMPONENT: component}},
        "spec": spec,
    }


def build_probe_pod(release: Release, settings: Settings, image: str | None) -> Manifest:
    """Return the pod; `image` replaces that of the settings."""
    head = build_head_template(release, settings)
    command = _command(settings)
    pod = build_auxiliary_pod(head, PROBE, "probe", command, memory="512Mi", lifetime_s=_LIFETIME_S)
    (container,) = pod["spec"]["containers"]
    container["terminationMessagePolicy"] = "FallbackToLogsOnError"
    if image is not None:
        container["image"] = image
    if not has_store(settings):
        # The claim is created with the sweep.
        for parts in (container["volumeMounts"], pod["spec"]["volumes"]):
            parts[:] = [part for part in parts if part["name"] != "results"]
    if not uses_workload_identity(settings):
        del pod["spec"]["serviceAccountName"]
    return pod


def has_store(settings: Settings) -> bool:
    """Return whether the store exists before the sweep: a bucket or an existing claim."""
    return bool(settings.store.url or settings.claim.existing)


def uses_workload_identity(settings: Settings) -> bool:
    """Return whether pods access the store by their service account."""
    return bool(settings.store.url) and not settings.store.secret


def _command(settings: Settings) -> list[str]:
    if not has_store(settings):
        return ["destage", "--version"]
    return ["destage", "cluster", "probe", *(["--secret"] if settings.store.secret else [])]
