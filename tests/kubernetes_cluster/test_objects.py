"""Sweeps with results in a bucket of an S3 server in the cluster, with a Secret."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
import yaml
from kubernetes_cluster.conftest import RUNS, SETTINGS, VERSION, Cluster
from kubernetes_cluster.object_server import ObjectServer, run_server
from kubernetes_cluster.results import (
    LONG,
    Rows,
    assert_complete,
    assert_fetched_and_listed,
    count_stored,
    lose_a_worker_and_the_head,
    read_rows,
)

from destage.cluster.resources.pods import build_container_security, build_resources
from destage.objects import ObjectPath
from destage.store import list_sweeps, locate
from destage.store.files.layout import list_tree

pytestmark = [pytest.mark.kubernetes]
PROGRAM = """
import sys
from destage.objects import ObjectPath
seen = ObjectPath.parse(sys.argv[1]) / "seen"
(seen / "by-a-pod").write_text("first")
(seen / "by-a-pod").write_text("second")
(seen / "by-the-tests").unlink()
print([(each.path.name, each.size) for each in seen.list_objects()], (seen / "by-a-pod").read_text())
"""


@pytest.fixture(scope="module")
def bucket(cluster: Cluster) -> Iterator[ObjectServer]:
    try:
        with run_server(cluster) as server:
            yield server
    except LookupError as missing:
        pytest.skip(str(missing))


def write_values(cluster: Cluster, bucket: ObjectServer, store: Mapping[str, str] | None = None) -> str:
    """Write a values file for results in the bucket."""
    path = cluster.folder / "bucket.yaml"
    path.write_text(
        yaml.safe_dump({**SETTINGS, "store": {"url": bucket.url, "secret": bucket.secret, **(store or {})}})
    )
    return str(path)


def read_bucket(bucket: ObjectServer) -> Rows:
    """Return the committed rows."""
    with bucket.credentials():
        return read_rows(locate(bucket.local_url))


def test_a_pod_accesses_the_bucket_with_the_secret(cluster: Cluster, bucket: ObjectServer) -> None:
    with bucket.credentials():
        (ObjectPath.parse(bucket.local_url) / "seen" / "by-the-tests").touch()
    container = {
        "name": "pod",
        "image": f"example.local/destage:{VERSION}",
        "imagePullPolicy": "Never",
        "command": ["python", "-c", PROGRAM, bucket.url],
        "envFrom": [{"secretRef": {"name": bucket.secret}}],
        "resources": build_resources("500m", "512Mi"),
        "securityContext": build_container_security(),
    }
    account = {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}}
    spec = {"containers": [container], "restartPolicy": "Never", "securityContext": account}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "reaches"}, "spec": spec}
    cluster.kubectl("apply", "-f", "-", given=json.dumps(pod))
    cluster.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/reaches", "--timeout=120s")
    assert cluster.kubectl("logs", "reaches").strip() == "[('by-a-pod', 6)] second"
    cluster.kubectl("delete", "pod", "reaches")
    with bucket.credentials():
        assert (ObjectPath.parse(bucket.local_url) / "seen" / "by-a-pod").read_text() == "second"


def test_a_sweep_in_a_bucket_survives_lost_pods(
    cluster: Cluster, bucket: ObjectServer, reference: Callable[[int], Path]
) -> None:
    study, values = cluster.write_study("bucket_sweep", LONG), write_values(cluster, bucket)
    job = cluster.destage("submit", str(study), "--name", "bucket", "--values", values).strip()
    before = lose_a_worker_and_the_head(cluster, "bucket", lambda: read_bucket(bucket))

    cluster.destage("watch", "bucket", "--quiet")
    after = read_bucket(bucket)
    assert {run: after.get(run) for run in before} == before
    status = json.loads(cluster.kubectl("get", "rayjob", job, "-o", "json"))["status"]
    assert status["jobStatus"] == "SUCCEEDED"
    whole = reference(LONG)
    with bucket.credentials():
        (sweep,) = list_sweeps(locate(bucket.local_url))
        assert_complete(sweep, whole)
    assert len(after) == RUNS
    with bucket.credentials():
        assert count_stored(locate(bucket.local_url)) == RUNS  # each run once

    assert_fetched_and_listed(cluster, "bucket", whole)
    assert "bucket" not in cluster.kubectl("get", "pvc", "-o", "name")

    assert sweep.name in cluster.destage("delete", "bucket", "--results")
    cluster.wait_for("the pods' end", lambda: not cluster.find_pods("bucket", "worker"))
    with bucket.credentials():
        assert list_sweeps(locate(bucket.local_url)) == []
        assert [name for name, _ in list_tree(locate(bucket.local_url)) if not name.startswith("seen/")] == []


def test_doctor_reports_what_a_bucket_rejects(cluster: Cluster, bucket: ObjectServer) -> None:
    assert "is writable" in cluster.destage("doctor", "--values", write_values(cluster, bucket))
    wrong = {name: f"{value}x" for name, value in bucket.keys.items()}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "other-keys"}, "stringData": wrong}
    cluster.kubectl("apply", "-f", "-", given=json.dumps(secret))
    output = cluster.destage(
        "doctor", "--values", write_values(cluster, bucket, {"secret": "other-keys"}), code=4
    )
    assert "No user exists with the provided access key" in output  # the message of this server
    elsewhere = bucket.url.replace("s3://destage/", "s3://none/")
    output = cluster.destage("doctor", "--values", write_values(cluster, bucket, {"url": elsewhere}), code=4)
    assert "NO_SUCH_BUCKET" in output
