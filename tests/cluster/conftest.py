"""A fake API server, and a connection to it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from api_server import ApiServer, serve

from destage.cluster.client.api_connection import Connection, connect


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    """Serve a fake API, and make it the kubeconfig's cluster."""
    with serve(tmp_path) as (api, config):
        monkeypatch.setenv("KUBECONFIG", str(config))
        # The package reads the variable when it is imported.
        monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(config))
        yield api


@pytest.fixture
def connection(server: ApiServer) -> Connection:
    """Return a connection to the server."""
    assert server is not None
    return connect()
