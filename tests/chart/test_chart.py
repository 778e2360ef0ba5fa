"""The chart renders what the builder builds, what KubeRay takes and what level `restricted` accepts."""

import json
import subprocess
from typing import Any

import pytest
import yaml
from chart.conftest import CHART, KUBERNETES, Helm
from chart.custom_resources import CustomResources
from cluster_settings import CASES, REFUSED
from pod_security import pod_specs, violations

from destage.cluster import Release, build, read_settings

pytestmark = pytest.mark.chart
VERSION = str(yaml.safe_load((CHART / "Chart.yaml").read_text())["appVersion"])


def by_name(manifests: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {f"{one['kind']} {one['metadata']['name']}": one for one in manifests}


@pytest.mark.parametrize("case", CASES)
def test_the_chart_and_the_builder_agree_to_the_last_field(helm: Helm, case: str) -> None:
    release = Release("demo", "sweeps", VERSION, managed_by="Helm")
    expected = by_name(build(release, read_settings(CASES[case])))
    rendered = by_name(helm.render(CASES[case]))
    assert sorted(rendered) == sorted(expected)
    for name, manifest in expected.items():
        assert rendered[name] == json.loads(json.dumps(manifest)), name


@pytest.mark.parametrize("case", CASES)
def test_kuberays_definitions_take_it_without_an_unknown_field(
    helm: Helm, kuberay: CustomResources, case: str
) -> None:
    checked = [kuberay.mistakes(one) for one in helm.render(CASES[case]) if one["apiVersion"] == "ray.io/v1"]
    assert checked == [[]]


def test_the_check_against_the_definitions_sees_a_misspelt_field_and_a_wrong_type(
    helm: Helm, kuberay: CustomResources
) -> None:
    (job,) = [one for one in helm.render(CASES["bundled"]) if one["kind"] == "RayJob"]
    job["spec"]["backofLimit"] = 3
    job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"][0]["imagePolicy"] = "x"
    job["spec"]["activeDeadlineSeconds"] = "60"
    mistakes = kuberay.mistakes(job)
    assert mistakes is not None
    assert len(mistakes) == 3


@pytest.mark.parametrize("case", CASES)
def test_every_pod_of_the_chart_is_accepted_at_level_restricted(helm: Helm, case: str) -> None:
    done = helm.template(CASES[case])
    pods = [spec for one in yaml.safe_load_all(done.stdout) for spec in pod_specs(one)]
    values = CASES[case]
    # The head, each group of workers, the submitter of a job, and the pod of `helm test`.
    assert len(pods) == 2 + len(values.get("workers", [0])) + (values.get("mode") != "cluster")
    for path, spec in pods:
        assert not violations(spec), path


STORED = [case for case, values in CASES.items() if "store" in values]


@pytest.mark.parametrize("case", STORED)
def test_with_an_object_store_nothing_of_a_volume_is_rendered_and_no_secret(helm: Helm, case: str) -> None:
    done = helm.template(CASES[case])
    assert done.returncode == 0, done.stderr
    kinds = {one["kind"] for one in yaml.safe_load_all(done.stdout) if one}
    assert not kinds & {"PersistentVolumeClaim", "Secret"}
    assert "/results" not in done.stdout
    assert "name: results" not in done.stdout
    assert "persistentVolumeClaim" not in done.stdout


def test_lint_finds_nothing(helm: Helm) -> None:
    done = helm.run("lint", "--strict", str(helm.chart), *KUBERNETES, "--set", "sweep.study=call_center")
    assert done.returncode == 0, done.stdout
    assert "WARNING" not in done.stdout


def test_the_unit_tests_of_the_chart_pass(helm: Helm) -> None:
    done = subprocess.run(["helm-unittest", helm.chart], capture_output=True, text=True, check=False)  # noqa: S607
    assert done.returncode == 0, done.stdout


REFUSALS = [
    ({}, "exactly one of sweep.spec, sweep.configMap, sweep.study; given: none"),
    ({"sweep": {"study": "a"}, "mode": "jobs"}, "mode"),
    ({"sweep": {"study": "a"}, "image": {"digest": "sha256:1"}}, "digest"),
    *((values, of_chart) for values, of_chart, _ in REFUSED),
]


@pytest.mark.parametrize(("values", "message"), REFUSALS)
def test_values_that_are_not_allowed_are_refused_by_name(
    helm: Helm, values: dict[str, Any], message: str
) -> None:
    done = helm.template(values)
    assert done.returncode != 0
    assert message in done.stderr


def test_a_cluster_without_kuberay_is_told_what_to_install(helm: Helm) -> None:
    done = helm.template(CASES["bundled"], known=())
    assert done.returncode != 0
    assert "install the KubeRay operator first" in done.stderr


@pytest.mark.parametrize("name", ["x" * 39, "2nd", "a.b"])
def test_a_name_that_kuberay_refuses_though_helm_takes_it_is_refused(helm: Helm, name: str) -> None:
    done = helm.template(CASES["bundled"], name=name)
    assert done.returncode != 0
    assert f'the name "{name}" is not allowed: at most 38 small letters' in done.stderr
