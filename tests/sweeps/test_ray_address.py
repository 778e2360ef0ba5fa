"""The address of a Ray cluster is checked before Ray uses it; each failure has a code and a fix."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from destage.errors import SweepError
from destage.sweeps.ray.ray_cluster import check_address, explain_failure

SETTINGS = b"\0\0\0\4\0\0\0\0\0"


@contextmanager
def answer_once(answer: bytes) -> Iterator[int]:
    """Answer one connection; yields the port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            line, _ = server.accept()
            with line:
                line.recv(64)
                line.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        thread.join(10)


@pytest.mark.parametrize("form", ["127.0.0.1:{}", "ray://127.0.0.1:{}"])
def test_a_server_that_speaks_http2_passes(form: str) -> None:
    with answer_once(SETTINGS) as port:
        check_address(form.format(port))
    check_address("auto")


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"", b"SSH"])
def test_another_kind_of_server_is_not_a_ray_cluster(answer: bytes) -> None:
    with answer_once(answer) as port, pytest.raises(SweepError) as caught:
        check_address(f"127.0.0.1:{port}")
    assert (caught.value.code, caught.value.place) == ("sweep.no-ray-cluster", f"127.0.0.1:{port}")


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("head", "sweep.bad-ray-address"),
        ("http://head:8265", "sweep.bad-ray-address"),
        ("127.0.0.1:9", "sweep.no-ray-cluster"),
        ("127.0.0.1:99999", "sweep.no-ray-cluster"),
        ("no.such.host.invalid:6379", "sweep.no-ray-cluster"),
    ],
)
def test_a_wrong_address_is_one_line(address: str, code: str) -> None:
    with pytest.raises(SweepError) as caught:
        check_address(address)
    assert (caught.value.code, caught.value.place) == (code, address)
    assert "\n" not in str(caught.value)


MISMATCH = """Version mismatch: The cluster was started with:
    Ray: 2.50.0
    Python: 3.12.1
This process on node 10.0.0.1 was started with:
    Ray: 2.60.0
    Python: 3.11.7
"""


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (MISMATCH, "sweep.ray-version-mismatch"),
        ("InvalidAuthToken: Authentication token is missing or incorrect", "sweep.ray-token-required"),
        ("RPC error: Method not found!", "sweep.wrong-ray-port"),
        ("ray client connection timeout", "sweep.ray-client-rejected"),
        ("something\nelse", "sweep.ray-connection-failed"),
    ],
)
def test_a_nested_ray_error_becomes_one_line(raised: str, code: str) -> None:
    error = ConnectionError("Failed\nto connect")
    error.__cause__ = RuntimeError(raised)
    explained = explain_failure("h:1", error)
    assert (explained.code, explained.place) == (code, "h:1")
    assert "\n" not in str(explained)


def test_a_version_mismatch_has_both_versions() -> None:
    assert explain_failure("h:1", RuntimeError(MISMATCH)).data == {
        "cluster": "Ray 2.50.0 and Python 3.12.1",
        "here": "Ray 2.60.0 and Python 3.11.7",
    }
