"""A stand-in for the KubeRay operator: RayClusters and RayJobs of one API server become real pods and jobs.

KUBECONFIG names the server. What it does is what the tests need and no more: it makes pods and the
head's service, hands out a token, submits the job over Ray's HTTP API, writes the status that a client reads,
suspends, and gives a job whose cluster or driver was lost a new cluster, `backoffLimit` times. It validates
nothing, scales nothing, and has no submitter's pod. What passes with it is not thereby shown of KubeRay.
"""

import base64
import calendar
import copy
import json
import secrets
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

from destage.cluster.connection import Connection, RefusedError, connect
from destage.cluster.objects import place

Manifest = dict[str, Any]
_TICK_S = 0.5
_PORTS = (6379, 8265, 10001)
_ENDED = ("Complete", "Failed")
_LOST_AFTER = 6
"""So many times in a row without an answer from the head count as its loss."""


class Operator:
    """One operator."""

    def __init__(self, everywhere: Connection) -> None:
        self._everywhere = everywhere
        self._silence: dict[str, int] = {}

    def tick(self) -> None:
        """Bring every object one step further."""
        for plural, step in (("rayjobs", self._job), ("rayclusters", self._cluster)):
            for manifest in self._everywhere.call("GET", f"/apis/ray.io/v1/{plural}")["items"]:
                if not manifest["metadata"].get("deletionTimestamp"):
                    step(Connection(self._everywhere.api, manifest["metadata"]["namespace"]), manifest)

    def _job(self, api: Connection, job: Manifest) -> None:
        spec, status = job["spec"], job.get("status") or {}
        state = status.get("jobDeploymentStatus")
        name = job["metadata"]["name"]
        if state in _ENDED:
            ttl = spec.get("ttlSecondsAfterFinished", 0)
            if spec.get("shutdownAfterJobFinishes") and time.time() > _seconds(status["endTime"]) + ttl:
                _drop(api, "RayCluster", status["rayClusterName"])
            return
        if spec.get("suspend"):
            if state != "Suspended":
                _drop(api, "RayCluster", status.get("rayClusterName", ""))
                _tell(api, job, jobDeploymentStatus="Suspended", jobStatus="STOPPED")
            return
        failed = int(status.get("failed", 0))
        cluster = f"{name}-{job['metadata']['uid'][:4]}{failed}"
        there = _find(api, "RayCluster", cluster)
        if there is None:
            if status.get("jobId"):
                self._lose(api, job, cluster, "its cluster is gone")
                return
            _make(api, _owned(job, "RayCluster", cluster, spec=spec["rayClusterSpec"]))
            _tell(api, job, jobDeploymentStatus="Initializing", rayClusterName=cluster, startTime=_now())
            return
        if (there.get("status") or {}).get("state") != "ready" and not status.get("jobId"):
            return
        self._follow(api, job, there, cluster)

    def _follow(self, api: Connection, job: Manifest, cluster: Manifest, name: str) -> None:
        """Submit the job, or look how it is."""
        status = job.get("status") or {}
        head = (cluster.get("status") or {}).get("head") or {}
        address, token = head.get("podIP", ""), _token(api, name)
        try:
            if not status.get("jobId"):
                job_id = f"{name}-{secrets.token_hex(2)}"
                asked = {"entrypoint": job["spec"]["entrypoint"], "submission_id": job_id}
                _ray(address, "/api/jobs/", token, asked)
                _tell(api, job, jobId=job_id, jobDeploymentStatus="Running", jobStatus="PENDING")
                return
            found = _ray(address, f"/api/jobs/{status['jobId']}", token)
        except (OSError, ValueError) as error:
            self._silence[name] = self._silence.get(name, 0) + 1
            if status.get("jobId") and self._silence[name] >= _LOST_AFTER:
                self._lose(api, job, name, f"its head does not answer: {error}")
            return
        self._silence[name] = 0
        outcome, message = found["status"], found.get("message") or ""
        if outcome == "FAILED":
            self._lose(api, job, name, message)
        elif outcome in ("SUCCEEDED", "STOPPED"):
            _tell(
                api, job, jobDeploymentStatus="Complete", jobStatus=outcome, message=message, endTime=_now()
            )
        else:
            _tell(api, job, jobStatus=outcome)

    def _lose(self, api: Connection, job: Manifest, cluster: str, why: str) -> None:
        """Give a job a new cluster, or give it up."""
        failed = int((job.get("status") or {}).get("failed", 0))
        if failed >= job["spec"].get("backoffLimit", 0):
            told = {"reason": "AppFailed", "message": why[-500:], "endTime": _now()}
            _tell(api, job, jobDeploymentStatus="Failed", jobStatus="FAILED", **told)
            return
        _drop(api, "RayCluster", cluster)
        _tell(
            api,
            job,
            jobDeploymentStatus="Retrying",
            jobStatus="",
            jobId="",
            failed=failed + 1,
            message=why[-500:],
        )

    def _cluster(self, api: Connection, cluster: Manifest) -> None:
        name, spec = cluster["metadata"]["name"], cluster["spec"]
        service = f"{name}-head-svc"
        is_token = (spec.get("authOptions") or {}).get("mode") == "token"
        if is_token and _find(api, "Secret", name) is None:
            token = base64.b64encode(secrets.token_hex(16).encode()).decode()
            _make(api, _owned(cluster, "Secret", name, data={"auth_token": token}))
        if _find(api, "Service", service) is None:
            selector = {"ray.io/cluster": name, "ray.io/node-type": "head"}
            ports = [{"name": str(port), "port": port} for port in _PORTS]
            head = {
                "clusterIP": "None",
                "publishNotReadyAddresses": True,
                "selector": selector,
                "ports": ports,
            }
            _make(api, _owned(cluster, "Service", service, spec=head))
        address = f"--address={service}.{api.namespace}.svc.cluster.local:6379"
        wanted = {f"{name}-head": ("head", spec["headGroupSpec"], "--head")}
        for group in spec["workerGroupSpecs"]:
            for at in range(group["replicas"]):
                wanted[f"{name}-{group['groupName']}-{at}"] = ("worker", group, address)
        path = place(api, "Pod")
        pods = api.call("GET", path, query={"labelSelector": f"ray.io/cluster={name}"})["items"]
        there = {pod["metadata"]["name"]: pod for pod in pods}
        for pod_name, (kind, group, arguments) in wanted.items():
            if pod_name not in there:
                _make(api, _pod(cluster, group, pod_name, kind, arguments, name if is_token else ""))
        for pod_name, pod in there.items():
            is_over = pod.get("status", {}).get("phase") in ("Failed", "Succeeded")
            if pod_name not in wanted or (is_over and not pod["metadata"].get("deletionTimestamp")):
                _drop(api, "Pod", pod_name)
        ready = {pod_name for pod_name, pod in there.items() if _is_ready(pod)}
        head_ip = there.get(f"{name}-head", {}).get("status", {}).get("podIP")
        state = "ready" if ready == set(wanted) else None
        _tell(api, cluster, state=state, head={"podIP": head_ip, "serviceName": service})


