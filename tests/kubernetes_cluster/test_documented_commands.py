"""The commands of docs/cluster.md on the test cluster, in the page's order, with smaller numbers."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from documented_commands import BLOCK, ROOT, find_commands
from kubernetes_cluster.conftest import NAMESPACE, SETTINGS, Cluster
from kubernetes_cluster.object_server import ObjectServer, run_server
from kubernetes_cluster.results import LONGER, SHORT
from served_sweep import request

pytestmark = [pytest.mark.kubernetes]
PAGE = "docs/cluster.md"
OURS = {
    "REGISTRY": "example.local",
    "CLASS": "test",
    "replicas=50": "replicas=1",
    "--workers 80": "--workers 2",
    "--min 10 --max 200": "--min 1 --max 2",
    "exec -it": "exec -i",
}
"""What stands here for names in capitals, for numbers beyond the test cluster, and for a terminal."""
_URL = re.compile(r"http://127\.0\.0\.1:8990/\S*")


def list_commands(part: str, name: str) -> list[str]:
    """Return the commands of the page that contain a text, as they are for a sweep of a name."""
    text = "\n".join(find_commands(PAGE, part))
    for theirs, ours in {**OURS, "STUDY": name, "NAME": name}.items():
        text = text.replace(theirs, ours)
    return text.splitlines()


def run(cluster: Cluster, command: str, *options: str) -> str:
    """Run a `destage cluster` command of the page."""
    words = shlex.split(command.replace(f" --namespace {NAMESPACE}", ""))
    assert words[:2] == ["destage", "cluster"]
    return cluster.destage(*words[2:], *options)


def write_settings(cluster: Cluster, **more: Any) -> tuple[str, str]:
    """Write what the test cluster needs beside the settings of the page, and return the option."""
    image = {name: SETTINGS["image"][name] for name in ("tag", "pullPolicy")}
    path = cluster.folder / "further.yaml"
    path.write_text(yaml.safe_dump({**SETTINGS, "image": image, "claim": {"size": "1Gi"}, **more}))
    return "--values", str(path)


def write_study(cluster: Cluster, name: str, requests: int) -> None:
    """Write `study.yaml` into the working directory."""
    cluster.write_study(name, requests).rename(Path.cwd() / "study.yaml")


def test_from_an_empty_cluster_to_a_report(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in list_commands("kubectl ", "documented")[:2]:
        cluster.kubectl(*shlex.split(command.replace("namespace sweeps", "namespace documented"))[1:])
    cluster.kubectl("delete", "namespace", "documented", "--wait=false")

    write_study(cluster, "documented", SHORT)
    storage_class = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": OURS["CLASS"]},
        "provisioner": "kubernetes.io/no-provisioner",
    }
    cluster.kubectl("apply", "-f", "-", given=json.dumps(storage_class))
    cluster.create_volume("documented")
    doctor, submit, watch, fetch, *others = list_commands("destage cluster ", "documented")
    assert len(others) == 4  # of the next test
    further = write_settings(cluster)
    run(cluster, doctor, *further)
    run(cluster, submit, *further)
    run(cluster, watch)
    run(cluster, fetch)
    (report,) = list_commands("report STUDY --store", "documented")
    program = "import sys; from destage.cli import app; app(sys.argv[1:])"
    subprocess.run([sys.executable, "-c", program, *shlex.split(report)[1:]], check=True)
    cluster.destage("delete", "documented", "--results")
    cluster.kubectl("delete", "storageclass", OURS["CLASS"])


@pytest.fixture
def bucket(cluster: Cluster) -> Iterator[ObjectServer]:
    try:
        with run_server(cluster) as server:
            yield server
    except LookupError as missing:
        pytest.skip(str(missing))


@contextmanager
def background(*commands: str) -> Iterator["subprocess.Popen[str]"]:
    """Run a shell program for a `with` block, and end all of its processes after it."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        ["/bin/bash", "-c", "\n".join(commands)],
        text=True, start_new_session=True, stdin=subprocess.DEVNULL, stdout=pipe, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=60)


def test_a_sweep_in_a_bucket_is_scaled_and_shown_in_a_browser(
    cluster: Cluster, bucket: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_study(cluster, "shown", LONGER)
    (settings,) = [
        text
        for _, kind, text in BLOCK.findall((ROOT / PAGE).read_text(encoding="utf-8"))
        if kind == "yaml" and text.startswith("# bucket.yaml")
    ]
    page = yaml.safe_load(settings.replace("REGISTRY", OURS["REGISTRY"]))
    page["store"] = {"url": bucket.url, "secret": bucket.secret}
    Path("bucket.yaml").write_text(yaml.safe_dump(page))

    doctor, submit = list_commands("-f bucket.yaml", "shown")
    further = write_settings(cluster)
    run(cluster, doctor, *further)
    run(cluster, submit, *further)
    cluster.wait_for("the driver", lambda: '"present"' in cluster.destage("status", "shown", "--json"))

    head, serve, forward = list_commands("kubectl ", "shown")[2:]
    with background(head, serve) as server:
        lines = iter(server.stdout or ())
        url = next(found[0] for line in lines if (found := _URL.search(line)))
        with background(head, forward) as forwarder:
            assert "Forwarding" in next(iter(forwarder.stdout or ()))
            split = urlsplit(url)
            assert request(split.netloc, f"{split.path}?{split.query}").status in {200, 302, 303}

    fixed, elastic = list_commands("cluster scale", "shown")
    run(cluster, fixed)
    cluster.wait_for("a second worker", lambda: len(cluster.find_pods("shown", "worker")) == 2)
    cluster.destage("cancel", "shown")
    groups = [{**SETTINGS["workers"][0], "name": "spot", "replicas": 1, "minReplicas": 0, "maxReplicas": 1}]
    run(cluster, submit, *write_settings(cluster, autoscaling={"enabled": True}, workers=groups))
    cluster.wait_for("the head", lambda: cluster.find_pods("shown", "head"))
    run(cluster, elastic)
    cluster.destage("delete", "shown", "--results")
