"""The manifests of a release comply with KubeRay, Pod Security and the design."""

import json
from typing import Any

import pytest
from cluster_settings import CASES, CONFLICTS, SCHEMA_MISTAKES, SETTINGS, find_effect
from pod_security import pod_specs, violations

from destage.cluster import Manifest, Release, build, read_settings
from destage.cluster.client.jobs import parse_job
from destage.cluster.client.pod_command import build_reader_pod
from destage.cluster.resources.rbac import AUTOSCALER
from destage.cluster.setup.object_labels import to_release_name
from destage.errors import ConfigError


def built(values: dict[str, Any], name: str = "demo") -> list[Manifest]:
    return build(Release(name, "sweeps", "9.9.9"), read_settings(values))


def only(manifests: list[Manifest], kind: str) -> Manifest:
    (found,) = [one for one in manifests if one["kind"] == kind]
    return found


@pytest.mark.parametrize("case", CASES)
def test_pods_comply_with_level_restricted(case: str) -> None:
    found = [spec for manifest in built(CASES[case]) for spec in pod_specs(manifest)]
    assert len(found) >= 2
    for path, spec in found:
        assert not violations(spec), path


@pytest.mark.parametrize("case", CASES)
def test_containers_have_limits_and_only_tmp_is_an_empty_dir(case: str) -> None:
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
def test_objects_have_unique_names_and_common_labels(case: str) -> None:
    manifests = built(CASES[case])
    names = [(one["kind"], one["metadata"]["name"]) for one in manifests]
    assert len(set(names)) == len(names)
    for manifest in manifests:
        labels = manifest["metadata"]["labels"]
        assert labels["app.kubernetes.io/instance"] == labels["destage.io/release"] == "demo"
        assert manifest["metadata"]["namespace"] == "sweeps"
        json.dumps(manifest)


