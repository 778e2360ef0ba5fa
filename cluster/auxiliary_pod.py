"""Pods beside a sweep's own: with the head's image, account and store, without Ray and without the study."""

import copy
from collections.abc import Sequence

from destage.cluster.labels import COMPONENT
from destage.cluster.pods import Manifest, resources

_CPU = "250m"
"""A quarter of a processor answers in a second or three. More would lie idle for a reader's quarter of an
hour, out of the same quota and off the same node as the workers."""
_TAKEN = ("image", "imagePullPolicy", "env", "envFrom", "securityContext")


def companion(
    head: Manifest, name: str, component: str, command: Sequence[str], *, memory: str, life_s: int
) -> Manifest:
    """Return a pod that has what the head has to reach the results.

    Args:
        head: The template of the head's pod.
        name: The pod's name.
        component: What it is for, as its label says.
        command: What it runs.
        memory: What it may have.
        life_s: How long it may live [s].
    """
    spec = copy.deepcopy(head["spec"])
    ray = spec["containers"][0]
    container = {
        "name": component,
        "command": list(command),
        **{part: ray[part] for part in _TAKEN if part in ray},
        "resources": resources(_CPU, memory),
        "volumeMounts": [each for each in ray["volumeMounts"] if each["name"] != "study"],
    }
    spec |= {
        "containers": [container],
        "volumes": [each for each in spec["volumes"] if each["name"] != "study"],
        "automountServiceAccountToken": False,
        "restartPolicy": "Never",
        "activeDeadlineSeconds": life_s,
        "terminationGracePeriodSeconds": 0,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": head["metadata"]["labels"] | {COMPONENT: component}},
        "spec": spec,
    }
