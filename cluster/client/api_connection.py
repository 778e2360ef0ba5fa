"""Requests to the Kubernetes API server, without retries; each failure is a one-line error."""

import json
from collections.abc import Generator, Mapping
from typing import Any

import urllib3
from kubernetes import client, config
from kubernetes.config import ConfigException

from destage.errors import ClusterError

_TIMEOUT_S = 30.0
_OK, _UNAUTHENTICATED, _FORBIDDEN, _MISSING = 300, 401, 403, 404
Query = Mapping[str, str | int]
POLICY_REJECTIONS = (
    (
        "exceeded quota",
        "cluster.quota-exceeded",
        "request less, delete ended sweeps, or ask for a larger quota",
    ),
    (
        "violates PodSecurity",
        "cluster.pod-security-violated",
        "the pods must comply with the namespace's Pod Security level",
    ),
)
"""Rejections by a policy of the namespace: a part of Kubernetes' message, the code, the fix."""


class ApiError(ClusterError):
    """A request that the API server rejected; its data has the HTTP status and the server's reason."""

    @property
    def status(self) -> int:
        """The HTTP status."""
        return int(self.data["status"])

    @property
    def reason(self) -> str:
        """The server's message."""
        return str(self.data["reason"])

    @property
    def is_denied(self) -> bool:
        """Whether the user lacks a permission."""
        return self.code == "cluster.permission-denied"

    @property
    def is_missing(self) -> bool:
        """Whether the object, or its kind, does not exist."""
        return self.status == _MISSING


class Connection:
    """A Kubernetes API server, and the namespace of the sweeps."""

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
    ) -> dict[str, Any]:
        """Send a request and return the object in the response.

        Raises:
            ApiError: The server rejected the request.
        """
        answer: dict[str, Any] = json.loads(self._read(method, path, query, body, content_type))
        return answer

    def read_text(self, path: str, *, query: Query | None = None) -> str:
        """Return a text, such as a log."""
        return self._read("GET", path, query).decode(errors="replace")

    def stream_lines(self, path: str, *, query: Query, timeout_s: float) -> Generator[bytes, None, bool]:
        """Yield the lines of a response until the server ends it or no line arrives for `timeout_s`.

        Returns:
            Whether the server ended the response.
        """
        response = self._send("GET", path, query, timeout_s=timeout_s)
        rest = b""
        try:
            for chunk in response.response.stream(1 << 16):
                *whole, rest = (rest + chunk).split(b"\n")
                yield from whole
        except (urllib3.exceptions.HTTPError, OSError):
            return False  # an incomplete last line is dropped
        finally:
            response.response.close()
        if rest:
            yield rest
        return True

    def _send(
        self,
        method: str,
        path: str,
        query: Query | None,
        body: object = None,
        content_type: str = "application/json",
        timeout_s: float = _TIMEOUT_S,
    ) -> Any:
        headers = {"Accept": "application/json", "Content-Type": content_type}
        request = self.api.param_serialize(
            method,
            path,
            query_params=[(name, str(value)) for name, value in (query or {}).items()],
            header_params=headers,
            body=body,
            auth_settings=["BearerToken"],
        )
        try:
            response = self.api.call_api(*request, _request_timeout=(timeout_s, timeout_s))
            if response.status >= _OK:
                raise self._rejection(response.status, response.read(), path)
        except (urllib3.exceptions.HTTPError, client.OpenApiException, OSError) as error:
            raise self._unreachable(error) from error
        return response

    def _read(self, method: str, path: str, query: Query | None, *body: Any) -> bytes:
        try:
            data: bytes = self._send(method, path, query, *body).read()
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise self._unreachable(error) from error
        return data

    def _unreachable(self, error: BaseException) -> ClusterError:
        reason = getattr(error, "reason", None) or error
        if isinstance(reason, urllib3.exceptions.ProtocolError):
            reason = reason.args[-1]  # the cause; the first argument only names the operation
        text = " ".join(str(reason).split()).rpartition("): ")[2] or type(reason).__name__
        message = f"{text}; check the connection with `kubectl cluster-info`"
        return ClusterError("cluster.api-unreachable", message, self.host)

    def _rejection(self, status: int, data: bytes, path: str) -> ApiError:
        try:
            text = json.loads(data).get("message") or ""
        except (ValueError, AttributeError):
            text = data.decode(errors="replace")
        reason = " ".join(str(text).split())[:600] or f"HTTP {status}"
        details = {"status": status, "reason": reason}
        if status == _UNAUTHENTICATED:
            message = f"{reason}; log in to {self.host} again"
            return ApiError("cluster.not-authenticated", message, path, details)
        if status == _FORBIDDEN:
            for part, code, fix in POLICY_REJECTIONS:
                if part in reason:
                    return ApiError(code, f"{reason}; {fix}", path, details | {"fix": fix})
            message = f"{reason}; `destage cluster doctor` lists missing permissions"
            return ApiError("cluster.permission-denied", message, path, details)
        return ApiError("cluster.request-rejected", reason, path, details)


def connect(context: str | None = None, namespace: str | None = None) -> Connection:
    """Return a connection from the kubeconfig, or from the service account of the pod.

    Raises:
        ClusterError: There is no kubeconfig, or it does not have the context.
    """
    settings = client.Configuration()
    settings.retries = 0  # the callers decide what to retry
    try:
        config.load_kube_config(context=context, client_configuration=settings)
        contexts, current = config.list_kube_config_contexts()
        chosen = next((candidate for candidate in contexts if candidate["name"] == context), current)
        default = chosen.get("context", {}).get("namespace")
    except ConfigException as error:
        try:
            config.load_incluster_config(client_configuration=settings)
        except ConfigException:
            text = " ".join(str(error).split())
            message = f"no cluster is configured: {text}; set KUBECONFIG or --context"
            raise ClusterError("cluster.not-configured", message) from error
        default = None
    return Connection(client.ApiClient(settings), namespace or default or "default")
