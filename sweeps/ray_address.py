"""Where a Ray cluster is: the forms of its address, and whether a Ray cluster answers there.

Ray itself tries for three minutes to reach an address where nobody answers, and then ends the process.
"""

import os
import re
import socket
from collections.abc import Iterator

from destage.errors import SweepError

_FORM = re.compile(r"(?P<client>ray://)?(?P<host>\[[0-9a-fA-F:]+\]|[^\s:/]+):(?P<port>[0-9]{1,5})")
_PATIENCE_S = 5.0
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
"""How a client opens HTTP/2, which Ray speaks: a fixed text, then a frame of settings, an empty one here."""
_SETTINGS = 4
_WHERE = "give the head's HOST:6379, ray://HOST:10001, or auto on a machine of the cluster"


def check_address(address: str) -> None:
    """Raise unless something that may be a Ray cluster answers at an address.

    Args:
        address: `HOST:PORT`, `ray://HOST:PORT` or `auto`, which Ray looks up itself.

    Raises:
        SweepError: It is no such form, or nobody answers there.
    """
    if address in ("auto", "local"):
        return
    form = _FORM.fullmatch(address)
    if form is None:
        raise SweepError(f"{address!r} is no address of a Ray cluster: {_WHERE}")
    try:
        with socket.create_connection((form["host"].strip("[]"), int(form["port"])), _PATIENCE_S) as line:
            is_one = os.environ.get("RAY_USE_TLS", "0") == "1" or _speaks_http2(line)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise SweepError(f"no Ray cluster answers at {address}: {reason}; {_WHERE}") from error
    if not is_one:
        raise SweepError(f"what answers at {address} is no Ray cluster: {_WHERE}")


def explain(address: str, error: BaseException) -> str:
    """Return why Ray did not connect, as one sentence with its mend.

    Args:
        address: Where to.
        error: What Ray raised.
    """
    text = "\n".join(_chain(error))
    if "InvalidAuthToken" in text or "AuthenticationError" in text:
        return (
            f"the Ray cluster at {address} asks for a token: set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN to "
            "the one that its machines have"
        )
    if "ersion mismatch" in text:
        versions = re.findall(r"(Ray: \S+)\s+(Python: \S+)", text)
        theirs, ours = (" and ".join(one).replace(": ", " ") for one in versions[:2])
        return f"the Ray cluster at {address} runs {theirs}, and this is {ours}: both must be the same"
    if "Method not found" in text:
        return f"what answers at {address} is a Ray cluster's, but another of its ports: {_WHERE}"
    if "client connection timeout" in text:
        return (
            f"the Ray cluster at {address} takes no client: where it asks for a token, set RAY_AUTH_MODE "
            "to token, and RAY_AUTH_TOKEN; Ray must be the same version on both sides"
        )
    first = " ".join(str(error).split()) or type(error).__name__
    return f"the Ray cluster at {address} cannot be joined: {first[:300]}; {_WHERE}"


def is_worth_another_try(error: BaseException) -> bool:
    """Return whether Ray may connect the next time: a head now and then fails to start a client's server.

    Args:
        error: What Ray raised.
    """
    return "Initialization failure from server" in str(error)


def _speaks_http2(line: socket.socket) -> bool:
    line.settimeout(_PATIENCE_S)
    line.sendall(_PREFACE)
    answer = line.recv(9)
    return len(answer) >= _SETTINGS and answer[3] == _SETTINGS and not answer.startswith(b"HTTP")


def _chain(error: BaseException | None) -> Iterator[str]:
    while error is not None:
        yield f"{type(error).__name__}: {error}"
        error = error.__cause__ or error.__context__
