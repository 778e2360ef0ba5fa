"""An API server of one's own, and the connection to it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from api_server import ApiServer, serve

from destage.cluster.connection import Connection, connect


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    """Serve an API, and make it the one that the kubeconfig names."""
    with serve(tmp_path) as (api, config):
        monkeypatch.setenv("KUBECONFIG", str(config))
        # Read once when the package is imported.
        monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(config))
        yield api


@pytest.fixture
def connection(server: ApiServer) -> Connection:
    """Return a connection to the server."""
    assert server is not None
    return connect()
