"""The address of a Ray cluster: its forms, and whether a Ray cluster answers there.

Ray itself tries an unreachable address for three minutes and then ends the process.
"""

import os
import re
import socket
from collections.abc import Iterator

from destage.errors import InfrastructureError, SweepError

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
        theirs, ours = (" and ".join(one).replace(": ", " ") for one in versions[:2])
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
