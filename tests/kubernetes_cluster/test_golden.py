"""The engine of the image gives the golden rows in a pod."""

import json

import pytest
from golden_rows_in_image import assert_golden, build_command
from kubernetes_cluster.conftest import VERSION, Cluster

from destage.cluster.pods import build_container_security, resources

pytestmark = [pytest.mark.kubernetes]


def test_the_image_gives_every_golden_row(cluster: Cluster) -> None:
    container = {
        "name": "golden",
        "image": f"example.local/destage:{VERSION}",
        "imagePullPolicy": "Never",
        "command": build_command(),
        "resources": resources("500m", "512Mi"),
        "securityContext": build_container_security(),
        "volumeMounts": [{"name": "scratch", "mountPath": "/tmp"}],  # noqa: S108 -- the container's own
    }
    account = {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}}
    spec = {
        "containers": [container],
        "restartPolicy": "Never",
        "securityContext": account,
        "volumes": [{"name": "scratch", "emptyDir": {}}],
    }
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "golden"}, "spec": spec}
    cluster.kubectl("apply", "-f", "-", given=json.dumps(pod))
    cluster.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/golden", "--timeout=120s")
    assert_golden(cluster.kubectl("logs", "golden"))
