"""An address of a Ray cluster is looked at before Ray is: what is no cluster's is told in a sentence."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from destage.errors import SweepError
from destage.sweeps.ray_address import check_address, explain

SETTINGS = b"\0\0\0\4\0\0\0\0\0"


@contextmanager
def answering(answer: bytes) -> Iterator[int]:
    """Serve one connection with an answer; gives the port."""
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
def test_what_speaks_as_ray_does_passes(form: str) -> None:
    with answering(SETTINGS) as port:
        check_address(form.format(port))
    check_address("auto")


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"", b"SSH"])
def test_what_speaks_otherwise_is_no_ray_cluster(answer: bytes) -> None:
    with answering(answer) as port, pytest.raises(SweepError, match=r"is no Ray cluster: give the head's"):
        check_address(f"127.0.0.1:{port}")


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("head", "'head' is no address of a Ray cluster: give the head's HOST:6379"),
        ("http://head:8265", "is no address of a Ray cluster"),
        ("127.0.0.1:9", "no Ray cluster answers at 127.0.0.1:9: Connection refused; give"),
        ("127.0.0.1:99999", "no Ray cluster answers at 127.0.0.1:99999: "),
        ("no.such.host.invalid:6379", "no Ray cluster answers at no.such.host.invalid:6379: "),
    ],
)
def test_an_address_of_nobody_is_told_with_its_mend(address: str, told: str) -> None:
    with pytest.raises(SweepError) as error:
        check_address(address)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


MISMATCH = """Version mismatch: The cluster was started with:
    Ray: 2.50.0
    Python: 3.12.1
This process on node 10.0.0.1 was started with:
    Ray: 2.60.0
    Python: 3.11.7
"""


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (MISMATCH, "runs Ray 2.50.0 and Python 3.12.1, and this is Ray 2.60.0 and Python 3.11.7: both"),
        ("InvalidAuthToken: Authentication token is missing or incorrect", "asks for a token: set RAY_AUTH_"),
        ("RPC error: Method not found!", "is a Ray cluster's, but another of its ports: give the head's"),
        ("ray client connection timeout", "takes no client: where it asks for a token"),
    ],
)
def test_what_ray_says_becomes_a_sentence_however_deep_it_lies(raised: str, told: str) -> None:
    error = ConnectionError("Failed to connect")
    error.__cause__ = RuntimeError(raised)
    text = explain("h:1", error)
    assert told in text
    assert "\n" not in text


def test_what_ray_says_else_is_told_in_its_own_words() -> None:
    text = explain("h:1", ConnectionError("something\nelse"))
    assert text.startswith("the Ray cluster at h:1 cannot be joined: something else; give the head's")
