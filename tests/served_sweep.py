"""`destage report --serve` in a process of its own, and requests to it."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from small_studies import small_study

from destage import sweeps

PROGRAM = "from destage.cli import app; app()"
ENDLESS = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t WHERE n < 0"
SOON_S = 300.0
"""Bound of what takes a few seconds on an idle machine [s]."""
HEADERS_S = 2.0
"""The time limit of headers of a server with the settings `HASTY` [s]."""
HASTY = f"""
from destage.server import http_server
from destage.sql import limits
http_server._HEADERS_S, limits._END_S = {HEADERS_S}, 0.2
"""


@dataclass(frozen=True)
class Answer:
    """A response."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


@dataclass(frozen=True)
class Served:
    """A server that is running.

    Attributes:
        url: The address that it printed, with the token.
        cookie: What its answer to that address sets.
    """

    process: "subprocess.Popen[str]"
    url: str
    cookie: str

    @property
    def place(self) -> str:
        """The host and the port."""
        return urlsplit(self.url).netloc

    @property
    def token(self) -> str:
        """The token."""
        return parse_qs(urlsplit(self.url).query)["token"][0]

    def ask(self, path: str, method: str = "GET", body: str | None = None, **headers: str) -> Answer:
        """Send a request with the cookie, unless `Cookie` is another one; `_` in names of headers is `-`."""
        given = {"Cookie": self.cookie} | {name.replace("_", "-"): text for name, text in headers.items()}
        return request(self.place, path, method, body, given)

    def sql(self, statements: str) -> Answer:
        """Run statements."""
        body = json.dumps({"statements": statements})
        return self.ask("/sql", "POST", body, Content_Type="application/json")

    def send_endless(self) -> HTTPConnection:
        """Send a statement that does not end by itself; the caller reads the response or closes it."""
        connection = HTTPConnection(self.place, timeout=SOON_S)
        headers = {"Cookie": self.cookie, "Content-Type": "application/json"}
        connection.request("POST", "/sql", json.dumps({"statements": ENDLESS}), headers)
        return connection

    def await_state(self, is_reached: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """Return the first state that is as a function says."""
        deadline = time.monotonic() + SOON_S
        while True:
            state: dict[str, Any] = self.ask("/state").json
            if is_reached(state):
                return state
            assert time.monotonic() < deadline, state
            time.sleep(0.2)

    def await_report(self, text: str) -> str:
        """Return the report as soon as it has a text."""
        deadline = time.monotonic() + SOON_S
        while text not in (found := self.ask("/report").text):
            assert time.monotonic() < deadline, found[:2000]
            time.sleep(0.2)
        return found


def request(
    place: str,
    path: str,
    method: str = "GET",
    body: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """Send one request; redirections are not followed."""
    connection = HTTPConnection(place, timeout=SOON_S)
    try:
        connection.request(method, path, body, dict(headers or {}))
        response = connection.getresponse()
        return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
    finally:
        connection.close()


@contextmanager
def serve(path: Path, *options: str, settings: str = "") -> Iterator[Served]:
    """Serve a sweep for the length of a `with` block.

    Args:
        settings: Python code that the server's process runs first.
    """
    command = [sys.executable, "-c", settings + PROGRAM, "report", str(path), "--serve", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            assert url, process.communicate()
            split = urlsplit(url)
            answer = request(split.netloc, f"{split.path}?{split.query}")
            yield Served(process, url, answer.headers["set-cookie"].partition(";")[0])
        finally:
            # It deletes its temporary files.
            process.terminate()
            try:
                process.communicate(timeout=SOON_S)
            finally:
                process.kill()


def run_users(store: Path, *users: int) -> Path:
    """Run a sweep over numbers of users and return its directory, which is the same for any numbers."""
    study = sweeps.parse_study(small_study("small", f"workload.users: {list(users)}"))
    return Path(str(sweeps.run(study, store, executor="inline").path))
