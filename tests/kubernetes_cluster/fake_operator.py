"""A fake KubeRay operator: creates the pods and Jobs of the RayClusters and RayJobs of an API server.

KUBECONFIG selects the server. A RayJob has the states of KubeRay 1.7 in mode `K8sJobMode`: the operator
creates a RayCluster and, when all its pods are ready, a Job whose pod submits the entrypoint and follows its
log. A failed job is retried on a new cluster, `backoffLimit` times; `suspend` deletes cluster and submitter.
A job whose status cannot be read for `RAYJOB_STATUS_CHECK_TIMEOUT_SECONDS` fails and is not retried.
A RayCluster has a head, its service and its token, and `replicas` workers between `minReplicas` and
`maxReplicas`; a lost pod is replaced. There is no validation, no probe except the head's, no autoscaler, no
deletion rules and no finalizers, so a passing test does not prove the same of KubeRay.
"""

import base64
import calendar
import copy
import json
import os
import secrets
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

from destage.cluster.client.api_connection import ApiError, Connection, connect
from destage.cluster.client.objects import build_path
from destage.errors import ClusterError

Manifest = dict[str, Any]
_TICK_S = 0.5
_PORTS = (6379, 8265, 10001)
_OVER = ("STOPPED", "SUCCEEDED", "FAILED")
_CLEARED = {"rayClusterName": "", "dashboardURL": "", "jobId": "", "message": "", "reason": ""}
_NEVER_RETRIED = ("DeadlineExceeded", "JobStatusCheckTimeoutExceeded")
_STATUS_CHECK_TIMEOUT_S = float(os.environ.get("RAYJOB_STATUS_CHECK_TIMEOUT_SECONDS", "300"))
_HEALTHY = "import urllib.request as u; u.urlopen('{}/api/gcs_healthz', timeout=5)"
_PLACES = {
    "Job": "/apis/batch/v1/namespaces/{}/jobs",
    "Secret": "/api/v1/namespaces/{}/secrets",
    "Service": "/api/v1/namespaces/{}/services",
}


class Operator:
    """The operator."""

    def __init__(self, everywhere: Connection) -> None:
        self._everywhere = everywhere

    def tick(self) -> None:
        """Reconcile every object once."""
        for plural, step in (("rayjobs", _job), ("rayclusters", _cluster)):
            for manifest in self._everywhere.call("GET", f"/apis/ray.io/v1/{plural}")["items"]:
                if not manifest["metadata"].get("deletionTimestamp"):
                    try:
                        step(Connection(self._everywhere.api, manifest["metadata"]["namespace"]), manifest)
                    except ClusterError as error:
                        log(f"{manifest['kind']} {manifest['metadata']['name']}: {error}")


def _job(api: Connection, job: Manifest) -> None:
    """Advance a RayJob to its next state."""
    known = job.get("status") or {}
    status = _STATES.get(known.get("jobDeploymentStatus") or "", _rest)(api, job, known)
    if status is None:
        return
    if status.get("jobDeploymentStatus") == "Failed":
        failed = known.get("failed", 0) + 1
        status["failed"] = failed
        if failed <= job["spec"].get("backoffLimit", 0) and status["reason"] not in _NEVER_RETRIED:
            status["jobDeploymentStatus"] = "Retrying"
    if status.get("jobDeploymentStatus") in ("Complete", "Failed"):
        status["endTime"] = _now()
    _update_status(api, job, **status)


def _begin(_: Connection, job: Manifest, __: Manifest) -> Manifest:
    name = job["metadata"]["name"]
    names = {"jobId": f"{name}-{secrets.token_hex(2)}", "rayClusterName": f"{name}-{secrets.token_hex(2)}"}
    return {**names, "jobStatus": "", "jobDeploymentStatus": "Initializing", "startTime": _now()}


def _initialize(api: Connection, job: Manifest, known: Manifest) -> Manifest | None:
    """Wait for the cluster, then create the submitter."""
    if (ending := _asked_to_end(job, known)) is not None:
        return ending
    cluster = _cluster_of(api, job, known)
    if (cluster.get("status") or {}).get("state") != "ready":
        return None
    address = f"{known['rayClusterName']}-head-svc.{api.namespace}.svc.cluster.local:8265"
    _make(api, _submitter(job, known, f"http://{address}"))
    return {"dashboardURL": address, "jobDeploymentStatus": "Running"}


