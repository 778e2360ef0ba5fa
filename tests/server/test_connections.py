"""Connections that send no request do not keep others from being answered."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from served_sweep import HEADERS_S, Served

pytestmark = pytest.mark.xdist_group("served")
COUNT = 300
"""More connections than the server answers at a time."""


@contextmanager
def half_open(served: Served, count: int, sent: bytes) -> Iterator[list[socket.socket]]:
    """Open connections, each of which sends the beginning of a request."""
    host, _, port = served.place.rpartition(":")
    with ExitStack() as stack:
        opened = []
        for _ in range(count):
            client = stack.enter_context(socket.create_connection((host, int(port)), timeout=60))
            client.sendall(sent)
            opened.append(client)
        yield opened


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: localhost\r\nX: "])
def test_half_open_connections_keep_no_request_from_its_answer(served: Served, sent: bytes) -> None:
    with half_open(served, COUNT, sent):
        for _ in range(3):
            assert served.ask("/state").status == 200


def test_connections_after_a_refused_request_count_as_idle(served: Served) -> None:
    with half_open(served, COUNT, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\nGET /"):
        assert served.ask("/state").status == 200


def test_a_half_open_connection_is_closed_in_time(hasty: Served) -> None:
    began = time.monotonic()
    with half_open(hasty, 1, b"GET / HTTP/1.1\r\nX: ") as (client,):
        while True:
            try:
                client.sendall(b"x")
                time.sleep(0.2)
            except OSError:
                break
            assert time.monotonic() - began < 6 * HEADERS_S
    assert time.monotonic() - began > 0.5 * HEADERS_S


def test_a_request_may_take_longer_than_its_headers(hasty: Served) -> None:
    """The time limit is that of headers: a connection is reused, and a slow body is read."""
    host, _, port = hasty.place.rpartition(":")
    body = b'{"statements": "SELECT 1"}'
    head = (
        f"POST /sql HTTP/1.1\r\nHost: {hasty.place}\r\nCookie: {hasty.cookie}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()
    with socket.create_connection((host, int(port)), timeout=60) as client:
        client.sendall(head + body[:5])
        time.sleep(HEADERS_S + 1)
        client.sendall(body[5:])
        assert client.recv(100).startswith(b"HTTP/1.1 200")