def test_the_head_has_no_cpus_for_ray_and_workers_their_slots() -> None:
    cluster = only(built(CASES["elastic"]), "RayJob")["spec"]["rayClusterSpec"]
    assert cluster["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"
    spot, steady = cluster["workerGroupSpecs"]
    assert (spot["rayStartParams"], steady["rayStartParams"]) == ({"num-cpus": "16"}, {"num-cpus": "4"})
    assert (spot["minReplicas"], spot["replicas"], spot["maxReplicas"]) == (0, 1, 50)
    assert cluster["authOptions"] == {"mode": "token"}


def test_only_spot_workers_tolerate_spot_nodes() -> None:
    cluster = only(built(CASES["elastic"]), "RayJob")["spec"]["rayClusterSpec"]
    spot, steady = (group["template"]["spec"] for group in cluster["workerGroupSpecs"])
    keys = {toleration["key"] for toleration in spot["tolerations"]}
    assert {"cloud.google.com/gke-spot", "kubernetes.azure.com/scalesetpriority", "team"} == keys
    assert "tolerations" not in steady
    head = cluster["headGroupSpec"]["template"]["spec"]
    assert [each["key"] for each in head["tolerations"]] == ["steady"]


def test_only_the_autoscaler_and_the_keeper_have_api_permissions() -> None:
    for case, values in CASES.items():
        manifests = built(values)
        with_token = [
            path
            for manifest in manifests
            for path, spec in pod_specs(manifest)
            if spec["automountServiceAccountToken"]
        ]
        roles = [one for one in manifests if one["kind"] == "Role"]
        has_keeper = values.get("mode") != "cluster"
        assert len(with_token) == has_keeper + (case == "elastic")
        for role in roles:
            if role["metadata"]["name"].endswith("-autoscaler"):
                assert case == "elastic"
                assert len(role["rules"]) == len(AUTOSCALER)
            assert "*" not in json.dumps(role)
            assert "secrets" not in json.dumps(role)


def test_the_keeper_can_restart_its_own_job_only() -> None:
    manifests = built(CASES["bundled"])
    (role,) = [one for one in manifests if one["kind"] == "Role"]
    job, keeper = only(manifests, "RayJob")["metadata"]["name"], only(manifests, "Job")["metadata"]["name"]
    found = [(rule["resources"], rule["verbs"], rule["resourceNames"]) for rule in role["rules"]]
    assert found == [
        (["rayjobs"], ["get"], [job]),
        (["rayjobs/status"], ["patch"], [job]),
        (["jobs"], ["get"], [keeper]),
    ]
    assert len(keeper) <= 63
    without = built({**CASES["bundled"], "keeper": {"enabled": False}})
    assert "keeper" not in json.dumps(without)


def test_only_the_head_and_the_keeper_have_the_heads_priority() -> None:
    given = {"priorityClass": "batch", "head": {"priorityClass": "high"}, "reader": {"priorityClass": "low"}}
    manifests = built({**CASES["bundled"], **given})
    job = only(manifests, "RayJob")
    pods = [*pod_specs(job), *pod_specs(only(manifests, "Job"))]
    # The head, a group of workers, the submitter and the keeper.
    assert sorted(spec["priorityClassName"] for _, spec in pods) == ["batch", "batch", "high", "high"]
    assert build_reader_pod(parse_job(job))["spec"]["priorityClassName"] == "low"
    high = only(built({**CASES["bundled"], "priorityClass": "high"}), "RayJob")
    assert "priorityClassName" not in build_reader_pod(parse_job(high))["spec"]


def test_a_drained_node_keeps_the_head() -> None:
    manifests = built(CASES["bundled"])
    budget = only(manifests, "PodDisruptionBudget")["spec"]
    labels = only(manifests, "RayJob")["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["metadata"][
        "labels"
    ]
    assert budget["selector"]["matchLabels"].items() <= labels.items()
    assert budget["minAvailable"] == 1
    workers = {"destage.io/release": "demo", "destage.io/component": "worker"}
    assert not budget["selector"]["matchLabels"].items() <= workers.items()


def test_a_job_has_a_time_to_live_or_deletion_rules() -> None:
    plain = only(built(CASES["inline"]), "RayJob")["spec"]
    assert plain["shutdownAfterJobFinishes"]
    assert "deletionStrategy" not in plain
    ruled = only(built(CASES["config_map"]), "RayJob")["spec"]
    assert not ruled["shutdownAfterJobFinishes"]
    assert "ttlSecondsAfterFinished" not in ruled
    first, second = ruled["deletionStrategy"]["deletionRules"]
    assert first == {"policy": "DeleteCluster", "condition": {"jobStatus": "SUCCEEDED", "ttlSeconds": 0}}
    assert second["condition"]["jobStatus"] == "FAILED"


def test_the_job_name_depends_on_the_study_only() -> None:
    def name(values: dict[str, Any]) -> str:
        return str(only(built(values), "RayJob")["metadata"]["name"])

    assert name({"sweep": {"spec": "name: a"}}) != name({"sweep": {"spec": "name: b"}})
    assert name({"sweep": {"spec": "name: a"}}) == name({"sweep": {"spec": "name: a"}, "head": {"cpu": "2"}})
    assert len(name({"sweep": {"spec": "name: a"}})) <= 47


def test_an_inline_study_is_mounted_unchanged() -> None:
    manifests = built(CASES["inline"])
    config = only(manifests, "ConfigMap")
    assert config["data"] == {"study.yaml": CASES["inline"]["sweep"]["spec"]}
    job = only(manifests, "RayJob")["spec"]
    head = job["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]
    assert {"name": "study", "configMap": {"name": config["metadata"]["name"]}} in head["volumes"]
    assert job["entrypoint"] == "destage cluster drive /etc/destage/study.yaml"


def test_a_created_claim_is_kept_on_uninstall() -> None:
    claim = only(built(CASES["bundled"]), "PersistentVolumeClaim")
    assert claim["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    kinds = {one["kind"] for one in built(CASES["config_map"])}
    assert "PersistentVolumeClaim" not in kinds


def test_ingress_is_limited_to_the_release_and_the_operator() -> None:
    policies = [one["spec"] for one in built(CASES["bundled"]) if one["kind"] == "NetworkPolicy"]
    policy, keeper = policies
    assert keeper["podSelector"]["matchLabels"]["destage.io/component"] == "keeper"
    assert keeper["ingress"] == []
    assert policy["podSelector"]["matchLabels"] == {"destage.io/release": "demo"}
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    own, operator = policy["ingress"]
    assert own == {"from": [{"podSelector": {"matchLabels": {"destage.io/release": "demo"}}}]}
    assert operator["ports"] == [{"port": 8265, "protocol": "TCP"}]


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_setting_changes_the_manifests(setting: str) -> None:
    assert find_effect(setting) is not None


@pytest.mark.parametrize(("values", "code", "place"), [*CONFLICTS, *SCHEMA_MISTAKES])
def test_invalid_settings_are_rejected(values: dict[str, Any], code: str, place: str) -> None:
    with pytest.raises(ConfigError) as error:
        read_settings(values)
    assert (code, place) in {(issue.code, issue.place) for issue in error.value.issues}
    assert "AKIA" not in str(error.value)


def test_study_names_become_valid_release_names() -> None:
    assert to_release_name("Call_Center 2") == "call-center-2"
    assert len(to_release_name("x" * 80)) <= 38
    for text in ("2020", "2-way mirror", "_"):
        with pytest.raises(ConfigError) as error:
            to_release_name(text)
        assert error.value.code == "settings.bad-release-name"
    for name in ("a", "x" * 38, "a-1"):
        assert Release(name, "sweeps", "1").name == name


@pytest.mark.parametrize(
    ("name", "near"),
    [("Foo_Bar", "foo-bar"), ("-x", "x"), ("x-", "x"), ("a\n", "a"), ("2nd", "nd"), ("x" * 39, "x" * 38)],
)
def test_an_invalid_release_name_is_rejected_with_a_suggestion(name: str, near: str) -> None:
    for text, suggestion in ((name, near), ("2020", "")):
        with pytest.raises(ConfigError) as error:
            Release(text, "sweeps", "1")
        (issue,) = error.value.issues
        assert (issue.code, issue.place) == ("settings.bad-release-name", "name")
        assert issue.data["suggestion"] == suggestion