def _run(api: Connection, job: Manifest, known: Manifest) -> Manifest | None:
    """Read the status of submitter and job; the RayJob ends when both have ended."""
    if (ending := _asked_to_end(job, known)) is not None:
        return ending
    failing_since = known.get("jobStatusCheckFailureStartTime")
    cluster = _cluster_of(api, job, known)
    end = _end_of(_find(api, "Job", job["metadata"]["name"]))
    if end and end["type"] == "Failed":
        return _failed_to_submit(known, end)
    try:
        found = _ray(cluster, f"/api/jobs/{known['jobId']}", _token(api, known["rayClusterName"]))
    except urllib.error.HTTPError as error:
        if error.code != 404 or not end:
            return None
        message = "Submitter completed but Ray job not found in RayCluster."
        return {"jobDeploymentStatus": "Failed", "reason": "AppFailed", "message": message}
    except (OSError, ValueError):  # the head is starting or lost
        return None if failing_since else {"jobStatusCheckFailureStartTime": _now()}
    status: Manifest = {"jobStatus": found["status"], "message": found.get("message") or ""}
    if failing_since:
        status["jobStatusCheckFailureStartTime"] = None
    if end and found["status"] in _OVER:
        has_failed = found["status"] == "FAILED"
        status["jobDeploymentStatus"] = "Failed" if has_failed else "Complete"
        status["reason"] = "AppFailed" if has_failed else ""
    return status


def _end_of(submitter: Manifest | None) -> Manifest | None:
    """Return the final condition of a Job; None before its end."""
    conditions = ((submitter or {}).get("status") or {}).get("conditions", [])
    ends = (one for one in conditions if one["type"] in ("Complete", "Failed") and one["status"] == "True")
    return next(ends, None)


def _failed_to_submit(known: Manifest, end: Manifest) -> Manifest:
    """Return the status after a failed submitter, which also fails when the job that it submitted fails."""
    status = {"jobDeploymentStatus": "Failed", "reason": "AppFailed"}
    if known.get("jobStatus") == "FAILED":
        return status
    why = f"Reason: {end['reason']}. Message: {end['message']}"
    return {**status, "reason": "SubmissionFailed", "message": f"Job submission has failed. {why}"}


def _clear(api: Connection, job: Manifest, known: Manifest) -> Manifest | None:
    """Delete cluster and submitter, and clear the status when both are deleted."""
    names = (("RayCluster", known.get("rayClusterName", "")), ("Job", job["metadata"]["name"]))
    left = [(kind, name) for kind, name in names if name and _find(api, kind, name) is not None]
    for kind, name in left:
        _drop(api, kind, name)
    if left:
        return None
    after = "Suspended" if known["jobDeploymentStatus"] == "Suspending" else ""
    cleared = {**_CLEARED, "jobStatus": "", "jobStatusCheckFailureStartTime": None}
    return {**cleared, "jobDeploymentStatus": after}


def _stay(_: Connection, job: Manifest, __: Manifest) -> Manifest | None:
    return None if job["spec"].get("suspend") else {"jobStatus": "", "jobDeploymentStatus": ""}


def _rest(api: Connection, job: Manifest, known: Manifest) -> None:
    """Delete the cluster after its time to live; the submitter's pod and log are kept."""
    ttl = job["spec"].get("ttlSecondsAfterFinished", 0)
    if job["spec"].get("shutdownAfterJobFinishes") and time.time() > _seconds(known["endTime"]) + ttl:
        _drop(api, "RayCluster", known["rayClusterName"])


_STATES: dict[str, Callable[[Connection, Manifest, Manifest], Manifest | None]] = {
    "": _begin,
    "Initializing": _initialize,
    "Running": _run,
    "Suspending": _clear,
    "Retrying": _clear,
    "Suspended": _stay,
}


def _asked_to_end(job: Manifest, known: Manifest) -> Manifest | None:
    spec = job["spec"]
    if spec.get("suspend"):
        return {"jobDeploymentStatus": "Suspending"}
    failing_since = known.get("jobStatusCheckFailureStartTime")
    if failing_since and time.time() > _seconds(failing_since) + _STATUS_CHECK_TIMEOUT_S:
        message = f"Job status checks have been failing since {failing_since}"
        message += f"; exceeded timeout of {_STATUS_CHECK_TIMEOUT_S:g}s"
        return {
            "jobDeploymentStatus": "Failed",
            "reason": "JobStatusCheckTimeoutExceeded",
            "message": message,
        }
    if time.time() > _seconds(known["startTime"]) + spec.get("activeDeadlineSeconds", float("inf")):
        message = "The RayJob has passed the activeDeadlineSeconds."
        return {"jobDeploymentStatus": "Failed", "reason": "DeadlineExceeded", "message": message}
    return None


def _cluster_of(api: Connection, job: Manifest, known: Manifest) -> Manifest:
    """Return a job's cluster, created with the job's labels if it does not exist."""
    name = known["rayClusterName"]
    found = _find(api, "RayCluster", name)
    if found is None:
        found = _owned(job, "RayCluster", name, spec=job["spec"]["rayClusterSpec"])
        found["metadata"]["labels"] = dict(job["metadata"].get("labels", {}))
        _make(api, found)
    return found


