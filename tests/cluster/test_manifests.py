"""The manifests of a release: what KubeRay, Pod Security and the house rules ask of them."""

import json
import re
from typing import Any

import pytest
from cluster_settings import CASES, REFUSED
from pod_security import pod_specs, violations

from destage.cluster import Manifest, Release, build, read_settings
from destage.cluster.labels import to_release_name
from destage.cluster.rbac import AUTOSCALER
from destage.errors import ConfigError


def built(values: dict[str, Any], name: str = "demo") -> list[Manifest]:
    return build(Release(name, "sweeps", "9.9.9"), read_settings(values))


def only(manifests: list[Manifest], kind: str) -> Manifest:
    (found,) = [one for one in manifests if one["kind"] == kind]
    return found


@pytest.mark.parametrize("case", CASES)
def test_every_pod_is_accepted_at_level_restricted(case: str) -> None:
    found = [spec for manifest in built(CASES[case]) for spec in pod_specs(manifest)]
    assert len(found) >= 2
    for path, spec in found:
        assert not violations(spec), path


@pytest.mark.parametrize("case", CASES)
def test_requests_are_limits_the_root_is_read_only_and_no_result_lies_in_an_empty_dir(case: str) -> None:
    for manifest in built(CASES[case]):
        for path, spec in pod_specs(manifest):
            volumes = {volume["name"]: volume for volume in spec["volumes"]}
            for container in spec["containers"]:
                resources = container["resources"]
                assert resources["requests"] == resources["limits"], path
                assert set(resources["limits"]) == {"cpu", "memory"}
                assert container["securityContext"]["readOnlyRootFilesystem"]
                for mount in container["volumeMounts"]:
                    assert ("emptyDir" in volumes[mount["name"]]) == (mount["mountPath"] == "/tmp"), path  # noqa: S108


@pytest.mark.parametrize("case", CASES)
def test_every_object_is_named_placed_and_labelled_alike(case: str) -> None:
    manifests = built(CASES[case])
    names = [(one["kind"], one["metadata"]["name"]) for one in manifests]
    assert len(set(names)) == len(names)
    for manifest in manifests:
        labels = manifest["metadata"]["labels"]
        assert labels["app.kubernetes.io/instance"] == labels["destage.io/release"] == "demo"
        assert manifest["metadata"]["namespace"] == "sweeps"
        json.dumps(manifest)


