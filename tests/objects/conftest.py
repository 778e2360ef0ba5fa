"""Fixtures: an object store on this machine, and a proxy in front of it that injects faults.

`make test` runs against one S3 server, `make objects-test` against all that this machine can run.
"""

import secrets
from collections.abc import Iterator

import pytest
from objects.faulty_proxy import FaultyProxy, faulty_proxy
from objects.servers import Server, run_server, server_kinds
from tests.system.conftest import killable, zygote  # noqa: F401 - fixtures

PREFIX = "a/prefix"
# Settings of a developer that would change the tests.
_FOREIGN = ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_CA_BUNDLE")


@pytest.fixture(scope="session", params=server_kinds())
def object_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """Return a server for the whole session."""
    try:
        with run_server(request.param, tmp_path_factory.mktemp("object-server")) as server:
            yield server
    except LookupError as missing:
        pytest.skip(str(missing))


@pytest.fixture
def bucket(object_server: Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """Make an empty bucket, set its credentials in the environment, and return its name."""
    for name in _FOREIGN:
        monkeypatch.delenv(name, raising=False)
    for name, value in object_server.environment.items():
        monkeypatch.setenv(name, value)
    name = f"bucket-{secrets.token_hex(6)}"
    object_server.make_bucket(name)
    return name


@pytest.fixture
def store_url(object_server: Server, bucket: str) -> str:
    """Return the URL of an empty store in a new bucket."""
    return object_server.url(bucket, PREFIX)


@pytest.fixture
def proxy(object_server: Server) -> Iterator[FaultyProxy]:
    """Return a proxy in front of the server, without faults."""
    with faulty_proxy(object_server.address) as proxy:
        yield proxy


@pytest.fixture
def proxied_url(object_server: Server, bucket: str, proxy: FaultyProxy) -> str:
    """Return the URL of the same store as `store_url`, through the proxy."""
    return object_server.url(bucket, PREFIX, through=proxy.address)