def _submitter(job: Manifest, known: Manifest, address: str) -> Manifest:
    """Return the Job whose pod submits the entrypoint once and follows its log."""
    name, at = known["jobId"], f"--address {address}"
    template = copy.deepcopy(job["spec"]["submitterPodTemplate"])
    container = template["spec"]["containers"][0]
    container["command"] = ["/bin/bash", "-ec", "--"]
    wait = f'until python3 -c "{_HEALTHY.format(address)}" >/dev/null 2>&1; do sleep 2; done'
    submit = f"ray job submit {at} --no-wait --submission-id {name} -- {job['spec']['entrypoint']}"
    is_there = f"ray job status {at} {name} >/dev/null 2>&1"
    follow = f"ray job logs {at} --follow {name}"
    container["args"] = [f"{wait}; if ! {is_there}; then {submit}; fi; {follow}"]
    container["env"] = [*container.get("env", []), {"name": "PYTHONUNBUFFERED", "value": "1"}]
    container["env"] += _token_variables(job["spec"]["rayClusterSpec"], known["rayClusterName"])
    limit = (job["spec"].get("submitterConfig") or {}).get("backoffLimit", 2)
    made = _owned(job, "Job", job["metadata"]["name"], spec={"backoffLimit": limit, "template": template})
    return {**made, "apiVersion": "batch/v1"}


def _cluster(api: Connection, cluster: Manifest) -> None:
    """Create a RayCluster's missing objects, delete surplus pods, and update its status."""
    name, spec = cluster["metadata"]["name"], cluster["spec"]
    if _token_variables(spec, name) and _find(api, "Secret", name) is None:
        token = base64.b64encode(secrets.token_hex(16).encode()).decode()
        _make(api, _owned(cluster, "Secret", name, data={"auth_token": token}))
    service = f"{name}-head-svc"
    if _find(api, "Service", service) is None:
        _make(api, _owned(cluster, "Service", service, spec=_service(name)))
    query = {"labelSelector": f"ray.io/cluster={name}"}
    pods = api.call("GET", build_path(api, "Pod"), query=query)["items"]
    over = [pod for pod in pods if pod.get("status", {}).get("phase") in ("Failed", "Succeeded")]
    for pod in over:
        _drop(api, "Pod", pod["metadata"]["name"])
    address = f"--address={service}.{api.namespace}.svc.cluster.local:6379"
    groups = [("headgroup", spec["headGroupSpec"], "--head", 1)]
    groups += [(group["groupName"], group, address, _replicas(group)) for group in spec["workerGroupSpecs"]]
    for group_name, group, arguments, count in groups:
        there = [
            pod
            for pod in pods
            if pod["metadata"]["labels"]["ray.io/group"] == group_name
            and pod not in over
            and not pod["metadata"].get("deletionTimestamp")
        ]
        for _ in range(count - len(there)):
            _make(api, _pod(cluster, group_name, group, arguments))
        for pod in there[: max(0, len(there) - count)]:
            _drop(api, "Pod", pod["metadata"]["name"])
    ready = [pod for pod in pods if _is_ready(pod)]
    heads = [pod for pod in ready if pod["metadata"]["labels"]["ray.io/group"] == "headgroup"]
    is_whole = len(ready) == len(pods) == sum(count for *_, count in groups)
    head = {"podIP": heads[0]["status"]["podIP"] if heads else "", "serviceName": service}
    _update_status(api, cluster, state="ready" if is_whole else "", head=head)


def _service(cluster: str) -> Manifest:
    return {
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": {"ray.io/cluster": cluster, "ray.io/group": "headgroup"},
        "ports": [{"name": str(port), "port": port} for port in _PORTS],
    }


def _replicas(group: Manifest) -> int:
    """Return the number of workers of a group: its replicas within its bounds."""
    return int(max(group["minReplicas"], min(group["replicas"], group["maxReplicas"])))