def _pod(cluster: Manifest, group: Manifest, name: str, kind: str, arguments: str, secret: str) -> Manifest:
    template = copy.deepcopy(group["template"])
    spec = template["spec"]
    container = spec["containers"][0]
    started = " ".join(f"--{key}={value}" for key, value in group["rayStartParams"].items())
    container["command"] = ["/bin/bash", "-lc", "--"]
    container["args"] = [f"until ray start {arguments} {started} --block; do sleep 2; done"]
    if kind == "head":
        probe = {"tcpSocket": {"port": 8265}, "periodSeconds": 1, "failureThreshold": 300}
        container["readinessProbe"] = probe
    if secret:
        key = {"secretKeyRef": {"name": secret, "key": "auth_token"}}
        container["env"] += [
            {"name": "RAY_AUTH_MODE", "value": "token"},
            {"name": "RAY_AUTH_TOKEN", "valueFrom": key},
        ]
    container["volumeMounts"].append({"name": "shm", "mountPath": "/dev/shm"})  # noqa: S108 - as KubeRay does
    spec["volumes"].append({"name": "shm", "emptyDir": {"medium": "Memory"}})
    made = _owned(cluster, "Pod", name, spec=spec)
    made["metadata"]["labels"] = {
        **template["metadata"]["labels"],
        "ray.io/cluster": cluster["metadata"]["name"],
        "ray.io/node-type": kind,
    }
    return made


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
    plural = {"Secret": "secrets", "Service": "services"}.get(kind)
    if plural is None:
        return place(api, kind, name)
    path = f"/api/v1/namespaces/{api.namespace}/{plural}"
    return f"{path}/{name}" if name else path


def _find(api: Connection, kind: str, name: str) -> Manifest | None:
    try:
        return api.call("GET", _path(api, kind, name))
    except RefusedError as error:
        if error.is_missing:
            return None
        raise


def _make(api: Connection, manifest: Manifest) -> None:
    _unless(409, lambda: api.call("POST", _path(api, manifest["kind"]), body=manifest))


def _drop(api: Connection, kind: str, name: str) -> None:
    if name:
        query = {"propagationPolicy": "Background"}
        _unless(404, lambda: api.call("DELETE", _path(api, kind, name), query=query))


def _unless(status: int, request: Callable[[], object]) -> None:
    try:
        request()
    except RefusedError as error:
        if error.status != status:
            raise


def _tell(api: Connection, manifest: Manifest, **status: Any) -> None:
    known = manifest.get("status") or {}
    if any(known.get(key) != value for key, value in status.items()):
        path = f"{place(api, manifest['kind'], manifest['metadata']['name'])}/status"
        api.call("PATCH", path, body={"status": status}, content_type="application/merge-patch+json")


def _token(api: Connection, cluster: str) -> str:
    secret = _find(api, "Secret", cluster)
    return base64.b64decode(secret["data"]["auth_token"]).decode() if secret else ""


def _ray(address: str, path: str, token: str, data: object = None) -> Manifest:
    request = urllib.request.Request(
        f"http://{address}:8265{path}",
        data=json.dumps(data).encode() if data else None,
        headers={"Content-Type": "application/json", "Authorization": f"Bearer {token}"},
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


def main() -> None:
    """Run until killed."""
    operator = Operator(connect())
    while True:
        try:
            operator.tick()
        except Exception as error:  # noqa: BLE001 - an operator outlives what it stumbles over
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)  # noqa: T201
        time.sleep(_TICK_S)


if __name__ == "__main__":
    main()
