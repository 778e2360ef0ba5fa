"""The rules of Kubernetes' Pod Security level `restricted` that concern these pods."""

from collections.abc import Iterator
from typing import Any

VOLUMES = {
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "persistentVolumeClaim",
    "projected",
    "secret",
}
"""The allowed types of volume."""


def pod_specs(manifest: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every pod spec in a manifest, with its path."""
    if isinstance(manifest, dict):
        if isinstance(manifest.get("containers"), list):
            yield path, manifest
            return
        for name, value in manifest.items():
            yield from pod_specs(value, f"{path}.{name}")
    elif isinstance(manifest, list):
        for at, value in enumerate(manifest):
            yield from pod_specs(value, f"{path}[{at}]")


def violations(spec: dict[str, Any]) -> list[str]:
    """Return the rules that a pod violates."""
    found = [f"host {key}" for key in ("hostNetwork", "hostPID", "hostIPC") if spec.get(key)]
    for volume in spec.get("volumes", []):
        kinds = set(volume) - {"name"}
        if not kinds <= VOLUMES:
            found.append(f"volume {volume['name']}: {kinds}")
    pod = spec.get("securityContext", {})
    if pod.get("sysctls"):
        found.append("sysctls")
    for container in [*spec["containers"], *spec.get("initContainers", [])]:
        own = container.get("securityContext", {})
        name = container["name"]
        if own.get("privileged") or own.get("allowPrivilegeEscalation") is not False:
            found.append(f"{name}: may gain privileges")
        capabilities = own.get("capabilities", {})
        if "ALL" not in capabilities.get("drop", []) or set(capabilities.get("add", [])) - {
            "NET_BIND_SERVICE"
        }:
            found.append(f"{name}: capabilities")
        if (pod | own).get("runAsNonRoot") is not True or (pod | own).get("runAsUser") == 0:
            found.append(f"{name}: root")
        if (pod | own).get("seccompProfile", {}).get("type") not in ("RuntimeDefault", "Localhost"):
            found.append(f"{name}: seccomp")
        if any(port.get("hostPort") for port in container.get("ports", [])):
            found.append(f"{name}: host port")
    return found
