"""What stands between a user and a sweep on a cluster: each thing looked at, with its mend."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from destage.cluster.check_result import Finding
from destage.cluster.connection import ApiError, Connection
from destage.cluster.labels import Release
from destage.cluster.manifests import Manifest, build
from destage.cluster.objects import OPERATORS, find_all, resource
from destage.cluster.preflight import run_preflight
from destage.cluster.quota import check_quotas
from destage.cluster.rbac import ASK_FOR_ROLE, PEOPLE, Rule
from destage.cluster.settings import Settings, Sweep
from destage.errors import ClusterError

_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
_KUBERAY_SINCE = "authOptions"
_START = "create pods"


def examine(
    connection: Connection, release: Release, settings: Settings | None = None, image: str | None = None
) -> Iterator[Finding]:
    """Yield what is found of a cluster, in the order in which a sweep would meet it.

    Args:
        connection: The API server.
        release: What the sweep would be called.
        settings: What the sweep is to have: it is tried out; None to try out nothing.
        image: The image to try out in place of that of the settings.
    """
    try:
        version = connection.call("GET", "/version")["gitVersion"]
    except ClusterError as error:
        yield Finding("API server", "does not answer", str(error))
        return
    yield Finding("API server", f"{connection.host}, Kubernetes {version}")
    try:
        yield from _looked_at(connection, release, settings, image)
    except ClusterError as error:
        told = error.message if isinstance(error, ApiError) else str(error)
        yield Finding("the rest", f"was not looked at: {told}", "mend this first, and ask again")


def _looked_at(
    connection: Connection, release: Release, settings: Settings | None, image: str | None
) -> Iterator[Finding]:
    namespace = _namespace(connection)
    yield namespace
    yield _kuberay(connection)
    if settings is None or not (settings.store.url or settings.claim.existing):
        yield _storage(connection, settings.claim.storage_class if settings else "")
    made = _made(release, settings) if settings else []
    yield _quota(connection, made)
    if any(each["kind"] == "PodMonitor" for each in made):
        yield _pod_monitor(connection)
    rules = _rules(made)
    denied = _denied(connection, rules)
    yield _permissions(rules, denied)
    if settings is None:
        return
    if not namespace.is_well:
        yield Finding("image", "was not tried out: the namespace is missing", namespace.mend)
    elif _START in denied:
        yield Finding("image", f"was not tried out: you may not {_START}", ASK_FOR_ROLE)
    else:
        yield from run_preflight(connection, release, settings, image)


def _namespace(connection: Connection) -> Finding:
    name = connection.namespace
    try:
        found = connection.call("GET", f"/api/v1/namespaces/{name}")
    except ApiError as error:
        if error.is_missing:
            return Finding("namespace", f"{name} is missing", f"kubectl create namespace {name}")
        return Finding("namespace", f"{name} (may not be looked at)")
    level = found["metadata"].get("labels", {}).get("pod-security.kubernetes.io/enforce", "none")
    return Finding("namespace", f"{name}, Pod Security level enforced: {level}")


def _kuberay(connection: Connection) -> Finding:
    mend = OPERATORS["ray.io"]
    try:
        kinds = {each["kind"] for each in connection.call("GET", "/apis/ray.io/v1")["resources"]}
    except ApiError as error:
        if error.is_missing:
            return Finding("KubeRay", "its resource definitions are missing", mend)
        raise
    if not {"RayJob", "RayCluster"} <= kinds:
        return Finding("KubeRay", f"has only {', '.join(sorted(kinds))}", mend)
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/rayclusters.ray.io"
    try:
        versions = connection.call("GET", path)["spec"]["versions"]
    except ApiError:
        return Finding("KubeRay", "ray.io/v1 (its definitions may not be looked at)")
    (current,) = [each for each in versions if each["name"] == "v1"]
    fields = current["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    if _KUBERAY_SINCE not in fields:
        return Finding(
            "KubeRay", "is too old for token authentication", f"upgrade it to 1.6 or later: {mend}"
        )
    return Finding("KubeRay", "ray.io/v1, with token authentication")


def _made(release: Release, settings: Settings) -> list[Manifest]:
    """Return what `submit` would make; which study it is does not matter."""
    return build(release, replace(settings, mode="job", sweep=Sweep(study="any")))


def _pod_monitor(connection: Connection) -> Finding:
    try:
        connection.call("GET", "/apis/monitoring.coreos.com/v1")
    except ApiError as error:
        if not error.is_missing:
            raise
        return Finding("PodMonitor", "the cluster knows no such kind", OPERATORS["monitoring.coreos.com"])
    return Finding("PodMonitor", "monitoring.coreos.com/v1")


def _storage(connection: Connection, wanted: str) -> Finding:
    try:
        classes = connection.call("GET", "/apis/storage.k8s.io/v1/storageclasses")["items"]
    except ApiError:
        return Finding("storage", "classes may not be looked at")
    names = [each["metadata"]["name"] for each in classes]
    if wanted in names:
        return Finding("storage", f"the class {wanted} is there")
    if wanted:
        mend = f"set claim.storageClass to one of {', '.join(names)}" if names else "make one"
        return Finding("storage", f"there is no class {wanted}", f"{mend}, or claim.existing to a claim")
    default = [
        each["metadata"]["name"]
        for each in classes
        if each["metadata"].get("annotations", {}).get(_DEFAULT_CLASS) == "true"
    ]
    if default:
        return Finding("storage", f"classes {', '.join(names)}; {default[0]} is the default")
    told = f"classes {', '.join(names)}, none the default" if names else "no classes"
    return Finding("storage", told, "set claim.storageClass, or claim.existing to a claim that is there")


def _quota(connection: Connection, made: Sequence[Manifest]) -> Finding:
    try:
        quotas = find_all(connection, "ResourceQuota")
    except ApiError:
        return Finding("quota", "may not be looked at")
    return check_quotas(quotas, made[-1] if made else None)


def _rules(made: Sequence[Manifest]) -> list[Rule]:
    """Return what the verbs do, and what it takes to make some objects beyond that.

    Nobody deletes what belongs to its RayJob; who makes a Role must have what it gives.
    """
    more = [(*resource(each["kind"]), ("create", "patch")) for each in made]
    given = [rule for each in made for rule in each.get("rules", [])]
    more += [(rule["apiGroups"][0], rule["resources"][0], tuple(rule["verbs"])) for rule in given]
    asked = {(group, name): list(verbs) for group, name, verbs in PEOPLE}
    for group, name, verbs in more:
        there = asked.setdefault((group, name), [])
        there += [verb for verb in verbs if verb not in there]
    return [(group, name, verbs) for (group, name), verbs in asked.items()]


def _denied(connection: Connection, rules: Sequence[Rule]) -> list[str]:
    """Return what the user may not do: `verb resource`."""
    denied = []
    for group, resource_text, verbs in rules:
        name, _, part = resource_text.partition("/")
        for verb in verbs:
            asked = {"namespace": connection.namespace, "group": group, "resource": name, "verb": verb}
            if part:
                asked["subresource"] = part
            review = {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SelfSubjectAccessReview",
                "spec": {"resourceAttributes": asked},
            }
            path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
            if not connection.call("POST", path, body=review)["status"]["allowed"]:
                denied.append(f"{verb} {resource_text}")
    return denied


def _permissions(rules: Sequence[Rule], denied: Sequence[str]) -> Finding:
    count = sum(len(verbs) for _, _, verbs in rules)
    if not denied:
        return Finding("permissions", f"all {count} that the verbs need")
    in_role = {f"{verb} {name}" for _, name, verbs in PEOPLE for verb in verbs}
    beyond = [each for each in denied if each not in in_role]
    mends = [ASK_FOR_ROLE] if len(beyond) < len(denied) else []
    if beyond:
        mends.append(
            f"ask an administrator for {', '.join(beyond)}, which the Role of users.role=true leaves out"
        )
    return Finding("permissions", f"{len(denied)} of {count} missing: {', '.join(denied)}", "; ".join(mends))
