"""The permissions of accounts on a real Kubernetes, and how `doctor` reports missing ones."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from kubernetes_cluster.conftest import NAMESPACE, USER, VERSION, Cluster, helm, write_values

from destage.cluster.client.api_connection import Connection, connect
from destage.cluster.preparation.checks import run_checks
from destage.cluster.resources.rbac import USERS as USER_RULES
from destage.cluster.setup.object_labels import Release

pytestmark = [pytest.mark.kubernetes]
DEFAULT = [
    "selfsubjectreviews.authentication.k8s.io [] [] [create]",
    "selfsubjectaccessreviews.authorization.k8s.io [] [] [create]",
    "selfsubjectrulesreviews.authorization.k8s.io [] [] [create]",
]
"""The permissions on resources that Kubernetes grants to everyone."""


def list_permissions(cluster: Cluster, account: str) -> set[str]:
    """Return an account's permissions in the format of `kubectl auth can-i --list`."""
    text = cluster.kubectl("auth", "can-i", "--list", f"--as=system:serviceaccount:{NAMESPACE}:{account}")
    found = {" ".join(line.split()) for line in text.splitlines()[1:]}
    return {line for line in found if not line.startswith("[")}


@pytest.mark.smoke
def test_pod_accounts_have_no_permissions(cluster: Cluster, chart: Path) -> None:
    cluster.create_volume("accounts")
    elastic = write_values(cluster, autoscaling={"enabled": True})
    rendered = helm(
        "template", "accounts", str(chart), "--values", str(elastic), "--set", "sweep.study=call_center",
        "--api-versions", "ray.io/v1/RayJob", "--kube-version", "1.34.0",
    )  # fmt: skip
    kinds = ("ServiceAccount", "Role", "RoleBinding")
    wanted = [one for one in yaml.safe_load_all(rendered) if one and one["kind"] in kinds]
    cluster.kubectl("apply", "-f", "-", given=yaml.safe_dump_all(wanted))
    (keeper,) = [
        one for one in wanted if one["metadata"]["name"] == "accounts-keeper" and one["kind"] == "Role"
    ]
    job, own = (keeper["rules"][at]["resourceNames"][0] for at in (0, 2))
    expected = {
        "accounts-submitter": DEFAULT,
        "accounts-keeper": [
            *DEFAULT,
            f"rayjobs.ray.io [] [{job}] [get]",
            f"rayjobs.ray.io/status [] [{job}] [patch]",
            f"jobs.batch [] [{own}] [get]",
        ],
        "accounts-ray": [
            *DEFAULT,
            "pods [] [] [get list watch patch]",
            "rayclusters.ray.io [] [] [get patch]",
        ],
    }
    for account, rules in expected.items():
        assert list_permissions(cluster, account) == set(rules), account


USERS = [
    *DEFAULT,
    "configmaps [] [] [list create patch delete]",
    "events [] [] [list]",
    "persistentvolumeclaims [] [] [list create patch delete]",
    "pods [] [] [get list create delete]",
    "pods/exec [] [] [get create]",
    "pods/log [] [] [get]",
    "resourcequotas [] [] [list]",
    "serviceaccounts [] [] [list create patch delete]",
    "jobs.batch [] [] [get list create delete]",
    "networkpolicies.networking.k8s.io [] [] [list create patch delete]",
    "poddisruptionbudgets.policy [] [] [list create patch delete]",
    "rayclusters.ray.io [] [] [get list patch delete]",
    "rayjobs.ray.io [] [] [get list watch create patch delete]",
    "rayjobs.ray.io/status [] [] [patch]",
    "rolebindings.rbac.authorization.k8s.io [] [] [create patch]",
    "roles.rbac.authorization.k8s.io [] [] [create patch]",
]


@pytest.fixture
def connection(user_config: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    """Return a connection of a user with the Role for users."""
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(user_config))
    return connect(namespace=NAMESPACE)


def test_doctor_reports_each_missing_permission(cluster: Cluster, connection: Connection) -> None:
    assert list_permissions(cluster, USER) == set(USERS)
    release = Release("any", NAMESPACE, VERSION)
    role = yaml.safe_load(cluster.kubectl("get", "role", "people-users", "-o", "yaml"))
    rules = role.pop("rules")

    def missing() -> str:
        (found,) = [each for each in run_checks(connection, release) if each.subject == "permissions"]
        assert found.has_passed == ("missing" not in found.message)
        return found.message.partition("missing: ")[2]

    def grant(allowed: list[dict[str, list[str]]]) -> None:
        cluster.kubectl("replace", "-f", "-", given=yaml.safe_dump({**role, "rules": allowed}))

    role["metadata"] = {key: role["metadata"][key] for key in ("name", "namespace", "labels")}
    for at, ((_, resource, verbs), rule) in enumerate(zip(USER_RULES, rules, strict=True)):
        assert rule["resources"] == [resource]
        for verb in verbs:
            left = [each for each in verbs if each != verb]
            grant([*rules[:at], *([{**rule, "verbs": left}] if left else []), *rules[at + 1 :]])
            cluster.wait_for(f"{verb} {resource} gone", lambda: missing() == f"{verb} {resource}", 30)  # noqa: B023
    grant(rules)
    cluster.wait_for("all permissions again", lambda: not missing(), 30)
