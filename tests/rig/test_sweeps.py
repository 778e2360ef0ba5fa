"""Sweeps on a real Kubernetes, to their end whatever is taken from them; the operator is stood in for."""

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml
from golden.cases import CASES
from golden.rows import kept
from rig.conftest import NAMESPACE, RUNS, SETTINGS, VERSION, Rig

from destage.cluster.pods import container_security, resources
from destage.engine import results_schema
from destage.errors import ClusterError
from destage.store import list_sweeps, open_sweep

pytestmark = [pytest.mark.rig]
SHORT, LONG = 400, 100_000


def the_sweep(volume: Path) -> Path:
    (sweep,) = list_sweeps(volume)
    return sweep


def committed(volume: Path) -> dict[str, bytes]:
    """Return the fragments that are there, by name."""
    return {path.name: path.read_bytes() for path in volume.glob("sweeps/*/fragments/[!.]*.parquet")}


def assert_whole(sweep: Path, reference: Path) -> None:
    """Assert that a sweep holds every run once, none executed twice, as an uninterrupted one does."""
    names = ["run_id", *results_schema().names]
    rows, expected = open_sweep(sweep).rows().select(names), open_sweep(reference).rows().select(names)
    assert rows.num_rows == RUNS
    assert repr(rows.to_pylist()) == repr(expected.to_pylist())
    on_disk = sum(pq.read_metadata(path).num_rows for path in (sweep / "fragments").glob("[!.]*.parquet"))
    assert on_disk == RUNS


def helm(*args: str) -> str:
    command = ["helm", *args, "--namespace", NAMESPACE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def values_file(rig: Rig, **more: Mapping[str, Any]) -> Path:
    path = rig.folder / "values.yaml"
    path.write_text(yaml.safe_dump({**SETTINGS, **more}))
    return path


def test_a_release_runs_its_sweep_and_leaves_the_results(
    rig: Rig, chart: Path, reference: Callable[[Path], Path]
) -> None:
    volume, study = rig.volume("demo"), rig.study("chart_sweep", SHORT)
    values = str(values_file(rig))
    notes = helm("install", "demo", str(chart), "--values", values, "--set-file", f"sweep.spec={study}")
    assert "destage cluster watch demo --namespace sweeps" in notes
    rig.destage("watch", "demo", "--quiet")
    assert_whole(the_sweep(volume), reference(study))
    before = committed(volume)

    # The same study again, as another release of the chart: nothing is executed again.
    helm(
        "upgrade",
        "demo",
        str(chart),
        "--values",
        values,
        "--set-file",
        f"sweep.spec={study}",
        "--set",
        "head.memory=1900Mi",
    )
    assert committed(volume) == before
    helm("test", "demo", "--timeout", "5m")
    helm("uninstall", "demo")
    rig.kubectl("delete", "pods", "--selector=destage.io/release=demo", "--grace-period=0", "--force")
    assert "Bound" in rig.kubectl("get", "pvc", "demo-results", "--no-headers")
    assert committed(volume) == before


def test_a_sweep_survives_the_loss_of_a_worker_and_of_its_head(
    rig: Rig, reference: Callable[[Path], Path]
) -> None:
    volume, study = rig.volume("hurt"), rig.study("hurt_sweep", LONG)
    job = rig.destage("submit", str(study), "--name", "hurt", "--values", str(values_file(rig))).strip()
    rig.wait("some rows", lambda: len(committed(volume)) >= 3)
    status = json.loads(rig.destage("status", "hurt", "--json"))
    assert status["job"]["state"] == "Running"
    assert 0 < status["results"]["present"] < RUNS

    worker = rig.pods("hurt", "worker")[0]
    rig.kubectl("delete", "pod", worker, "--grace-period=0", "--force")
    at_loss = len(committed(volume))
    rig.wait("rows after the loss of a worker", lambda: len(committed(volume)) > at_loss + 2)
    (head,) = rig.pods("hurt", "head")
    rig.kubectl("delete", "pod", head, "--grace-period=0", "--force")
    before = committed(volume)
    assert len(before) < RUNS

    rig.destage("watch", "hurt", "--quiet")
    after = committed(volume)
    assert {name: after[name] for name in before} == before
    told = json.loads(rig.kubectl("get", "rayjob", job, "-o", "json"))["status"]
    assert told["jobStatus"] == "SUCCEEDED"
    assert told["failed"] >= 1  # clusters lost: the head's
    assert_whole(the_sweep(volume), reference(study))

    here = rig.folder / "here"
    rig.destage("fetch", "hurt", "--store", str(here))
    assert_whole(the_sweep(here), the_sweep(volume))
    again = json.loads(rig.destage("fetch", "hurt", "--store", str(here), "--json"))
    assert again["kept"] == len(after)
    counted = rig.destage("query", "hurt", "SELECT count(*) AS runs FROM runs", "--format", "csv")
    assert counted.replace('"', "").split() == ["runs", str(RUNS)]
    listed = json.loads(rig.destage("list", "--json"))
    assert [one["outcome"] for one in listed if one["release"] == "hurt"] == ["SUCCEEDED"]
    assert f"RayJob {job}" in rig.destage("delete", "hurt")
    rig.wait("the pods' end", lambda: not rig.pods("hurt", "worker"))
    assert "Bound" in rig.kubectl("get", "pvc", "hurt-results", "--no-headers")


def test_a_field_that_kuberay_does_not_know_is_refused_by_the_server(rig: Rig) -> None:
    from destage.cluster import Release, build, read_settings  # noqa: PLC0415
    from destage.cluster.jobs import submit  # noqa: PLC0415

    manifests = build(
        Release("strict", NAMESPACE, "1"), read_settings({**SETTINGS, "sweep": {"study": "call_center"}})
    )
    manifests[-1]["spec"]["backofLimit"] = 3
    with pytest.raises(ClusterError, match=r'unknown field "spec.backofLimit"|field not declared in schema'):
        submit(rig.api, manifests)
    assert "strict" not in rig.kubectl("get", "all,pvc,serviceaccounts,networkpolicies", "-o", "name")


def test_the_image_gives_the_golden_row(rig: Rig) -> None:
    name = next(name for name, case in CASES.items() if "trace" not in json.dumps(case))
    program = (
        "import json, sys; from destage.engine import simulate; row = simulate(json.loads(sys.argv[1]));"
        "exact = lambda v: [exact(i) for i in v] if isinstance(v, list) else v.hex() if isinstance(v, float) "
        "else v;"
        "print(json.dumps({c: exact(v) for c, v in row.items()}))"
    )
    container = {
        "name": "golden",
        "image": f"example.local/destage:{VERSION}",
        "imagePullPolicy": "Never",
        "command": ["python", "-c", program, json.dumps(CASES[name])],
        "resources": resources("500m", "512Mi"),
        "securityContext": container_security(),
    }
    account = {"runAsNonRoot": True, "runAsUser": 1000, "seccompProfile": {"type": "RuntimeDefault"}}
    spec = {"containers": [container], "restartPolicy": "Never", "securityContext": account}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "golden"}, "spec": spec}
    rig.kubectl("apply", "-f", "-", given=json.dumps(pod))
    rig.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/golden", "--timeout=120s")
    assert json.loads(rig.kubectl("logs", "golden")) == kept()["rows"][name]


