"""Checks of a cluster before a job is submitted, in the order in which a sweep depends on them.

Two need arithmetic: how long KubeRay waits for a lost head before it fails a sweep, and the resource requests
of a sweep's pods beside the namespace's ResourceQuotas. The reader is not among these pods: it runs only
while there is no head.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from kubernetes.utils import parse_quantity

from destage.cluster.client.api_connection import ApiError, Connection
from destage.cluster.client.objects import OPERATORS, find_all, find_resource
from destage.cluster.preparation.preflight import CheckResult, run_preflight
from destage.cluster.resources.manifests import build
from destage.cluster.resources.pods import Manifest
from destage.cluster.resources.rbac import ROLE_FIX, USERS, Rule
from destage.cluster.setup.cluster_settings import Settings, Sweep
from destage.cluster.setup.object_labels import Release
from destage.errors import ClusterError

_SUBJECT = "lost head"
_VARIABLE = "RAYJOB_STATUS_CHECK_TIMEOUT_SECONDS"
_DEFAULT_S = 300
_SELECTOR = "app.kubernetes.io/name=kuberay-operator"


def check_status_timeout(connection: Connection, *, has_keeper: bool) -> CheckResult:
    """Return what follows if the head of a sweep has no node for longer than KubeRay waits.

    An operator that the user may not read is taken to have the default.
    """
    timeout = _read_timeout(connection)
    waits = f"KubeRay fails a sweep whose head has no node for {timeout or _DEFAULT_S} s"
    if timeout is None:
        waits += " (the default; no permission to read the operator's Deployment)"
    if has_keeper:
        return CheckResult(_SUBJECT, f"{waits}; the keeper then restarts it")
    fix = (
        "set keeper.enabled=true, follow the sweep with `destage cluster watch --keep`, or increase "
        f"{_VARIABLE} in the operator's Deployment"
    )
    return CheckResult(_SUBJECT, f"{waits}; no keeper restarts it", "cluster.status-check-timeout", fix)


def _read_timeout(connection: Connection) -> int | None:
    """Return the operator's timeout [s]; None if its Deployment cannot be found or read."""
    try:
        deployments = connection.call("GET", "/apis/apps/v1/deployments", query={"labelSelector": _SELECTOR})
    except ApiError:
        return None
    return next(map(_parse_timeout, deployments["items"]), None)


def _parse_timeout(deployment: Manifest) -> int:
    containers = deployment["spec"]["template"]["spec"]["containers"]
    values = [
        variable.get("value") or ""
        for container in containers
        for variable in container.get("env", [])
        if variable["name"] == _VARIABLE
    ]
    # As KubeRay reads it: anything but a positive integer is the default.
    return int(values[0]) if values and values[0].isdigit() and int(values[0]) else _DEFAULT_S


Amounts = dict[str, Decimal]
_GI = 2**30
_NAMES = {
    "pods": ("pods", "count/pods"),
    "cpu": ("cpu", "requests.cpu", "limits.cpu"),
    "memory": ("memory", "requests.memory", "limits.memory"),
}
"""The names of each resource in quotas; requests equal limits."""


def check_quotas(quotas: Sequence[Manifest], manifests: Sequence[Manifest]) -> CheckResult:
    """Return whether the quotas have room for the pods of a sweep; without manifests, list the quotas."""
    used, exceeded = [], []
    pods = [pod for manifest in manifests for pod in _pods(manifest)]
    for quota in quotas:
        status = quota.get("status", {})
        requested = _sum(amounts for pod, amounts in pods if _applies(quota, pod))
        for name, limit in sorted(status.get("hard", {}).items()):
            in_use = status.get("used", {}).get(name, "0")
            used.append(f"{name} {in_use} of {limit}")
            left = parse_quantity(limit) - parse_quantity(in_use)
            if name in requested and requested[name] > left:
                text = f"{name} {_format(name, requested[name])}, available {_format(name, left)}"
                exceeded.append(f"{quota['metadata']['name']}: {text}")
    message = f"used: {'; '.join(used)}" if used else "none set"
    if not exceeded:
        return CheckResult("quota", message)
    fix = "request less (cpu, memory, workers.N.replicas), delete ended sweeps, or ask for a larger quota"
    message = f"{message}; the sweep's pods request more: {'; '.join(exceeded)}"
    return CheckResult("quota", message, "cluster.quota-exceeded", fix)


