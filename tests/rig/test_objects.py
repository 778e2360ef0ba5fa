"""The same against an S3 server in the cluster: results in a bucket that pods reach by a Secret."""

import io
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from rig.conftest import RUNS, SETTINGS, VERSION, Rig
from rig.object_server import ObjectServer, serving
from rig.results import LONG, assert_brought_and_told, assert_whole, lose_a_worker_and_the_head

from destage.cluster.pods import build_container_security, resources
from destage.objects import ObjectPath
from destage.store import list_sweeps, locate
from destage.store.location import tree

pytestmark = [pytest.mark.rig]
PROGRAM = """
import sys
from destage.objects import ObjectPath
seen = ObjectPath.parse(sys.argv[1]) / "seen"
(seen / "by-a-pod").write_text("first")
(seen / "by-a-pod").write_text("second")
(seen / "by-the-tests").unlink()
print([(each.path.name, each.size) for each in seen.listed()], (seen / "by-a-pod").read_text())
"""


@pytest.fixture(scope="module")
def bucket(rig: Rig) -> Iterator[ObjectServer]:
    try:
        with serving(rig) as server:
            yield server
    except LookupError as missing:
        pytest.skip(str(missing))


def values_file(rig: Rig, bucket: ObjectServer, store: Mapping[str, str] | None = None) -> str:
    """Write the settings of a sweep whose results go to the bucket."""
    path = rig.folder / "bucket.yaml"
    path.write_text(
        yaml.safe_dump({**SETTINGS, "store": {"url": bucket.url, "secret": bucket.secret, **(store or {})}})
    )
    return str(path)


def committed(bucket: ObjectServer) -> dict[str, bytes]:
    """Return the fragments that are there, by name."""
    with bucket.credentials():
        store = locate(bucket.here)
        return {name: (store / name).read_bytes() for name, _ in tree(store) if "/fragments/" in name}


def test_a_pod_reaches_the_bucket_by_the_secret(rig: Rig, bucket: ObjectServer) -> None:
    with bucket.credentials():
        (ObjectPath.parse(bucket.here) / "seen" / "by-the-tests").touch()
    container = {
        "name": "pod",
        "image": f"example.local/destage:{VERSION}",
        "imagePullPolicy": "Never",
        "command": ["python", "-c", PROGRAM, bucket.url],
        "envFrom": [{"secretRef": {"name": bucket.secret}}],
        "resources": resources("500m", "512Mi"),
        "securityContext": build_container_security(),
    }
    account = {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}}
    spec = {"containers": [container], "restartPolicy": "Never", "securityContext": account}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "reaches"}, "spec": spec}
    rig.kubectl("apply", "-f", "-", given=json.dumps(pod))
    rig.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/reaches", "--timeout=120s")
    assert rig.kubectl("logs", "reaches").strip() == "[('by-a-pod', 6)] second"
    rig.kubectl("delete", "pod", "reaches")
    with bucket.credentials():
        assert (ObjectPath.parse(bucket.here) / "seen" / "by-a-pod").read_text() == "second"


def test_a_sweep_in_a_bucket_survives_the_loss_of_a_worker_and_of_its_head(
    rig: Rig, bucket: ObjectServer, reference: Callable[[int], Path]
) -> None:
    study, values = rig.study("bucket_sweep", LONG), values_file(rig, bucket)
    job = rig.destage("submit", str(study), "--name", "bucket", "--values", values).strip()
    before = lose_a_worker_and_the_head(rig, "bucket", lambda: committed(bucket))

    rig.destage("watch", "bucket", "--quiet")
    after = committed(bucket)
    assert {name: after[name] for name in before} == before
    told = json.loads(rig.kubectl("get", "rayjob", job, "-o", "json"))["status"]
    assert told["jobStatus"] == "SUCCEEDED"
    whole = reference(LONG)
    with bucket.credentials():
        (sweep,) = list_sweeps(locate(bucket.here))
        assert_whole(sweep, whole)
    executed = sum(pq.read_metadata(io.BytesIO(data)).num_rows for data in after.values())
    assert executed == RUNS  # none twice

    assert_brought_and_told(rig, "bucket", len(after), whole)
    assert "bucket" not in rig.kubectl("get", "pvc", "-o", "name")

    assert sweep.name in rig.destage("delete", "bucket", "--results")
    rig.wait("the pods' end", lambda: not rig.pods("bucket", "worker"))
    with bucket.credentials():
        assert list_sweeps(locate(bucket.here)) == []
        assert [name for name, _ in tree(locate(bucket.here)) if not name.startswith("seen/")] == []


def test_doctor_says_what_a_bucket_refuses(rig: Rig, bucket: ObjectServer) -> None:
    assert "can be written" in rig.destage("doctor", "--values", values_file(rig, bucket))
    wrong = {name: f"{value}x" for name, value in bucket.keys.items()}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "other-keys"}, "stringData": wrong}
    rig.kubectl("apply", "-f", "-", given=json.dumps(secret))
    told = rig.destage("doctor", "--values", values_file(rig, bucket, {"secret": "other-keys"}), code=4)
    assert "No user exists with the provided access key" in told  # the words of this server
    elsewhere = bucket.url.replace("s3://destage/", "s3://none/")
    told = rig.destage("doctor", "--values", values_file(rig, bucket, {"url": elsewhere}), code=4)
    assert "NO_SUCH_BUCKET" in told