ALLOWED = [
    "selfsubjectreviews.authentication.k8s.io [] [] [create]",
    "selfsubjectaccessreviews.authorization.k8s.io [] [] [create]",
    "selfsubjectrulesreviews.authorization.k8s.io [] [] [create]",
]
"""What Kubernetes allows everybody, and nothing else but paths without resources."""


def test_the_accounts_of_the_pods_may_do_nothing(rig: Rig, chart: Path) -> None:
    rig.volume("rights")
    elastic = values_file(rig, autoscaling={"enabled": True})
    rendered = helm(
        "template", "rights", str(chart), "--values", str(elastic), "--set", "sweep.study=call_center",
        "--api-versions", "ray.io/v1/RayJob", "--kube-version", "1.34.0",
    )  # fmt: skip
    kinds = ("ServiceAccount", "Role", "RoleBinding")
    wanted = [one for one in yaml.safe_load_all(rendered) if one and one["kind"] in kinds]
    rig.kubectl("apply", "-f", "-", given=yaml.safe_dump_all(wanted))
    expected = {
        "rights-submitter": ALLOWED,
        "rights-ray": [
            *ALLOWED,
            "pods [] [] [get list watch patch]",
            "rayclusters.ray.io [] [] [get patch]",
        ],
    }
    for account, rules in expected.items():
        listed = rig.kubectl("auth", "can-i", "--list", f"--as=system:serviceaccount:{NAMESPACE}:{account}")
        found = {" ".join(line.split()) for line in listed.splitlines()[1:]}
        assert {line for line in found if not line.startswith("[")} == set(rules), account
