"""A namespace of the test cluster, a volume in it, and the stand-in for KubeRay's operator."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from destage import sweeps
from destage.cluster.connection import Connection, connect
from destage.cluster.objects import find_all
from destage.errors import ClusterError

ROOT = Path(__file__).parents[2]
VERSION = str(yaml.safe_load((ROOT / "helm" / "destage" / "Chart.yaml").read_text())["appVersion"])
NAMESPACE = "sweeps"
STUDY = """\
name: {name}
scenario:
  workload: {{use: call_center}}
  controller: {{use: smart_array_5i_plus}}
  array: {{raid: "5", disks: 4, disk: {{use: u320_10k_36gb}}}}
  run: {{warm_up: none, window: {{requests: {requests}}}}}
axes:
  controller.battery.state: [present, absent]
  workload.users: {{range: [1, 20, 1]}}
replicates: 5
"""
RUNS = 200
SETTINGS: dict[str, Any] = {
    "image": {"repository": "example.local/destage", "tag": VERSION, "pullPolicy": "Never"},
    "claim": {"storageClass": "rig", "size": "1Gi"},
    "head": {"cpu": "700m", "memory": "2Gi"},
    "workers": [{"name": "w", "replicas": 2, "slots": 1, "cpu": "400m", "memory": "2Gi"}],
    "job": {"activeDeadlineSeconds": 900, "backoffLimit": 2, "ttlSecondsAfterFinished": 5},
}


@dataclass(frozen=True)
class Rig:
    """The test cluster.

    Attributes:
        api: Its API server.
        folder: Where volumes and files are.
    """

    api: Connection
    folder: Path

    def kubectl(self, *args: str, given: str | None = None) -> str:
        """Run kubectl and return what it prints."""
        done = _kubectl(*args, given=given)
        assert done.returncode == 0, f"{args}: {done.stderr}"
        return done.stdout

    def destage(self, *args: str, code: int = 0) -> str:
        """Run a verb of `destage cluster` and return what it prints."""
        program = "import sys; from destage.cli import app; app(sys.argv[1:])"
        command = [sys.executable, "-c", program, "cluster", *args, "--namespace", NAMESPACE]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
        assert done.returncode == code, f"{args}: {done.stdout}\n{done.stderr}\n{self.story()}"
        return done.stdout

    def volume(self, name: str) -> Path:
        """Make a volume of a folder here, and return the folder."""
        folder = self.folder / "volumes" / name
        folder.mkdir(parents=True)
        folder.chmod(0o777)
        volume = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": name},
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteMany"],
                "storageClassName": "rig",
                "persistentVolumeReclaimPolicy": "Retain",
                "claimRef": {"namespace": NAMESPACE, "name": f"{name}-results"},
                "hostPath": {"path": str(folder)},
            },
        }
        self.kubectl("apply", "-f", "-", given=json.dumps(volume))
        return folder

    def study(self, name: str, requests: int) -> Path:
        """Write a study of `RUNS` runs."""
        path = self.folder / f"{name}.yaml"
        path.write_text(STUDY.format(name=name, requests=requests))
        return path

    def pods(self, release: str, component: str) -> list[str]:
        """Return the names of a release's pods of a kind that are not on their way out."""
        selector = f"destage.io/release={release},destage.io/component={component}"
        found = find_all(self.api, "Pod", labelSelector=selector)
        return [pod["metadata"]["name"] for pod in found if not pod["metadata"].get("deletionTimestamp")]

    def wait(self, what: str, condition: Callable[[], Any], seconds: float = 300.0) -> Any:
        """Wait until something holds, and return it."""
        end = time.monotonic() + seconds
        while not (found := condition()):
            assert time.monotonic() < end, f"{what}: not after {seconds} s\n{self.story()}"
            time.sleep(0.5)
        return found

    def story(self) -> str:
        """Return what a person would look at first."""
        parts = [
            ["get", "rayjobs,rayclusters,pods,pvc", "-o", "wide"],
            ["get", "events", "--sort-by=.lastTimestamp"],
            ["logs", "-l", "destage.io/component=head", "--tail=15"],
        ]
        told = [_kubectl(*each) for each in parts]
        operator = self.folder / "operator.log"
        text = operator.read_text()[-2000:] if operator.exists() else ""
        return "\n".join([*(done.stdout[-4000:] + done.stderr[-500:] for done in told), text])


def _kubectl(*args: str, given: str | None = None) -> "subprocess.CompletedProcess[str]":
    command = ["kubectl", "--namespace", NAMESPACE, *args]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False)


def _knows_jobs(api: Connection) -> bool:
    try:
        return "RayJob" in {each["kind"] for each in api.call("GET", "/apis/ray.io/v1")["resources"]}
    except ClusterError:
        return False


@pytest.fixture(scope="session")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """Return the cluster, its namespace enforcing level `restricted`, the operator's stand-in at work."""
    if "K" not in os.environ or "KUBECONFIG" not in os.environ:
        pytest.fail("there is no test cluster: run `make cluster-test`")
    folder = tmp_path_factory.mktemp("rig")
    for parent in (folder, *folder.parents[:2]):  # pods go through them to their volumes
        parent.chmod(0o755)
    rig = Rig(connect(namespace=NAMESPACE), folder)
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": NAMESPACE, "labels": {"pod-security.kubernetes.io/enforce": "restricted"}},
    }
    rig.kubectl("apply", "-f", "-", given=json.dumps(namespace))
    rig.kubectl("apply", "--server-side", "-f", os.environ["DESTAGE_KUBERAY_CRDS"])
    rig.wait("KubeRay's kinds", lambda: _knows_jobs(rig.api))
    rig.wait("the namespace's default account", lambda: find_all(rig.api, "ServiceAccount"))
    program = Path(__file__).with_name("operator_stand_in.py")
    with (
        (folder / "operator.log").open("w") as log,
        subprocess.Popen([sys.executable, program], stderr=log) as operator,
    ):
        yield rig
        operator.kill()


@pytest.fixture(scope="session")
def chart(rig: Rig) -> Path:
    """Return the chart, an empty one in the operator's place."""
    chart = rig.folder / "destage"
    shutil.copytree(ROOT / "helm" / "destage", chart)
    operator = chart / "charts" / "kuberay-operator"
    operator.mkdir(parents=True)
    (operator / "Chart.yaml").write_text("apiVersion: v2\nname: kuberay-operator\nversion: 1.7.0\n")
    return chart


@pytest.fixture(scope="session")
def reference(rig: Rig) -> Callable[[Path], Path]:
    """Return a function that runs a study here, uninterrupted, and returns its sweep."""

    def run(study: Path) -> Path:
        outcome = sweeps.run(sweeps.load_study(study), rig.folder / "reference", executor="inline", workers=2)
        assert outcome.state == "finished"
        return outcome.path

    return run
