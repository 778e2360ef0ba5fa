"""Speaking to the API server: one request at a time, every refusal and every broken line as one sentence."""

import json
from collections.abc import Generator, Mapping
from typing import Any

import urllib3
from kubernetes import client, config
from kubernetes.config import ConfigException

from destage.errors import ClusterError

_TIMEOUT_S = 30.0
_OK, _UNKNOWN, _FORBIDDEN, _MISSING, _CONFLICT, _GONE = 300, 401, 403, 404, 409, 410
Query = Mapping[str, str | int]
RULES = (
    (
        "exceeded quota",
        "the namespace's quota is used up: ask for less, delete what has ended, or have it raised",
    ),
    ("violates PodSecurity", "settings of one's own must keep to the namespace's Pod Security level"),
)
"""What mends a refusal that is no matter of who asks, by a part of what Kubernetes says."""


class ApiError(ClusterError):
    """What the API server did not do.

    Attributes:
        message: What it said.
        status: Its HTTP status.
        mend: What to do, where a rule of the namespace's forbids it; else empty.
    """

    def __init__(self, message: str, status: int, mend: str = "") -> None:
        super().__init__(message, status, mend)
        self.message = message
        self.status = status
        self.mend = mend

    def __str__(self) -> str:
        """Return it with what to do."""
        mend = self.mend or ("`destage cluster doctor` lists what is missing" if self.is_denied else "")
        return f"{self.message} ({mend})" if mend else self.message

    @property
    def is_denied(self) -> bool:
        """Whether it is a matter of who asks."""
        return self.status == _FORBIDDEN and not self.mend

    @property
    def is_missing(self) -> bool:
        """Whether there is no such object."""
        return self.status == _MISSING

    @property
    def is_conflict(self) -> bool:
        """Whether there is one already, or it has changed since."""
        return self.status == _CONFLICT

    @property
    def is_gone(self) -> bool:
        """Whether a watch asked for a past that the server has forgotten."""
        return self.status == _GONE


class Connection:
    """An API server, and the namespace that sweeps are in.

    Attributes:
        api: The Kubernetes client.
        namespace: The namespace.
    """

    def __init__(self, api: client.ApiClient, namespace: str) -> None:
        self.api = api
        self.namespace = namespace

    @property
    def host(self) -> str:
        """The server's address."""
        return str(self.api.configuration.host)

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: object = None,
        content_type: str = "application/json",
        timeout_s: float = _TIMEOUT_S,
    ) -> dict[str, Any]:
        """Make a request and return the object that comes back.

        Args:
            method: The HTTP method.
            path: The path, from `/` on.
            query: Its parameters.
            body: What is sent, as JSON.
            content_type: What the body is.
            timeout_s: How long to wait [s].

        Raises:
            ApiError: The server did not do it.
            ClusterError: The server cannot be reached.
        """
        answer = self._send(method, path, query, body, content_type, timeout_s)
        data = self._read(answer)
        self._check(answer.status, data)
        found: dict[str, Any] = json.loads(data)
        return found

    def read_text(self, path: str, *, query: Query | None = None) -> str:
        """Return a text that the server has: a log.

        Args:
            path: The path.
            query: Its parameters.

        Raises:
            ApiError: The server did not do it.
            ClusterError: The server cannot be reached.
        """
        answer = self._send("GET", path, query, None, "application/json", _TIMEOUT_S)
        data = self._read(answer)
        self._check(answer.status, data)
        return data.decode(errors="replace")

    def lines(self, path: str, *, query: Query, timeout_s: float) -> Generator[bytes, None, bool]:
        """Yield the lines of an answer as they come; ends when the server, or the line to it, ends.

        Args:
            path: The path.
            query: Its parameters.
            timeout_s: For how long no line may come before it counts as broken [s].

        Returns:
            Whether the server ended it.

        Raises:
            ApiError: The server did not do it.
            ClusterError: The server cannot be reached.
        """
        answer = self._send("GET", path, query, None, "application/json", timeout_s)
        if answer.status >= _OK:
            self._check(answer.status, self._read(answer))
        left = b""
        try:
            for chunk in answer.response.stream(1 << 16):
                *whole, left = (left + chunk).split(b"\n")
                yield from whole
        except (urllib3.exceptions.HTTPError, OSError):
            return False  # half a line is no line
        finally:
            answer.response.close()
        if left:
            yield left
        return True

    def _send(
        self,
        method: str,
        path: str,
        query: Query | None,
        body: object,
        content_type: str,
        timeout_s: float,
    ) -> Any:
        headers = {"Accept": "application/json", "Content-Type": content_type}
        sent = self.api.param_serialize(
            method,
            path,
            query_params=[(name, str(value)) for name, value in (query or {}).items()],
            header_params=headers,
            body=body,
            auth_settings=["BearerToken"],
        )
        try:
            return self.api.call_api(*sent, _request_timeout=(timeout_s, timeout_s))
        except (urllib3.exceptions.HTTPError, client.OpenApiException, OSError) as error:
            raise self._unreachable(error) from error

    def _read(self, answer: Any) -> bytes:
        try:
            data: bytes = answer.read()
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise self._unreachable(error) from error
        return data

    def _unreachable(self, error: BaseException) -> ClusterError:
        reason = getattr(error, "reason", None) or error
        if isinstance(reason, urllib3.exceptions.ProtocolError):
            reason = reason.args[-1]  # what broke, under what was being done
        text = " ".join(str(reason).split()).rpartition("): ")[2] or type(reason).__name__
        return ClusterError(
            f"the API server {self.host} cannot be reached: {text}; check it with `kubectl cluster-info`"
        )

    def _check(self, status: int, data: bytes) -> None:
        if status < _OK:
            return
        try:
            told = json.loads(data).get("message") or ""
        except (ValueError, AttributeError):
            told = data.decode(errors="replace")
        told = " ".join(str(told).split())[:600] or f"HTTP {status}"
        if status == _UNKNOWN:
            raise ApiError(f"the API server {self.host} does not know you ({told}): log in again", status)
        if status == _FORBIDDEN:
            mend = next((mend for part, mend in RULES if part in told), "")
            raise ApiError(f"not allowed: {told}", status, mend)
        raise ApiError(f"the API server refused: {told}", status)


def connect(context: str | None = None, namespace: str | None = None) -> Connection:
    """Return the API server that the kubeconfig names, or that of the pod this runs in.

    Args:
        context: The kubeconfig's context; by default its current one.
        namespace: The namespace; by default the context's, else `default`.

    Raises:
        ClusterError: There is no kubeconfig, or it does not have the context.
    """
    settings = client.Configuration()
    settings.retries = 0  # what is tried again is decided here, and not told by a library's log
    try:
        config.load_kube_config(context=context, client_configuration=settings)
        contexts, current = config.list_kube_config_contexts()
        chosen = next((one for one in contexts if one["name"] == context), current)
        given = chosen.get("context", {}).get("namespace")
    except ConfigException as error:
        try:
            config.load_incluster_config(client_configuration=settings)
        except ConfigException:
            text = " ".join(str(error).split())
            raise ClusterError(f"no cluster is configured: {text}; set KUBECONFIG or --context") from error
        given = None
    return Connection(client.ApiClient(settings), namespace or given or "default")