def _pods(manifest: Manifest) -> Iterator[tuple[Manifest, Amounts]]:
    """Yield the spec of each kind of pod, with the requests of all pods of the kind."""
    if manifest["kind"] == "Job":
        keeper = manifest["spec"]["template"]["spec"]
        yield keeper, _requests(keeper["containers"], 1)
    if manifest["kind"] != "RayJob":
        return
    cluster = manifest["spec"]["rayClusterSpec"]
    head = cluster["headGroupSpec"]["template"]["spec"]
    autoscaler = cluster.get("autoscalerOptions")
    yield head, _requests([*head["containers"], *([autoscaler] if autoscaler else [])], 1)
    for group in cluster["workerGroupSpecs"]:
        worker = group["template"]["spec"]
        yield worker, _requests(worker["containers"], group["replicas"])
    submitter = manifest["spec"]["submitterPodTemplate"]["spec"]
    yield submitter, _requests(submitter["containers"], 1)


def _requests(containers: Sequence[Manifest], pods: int) -> Amounts:
    requests = [container["resources"]["requests"] for container in containers]
    amounts = {
        kind: sum((parse_quantity(request[kind]) for request in requests), Decimal())
        for kind in ("cpu", "memory")
    }
    amounts["pods"] = Decimal(1)
    return {name: amounts[kind] * pods for kind, names in _NAMES.items() for name in names}


def _sum(parts: Iterator[Amounts]) -> Amounts:
    total: Amounts = {}
    for part in parts:
        total = {name: total.get(name, Decimal()) + amount for name, amount in part.items()}
    return total


def _applies(quota: Manifest, pod: Manifest) -> bool:
    """Return whether a quota's scopes match a pod; a quota of a priority class is taken not to match."""
    spec = quota.get("spec", {})
    expressions = spec.get("scopeSelector", {}).get("matchExpressions", [])
    scopes = {*spec.get("scopes", []), *(expression["scopeName"] for expression in expressions)}
    deadline_scope = "Terminating" if "activeDeadlineSeconds" in pod else "NotTerminating"
    return scopes <= {"NotBestEffort", deadline_scope}


def _format(name: str, amount: Decimal) -> str:
    return f"{amount / _GI:.4g}Gi" if "memory" in name else f"{amount:f}"


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
    # The objects that `submit` would create, for any study.
    job = replace(settings, mode="job", sweep=Sweep(study="any")) if settings else None
    manifests = build(release, job) if job else []
    yield _check_quota(connection, manifests)
    if any(manifest["kind"] == "PodMonitor" for manifest in manifests):
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
        kinds = {resource["kind"] for resource in connection.call("GET", "/apis/ray.io/v1")["resources"]}
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
    (current,) = [version for version in versions if version["name"] == "v1"]
    fields = current["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    if _SINCE_1_6 not in fields:
        message, fix = "too old for token authentication", f"upgrade it to 1.6 or later; {fix}"
        return CheckResult("KubeRay", message, "cluster.kuberay-too-old", fix)
    return CheckResult("KubeRay", "ray.io/v1, with token authentication")


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
    names = [storage_class["metadata"]["name"] for storage_class in classes]
    listed = f"storage classes: {', '.join(names) or 'none'}"
    if wanted in names:
        return CheckResult("storage", f"storage class {wanted} exists")
    if wanted:
        fix = "correct claim.storageClass, or set claim.existing"
        return CheckResult("storage", f"no storage class {wanted}; {listed}", code, fix)
    default = [
        storage_class["metadata"]["name"]
        for storage_class in classes
        if storage_class["metadata"].get("annotations", {}).get(_DEFAULT_CLASS) == "true"
    ]
    if default:
        return CheckResult("storage", f"{listed}; default: {default[0]}")
    fix = "set claim.storageClass, or claim.existing to an existing claim"
    return CheckResult("storage", f"{listed}; no default", code, fix)


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
    further = [(*find_resource(manifest["kind"]), ("create", "patch")) for manifest in manifests]
    granted = [rule for manifest in manifests for rule in manifest.get("rules", [])]
    further += [(rule["apiGroups"][0], rule["resources"][0], tuple(rule["verbs"])) for rule in granted]
    needed = {(group, name): list(verbs) for group, name, verbs in USERS}
    for group, name, verbs in further:
        needed_verbs = needed.setdefault((group, name), [])
        needed_verbs += [verb for verb in verbs if verb not in needed_verbs]
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
    beyond = [permission for permission in denied if permission not in in_role]
    fixes = [ROLE_FIX] if len(beyond) < len(denied) else []
    if beyond:
        fixes.append(f"ask an administrator for {', '.join(beyond)}, which users.role=true does not include")
    message = f"{len(denied)} of {count} missing: {', '.join(denied)}"
    return CheckResult("permissions", message, "cluster.permission-denied", "; ".join(fixes))
