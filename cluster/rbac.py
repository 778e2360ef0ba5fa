"""Who may do what in the API: accounts without rights, one Role for the autoscaler, one for people."""

from collections.abc import Sequence

from destage.cluster.labels import Release
from destage.cluster.pods import Manifest
from destage.cluster.settings import Settings

RBAC = "rbac.authorization.k8s.io"
Rule = tuple[str, str, Sequence[str]]
"""An API group, a resource and what may be done with it."""
AUTOSCALER: tuple[Rule, ...] = (
    ("", "pods", ("get", "list", "watch", "patch")),
    ("ray.io", "rayclusters", ("get", "patch")),
)
"""What Ray's autoscaler does: look at the pods, and change how many the cluster should have."""
PEOPLE: tuple[Rule, ...] = (
    ("", "configmaps", ("list", "create", "patch", "delete")),
    ("", "events", ("list",)),
    ("", "persistentvolumeclaims", ("list", "create", "patch", "delete")),
    ("", "pods", ("get", "list", "create", "delete")),
    ("", "pods/exec", ("get", "create")),
    ("", "pods/log", ("get",)),
    ("", "resourcequotas", ("list",)),
    ("", "serviceaccounts", ("list", "create", "patch", "delete")),
    ("networking.k8s.io", "networkpolicies", ("list", "create", "patch", "delete")),
    ("ray.io", "rayclusters", ("list", "delete")),
    ("ray.io", "rayjobs", ("get", "list", "watch", "create", "patch", "delete")),
)
"""What the verbs of `destage cluster` do; `doctor` asks for each."""
ASK_FOR_ROLE = "ask an administrator for the Role that the chart makes with users.role=true"
"""What mends it where one of them is denied."""


def accounts(release: Release, settings: Settings) -> list[Manifest]:
    """Return the service accounts of the pods; only those that reach the results have an identity.

    Args:
        release: What they belong to.
        settings: What is asked for.
    """
    made = [_account(release, release.pods_account, dict(settings.accounts.annotations))]
    if settings.mode == "job":
        made.append(_account(release, release.submitter_account, {}))
    return made


def roles(release: Release, settings: Settings) -> list[Manifest]:
    """Return the Roles and their bindings; none where nothing in the cluster needs the API.

    Args:
        release: What they belong to.
        settings: What is asked for.
    """
    made = []
    if settings.autoscaling.enabled:
        name = f"{release.name}-autoscaler"
        subject = {"kind": "ServiceAccount", "name": release.pods_account, "namespace": release.namespace}
        made += [_role(release, name, AUTOSCALER), _binding(release, name, [subject])]
    if settings.users.role:
        name = f"{release.name}-users"
        made.append(_role(release, name, PEOPLE))
        if settings.users.subjects:
            made.append(_binding(release, name, [dict(each) for each in settings.users.subjects]))
    return made


def _account(release: Release, name: str, annotations: dict[str, str]) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": _metadata(release, name) | ({"annotations": annotations} if annotations else {}),
        "automountServiceAccountToken": False,
    }


def _role(release: Release, name: str, rules: Sequence[Rule]) -> Manifest:
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "Role",
        "metadata": _metadata(release, name),
        "rules": [
            {"apiGroups": [group], "resources": [resource], "verbs": list(verbs)}
            for group, resource, verbs in rules
        ],
    }


def _binding(release: Release, name: str, subjects: list[dict[str, str]]) -> Manifest:
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": _metadata(release, name),
        "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": name},
        "subjects": subjects,
    }


def _metadata(release: Release, name: str) -> Manifest:
    return {"name": name, "namespace": release.namespace, "labels": release.labels}
