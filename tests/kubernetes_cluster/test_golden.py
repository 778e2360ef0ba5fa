"""The image computes the golden rows in a pod."""

import json

import pytest
from golden_rows_in_image import assert_golden, build_command
from kubernetes_cluster.conftest import VERSION, Cluster

from destage.cluster.resources.pods import build_container_security, build_resources

pytestmark = [pytest.mark.kubernetes, pytest.mark.smoke]


def test_a_pod_computes_the_golden_rows(cluster: Cluster) -> None:
    container = {
        "name": "golden",
        "image": f"example.local/destage:{VERSION}",
        "imagePullPolicy": "Never",
        "command": build_command(),
        "resources": build_resources("500m", "512Mi"),
        "securityContext": build_container_security(),
        "volumeMounts": [{"name": "scratch", "mountPath": "/tmp"}],  # noqa: S108 -- in the container
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