def test_the_head_executes_no_runs_and_workers_execute_as_many_as_they_have_slots() -> None:
    cluster = only(built(CASES["elastic"]), "RayJob")["spec"]["rayClusterSpec"]
    assert cluster["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"
    spot, steady = cluster["workerGroupSpecs"]
    assert (spot["rayStartParams"], steady["rayStartParams"]) == ({"num-cpus": "16"}, {"num-cpus": "4"})
    assert (spot["minReplicas"], spot["replicas"], spot["maxReplicas"]) == (0, 1, 50)
    assert cluster["authOptions"] == {"mode": "token"}


def test_only_spot_workers_bear_the_taints_of_spot_nodes() -> None:
    cluster = only(built(CASES["elastic"]), "RayJob")["spec"]["rayClusterSpec"]
    spot, steady = (group["template"]["spec"] for group in cluster["workerGroupSpecs"])
    keys = {toleration["key"] for toleration in spot["tolerations"]}
    assert {"cloud.google.com/gke-spot", "kubernetes.azure.com/scalesetpriority", "team"} == keys
    assert "tolerations" not in steady
    head = cluster["headGroupSpec"]["template"]["spec"]
    assert [each["key"] for each in head["tolerations"]] == ["steady"]


def test_no_pod_holds_a_key_to_the_api_but_the_autoscalers() -> None:
    for case, values in CASES.items():
        manifests = built(values)
        holders = [
            path
            for manifest in manifests
            for path, spec in pod_specs(manifest)
            if spec["automountServiceAccountToken"]
        ]
        roles = [one for one in manifests if one["kind"] == "Role"]
        assert len(holders) == (1 if case == "elastic" else 0)
        for role in roles:
            if role["metadata"]["name"].endswith("-autoscaler"):
                assert case == "elastic"
                assert len(role["rules"]) == len(AUTOSCALER)
            assert "*" not in json.dumps(role)
            assert "secrets" not in json.dumps(role)


def test_kuberay_takes_a_time_to_live_or_deletion_rules_never_both() -> None:
    plain = only(built(CASES["inline"]), "RayJob")["spec"]
    assert plain["shutdownAfterJobFinishes"]
    assert "deletionStrategy" not in plain
    ruled = only(built(CASES["config_map"]), "RayJob")["spec"]
    assert not ruled["shutdownAfterJobFinishes"]
    assert "ttlSecondsAfterFinished" not in ruled
    first, second = ruled["deletionStrategy"]["deletionRules"]
    assert first == {"policy": "DeleteCluster", "condition": {"jobStatus": "SUCCEEDED", "ttlSeconds": 0}}
    assert second["condition"]["jobStatus"] == "FAILED"


def test_another_study_is_another_job_and_the_same_one_the_same() -> None:
    def name(values: dict[str, Any]) -> str:
        return str(only(built(values), "RayJob")["metadata"]["name"])

    assert name({"sweep": {"spec": "name: a"}}) != name({"sweep": {"spec": "name: b"}})
    assert name({"sweep": {"spec": "name: a"}}) == name({"sweep": {"spec": "name: a"}, "head": {"cpu": "2"}})
    assert len(name({"sweep": {"spec": "name: a"}})) <= 47


def test_an_inline_study_reaches_the_head_as_it_was_written() -> None:
    manifests = built(CASES["inline"])
    config = only(manifests, "ConfigMap")
    assert config["data"] == {"study.yaml": CASES["inline"]["sweep"]["spec"]}
    job = only(manifests, "RayJob")["spec"]
    head = job["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]
    assert {"name": "study", "configMap": {"name": config["metadata"]["name"]}} in head["volumes"]
    assert job["entrypoint"] == "destage cluster drive /etc/destage/study.yaml"


def test_results_outlive_the_release() -> None:
    claim = only(built(CASES["bundled"]), "PersistentVolumeClaim")
    assert claim["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    kinds = {one["kind"] for one in built(CASES["config_map"])}
    assert "PersistentVolumeClaim" not in kinds


def test_only_the_release_and_the_operator_reach_the_pods() -> None:
    policy = only(built(CASES["bundled"]), "NetworkPolicy")["spec"]
    assert policy["podSelector"]["matchLabels"] == {"destage.io/release": "demo"}
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    own, operator = policy["ingress"]
    assert own == {"from": [{"podSelector": {"matchLabels": {"destage.io/release": "demo"}}}]}
    assert operator["ports"] == [{"port": 8265, "protocol": "TCP"}]


MISTAKES = [
    ({"sweep": {}}, "exactly one of sweep.spec"),
    ({"sweep": {"study": "a"}, "head": {"cpu": "many"}}, "head.cpu"),
    *((values, of_builder) for values, _, of_builder in REFUSED),
]


@pytest.mark.parametrize(("values", "message"), MISTAKES)
def test_settings_that_are_not_allowed_are_refused_by_name(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        read_settings(values)


def test_names_are_what_kubernetes_allows() -> None:
    assert to_release_name("Call_Center 2") == "call-center-2"
    assert len(to_release_name("x" * 80)) <= 38
    for text in ("2020", "2-way mirror", "_"):
        with pytest.raises(ConfigError, match="--name"):
            to_release_name(text)
    for name in ("a", "x" * 38, "a-1"):
        assert Release(name, "sweeps", "1").name == name


@pytest.mark.parametrize(
    ("name", "near"),
    [("Foo_Bar", "foo-bar"), ("-x", "x"), ("x-", "x"), ("a\n", "a"), ("2nd", "nd"), ("x" * 39, "x" * 38)],
)
def test_a_name_that_kubernetes_refuses_is_refused_with_the_nearest_that_it_takes(
    name: str, near: str
) -> None:
    with pytest.raises(ConfigError, match=f"at most 38 small letters.*; did you mean {near!r}"):
        Release(name, "sweeps", "1")
    with pytest.raises(ConfigError, match=r"the last no hyphen$"):
        Release("2020", "sweeps", "1")
