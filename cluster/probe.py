"""A pod that starts an image once, under the rules that every pod of a sweep keeps, and ends."""

from destage.cluster.pods import Manifest, container_security, pod_security, resources

PROBE = "destage-doctor"
"""The pod's name."""
_LIFE_S = 300


def probe_pod(image: str) -> Manifest:
    """Return the pod.

    Args:
        image: The image, with its tag or digest.
    """
    container = {
        "name": "probe",
        "image": image,
        "command": ["destage", "--version"],
        "resources": resources("250m", "512Mi"),
        "securityContext": container_security(),
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108 - the only place that can be written
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": PROBE},
        "spec": {
            "restartPolicy": "Never",
            "activeDeadlineSeconds": _LIFE_S,
            "automountServiceAccountToken": False,
            "securityContext": pod_security(),
            "containers": [container],
            "volumes": [{"name": "tmp", "emptyDir": {}}],
        },
    }
