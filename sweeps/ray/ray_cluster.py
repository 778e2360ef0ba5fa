"""The Ray cluster to use: the forms of its address, and whether its head answers.

Ray itself tries an unreachable address for three minutes and then ends the process. It also ends a driver a
minute after it has lost the head, at any point, with lines of its log and exit code 1; until then, a request
to the head blocks. So the head is tested by a connection with a timeout.
"""

import os
import re
import socket
import time
from collections.abc import Iterator

from destage.errors import InfrastructureError, SweepError

_HEAD_TIMEOUT_S = 2.0
"""Time that a connection may take [s]."""
_LOST_S = 45.0
"""Time without an answer after which the head is lost [s]; a supervised head may restart earlier."""


class RayHead:
    """The head of the cluster.

    Attributes:
        address: The host and port of its control store; empty for a Ray client, which does not connect to it.
        is_lost: Whether it has not answered for so long that the session ends.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.is_lost = False
        self._failing_since: float | None = None

    def answers(self) -> bool:
        """Return whether it accepts a connection now."""
        if not self.address:
            return True
        host, _, port = self.address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_HEAD_TIMEOUT_S).close()
        except OSError:
            now = time.monotonic()
            self._failing_since = now if self._failing_since is None else self._failing_since
            self.is_lost = now - self._failing_since > _LOST_S
            return False
        self._failing_since = None
        return True


_FORM = re.compile(r"(?P<client>ray://)?(?P<host>\[[0-9a-fA-F:]+\]|[^\s:/]+):(?P<port>[0-9]{1,5})")
_TIMEOUT_S = 5.0
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
"""HTTP/2 connection preface and an empty settings frame: Ray's servers speak gRPC."""
_SETTINGS = 4
_FORMS = "the address is HOST:6379, ray://HOST:10001, or auto on a machine of the cluster"


def check_address(address: str) -> None:
    """Check that a server that may be a Ray cluster answers at an address.

    Args:
        address: `HOST:PORT`, `ray://HOST:PORT`, or `auto`, which Ray resolves itself.
    """
    if address in ("auto", "local"):
        return
    form = _FORM.fullmatch(address)
    if form is None:
        raise SweepError("sweep.bad-ray-address", f"not a Ray address: {_FORMS}", address)
    try:
        with socket.create_connection(
            (form["host"].strip("[]"), int(form["port"])), _TIMEOUT_S
        ) as connection:
            is_ray = os.environ.get("RAY_USE_TLS", "0") == "1" or _speaks_http2(connection)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise InfrastructureError(
            "sweep.no-ray-cluster", f"no Ray cluster answers: {reason}; {_FORMS}", address
        ) from error
    if not is_ray:
        raise SweepError("sweep.no-ray-cluster", f"another kind of server answers: {_FORMS}", address)


def explain_failure(address: str, error: BaseException) -> SweepError:
    """Translate what Ray raised on connecting into one line with its fix."""
    text = "\n".join(_chain(error))
    if "InvalidAuthToken" in text or "AuthenticationError" in text:
        message = "the Ray cluster requires a token: set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN"
        return SweepError("sweep.ray-token-required", message, address)
    if "ersion mismatch" in text:
        versions = re.findall(r"(Ray: \S+)\s+(Python: \S+)", text)
        theirs, ours = (" and ".join(pair).replace(": ", " ") for pair in versions[:2])
        message = f"the Ray cluster runs {theirs}, this machine {ours}: install equal versions"
        data = {"cluster": theirs, "here": ours}
        return SweepError("sweep.ray-version-mismatch", message, address, data)
    if "Method not found" in text:
        return SweepError("sweep.wrong-ray-port", f"another port of a Ray cluster: {_FORMS}", address)
    if "client connection timeout" in text:
        message = (
            "the Ray cluster rejects clients: if it requires a token, set RAY_AUTH_MODE=token and "
            "RAY_AUTH_TOKEN; the Ray versions must be equal"
        )
        return SweepError("sweep.ray-client-rejected", message, address)
    first = " ".join(str(error).split()) or type(error).__name__
    return InfrastructureError(
        "sweep.ray-connection-failed", f"cannot connect: {first[:300]}; {_FORMS}", address
    )


def is_retryable(error: BaseException) -> bool:
    """Whether Ray may connect on the next attempt: a head sometimes fails to start a client's server."""
    return "Initialization failure from server" in str(error)


def _speaks_http2(connection: socket.socket) -> bool:
    connection.settimeout(_TIMEOUT_S)
    connection.sendall(_PREFACE)
    answer = connection.recv(9)
    return len(answer) >= _SETTINGS and answer[3] == _SETTINGS and not answer.startswith(b"HTTP")


def _chain(error: BaseException | None) -> Iterator[str]:
    while error is not None:
        yield f"{type(error).__name__}: {error}"
        error = error.__cause__ or error.__context__
