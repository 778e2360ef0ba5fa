"""The server ends on a signal in any state and leaves no files."""

import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from served_sweep import PROGRAM, Served, request, run_users, serve

SOON_S = 60.0
"""Bound of an end on a busy machine [s]; the statement would not end."""


def _stop(served: Served, number: int) -> tuple[int, str, str]:
    began = time.monotonic()
    served.process.send_signal(number)
    out, errors = served.process.communicate(timeout=SOON_S)
    assert time.monotonic() - began < SOON_S
    return served.process.returncode, out, errors


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_ends_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    """While the report is composed and a statement runs."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    path = run_users(tmp_path, 5)
    monkeypatch.setenv("TMPDIR", str(folder))
    with serve(path) as served:
        connection = served.send_endless()
        time.sleep(1)
        code, out, errors = _stop(served, number)
        connection.close()
    assert (code, out) == (130, "")
    assert errors.splitlines() == [f"serving {path.name}; press Ctrl-C to stop"]
    assert not list(folder.iterdir())


def test_an_address_open_to_the_network_is_a_warning(tmp_path: Path) -> None:
    path = run_users(tmp_path, 5)
    command = [sys.executable, "-c", PROGRAM, "report", str(path), "--serve", "--address", "0.0.0.0"]  # noqa: S104
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = urlsplit(process.stdout.readline().strip())
        assert url.hostname == socket.gethostname().lower()
        place, target = f"127.0.0.1:{url.port}", f"/?{url.query}"
        assert request(place, target, headers={"Host": url.netloc}).status == 303
        assert request(place, target, headers={"Host": "evil.example"}).status == 403
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=SOON_S)
    assert process.returncode == 130
    assert errors.startswith("warning: usage.open-to-network at --address: ")
