"""A Ray cluster's head that answers, and one that does not."""

import socket

import pytest

from destage.sweeps.ray import ray_cluster
from destage.sweeps.ray.ray_cluster import RayHead


def test_a_head_is_lost_once_it_has_not_answered_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(ray_cluster.time, "monotonic", lambda: now[0])
    with socket.create_server(("127.0.0.1", 0)) as server:
        head = RayHead(f"127.0.0.1:{server.getsockname()[1]}")
        now[0] += 1000.0
        assert head.answers()
        assert not head.is_lost
    # Planning may take any time in which the head is not asked.
    now[0] += 1000.0
    assert not head.answers()
    assert not head.is_lost
    now[0] += 44.0
    assert not head.answers()
    assert not head.is_lost
    now[0] += 2.0
    assert not head.answers()
    assert head.is_lost


def test_a_client_of_ray_does_not_ask_the_head() -> None:
    head = RayHead("")
    assert head.answers()
    assert not head.is_lost
