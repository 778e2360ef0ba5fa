"""A pod beside a sweep's own, with the head's image, account and store, but without Ray and the study."""

import copy
from collections.abc import Sequence

from destage.cluster.resources.pods import Manifest, build_resources
from destage.cluster.setup.object_labels import COMPONENT, READER_PRIORITY

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
        "volumeMounts": [each for each in ray["volumeMounts"] if each["name"] != "study"],
    }
    spec.pop("priorityClassName", None)  # a pod beside the sweep must not displace the sweep's pods
    if priority := head["metadata"].get("annotations", {}).get(READER_PRIORITY):
        spec["priorityClassName"] = priority
    spec |= {
        "containers": [container],
        "volumes": [each for each in spec["volumes"] if each["name"] != "study"],
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
