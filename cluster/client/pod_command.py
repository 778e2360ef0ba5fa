"""A command in a running pod, through the API server."""

import urllib3
from kubernetes import client
from kubernetes.stream import stream
from websocket import WebSocketException

from destage.cluster.client.api_connection import Connection
from destage.errors import ClusterError

_HANDSHAKE_DETAILS = "-+-+-"
"""The WebSocket client appends all headers of a rejection after this mark."""
_MISSING = "404 Not Found"


def run_in_pod(connection: Connection, pod: str, container: str, command: tuple[str, ...]) -> bytes:
    """Run a command in a container and return its standard output.

    Raises:
        ClusterError: The pod cannot be reached or no longer exists, or the command fails.
    """
    stdout, stderr, exit_code = _execute(connection, pod, container, command)
    if exit_code:
        *_, last = [line for line in stderr.splitlines() if line.strip()] or ["no output on stderr"]
        message = f"`{command[0]}` failed with exit code {exit_code}: {last}"
        raise ClusterError("cluster.pod-command-failed", message, pod)
    return stdout


def _execute(
    connection: Connection, pod: str, container: str, command: tuple[str, ...]
) -> tuple[bytes, str, int]:
    api = client.CoreV1Api(connection.api)
    try:
        session = stream(
            api.connect_get_namespaced_pod_exec,
            pod,
            connection.namespace,
            command=list(command),
            container=container,
            stdin=False,
            stdout=True,
            stderr=True,
            tty=False,
            _preload_content=False,
            binary=True,
        )
        out, err = [], []
        while session.is_open():
            session.update(timeout=5)
            out.append(session.read_stdout(timeout=0))
            err.append(session.read_stderr(timeout=0))
        out.append(session.read_stdout(timeout=0))
        err.append(session.read_stderr(timeout=0))
        exit_code = session.returncode
    except (client.OpenApiException, urllib3.exceptions.HTTPError, WebSocketException, OSError) as error:
        message = f"no command can be run in the pod: {_describe(error)}"
        raise ClusterError("cluster.pod-unreachable", message, pod) from error
    if exit_code is None:
        message = "the connection to the pod broke; run the same command again to continue"
        raise ClusterError("cluster.connection-lost", message, pod)
    return b"".join(out), b"".join(err).decode(errors="replace"), int(exit_code)


def _describe(error: BaseException) -> str:
    """Return a failure as one line, without the headers and the body of a response."""
    text = str(getattr(error, "reason", None) or error).partition(_HANDSHAKE_DETAILS)[0]
    if _MISSING in text:
        return "it no longer exists"
    return " ".join(text.split())[:300] or type(error).__name__
