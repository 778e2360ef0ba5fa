"""The test cluster: a real Kubernetes, a namespace for sweeps and a KubeRay operator, by default a fake."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from small_studies import small_study

from destage import sweeps
from destage.cluster.client.api_connection import Connection, connect
from destage.cluster.client.objects import find_all
from destage.errors import ClusterError

ROOT = Path(__file__).parents[2]
VERSION = str(yaml.safe_load((ROOT / "helm" / "destage" / "Chart.yaml").read_text())["appVersion"])
NAMESPACE = "sweeps"
RUNS = 200
SETTINGS: dict[str, Any] = {
    "image": {"repository": "example.local/destage", "tag": VERSION, "pullPolicy": "Never"},
    "claim": {"storageClass": "test", "size": "1Gi"},
    "head": {"cpu": "600m", "memory": "2Gi"},
    "workers": [{"name": "w", "replicas": 2, "slots": 1, "cpu": "300m", "memory": "2Gi"}],
    "job": {"activeDeadlineSeconds": 900, "backoffLimit": 2, "ttlSecondsAfterFinished": 5},
}


USER = "architect"
"""A service account with the chart's Role for users."""


class Operator:
    """The operator's process: the program that DESTAGE_TEST_OPERATOR names, or the fake operator."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, **environment: str) -> None:
        """Start it with further environment variables."""
        program = os.environ.get("DESTAGE_TEST_OPERATOR")
        fake = Path(__file__).with_name("fake_operator.py")
        command = [program, "--enable-leader-election=false"] if program else [sys.executable, str(fake)]
        env = {**os.environ, **environment}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(command, env=env, stdout=log, stderr=log)
        time.sleep(1)
        assert self._process.poll() is None, f"{command} ended: {self._log.read_text()[-2000:]}"

    def stop(self) -> None:
        """Stop it."""
        assert self._process is not None
        self._process.terminate()
        self._process.wait(timeout=30)


@dataclass(frozen=True)
class Cluster:
    """The test cluster.

    Attributes:
        api: Its API server.
        folder: The folder for volumes and files.
        operator: KubeRay's operator, or the fake one.
    """

    api: Connection
    folder: Path
    operator: Operator

    def kubectl(self, *args: str, given: str | None = None) -> str:
        """Run kubectl and return what it prints."""
        done = _kubectl(*args, given=given)
        assert done.returncode == 0, f"{args}: {done.stderr}"
        return done.stdout

    def destage(self, *args: str, code: int = 0) -> str:
        """Run a `destage cluster` command and return its standard output."""
        return self.run(*args, code=code)[0]

    def run(self, *args: str, code: int = 0, config: Path | None = None) -> tuple[str, str]:
        """Run a `destage cluster` command and return its standard output and standard error.

        Args:
            args: The command and its arguments.
            code: The expected exit code.
            config: A kubeconfig; default: the administrator's.
        """
        process = self.start(*args, config=config)
        out, err = process.communicate(timeout=600)
        assert process.returncode == code, f"{args}: {out}\n{err}\n{self.describe_state()}"
        return out, err

    def start(self, *args: str, config: Path | None = None) -> "subprocess.Popen[str]":
        """Start a `destage cluster` command."""
        program = "import sys; from destage.cli import app; app(sys.argv[1:])"
        command = [sys.executable, "-c", program, "cluster", *args, "--namespace", NAMESPACE]
        env = os.environ if config is None else {**os.environ, "KUBECONFIG": str(config)}
        pipe = subprocess.PIPE
        return subprocess.Popen(command, env=env, text=True, stdout=pipe, stderr=pipe)

    def create_volume(self, name: str) -> Path:
        """Create a volume in a local folder and return the folder."""
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
                "storageClassName": "test",
                "persistentVolumeReclaimPolicy": "Retain",
                "claimRef": {"namespace": NAMESPACE, "name": f"{name}-results"},
                "hostPath": {"path": str(folder)},
            },
        }
        self.kubectl("apply", "-f", "-", given=json.dumps(volume))
        return folder

    def write_study(self, name: str, requests: int) -> Path:
        """Write a study of `RUNS` runs."""
        path = self.folder / f"{name}.yaml"
        axes = ("controller.battery.state: [present, absent]", "workload.users: {range: [1, 20, 1]}")
        path.write_text(small_study(name, *axes, requests=requests, replicates=5))
        return path

    def find_pods(self, release: str, component: str) -> list[str]:
        """Return the names of a component's pods, except those being deleted."""
        selector = f"destage.io/release={release},destage.io/component={component}"
        found = find_all(self.api, "Pod", labelSelector=selector)
        return [pod["metadata"]["name"] for pod in found if not pod["metadata"].get("deletionTimestamp")]

    def wait_for(self, what: str, condition: Callable[[], Any], seconds: float = 300.0) -> Any:
        """Wait until a condition is true, and return its value."""
        end = time.monotonic() + seconds
        while not (found := condition()):
            assert time.monotonic() < end, f"{what}: not after {seconds} s\n{self.describe_state()}"
            time.sleep(0.5)
        return found

    def describe_state(self) -> str:
        """Return the objects, events and logs for a failure message."""
        parts = [
            ["get", "rayjobs,rayclusters,jobs,pods,pvc", "-o", "wide"],
            ["get", "events", "--sort-by=.lastTimestamp"],
            ["logs", "-l", "destage.io/component=head", "--tail=15"],
            ["logs", "-l", "destage.io/component=submitter", "--tail=15"],
        ]
        outputs = [_kubectl(*each) for each in parts]
        operator = self.folder / "operator.log"
        text = operator.read_text()[-2000:] if operator.exists() else ""
        return "\n".join([*(done.stdout[-4000:] + done.stderr[-500:] for done in outputs), text])