def _pod(cluster: Manifest, group_name: str, group: Manifest, arguments: str) -> Manifest:
    name = cluster["metadata"]["name"]
    template = copy.deepcopy(group["template"])
    spec = template["spec"]
    container = spec["containers"][0]
    started = " ".join(f"--{key}={value}" for key, value in group["rayStartParams"].items())
    container["command"] = ["/bin/bash", "-lc", "--"]
    container["args"] = [f"until ray start {arguments} {started} --block; do sleep 2; done"]
    if group_name == "headgroup":
        probe = {"tcpSocket": {"port": 8265}, "periodSeconds": 1, "failureThreshold": 300}
        container["readinessProbe"] = probe
    else:
        spec["initContainers"] = [_wait_for_head(container, f"{name}-head-svc")]
    container["env"] += _token_variables(cluster["spec"], name)
    container["volumeMounts"].append({"name": "shm", "mountPath": "/dev/shm"})  # noqa: S108 - as KubeRay does
    spec["volumes"].append({"name": "shm", "emptyDir": {"medium": "Memory"}})
    suffix = "head" if group_name == "headgroup" else f"{group_name}-worker"
    made = _owned(cluster, "Pod", f"{name}-{suffix}-{secrets.token_hex(3)}", spec=spec)
    labels = {"ray.io/cluster": name, "ray.io/group": group_name}
    made["metadata"]["labels"] = {**template["metadata"]["labels"], **labels}
    return made


def _wait_for_head(container: Manifest, service: str) -> Manifest:
    """Return the init container of a worker; it waits for the head, with a cheaper check than KubeRay's."""
    made = {key: container[key] for key in ("image", "imagePullPolicy", "securityContext")}
    wait = f"until (exec 3<>/dev/tcp/{service}/6379) 2>/dev/null; do sleep 1; done"
    amounts = {"cpu": "200m", "memory": "256Mi"}
    resources = {"requests": amounts, "limits": amounts}
    return {
        **made,
        "name": "wait-gcs-ready",
        "command": ["/bin/bash", "-c", "--"],
        "args": [wait],
        "resources": resources,
    }


def _token_variables(spec: Manifest, cluster: str) -> list[Manifest]:
    """Return the variables with Ray's token, if the cluster requires one."""
    if (spec.get("authOptions") or {}).get("mode") != "token":
        return []
    key = {"secretKeyRef": {"name": cluster, "key": "auth_token"}}
    return [
        {"name": "RAY_AUTH_MODE", "value": "token"},
        {"name": "RAY_AUTH_TOKEN", "valueFrom": key},
    ]


def _owned(owner: Manifest, kind: str, name: str, **rest: Any) -> Manifest:
    metadata = owner["metadata"]
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
    }
    version = "ray.io/v1" if kind.startswith("Ray") else "v1"
    meta = {"name": name, "ownerReferences": [{**reference, "controller": True, "blockOwnerDeletion": False}]}
    return {"apiVersion": version, "kind": kind, "metadata": meta, **rest}


def _path(api: Connection, kind: str, name: str = "") -> str:
    folder = _PLACES[kind].format(api.namespace) if kind in _PLACES else build_path(api, kind)
    return f"{folder}/{name}" if name else folder


def _find(api: Connection, kind: str, name: str) -> Manifest | None:
    try:
        return api.call("GET", _path(api, kind, name))
    except ApiError as error:
        if error.is_missing:
            return None
        raise


def _make(api: Connection, manifest: Manifest) -> None:
    _unless(409, lambda: api.call("POST", _path(api, manifest["kind"]), body=manifest))


def _drop(api: Connection, kind: str, name: str) -> None:
    query = {"propagationPolicy": "Background"}
    _unless(404, lambda: api.call("DELETE", _path(api, kind, name), query=query))


def _unless(status: int, request: Callable[[], object]) -> None:
    try:
        request()
    except ApiError as error:
        if error.status != status:
            raise


def _update_status(api: Connection, manifest: Manifest, **status: Any) -> None:
    known = manifest.get("status") or {}
    if any(known.get(key) != value for key, value in status.items()):
        path = f"{build_path(api, manifest['kind'], manifest['metadata']['name'])}/status"
        api.call("PATCH", path, body={"status": status}, content_type="application/merge-patch+json")


def _token(api: Connection, cluster: str) -> str:
    secret = _find(api, "Secret", cluster)
    return base64.b64decode(secret["data"]["auth_token"]).decode() if secret else ""


def _ray(cluster: Manifest, path: str, token: str) -> Manifest:
    address = ((cluster.get("status") or {}).get("head") or {}).get("podIP", "")
    request = urllib.request.Request(
        f"http://{address}:8265{path}", headers={"Authorization": f"Bearer {token}"}
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=5) as answer:
        found: Manifest = json.load(answer)
    return found


def _is_ready(pod: Manifest) -> bool:
    conditions = pod.get("status", {}).get("conditions", [])
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def _seconds(text: str) -> float:
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def log(text: str) -> None:
    """Write a line to the log."""
    print(text, file=sys.stderr, flush=True)  # noqa: T201


def main() -> None:
    """Run until killed."""
    operator = Operator(connect())
    while True:
        try:
            operator.tick()
        except Exception as error:  # noqa: BLE001 - logged; the operator continues
            log(f"{type(error).__name__}: {error}")
        time.sleep(_TICK_S)


if __name__ == "__main__":
    main()
