"""Results in an object store need no volume, and only pods that access them have credentials."""

import json
from typing import Any

import pytest
from cluster_settings import CASES
from pod_security import pod_specs

from destage.cluster import Manifest, Release, build, read_settings
from destage.cluster.resources.storage import build_identity_labels
from destage.cluster.setup.cluster_settings import find_ports, find_scheme

STORED = {name: values for name, values in CASES.items() if "store" in values}


def built(values: dict[str, Any]) -> list[Manifest]:
    return build(Release("demo", "sweeps", "9.9.9"), read_settings(values))


def egress(values: dict[str, Any]) -> list[Manifest]:
    """Return the egress rules of the pods, except to each other and to DNS."""
    policies = [one for one in built(values) if one["kind"] == "NetworkPolicy"]
    (policy,) = [one for one in policies if one["metadata"]["name"] == "demo"]
    return list(policy["spec"]["egress"][2:])


def tcp(*ports: int) -> list[dict[str, Any]]:
    return [{"port": port, "protocol": "TCP"} for port in ports]


@pytest.mark.parametrize("case", STORED)
def test_no_manifest_mentions_a_volume(case: str) -> None:
    text = json.dumps(built(STORED[case]))
    for word in ("PersistentVolumeClaim", "persistentVolumeClaim", '"results"', "/results"):
        assert word not in text


@pytest.mark.parametrize("case", CASES)
def test_all_pods_but_submitter_and_keeper_have_the_store(case: str) -> None:
    url = CASES[case].get("store", {}).get("url", "/results")
    for manifest in built(CASES[case]):
        for path, spec in pod_specs(manifest):
            (container,) = spec["containers"]
            env = {each["name"]: each.get("value") for each in container["env"]}
            if "submitter" in path or container["name"] == "keeper":
                assert set(env) == {"HOME"}
                assert "envFrom" not in container
                assert {volume["name"] for volume in spec["volumes"]} == {"tmp"}
            else:
                assert env["DESTAGE_STORE"] == url


@pytest.mark.parametrize("case", CASES)
def test_no_manifest_contains_a_credential(case: str) -> None:
    for manifest in built(CASES[case]):
        assert manifest["kind"] != "Secret"
        for _, spec in pod_specs(manifest):
            for container in spec["containers"]:
                for each in container["env"]:
                    assert not any(word in each["name"] for word in ("KEY", "SECRET", "TOKEN", "PASSWORD")), (
                        each
                    )


def test_a_secret_is_variables_but_a_file_for_google() -> None:
    def head(case: str) -> Any:
        job = built(STORED[case])[-1]["spec"]
        return job["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]

    s3, google = head("s3"), head("google_key")
    assert s3["containers"][0]["envFrom"] == [{"secretRef": {"name": "store"}}]
    assert {volume["name"] for volume in s3["volumes"]} == {"tmp", "study"}
    assert "envFrom" not in google["containers"][0]
    mounts = {each["mountPath"]: each for each in google["containers"][0]["volumeMounts"]}
    env = {each["name"]: each["value"] for each in google["containers"][0]["env"]}
    assert env["GOOGLE_APPLICATION_CREDENTIALS"].rpartition("/")[0] in mounts
    assert {"name": "credentials", "secret": {"secretName": "google"}} in google["volumes"]


def test_only_the_account_of_head_and_workers_is_annotated() -> None:
    accounts = {
        one["metadata"]["name"]: one for one in built(STORED["eks"]) if one["kind"] == "ServiceAccount"
    }
    annotations = {name: one["metadata"].get("annotations") for name, one in accounts.items()}
    assert annotations == {
        "demo-ray": STORED["eks"]["accounts"]["annotations"],
        "demo-submitter": None,
        "demo-keeper": None,
    }


def test_only_azures_workload_identity_labels_pods() -> None:
    label = json.dumps(build_identity_labels(read_settings(STORED["aks"])))[1:-1]
    labelled = {case: json.dumps(built(values)).count(label) for case, values in CASES.items()}
    assert {case: count for case, count in labelled.items() if count} == {"aks": 2}  # head and workers
    both = {"iam.gke.io/gcp-service-account": "a", "azure.workload.identity/client-id": "b"}
    given = {"sweep": {"study": "a"}, "accounts": {"annotations": both}}
    assert build_identity_labels(read_settings(given)) == {"azure.workload.identity/use": "true"}


def test_the_entrypoint_has_no_shell_characters() -> None:
    for case, values in CASES.items():
        if values.get("mode") != "cluster":
            assert set(built(values)[-1]["spec"]["entrypoint"]) <= set(
                "abcdefghijklmnopqrstuvwxyz0123456789 _./-"
            ), case


def test_the_job_name_depends_on_the_store() -> None:
    def name(url: str) -> str:
        values: dict[str, Any] = {"sweep": {"study": "a"}, "store": {"url": url}}
        return str(built(values)[-1]["metadata"]["name"])

    assert len({name(""), name("s3://one"), name("s3://other")}) == 3


def test_egress_is_limited_to_the_store_and_the_identity() -> None:
    assert egress(CASES["bundled"]) == []
    assert egress(STORED["s3"]) == [{"ports": tcp(443, 9000, 3128)}]
    agent = [{"ipBlock": {"cidr": "169.254.170.23/32"}}, {"ipBlock": {"cidr": "fd00:ec2::23/128"}}]
    assert egress(STORED["eks"]) == [{"ports": tcp(443)}, {"to": agent, "ports": tcp(80)}]
    assert egress(STORED["gke"]) == [
        {"ports": tcp(443)},
        {"to": [{"ipBlock": {"cidr": "169.254.169.254/32"}}], "ports": tcp(80)},
        {"to": [{"ipBlock": {"cidr": "169.254.169.252/32"}}], "ports": tcp(988)},
    ]
    assert egress(STORED["google_key"]) == [{"ports": tcp(443, 80)}]
    assert egress(STORED["aks"]) == [{"ports": tcp(443)}]
    assert egress(STORED["azurite"]) == [{"ports": tcp(443, 10000, 10001)}]


PORTS = [
    ("s3://b/p", [443]),
    ("s3://b/p?endpoint_override=https://host:9000", [443, 9000]),
    ("s3://b/p?endpoint_override=host&scheme=http", [443, 80]),
    ("s3://b/p:9000?scheme=https", [443]),
    ("gs://b?endpoint_override=[fd00::1]:4443", [443, 4443]),
    ("abfs://127.0.0.1:10000/container/p", [443, 10000]),
]


@pytest.mark.parametrize(("url", "ports"), PORTS)
def test_ports_are_read_from_the_url(url: str, ports: list[int]) -> None:
    assert find_ports(url) == ports


def test_schemes_name_the_stores_client() -> None:
    urls = ("s3://b", "gs://b", "abfs://b", "abfss://b", "file:///b", "/results")
    assert [find_scheme(url) for url in urls] == ["s3", "gs", "abfs", "abfs", "", ""]
