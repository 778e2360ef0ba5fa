"""An S3 server in the test cluster: a pod, a Service, a bucket, and a Secret with its keys."""

import hashlib
import io
import json
import os
import secrets
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from kubernetes_cluster.conftest import NAMESPACE, Cluster
from pyarrow.fs import FileSystem

PROGRAM = "DESTAGE_TEST_CLUSTER_S3_SERVER"
"""The statically linked server; or `skipped: ` and the reason."""
STORAGE = "storage"
"""The server's namespace, which is kept between tests."""
BUCKET, PREFIX, PORT = "destage", "results", 7070
KEYS = "bucket-keys"
_IMAGE = "example.local/s3-server:test"
_UNPRIVILEGED = {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
}


@dataclass(frozen=True)
class ObjectServer:
    """The server's address for pods and for the tests.

    Attributes:
        url: The store, for pods.
        secret: The Secret with the keys, in the namespace of the sweeps.
        local_url: The same store, for the tests.
        keys: The keys in the Secret.
    """

    url: str
    secret: str
    local_url: str
    keys: dict[str, str]

    @contextmanager
    def credentials(self) -> Iterator[None]:
        """Set the keys in this process's environment; commands run without them."""
        with patch.dict(os.environ, self.keys):
            yield


@contextmanager
def run_server(cluster: Cluster) -> Iterator[ObjectServer]:
    """Run the server for a `with` block.

    Raises:
        LookupError: It is not available; the message says why.
    """
    program = os.environ.get(PROGRAM, f"skipped: {PROGRAM} is not set")
    if program.startswith("skipped: "):
        raise LookupError(program)
    archive = cluster.folder / "s3-server.tar"
    _wrap(Path(program), archive)
    containerd = f"{os.environ['K']}/c/containerd.sock"
    command = ["ctr", "-a", containerd, "-n", "k8s.io", "images", "import", str(archive)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    keys = {"AWS_ACCESS_KEY_ID": "destage-test", "AWS_SECRET_ACCESS_KEY": secrets.token_hex(20)}
    _apply(cluster, keys)
    cluster.kubectl("wait", "--namespace", STORAGE, "--for=condition=Ready", "pod/s3", "--timeout=120s")
    # Processes on the node can connect to the pod, but not to the Service.
    pod = json.loads(cluster.kubectl("get", "--namespace", STORAGE, "pod", "s3", "-o", "json"))
    address = pod["status"]["podIP"]
    server = ObjectServer(_url(f"s3.{STORAGE}.svc"), KEYS, _url(address), keys)
    with server.credentials():
        filesystem, _ = FileSystem.from_uri(f"{server.local_url}&allow_bucket_creation=true")
        filesystem.create_dir(BUCKET, recursive=False)
    yield server
    cluster.kubectl("delete", "namespace", STORAGE, "--wait=false")


def _url(host: str) -> str:
    return f"s3://{BUCKET}/{PREFIX}?scheme=http&endpoint_override={host}:{PORT}&region=us-east-1"


def _apply(cluster: Cluster, keys: dict[str, str]) -> None:
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    _make(cluster, STORAGE, {"kind": "Namespace", "metadata": {"name": STORAGE, "labels": labels}})
    for namespace in (STORAGE, NAMESPACE):
        _make(cluster, namespace, {"kind": "Secret", "metadata": {"name": KEYS}, "stringData": keys})
    ports = {"selector": {"app": "s3"}, "ports": [{"port": PORT}]}
    _make(cluster, STORAGE, {"kind": "Service", "metadata": {"name": "s3"}, "spec": ports})
    cluster.wait_for("its default account", lambda: _has_account(cluster))
    _make(cluster, STORAGE, _pod())


def _make(cluster: Cluster, namespace: str, manifest: dict[str, object]) -> None:
    given = json.dumps({"apiVersion": "v1", **manifest})
    cluster.kubectl("apply", "--namespace", namespace, "-f", "-", given=given)


def _has_account(cluster: Cluster) -> bool:
    return "default" in cluster.kubectl("get", "--namespace", STORAGE, "serviceaccounts", "-o", "name")


def _pod() -> dict[str, object]:
    folders = ("objects", "attributes")
    names = {"ROOT_ACCESS_KEY_ID": "AWS_ACCESS_KEY_ID", "ROOT_SECRET_ACCESS_KEY": "AWS_SECRET_ACCESS_KEY"}
    container = {
        "name": "s3",
        "image": _IMAGE,
        "imagePullPolicy": "Never",
        # Objects are files in one folder; their S3 attributes are in the other.
        "command": ["/server", "--quiet", "--port", f":{PORT}", "posix", "--sidecar", "/data/attributes"],
        "args": ["/data/objects"],
        "env": [
            {"name": name, "valueFrom": {"secretKeyRef": {"name": KEYS, "key": key}}}
            for name, key in names.items()
        ],
        "volumeMounts": [{"name": name, "mountPath": f"/data/{name}"} for name in folders],
        "readinessProbe": {"tcpSocket": {"port": PORT}, "periodSeconds": 1},
        # The sweeps' pods request all CPUs of the node except 50m.
        "resources": {"requests": {"cpu": "20m", "memory": "64Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": _UNPRIVILEGED,
    }
    return {
        "kind": "Pod",
        "metadata": {"name": "s3", "labels": {"app": "s3"}},
        "spec": {
            "containers": [container],
            "volumes": [{"name": name, "emptyDir": {}} for name in folders],
            "automountServiceAccountToken": False,
            "terminationGracePeriodSeconds": 1,
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": 1000,
                "fsGroup": 1000,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
        },
    }


def _wrap(program: Path, archive: Path) -> None:
    """Write an image with one program, in the format of `docker save`."""
    layer = archive.with_suffix(".layer")
    with tarfile.open(layer, "w") as tar:
        info = tar.gettarinfo(str(program), arcname="server")
        info.mode, info.uid, info.gid, info.uname, info.gname = 0o755, 0, 0, "root", "root"
        with program.open("rb") as file:
            tar.addfile(info, file)
    with layer.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    config = json.dumps(
        {
            "architecture": "amd64",
            "os": "linux",
            "config": {"User": "1000:1000"},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
        }
    ).encode()
    name = f"{hashlib.sha256(config).hexdigest()}.json"
    contents = json.dumps([{"Config": name, "RepoTags": [_IMAGE], "Layers": ["layer.tar"]}]).encode()
    with tarfile.open(archive, "w") as tar:
        for member, data in ((name, config), ("manifest.json", contents)):
            info = tarfile.TarInfo(member)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
        tar.add(layer, "layer.tar")
    layer.unlink()
