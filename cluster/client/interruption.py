"""Whether a job failed by a loss of machines, and how it is restarted.

KubeRay retries a failed job `backoffLimit` times, but never one whose status it could not read for
`RAYJOB_STATUS_CHECK_TIMEOUT_SECONDS` (300 s), as when no node has room for a lost head. In the state
`Retrying` KubeRay deletes the job's pods and starts it from the beginning; a sweep then resumes.
"""

import re
from collections.abc import Mapping
from typing import Any

RETRYING = "Retrying"
STATUS_CHECK_TIMEOUT = "JobStatusCheckTimeoutExceeded"
_LOST = (STATUS_CHECK_TIMEOUT, "SubmissionFailed", "JobDeploymentStatusTransitionGracePeriodExceeded")
"""KubeRay's reasons for a failure that are a loss of the head or of the submitter."""
_EXIT_CODE = re.compile(r"entrypoint command failed with exit code (-?\d+)")
_INFRASTRUCTURE = 4
"""The exit code of a sweep that its machines ended."""


def is_interrupted(status: Mapping[str, Any]) -> bool:
    """Return whether a RayJob's status is a failure by a loss of machines, so that a restart continues it."""
    if status.get("jobDeploymentStatus") != "Failed":
        return False
    reason = status.get("reason", "")
    if reason in _LOST:
        return True
    code = _EXIT_CODE.search(status.get("message") or "")
    # Without the command's exit code, Ray lost the process or its machine.
    return reason == "AppFailed" and (code is None or int(code[1]) == _INFRASTRUCTURE)


def build_restart(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the merge patch of a RayJob's status that restarts it, unless the job has changed meanwhile."""
    version = manifest["metadata"]["resourceVersion"]
    return {"metadata": {"resourceVersion": version}, "status": {"jobDeploymentStatus": RETRYING}}
