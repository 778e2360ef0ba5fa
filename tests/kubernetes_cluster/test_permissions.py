"""Who may do what in the API of a real Kubernetes, and what `doctor` says to those who may not."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from kubernetes_cluster.conftest import NAMESPACE, PERSON, VERSION, Cluster, helm, values_file

from destage.cluster.checks import examine
from destage.cluster.connection import Connection, connect
from destage.cluster.labels import Release
from destage.cluster.rbac import PEOPLE

pytestmark = [pytest.mark.kubernetes]
ALLOWED = [
    "selfsubjectreviews.authentication.k8s.io [] [] [create]",
    "selfsubjectaccessreviews.authorization.k8s.io [] [] [create]",
    "selfsubjectrulesreviews.authorization.k8s.io [] [] [create]",
]
"""What Kubernetes allows everybody, and nothing else but paths without resources."""


def listed(cluster: Cluster, account: str) -> set[str]:
    """Return what an account may do, as `kubectl auth can-i --list` writes it."""
    text = cluster.kubectl("auth", "can-i", "--list", f"--as=system:serviceaccount:{NAMESPACE}:{account}")
    found = {" ".join(line.split()) for line in text.splitlines()[1:]}
    return {line for line in found if not line.startswith("[")}


def test_the_accounts_of_the_pods_may_do_nothing(cluster: Cluster, chart: Path) -> None:
    cluster.volume("rights")
    elastic = values_file(cluster, autoscaling={"enabled": True})
    rendered = helm(
        "template", "rights", str(chart), "--values", str(elastic), "--set", "sweep.study=call_center",
        "--api-versions", "ray.io/v1/RayJob", "--kube-version", "1.34.0",
    )  # fmt: skip
    kinds = ("ServiceAccount", "Role", "RoleBinding")
    wanted = [one for one in yaml.safe_load_all(rendered) if one and one["kind"] in kinds]
    cluster.kubectl("apply", "-f", "-", given=yaml.safe_dump_all(wanted))
    expected = {
        "rights-submitter": ALLOWED,
        "rights-ray": [
            *ALLOWED,
            "pods [] [] [get list watch patch]",
            "rayclusters.ray.io [] [] [get patch]",
        ],
    }
    for account, rules in expected.items():
        assert listed(cluster, account) == set(rules), account


USERS = [
    *ALLOWED,
    "configmaps [] [] [list create patch delete]",
    "events [] [] [list]",
    "persistentvolumeclaims [] [] [list create patch delete]",
    "pods [] [] [get list create delete]",
    "pods/exec [] [] [get create]",
    "pods/log [] [] [get]",
    "resourcequotas [] [] [list]",
    "serviceaccounts [] [] [list create patch delete]",
    "networkpolicies.networking.k8s.io [] [] [list create patch delete]",
    "rayclusters.ray.io [] [] [list delete]",
    "rayjobs.ray.io [] [] [get list watch create patch delete]",
]


@pytest.fixture
def connection(person: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    """Return the API server as somebody with the Role for users sees it."""
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(person))
    return connect(namespace=NAMESPACE)


def test_doctor_names_each_permission_that_is_taken_from_a_user(
    cluster: Cluster, connection: Connection
) -> None:
    assert listed(cluster, PERSON) == set(USERS)
    release = Release("any", NAMESPACE, VERSION)
    role = yaml.safe_load(cluster.kubectl("get", "role", "people-users", "-o", "yaml"))
    rules = role.pop("rules")

    def missing() -> str:
        (found,) = [each for each in examine(connection, release) if each.what == "permissions"]
        assert bool(found.mend) == ("missing" in found.told)
        return found.told.partition("missing: ")[2]

    def give(allowed: list[dict[str, list[str]]]) -> None:
        cluster.kubectl("replace", "-f", "-", given=yaml.safe_dump({**role, "rules": allowed}))

    role["metadata"] = {key: role["metadata"][key] for key in ("name", "namespace", "labels")}
    for at, ((_, resource, verbs), rule) in enumerate(zip(PEOPLE, rules, strict=True)):
        assert rule["resources"] == [resource]
        for verb in verbs:
            left = [each for each in verbs if each != verb]
            give([*rules[:at], *([{**rule, "verbs": left}] if left else []), *rules[at + 1 :]])
            cluster.wait(f"{verb} {resource} gone", lambda: missing() == f"{verb} {resource}", 30)  # noqa: B023
    give(rules)
    cluster.wait("all permissions again", lambda: not missing(), 30)
