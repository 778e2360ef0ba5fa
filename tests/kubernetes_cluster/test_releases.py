"""Releases of the chart on a real Kubernetes: upgrade, rollback, uninstall; the operator is stood in for."""

from collections.abc import Callable
from pathlib import Path

import pytest
from kubernetes_cluster.conftest import RUNS, Cluster, helm, values_file
from kubernetes_cluster.results import LONG, SHORT, assert_kept, assert_whole, committed, sweep_of

from destage.store import open_sweep

pytestmark = [pytest.mark.kubernetes]


def test_an_upgrade_and_a_rollback_keep_the_results_of_both_studies(
    cluster: Cluster, chart: Path, reference: Callable[[int], Path]
) -> None:
    volume = cluster.volume("demo")
    first, second = cluster.study("first_sweep", LONG), cluster.study("second_sweep", SHORT)
    values = str(values_file(cluster))
    notes = helm("install", "demo", str(chart), "--values", values, "--set-file", f"sweep.spec={first}")
    assert "destage cluster watch demo --namespace sweeps" in notes
    cluster.wait("some rows", lambda: len(committed(volume)) >= 3)

    # Another study: the first one's pods go in mid-sweep, the second runs to its end in the same claim.
    helm("upgrade", "demo", str(chart), "--values", values, "--set-file", f"sweep.spec={second}")
    cluster.destage("watch", "demo", "--quiet")
    assert_whole(sweep_of(volume, "second_sweep"), reference(SHORT))
    before = committed(volume)
    assert open_sweep(sweep_of(volume, "first_sweep")).rows().num_rows < RUNS
    told, _ = cluster.say("status", "demo")
    assert "second_sweep-" in told
    assert "finished: 200 of 200 runs" in told

    # Back: the first study goes on from what it has committed.
    helm("rollback", "demo", "1")
    cluster.destage("watch", "demo", "--quiet")
    assert_kept(volume, before)
    assert_whole(sweep_of(volume, "first_sweep"), reference(LONG))

    helm("test", "demo", "--timeout", "5m")
    before = committed(volume)
    helm("uninstall", "demo")
    assert "Bound" in cluster.kubectl("get", "pvc", "demo-results", "--no-headers")
    assert committed(volume) == before
