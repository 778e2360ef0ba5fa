"""A writer that is stopped past its lease, while another one finishes the sweep, damages nothing."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from chaos.places import lease_seconds
from chaos.sweep import ChaosSweep, Seen, make_chaos_sweep, see
from chaos.zygote import Session, Zygote
from objects.servers import Server

from destage.store import locate
from destage.store.files import durable

LIMIT_S = 300.0


@pytest.fixture(scope="module")
def chaos_sweep(tmp_path_factory: pytest.TempPathFactory) -> ChaosSweep:
    return make_chaos_sweep(tmp_path_factory.mktemp("superseded"))


@pytest.mark.parametrize("count", [pytest.param(1, marks=pytest.mark.chaos), 2])
def test_a_stopped_writer_damages_nothing(
    chaos_sweep: ChaosSweep, object_server: Server, bucket: str, zygote: Zygote, tmp_path: Path, count: int
) -> None:
    """Stop a writer at each write point, in a sweep each; finish all sweeps; continue all writers."""
    lease_s = lease_seconds(object_server.kind)
    points = [f"{name}:{count}" for name in durable.NAMES]
    stores = {point: object_server.url(bucket, point.replace(":", "-")) for point in points}

    def look(point: str) -> Seen:
        return see(locate(stores[point]) / "sweeps" / chaos_sweep.name)

    def start(study: Path, point: str, **env: str) -> Session:
        return zygote.fork(
            "driver",
            tmp_path / f"{point}.log",
            {**os.environ, **env},
            study=str(study),
            store=stores[point],
            executor="inline",
            lease_s=lease_s,
        )

    stopped = {}
    for point in points:
        env = {"DESTAGE_FAIL_POINT": point, "DESTAGE_FAIL_SIGNAL": "STOP"}
        stopped[point] = start(chaos_sweep.few, point, **env)
        _wait_until_stopped(stopped[point])
    time.sleep(lease_s)
    seen = {}
    for point in points:
        _finish(start, chaos_sweep.more, point)
        seen[point] = look(point)
        assert seen[point] == see(chaos_sweep.more_reference), point
    for point, writer in stopped.items():
        writer.signal(signal.SIGCONT)
        code = writer.wait(LIMIT_S)
        log = writer.errors.read_text()
        assert code in {1, 4}, f"{point}: {code}: {log}"
        assert "store.superseded" in log or "sweep.lease-lost" in log, f"{point}: {log}"
        assert look(point) == seen[point], point


def _finish(start: Callable[[Path, str], Session], study: Path, point: str) -> None:
    for _ in range(20):
        session = start(study, point)
        if session.wait(LIMIT_S) == 0:
            return
        time.sleep(1)
    raise AssertionError(session.errors.read_text())


def _wait_until_stopped(writer: Session) -> None:
    end = time.monotonic() + LIMIT_S
    while not writer.is_stopped:
        assert not writer.has_ended, writer.errors.read_text()
        assert time.monotonic() < end
        time.sleep(0.05)