def helm(*args: str) -> str:
    """Run Helm in the namespace and return its output."""
    command = ["helm", *args, "--namespace", NAMESPACE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def write_values(cluster: Cluster, **more: Mapping[str, Any]) -> Path:
    """Write a values file for the test cluster, with some settings replaced."""
    path = cluster.folder / "values.yaml"
    path.write_text(yaml.safe_dump({**SETTINGS, **more}))
    return path


def _kubectl(*args: str, given: str | None = None) -> "subprocess.CompletedProcess[str]":
    command = ["kubectl", "--namespace", NAMESPACE, *args]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False)


def _knows_jobs(api: Connection) -> bool:
    try:
        return "RayJob" in {each["kind"] for each in api.call("GET", "/apis/ray.io/v1")["resources"]}
    except ClusterError:
        return False


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Return the cluster, with a namespace at level `restricted` and the operator running."""
    if "K" not in os.environ or "KUBECONFIG" not in os.environ:
        pytest.fail("there is no test cluster: run `make cluster-test`")
    folder = tmp_path_factory.mktemp("cluster")
    for parent in (folder, *folder.parents[:2]):  # the pods' user needs access to the volumes
        parent.chmod(0o755)
    cluster = Cluster(connect(namespace=NAMESPACE), folder, Operator(folder / "operator.log"))
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": NAMESPACE, "labels": {"pod-security.kubernetes.io/enforce": "restricted"}},
    }
    cluster.kubectl("apply", "-f", "-", given=json.dumps(namespace))
    cluster.kubectl("apply", "--server-side", "-f", os.environ["DESTAGE_KUBERAY_CRDS"])
    cluster.wait_for("KubeRay's kinds", lambda: _knows_jobs(cluster.api))
    cluster.wait_for("the namespace's default account", lambda: find_all(cluster.api, "ServiceAccount"))
    cluster.operator.start()
    yield cluster
    cluster.operator.stop()


@pytest.fixture
def impatient_operator(cluster: Cluster) -> Iterator[None]:
    """Run an operator that fails a job after 20 s without its status, instead of 300 s."""
    cluster.operator.stop()
    cluster.operator.start(RAYJOB_STATUS_CHECK_TIMEOUT_SECONDS="20")
    yield
    cluster.operator.stop()
    cluster.operator.start()


@pytest.fixture(autouse=True)
def _delete_pods(cluster: Cluster) -> Iterator[None]:
    """Delete what a test leaves running: the node has two CPUs."""
    yield
    for kinds in ("rayjobs.ray.io,rayclusters.ray.io,jobs", "pods"):
        cluster.kubectl("delete", kinds, "--all", "--grace-period=0", "--force", "--wait")


@pytest.fixture(scope="session")
def chart(cluster: Cluster) -> Path:
    """Return the packaged chart."""
    helm("package", str(ROOT / "helm" / "destage"), "--destination", str(cluster.folder))
    return cluster.folder / f"destage-{VERSION}.tgz"


@pytest.fixture(scope="session")
def user_config(cluster: Cluster, chart: Path) -> Path:
    """Return the kubeconfig of a user with only the chart's Role for users."""
    subject = {"kind": "ServiceAccount", "name": USER, "namespace": NAMESPACE}
    values = write_values(cluster, users={"role": True, "subjects": [subject]})
    shown = [each for name in ("role", "rolebinding") for each in ("--show-only", f"templates/{name}.yaml")]
    rules = helm(
        "template", "people", str(chart), "--values", str(values), "--set", "sweep.study=call_center", *shown,
        "--api-versions", "ray.io/v1/RayJob", "--kube-version", "1.34.0",
    )  # fmt: skip
    cluster.kubectl("create", "serviceaccount", USER)
    cluster.kubectl("apply", "-f", "-", given=rules)
    config = yaml.safe_load(Path(os.environ["KUBECONFIG"]).read_text())
    config["users"][0]["user"] = {"token": cluster.kubectl("create", "token", USER).strip()}
    path = cluster.folder / "user.kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return path


@pytest.fixture(scope="session")
def reference(cluster: Cluster) -> Callable[[int], Path]:
    """Return a function that runs the study with a window locally and returns its sweep.

    Studies of all names have the same runs.
    """

    @cache
    def run(requests: int) -> Path:
        study = sweeps.load_study(cluster.write_study(f"reference_{requests}", requests))
        outcome = sweeps.run(study, cluster.folder / "reference", executor="inline", workers=2)
        assert outcome.state == "finished"
        return outcome.path

    return run
