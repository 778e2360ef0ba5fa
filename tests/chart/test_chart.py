"""The chart renders the builder's manifests, which comply with KubeRay's CRDs and level `restricted`."""

import json
import subprocess
from typing import Any

import pytest
import yaml
from chart.conftest import CHART, KUBERNETES, Helm
from chart.custom_resources import CustomResources
from cluster_settings import CASES, CONFLICTS, SCHEMA_MISTAKES, SETTINGS, find_effect
from pod_security import pod_specs, violations

from destage.cluster import Release, build, read_settings
from destage.errors import ConfigError

pytestmark = pytest.mark.chart
VERSION = str(yaml.safe_load((CHART / "Chart.yaml").read_text())["appVersion"])


def by_name(manifests: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {f"{one['kind']} {one['metadata']['name']}": one for one in manifests}


@pytest.mark.parametrize("case", CASES)
def test_chart_and_builder_make_equal_manifests(helm: Helm, case: str) -> None:
    assert_equal_manifests(helm, CASES[case])


@pytest.mark.parametrize("setting", SETTINGS)
def test_chart_and_builder_use_every_setting_equally(helm: Helm, setting: str) -> None:
    values = find_effect(setting)
    assert values is not None
    assert_equal_manifests(helm, values)


def assert_equal_manifests(helm: Helm, values: dict[str, Any]) -> None:
    release = Release("demo", "sweeps", VERSION, managed_by="Helm")
    expected = by_name(build(release, read_settings(values)))
    rendered = by_name(helm.render(values))
    assert sorted(rendered) == sorted(expected)
    for name, manifest in expected.items():
        assert rendered[name] == json.loads(json.dumps(manifest)), name


@pytest.mark.parametrize("case", CASES)
def test_kuberays_crds_accept_the_manifests(helm: Helm, kuberay: CustomResources, case: str) -> None:
    checked = [kuberay.mistakes(one) for one in helm.render(CASES[case]) if one["apiVersion"] == "ray.io/v1"]
    assert checked == [[]]


def test_the_crd_check_finds_unknown_fields_and_wrong_types(helm: Helm, kuberay: CustomResources) -> None:
    (job,) = [one for one in helm.render(CASES["bundled"]) if one["kind"] == "RayJob"]
    job["spec"]["backofLimit"] = 3
    job["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]["containers"][0]["imagePolicy"] = "x"
    job["spec"]["activeDeadlineSeconds"] = "60"
    mistakes = kuberay.mistakes(job)
    assert mistakes is not None
    assert len(mistakes) == 3


@pytest.mark.parametrize("case", CASES)
def test_pods_of_the_chart_comply_with_level_restricted(helm: Helm, case: str) -> None:
    done = helm.template(CASES[case])
    pods = [spec for one in yaml.safe_load_all(done.stdout) for spec in pod_specs(one)]
    values = CASES[case]
    # The head, each group of workers, submitter and keeper of a job, and the pod of `helm test`.
    assert len(pods) == 2 + len(values.get("workers", [0])) + 2 * (values.get("mode") != "cluster")
    for path, spec in pods:
        assert not violations(spec), path


STORED = [case for case, values in CASES.items() if "store" in values]


@pytest.mark.parametrize("case", STORED)
def test_an_object_store_needs_no_volume_and_no_secret(helm: Helm, case: str) -> None:
    done = helm.template(CASES[case])
    assert done.returncode == 0, done.stderr
    kinds = {one["kind"] for one in yaml.safe_load_all(done.stdout) if one}
    assert not kinds & {"PersistentVolumeClaim", "Secret"}
    assert "/results" not in done.stdout
    assert "name: results" not in done.stdout
    assert "persistentVolumeClaim" not in done.stdout


def test_helm_lint_passes(helm: Helm) -> None:
    done = helm.run("lint", "--strict", str(helm.chart), *KUBERNETES, "--set", "sweep.study=call_center")
    assert done.returncode == 0, done.stdout
    assert "WARNING" not in done.stdout


def test_helm_unittest_passes(helm: Helm) -> None:
    done = subprocess.run(["helm-unittest", helm.chart], capture_output=True, text=True, check=False)  # noqa: S607
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(("values", "code", "place"), CONFLICTS)
def test_conflicts_have_the_builders_code_place_and_message(
    helm: Helm, values: dict[str, Any], code: str, place: str
) -> None:
    with pytest.raises(ConfigError) as error:
        read_settings(values)
    (issue,) = (issue for issue in error.value.issues if issue.code == code)
    assert issue.place == place
    done = helm.template(values)
    assert done.returncode != 0
    assert str(issue) in done.stderr


@pytest.mark.parametrize(("values", "place"), [(values, place) for values, _, place in SCHEMA_MISTAKES])
def test_schema_mistakes_are_rejected(helm: Helm, values: dict[str, Any], place: str) -> None:
    done = helm.template(values)
    assert done.returncode != 0
    assert place.rpartition(".")[2] in done.stderr


def test_a_cluster_without_kuberay_is_rejected(helm: Helm) -> None:
    done = helm.template(CASES["bundled"], known=())
    assert done.returncode != 0
    assert "cluster.kuberay-missing at RayJob demo-" in done.stderr


@pytest.mark.parametrize("name", ["x" * 39, "2nd", "a.b"])
def test_an_invalid_release_name_is_rejected_as_by_the_builder(helm: Helm, name: str) -> None:
    with pytest.raises(ConfigError) as error:
        Release(name, "sweeps", "1")
    done = helm.template(CASES["bundled"], name=name)
    assert done.returncode != 0
    assert str(error.value).partition("; did you mean")[0] in done.stderr
