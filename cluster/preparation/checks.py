"""The checks of `destage cluster doctor`, in the order in which a sweep depends on them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from destage.cluster.client.api_connection import ApiError, Connection
from destage.cluster.client.objects import OPERATORS, find_all, find_resource
from destage.cluster.preparation.check_result import CheckResult
from destage.cluster.preparation.operator_timeout import check_status_timeout
from destage.cluster.preparation.preflight import run_preflight
from destage.cluster.preparation.quota import check_quotas
from destage.cluster.resources.manifests import build
from destage.cluster.resources.pods import Manifest
from destage.cluster.resources.rbac import ROLE_FIX, USERS, Rule
from destage.cluster.setup.cluster_settings import Settings, Sweep
from destage.cluster.setup.object_labels import Release
from destage.errors import ClusterError

_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
_SINCE_1_6 = "authOptions"
"""A field of RayCluster that KubeRay 1.6 introduced."""
_START_PODS = "create pods"


def run_checks(
    connection: Connection, release: Release, settings: Settings | None = None, image: str | None = None
) -> Iterator[CheckResult]:
    """Check a cluster, with a preflight pod if there are `settings`; yield a result for each check.

    An `image` is tested instead of that of the settings.
    """
    try:
        version = connection.call("GET", "/version")["gitVersion"]
    except ClusterError as error:
        fix = "correct this first, then run the command again"
        yield CheckResult("API server", f"{connection.host}: {error.message}", error.code, fix)
        return
    yield CheckResult("API server", f"{connection.host}, Kubernetes {version}")
    try:
        yield from _check_cluster(connection, release, settings, image)
    except ClusterError as error:
        message = f"not checked: {error.reason if isinstance(error, ApiError) else error.message}"
        fix = "correct this first, then run the command again"
        yield CheckResult("other checks", message, error.code, fix)


def _check_cluster(
    connection: Connection, release: Release, settings: Settings | None, image: str | None
) -> Iterator[CheckResult]:
    namespace = _check_namespace(connection)
    yield namespace
    yield _check_kuberay(connection)
    yield check_status_timeout(connection, has_keeper=settings is None or settings.keeper.enabled)
    if settings is None or not (settings.store.url or settings.claim.existing):
        yield _check_storage(connection, settings.claim.storage_class if settings else "")
    manifests = _build_job(release, settings) if settings else []
    yield _check_quota(connection, manifests)
    if any(each["kind"] == "PodMonitor" for each in manifests):
        yield _check_pod_monitor(connection)
    rules = _needed_rules(manifests)
    denied = _find_denied(connection, rules)
    yield _check_permissions(rules, denied)
    if settings is None:
        return
    if not namespace.has_passed:
        yield CheckResult("image", "not tested: the namespace is missing", namespace.code, namespace.fix)
    elif _START_PODS in denied:
        message = f"not tested: you may not {_START_PODS}"
        yield CheckResult("image", message, "cluster.permission-denied", ROLE_FIX)
    else:
        yield from run_preflight(connection, release, settings, image)


def _check_namespace(connection: Connection) -> CheckResult:
    name = connection.namespace
    try:
        namespace = connection.call("GET", f"/api/v1/namespaces/{name}")
    except ApiError as error:
        if error.is_missing:
            fix = f"kubectl create namespace {name}"
            return CheckResult("namespace", f"{name} is missing", "cluster.namespace-missing", fix)
        return CheckResult("namespace", f"{name} (no permission to read it)")
    level = namespace["metadata"].get("labels", {}).get("pod-security.kubernetes.io/enforce", "none")
    return CheckResult("namespace", f"{name}, enforced Pod Security level: {level}")


def _check_kuberay(connection: Connection) -> CheckResult:
    code, fix = OPERATORS["ray.io"]
    try:
        kinds = {each["kind"] for each in connection.call("GET", "/apis/ray.io/v1")["resources"]}
    except ApiError as error:
        if error.is_missing:
            return CheckResult("KubeRay", "no custom resource definitions", code, fix)
        raise
    if not {"RayJob", "RayCluster"} <= kinds:
        return CheckResult("KubeRay", f"only defines {', '.join(sorted(kinds))}", code, fix)
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/rayclusters.ray.io"
    try:
        versions = connection.call("GET", path)["spec"]["versions"]
    except ApiError:
        return CheckResult("KubeRay", "ray.io/v1 (no permission to read its definitions)")
    (current,) = [each for each in versions if each["name"] == "v1"]
    fields = current["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    if _SINCE_1_6 not in fields:
        message, fix = "too old for token authentication", f"upgrade it to 1.6 or later; {fix}"
        return CheckResult("KubeRay", message, "cluster.kuberay-too-old", fix)
    return CheckResult("KubeRay", "ray.io/v1, with token authentication")


def _build_job(release: Release, settings: Settings) -> list[Manifest]:
    """Return the objects that `submit` would create, for any study."""
    return build(release, replace(settings, mode="job", sweep=Sweep(study="any")))


def _check_pod_monitor(connection: Connection) -> CheckResult:
    group = "monitoring.coreos.com"
    try:
        connection.call("GET", f"/apis/{group}/v1")
    except ApiError as error:
        if not error.is_missing:
            raise
        return CheckResult("PodMonitor", "the cluster does not define this kind", *OPERATORS[group])
    return CheckResult("PodMonitor", f"{group}/v1")


def _check_storage(connection: Connection, wanted: str) -> CheckResult:
    code = "cluster.storage-class-missing"
    try:
        classes = connection.call("GET", "/apis/storage.k8s.io/v1/storageclasses")["items"]
    except ApiError:
        return CheckResult("storage", "no permission to read storage classes")
    names = [each["metadata"]["name"] for each in classes]
    known = f"storage classes: {', '.join(names) or 'none'}"
    if wanted in names:
        return CheckResult("storage", f"storage class {wanted} exists")
    if wanted:
        fix = "correct claim.storageClass, or set claim.existing"
        return CheckResult("storage", f"no storage class {wanted}; {known}", code, fix)
    default = [
        each["metadata"]["name"]
        for each in classes
        if each["metadata"].get("annotations", {}).get(_DEFAULT_CLASS) == "true"
    ]
    if default:
        return CheckResult("storage", f"{known}; default: {default[0]}")
    fix = "set claim.storageClass, or claim.existing to an existing claim"
    return CheckResult("storage", f"{known}; no default", code, fix)


def _check_quota(connection: Connection, manifests: Sequence[Manifest]) -> CheckResult:
    try:
        quotas = find_all(connection, "ResourceQuota")
    except ApiError:
        return CheckResult("quota", "no permission to read quotas")
    return check_quotas(quotas, manifests)


def _needed_rules(manifests: Sequence[Manifest]) -> list[Rule]:
    """Return the permissions of all commands, and those to create the manifests.

    No `delete` for objects owned by a RayJob. The creator of a Role needs the permissions that it grants.
    """
    further = [(*find_resource(each["kind"]), ("create", "patch")) for each in manifests]
    granted = [rule for each in manifests for rule in each.get("rules", [])]
    further += [(rule["apiGroups"][0], rule["resources"][0], tuple(rule["verbs"])) for rule in granted]
    needed = {(group, name): list(verbs) for group, name, verbs in USERS}
    for group, name, verbs in further:
        known = needed.setdefault((group, name), [])
        known += [verb for verb in verbs if verb not in known]
    return [(group, name, verbs) for (group, name), verbs in needed.items()]


def _find_denied(connection: Connection, rules: Sequence[Rule]) -> list[str]:
    """Return the permissions that the user does not have, as `verb resource`."""
    denied = []
    for group, resource, verbs in rules:
        name, _, subresource = resource.partition("/")
        for verb in verbs:
            attributes = {"namespace": connection.namespace, "group": group, "resource": name, "verb": verb}
            if subresource:
                attributes["subresource"] = subresource
            review = {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SelfSubjectAccessReview",
                "spec": {"resourceAttributes": attributes},
            }
            path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
            if not connection.call("POST", path, body=review)["status"]["allowed"]:
                denied.append(f"{verb} {resource}")
    return denied


def _check_permissions(rules: Sequence[Rule], denied: Sequence[str]) -> CheckResult:
    count = sum(len(verbs) for _, _, verbs in rules)
    if not denied:
        return CheckResult("permissions", f"all {count} that the commands need")
    in_role = {f"{verb} {name}" for _, name, verbs in USERS for verb in verbs}
    beyond = [each for each in denied if each not in in_role]
    fixes = [ROLE_FIX] if len(beyond) < len(denied) else []
    if beyond:
        fixes.append(f"ask an administrator for {', '.join(beyond)}, which users.role=true does not include")
    message = f"{len(denied)} of {count} missing: {', '.join(denied)}"
    return CheckResult("permissions", message, "cluster.permission-denied", "; ".join(fixes))
