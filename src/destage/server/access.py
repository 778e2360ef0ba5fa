"""Access control: each request needs the token, and a `Host` header that names this server.

With DNS rebinding, a page of another site makes its own host name resolve to 127.0.0.1, so that the browser
takes this server for a part of that site. Such a request has that name in its `Host` header.
"""

import hashlib
import ipaddress
import re
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

DEFAULT_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""The content security policy of a response that has none of its own: nothing is loaded or run."""
_HEADERS = {
    "content-security-policy": DEFAULT_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[^][:/?#@\s]+)(?::\d+)?")
_TOKEN_BYTES = 24
_FORBIDDEN = 403


def make_token() -> str:
    """Return a random token."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


@dataclass(frozen=True)
class AllowedHosts:
    """The values of the `Host` header that are accepted, with any port: a forwarded port may be another one.

    Attributes:
        names: Names other than `localhost`.
        is_local: Whether addresses of the loopback interface are the only ones.
    """

    names: Collection[str] = ()
    is_local: bool = True

    def accept(self, header: str) -> bool:
        """Return whether a `Host` header names this server; an address cannot be rebound."""
        match = _HOST.fullmatch(header.lower())
        if match is None:
            return False
        host = match["name"].strip("[]").rstrip(".")
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return host == "localhost" or host in self.names
        return address.is_loopback or not self.is_local


class Gate:
    """ASGI middleware that refuses requests without the token and adds security headers."""

    def __init__(self, application: ASGIApp, token: str, hosts: AllowedHosts) -> None:
        self._application = application
        self._token = token.encode()
        self._hosts = hosts
        # Cookies of one host are sent to all its ports; two servers need different names.
        self._cookie = f"destage_{hashlib.sha256(self._token).hexdigest()[:8]}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        request = Request(scope, receive)
        response = self._check(request)
        await (self._application if response is None else response)(scope, receive, send_with_headers)

    def _check(self, request: Request) -> Response | None:
        """Return the response to a request that is not passed on."""
        host = request.headers.get("host", "")
        if not self._hosts.accept(host):
            return _refuse("unknown host name; use the address that `destage report --serve` printed")
        origin = request.headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != host:
            return _refuse("a page of another site may not send requests")
        given = request.query_params.get("token")
        token = request.cookies.get(self._cookie, "") if given is None else given
        if not secrets.compare_digest(token.encode(), self._token):
            return _refuse("open the address with the token that `destage report --serve` printed")
        if given is None or request.method not in ("GET", "HEAD"):
            return None
        # Redirect to an address without the token, because addresses are shown, bookmarked and shared.
        # `./` and quoted, because a name such as `https:evil.example` would be an address of its own.
        name = quote(request.url.path.rpartition("/")[2], safe="")
        response = RedirectResponse(f"./{name}", status_code=303)
        response.set_cookie(self._cookie, given, httponly=True, samesite="strict")
        return response


def _refuse(reason: str) -> Response:
    return PlainTextResponse(f"{reason}\n", status_code=_FORBIDDEN)
