"""How long KubeRay waits for a lost head before it fails a sweep, as `destage cluster doctor` reports it."""

from destage.cluster.client.api_connection import ApiError, Connection
from destage.cluster.preparation.check_result import CheckResult
from destage.cluster.resources.pods import Manifest

_SUBJECT = "lost head"
_VARIABLE = "RAYJOB_STATUS_CHECK_TIMEOUT_SECONDS"
_DEFAULT_S = 300
_SELECTOR = "app.kubernetes.io/name=kuberay-operator"


def check_status_timeout(connection: Connection, *, has_keeper: bool) -> CheckResult:
    """Return what follows if the head of a sweep has no node for longer than KubeRay waits.

    An operator that the user may not read is taken to have the default.
    """
    found = _read_timeout(connection)
    waits = f"KubeRay fails a sweep whose head has no node for {found or _DEFAULT_S} s"
    if found is None:
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
        found = connection.call("GET", "/apis/apps/v1/deployments", query={"labelSelector": _SELECTOR})
    except ApiError:
        return None
    for deployment in found["items"]:
        return _parse_timeout(deployment)
    return None


def _parse_timeout(deployment: Manifest) -> int:
    containers = deployment["spec"]["template"]["spec"]["containers"]
    values = [
        each.get("value") or ""
        for one in containers
        for each in one.get("env", [])
        if each["name"] == _VARIABLE
    ]
    # As KubeRay reads it: anything but a positive integer is the default.
    return int(values[0]) if values and values[0].isdigit() and int(values[0]) else _DEFAULT_S
