"""Pods beside a job: a reader of its store, and the probe of `destage cluster doctor`.

They have the head's image, account and store, but neither Ray nor the study. The probe starts the image as a
sweep would and tests writing to the store.
"""

import copy
from collections.abc import Sequence

from destage.cluster.resources.pods import Manifest, build_head_template, build_resources
from destage.cluster.setup.cluster_settings import Settings
from destage.cluster.setup.object_labels import COMPONENT, READER_PRIORITY, Release

_CPU = "250m"
"""Enough for a response in seconds; more would be taken from the workers' quota while the pod is idle."""
_INHERITED = ("image", "imagePullPolicy", "env", "envFrom", "securityContext")


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


PROBE = "destage-doctor"
"""The pod's name."""
_LIFETIME_S = 300


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
