"""A proxy in front of an object store that notes requests and spoils the ones it is told to.

It is a process of its own. In the tests' own process it could not answer while a client holds Python's lock,
as Azure's does when a stream that failed is given up: it then asks once more.
"""

import json
import socket
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

Kind = Literal["slow down", "deny", "drop", "lose the answer", "cut the body", "delay"]
ALL = 1_000_000_000
"""More times than any test asks."""
_ANSWERS = {
    "slow down": (503, "SlowDown", "Please reduce your request rate."),
    "deny": (403, "AccessDenied", "Access Denied"),
}
_BODY = '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{}</Code><Message>{}</Message></Error>'
_HOW_FAR = "bytes */*"
_HOP = {"connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "expect"}


@dataclass
class Fault:
    """What shall happen to requests to come.

    Attributes:
        kind: `slow down`: 503 SlowDown, and the store never hears of it; `deny`: 403 AccessDenied, likewise.
            `drop`: the connection ends before the request's body is read, and the store never hears of it.
            `lose the answer`: the store does what it was asked, and the connection ends before a byte of its
            answer. `cut the body`: half of the answer's body, then the end. `delay`: the store hears of it
            `seconds` later.
        method: The HTTP method, or any.
        part: What the decoded path and query must hold.
        times: How many requests it still meets.
        seconds: How long a delay is.
    """

    kind: Kind
    method: str = ""
    part: str = ""
    times: int = 1
    seconds: float = 0.0


class FaultyProxy:
    """A proxy that runs.

    Attributes:
        address: Its host and port.
    """

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.address = str(self._read())

    @property
    def requests(self) -> list[tuple[str, str]]:
        """Each request so far: its method, and its decoded path and query."""
        return [(method, path) for method, path in self._tell("requests")]

    @property
    def counts(self) -> Counter[str]:
        """Requests so far by method: what a store bills for."""
        return Counter(method for method, _ in self.requests)

    def spoil(
        self, kind: Kind, *, method: str = "", part: str = "", times: int = 1, seconds: float = 0.0
    ) -> None:
        """Spoil the next `times` requests that match, from the earliest fault told to the latest."""
        self._tell("spoil", **asdict(Fault(kind, method, part, times, seconds)))

    def heal(self) -> None:
        """Forget all faults and requests."""
        self._tell("heal")

    def _tell(self, order: str, **what: object) -> Any:
        assert self._process.stdin
        self._process.stdin.write(json.dumps([order, what]) + "\n")
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
    """What the proxy saw and what it shall do."""

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream
        self.uploads: dict[str, tuple[HTTPResponse, bytes]] = {}
        self._requests: list[tuple[str, str]] = []
        self._faults: list[Fault] = []
        self._lock = threading.Lock()

    def obey(self, order: str, what: dict[str, Any]) -> list[tuple[str, str]]:
        """Do as the tests say, and return the requests so far."""
        with self._lock:
            if order == "spoil":
                self._faults.append(Fault(**what))
            elif order == "heal":
                self._faults.clear()
                self._requests.clear()
            return list(self._requests)

    def meet(self, method: str, path: str) -> Fault | None:
        """Note a request, and return what shall happen to it."""
        with self._lock:
            self._requests.append((method, path))
            for fault in self._faults:
                if fault.times > 0 and fault.method in {"", method} and fault.part in path:
                    fault.times -= 1
                    return fault
        return None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60.0

    @property
    def faults(self) -> "_Faults":
        return cast("_Server", self.server).faults

    def handle_expect_100(self) -> bool:
        return True  # the body is asked for when no fault forbids it

    def _serve(self) -> None:
        fault = self.faults.meet(self.command, unquote(self.path))
        kind = fault.kind if fault else None
        if kind == "drop":
            self._hang_up()
            return
        if self.headers.get("Expect", "").lower() == "100-continue":
            self.send_response_only(100)
            self.end_headers()
        body = self._body()
        if kind in _ANSWERS:
            self._refuse(*_ANSWERS[kind])
            return
        if fault and kind == "delay":
            time.sleep(fault.seconds)
        found = self._how_far() if self.headers.get("Content-Range") == _HOW_FAR else self._ask(body)
        if kind == "lose the answer":
            self._hang_up()
        elif found is None:
            self.send_response_only(308, "Resume Incomplete")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self._relay(*found, is_cut=kind == "cut the body")

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = do_PATCH = _serve  # noqa: N815 - the names are http.server's

    def _relay(self, answer: HTTPResponse, content: bytes, *, is_cut: bool) -> None:
        self.send_response_only(answer.status, answer.reason)
        for name, value in answer.getheaders():
            if name.lower() not in _HOP | {"content-length"}:
                self.send_header(name, value)
        told = answer.getheader("Content-Length") if self.command == "HEAD" else str(len(content))
        if told is not None and answer.status != 204:
            self.send_header("Content-Length", told)
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if is_cut else content)
        if is_cut:
            self._hang_up()

    def _refuse(self, status: int, code: str, message: str) -> None:
        body = _BODY.format(code, message).encode()
        self.send_response_only(status)
        if (
            self.command != "HEAD"
        ):  # Azure's client takes a type for a body, and ends the process at an empty one
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

    def _ask(self, body: bytes) -> tuple[HTTPResponse, bytes]:
        """Send the request on as it came, its `Host` among it: the signature covers that."""
        line = HTTPConnection(self.faults.upstream, timeout=60)
        try:
            line.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in _HOP | {"content-length"}:
                    line.putheader(name, value)
            if body or self.command in {"PUT", "POST", "PATCH"}:
                line.putheader("Content-Length", str(len(body)))
            line.endheaders(body or None)
            answer = line.getresponse()
            found = answer, answer.read()
        finally:
            line.close()
        if "upload_id=" in self.path:
            self.faults.uploads[self.path] = found
        return found

    def _how_far(self) -> tuple[HTTPResponse, bytes] | None:
        """Answer what Google's client asks once an upload has broken off, as Google does.

        The emulator does not: it takes the question for the end of the upload, and the object for empty.
        """
        return self.faults.uploads.get(self.path)

    def _hang_up(self) -> None:
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


def _serve(upstream: str) -> None:
    """Run until the standard input ends, which it does when the tests end or are killed."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.faults = _Faults(upstream)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sys.stdout.write(json.dumps(f"127.0.0.1:{server.server_address[1]}") + "\n")
        sys.stdout.flush()
        for line in sys.stdin:
            order, what = json.loads(line)
            sys.stdout.write(json.dumps(server.faults.obey(order, what)) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    _serve(sys.argv[1])
