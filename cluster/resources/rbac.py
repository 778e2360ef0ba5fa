"""Service accounts and Roles: pods have no API permissions, except those of the autoscaler and the keeper."""

from collections.abc import Sequence

from destage.cluster.resources.pods import Manifest
from destage.cluster.setup.cluster_settings import Settings
from destage.cluster.setup.object_labels import Release

_GROUP = "rbac.authorization.k8s.io"
Rule = tuple[str, str, Sequence[str]]
"""An API group, a resource and the allowed verbs."""
AUTOSCALER: tuple[Rule, ...] = (
    ("", "pods", ("get", "list", "watch", "patch")),
    ("ray.io", "rayclusters", ("get", "patch")),
)
"""The permissions of Ray's autoscaler: read pods, and set the number of workers."""
USERS: tuple[Rule, ...] = (
    ("", "configmaps", ("list", "create", "patch", "delete")),
    ("", "events", ("list",)),
    ("", "persistentvolumeclaims", ("list", "create", "patch", "delete")),
    ("", "pods", ("get", "list", "create", "delete")),
    ("", "pods/exec", ("get", "create")),
    ("", "pods/log", ("get",)),
    ("", "resourcequotas", ("list",)),
    ("", "serviceaccounts", ("list", "create", "patch", "delete")),
    ("batch", "jobs", ("get", "list", "create", "delete")),
    ("networking.k8s.io", "networkpolicies", ("list", "create", "patch", "delete")),
    ("policy", "poddisruptionbudgets", ("list", "create", "patch", "delete")),
    ("ray.io", "rayclusters", ("get", "list", "patch", "delete")),
    ("ray.io", "rayjobs", ("get", "list", "watch", "create", "patch", "delete")),
    ("ray.io", "rayjobs/status", ("patch",)),
    (_GROUP, "rolebindings", ("create", "patch")),
    (_GROUP, "roles", ("create", "patch")),
)
"""The permissions that `destage cluster` needs; `doctor` checks each.

Kubernetes allows nobody to create a Role that grants more than its creator has."""
ROLE_FIX = "ask an administrator for the Role that the chart creates with users.role=true"


def build_accounts(release: Release, settings: Settings) -> list[Manifest]:
    """Return the service accounts; only that of the pods which access the results has an identity."""
    accounts = [_account(release, release.pods_account, dict(settings.accounts.annotations))]
    if settings.mode == "job":
        accounts.append(_account(release, release.submitter_account, {}))
        if settings.keeper.enabled:
            accounts.append(_account(release, release.keeper_account, {}))
    return accounts


def build_roles(release: Release, settings: Settings) -> list[Manifest]:
    """Return the Roles that the settings need, and their bindings."""
    manifests = []
    if settings.autoscaling.enabled:
        name = f"{release.name}-autoscaler"
        subject = {"kind": "ServiceAccount", "name": release.pods_account, "namespace": release.namespace}
        manifests += [_role(release, name, AUTOSCALER), _binding(release, name, [subject])]
    if settings.mode == "job" and settings.keeper.enabled:
        name = release.keeper_account
        subject = {"kind": "ServiceAccount", "name": name, "namespace": release.namespace}
        manifests += [_keeper_role(release, settings), _binding(release, name, [subject])]
    if settings.users.role:
        name = f"{release.name}-users"
        manifests.append(_role(release, name, USERS))
        if settings.users.subjects:
            manifests.append(_binding(release, name, [dict(subject) for subject in settings.users.subjects]))
    return manifests


def _account(release: Release, name: str, annotations: dict[str, str]) -> Manifest:
    return release.manifest(
        "v1 ServiceAccount", name, annotations=annotations, automountServiceAccountToken=False
    )


def _role(release: Release, name: str, rules: Sequence[Rule]) -> Manifest:
    listed = [
        {"apiGroups": [group], "resources": [resource], "verbs": list(verbs)}
        for group, resource, verbs in rules
    ]
    return release.manifest(f"{_GROUP}/v1 Role", name, rules=listed)


def _keeper_role(release: Release, settings: Settings) -> Manifest:
    """Return the Role of the keeper: it can restart one RayJob, and create or change nothing else."""
    job, own = release.job_name(settings), release.keeper_job_name(settings)
    role = _role(
        release,
        release.keeper_account,
        (
            ("ray.io", "rayjobs", ("get",)),
            ("ray.io", "rayjobs/status", ("patch",)),
            ("batch", "jobs", ("get",)),
        ),
    )
    for rule, name in zip(role["rules"], (job, job, own), strict=True):
        rule["resourceNames"] = [name]
    return role


def _binding(release: Release, name: str, subjects: list[dict[str, str]]) -> Manifest:
    role = {"apiGroup": _GROUP, "kind": "Role", "name": name}
    return release.manifest(f"{_GROUP}/v1 RoleBinding", name, roleRef=role, subjects=subjects)
