"""A proxy in front of an object store that records requests and injects faults.

It is a separate process: in the process of the tests it could not respond while a client holds the GIL.
"""

import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, cast
from urllib.parse import unquote

Kind = Literal[
    "slow down", "deny", "no space", "drop", "reset", "lose the response", "truncate the body", "delay"
]
ALL = 1_000_000_000
"""More requests than any test sends."""
_ERRORS = {
    "slow down": (503, "SlowDown", "Please reduce your request rate."),
    "deny": (403, "AccessDenied", "Access Denied"),
    "no space": (507, "InsufficientStorage", "The disk of the service is full."),
}
_BODY = '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{}</Code><Message>{}</Message></Error>'
_UPLOAD_STATUS = "bytes */*"
_HOP = {"connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "expect"}


@dataclass
class Fault:
    """A fault of future requests.

    Attributes:
        kind: `slow down` responds 503, `deny` 403 and `no space` 507, without forwarding
            the request. `drop` closes the connection before reading the body, and `reset` resets it, without
            forwarding. `lose the response` forwards, then closes the connection without a response. `truncate
            the body` responds with half of the body, then closes. `delay` forwards after `seconds`.
        method: The HTTP method; empty for any.
        part: A part of the decoded path and query.
        times: Number of requests that it still affects.
        seconds: Duration of a delay [s].
        after: Number of matching requests that pass before.
        every: Affect every n-th matching request.
    """

    kind: Kind
    method: str = ""
    part: str = ""
    times: int = 1
    seconds: float = 0.0
    after: int = 0
    every: int = 1
    seen: int = 0


class FaultyProxy:
    """A running proxy.

    Attributes:
        address: Its host and port.
    """

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.address = str(self._read())

    @property
    def requests(self) -> list[tuple[str, str]]:
        """Method and decoded path with query of each request so far."""
        return [(method, path) for method, path in self._send("requests")]

    @property
    def counts(self) -> Counter[str]:
        """Number of requests so far by method."""
        return Counter(method for method, _ in self.requests)

    def add_fault(
        self,
        kind: Kind,
        *,
        method: str = "",
        part: str = "",
        times: int = 1,
        seconds: float = 0.0,
        after: int = 0,
        every: int = 1,
    ) -> None:
        """Inject a fault into the next `times` requests that match; earlier faults apply first."""
        self._send("add_fault", **asdict(Fault(kind, method, part, times, seconds, after, every)))

    def clear(self) -> None:
        """Remove all faults and recorded requests."""
        self._send("clear")

    def _send(self, command: str, **arguments: object) -> Any:
        assert self._process.stdin
        self._process.stdin.write(json.dumps([command, arguments]) + "\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> Any:
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line, "the proxy has ended"
        return json.loads(line)


@contextmanager
def faulty_proxy(upstream: str) -> Iterator[FaultyProxy]:
    """Run a proxy on a free loopback port in front of an HTTP server.

    Args:
        upstream: The server's `host:port`.
    """
    command = [sys.executable, __file__, upstream]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield FaultyProxy(process)
        process.communicate()


class _Faults:
    """Recorded requests and pending faults."""

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream
        self.uploads: dict[str, tuple[HTTPResponse, bytes]] = {}
        self._requests: list[tuple[str, str]] = []
        self._faults: list[Fault] = []
        self._lock = threading.Lock()

    def execute(self, command: str, arguments: dict[str, Any]) -> list[tuple[str, str]]:
        """Execute a command of the tests, and return the requests so far."""
        with self._lock:
            if command == "add_fault":
                self._faults.append(Fault(**arguments))
            elif command == "clear":
                self._faults.clear()
                self._requests.clear()
            return list(self._requests)

    def take_fault(self, method: str, path: str) -> Fault | None:
        """Record a request, and return its fault."""
        with self._lock:
            self._requests.append((method, path))
            for fault in self._faults:
                if fault.times > 0 and fault.method in {"", method} and fault.part in path:
                    if fault.after > 0:
                        fault.after -= 1
                        continue
                    fault.seen += 1
                    if fault.seen % fault.every:
                        continue
                    fault.times -= 1
                    return fault
        return None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60.0
    disable_nagle_algorithm = (
        True  # head and body are two writes; a client delays its acknowledgement by 40 ms
    )

    @property
    def faults(self) -> "_Faults":
        return cast("_Server", self.server).faults

    def handle_expect_100(self) -> bool:
        return True  # `_serve` requests the body unless a fault forbids it

    def _serve(self) -> None:
        fault = self.faults.take_fault(self.command, unquote(self.path))
        kind = fault.kind if fault else None
        if kind == "drop":
            self._close_connection()
            return
        if kind == "reset":
            # To linger for no time is to reset.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            os.close(self.connection.detach())
            return
        if self.headers.get("Expect", "").lower() == "100-continue":
            self.send_response_only(100)
            self.end_headers()
        body = self._body()
        if kind in _ERRORS:
            self._reject(*_ERRORS[kind])
            return
        if fault and kind == "delay":
            time.sleep(fault.seconds)
        response = (
            self._report_upload()
            if self.headers.get("Content-Range") == _UPLOAD_STATUS
            else self._forward(body)
        )
        if kind == "lose the response":
            self._close_connection()
        elif response is None:
            self.send_response_only(308, "Resume Incomplete")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self._relay(*response, is_truncated=kind == "truncate the body")

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = do_PATCH = _serve  # noqa: N815 - the names are http.server's

    def _relay(self, answer: HTTPResponse, content: bytes, *, is_truncated: bool) -> None:
        self.send_response_only(answer.status, answer.reason)
        for name, value in answer.getheaders():
            if name.lower() not in _HOP | {"content-length"}:
                self.send_header(name, value)
        length = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(content))
        if length is not None and answer.status != 204:
            self.send_header("Content-Length", length)
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if is_truncated else content)
        if is_truncated:
            self._close_connection()

    def _reject(self, status: int, code: str, message: str) -> None:
        body = _BODY.format(code, message).encode()
        self.send_response_only(status)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return b"".join(parts)

    def _forward(self, body: bytes) -> tuple[HTTPResponse, bytes]:
        """Forward the request unchanged, `Host` included, as the signature covers it."""
        connection = HTTPConnection(self.faults.upstream, timeout=60)
        try:
            connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in _HOP | {"content-length"}:
                    connection.putheader(name, value)
            if body or self.command in {"PUT", "POST", "PATCH"}:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body or None)
            answer = connection.getresponse()
            response = answer, answer.read()
        finally:
            connection.close()
        if "upload_id=" in self.path:
            self.faults.uploads[self.path] = response
        return response

    def _report_upload(self) -> tuple[HTTPResponse, bytes] | None:
        """Return the status of an interrupted upload, as Google does.

        The emulator instead takes the request for the end of the upload and stores an empty object.
        """
        return self.faults.uploads.get(self.path)

    def _close_connection(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def handle(self) -> None:
        with suppress(ConnectionError, HTTPException, TimeoutError):
            super().handle()

    def log_message(self, *_: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    faults: _Faults


def _serve_until_stdin_ends(upstream: str) -> None:
    """Run until the standard input ends, as it does when the tests end or are killed."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.faults = _Faults(upstream)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sys.stdout.write(json.dumps(f"127.0.0.1:{server.server_address[1]}") + "\n")
        sys.stdout.flush()
        for line in sys.stdin:
            command, arguments = json.loads(line)
            sys.stdout.write(json.dumps(server.faults.execute(command, arguments)) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    _serve_until_stdin_ends(sys.argv[1])
