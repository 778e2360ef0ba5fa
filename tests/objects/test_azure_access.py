"""Azure's client uses the proxy and the credentials of the environment."""

import secrets
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from destage.errors import StoreError
from destage.objects import ObjectPath, object_path

OPTIONS = "enable_tls=false&blob_storage_authority=blob.invalid:1&dfs_storage_authority=blob.invalid:1"


class _Recorder(BaseHTTPRequestHandler):
    """A proxy that stores nothing, and records what it is asked for."""

    asked: list[tuple[str, str, str]]

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.asked.append((self.command, self.path, self.headers["Authorization"].partition(":")[0]))
        self.send_response(201)
        self.send_header("ETag", '"0x1"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, str, str]]]:
    """Set a proxy in the environment, and return what it is asked for."""
    asked: list[tuple[str, str, str]] = []
    with ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Recorder,), {"asked": asked})) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for name in ("HTTP_PROXY", "http_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{server.server_address[1]}")
        for name in ("NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.delenv(name, raising=False)
        yield asked
        server.shutdown()


def _write(account: str) -> str:
    name = f"c{secrets.token_hex(4)}"  # a client keeps what it was opened with
    (ObjectPath.parse(f"abfs://{name}@{account}.dfs.core.windows.net/p?{OPTIONS}") / "x").write_bytes(b"1")
    return name


def test_a_write_goes_through_the_proxy_with_the_key(
    asked: list[tuple[str, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_STORAGE_KEY", "bm90LWEtc2VjcmV0")
    container = _write("acct")
    assert asked == [("PUT", f"http://blob.invalid:1/acct/{container}/p/x", "SharedKey acct")]


def test_a_host_without_proxy_is_asked_itself(
    asked: list[tuple[str, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_STORAGE_KEY", "bm90LWEtc2VjcmV0")
    monkeypatch.setenv("NO_PROXY", ".invalid")
    monkeypatch.setattr(object_path, "_PAUSES_S", ())
    with pytest.raises(StoreError, match=r"^bucket\.unreachable"):
        _write("acct")
    assert asked == []


def test_no_token_is_sent_without_tls(
    asked: list[tuple[str, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AZURE_STORAGE_KEY", raising=False)
    with pytest.raises(StoreError, match=r"^bucket\.token-without-tls"):
        _write("acct")
    assert asked == []
