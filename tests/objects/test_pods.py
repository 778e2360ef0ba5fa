"""Commands of `destage cluster` on a bucket through a pod: fetch, query, probe, discard."""

import json
from pathlib import Path
from typing import Any

import pytest
from in_process_pod import InProcessPod, destage
from objects.faulty_proxy import ALL, FaultyProxy
from small_studies import small_study

from destage import sweeps
from destage.cluster.in_pod import fetched_results
from destage.errors import ClusterError
from destage.objects import object_path
from destage.store import list_sweeps, locate, open_sweep
from destage.store.files.digests import find_digest


def run_study(folder: Path, store_url: str, name: str = "small") -> Any:
    """Run a study of four runs into the bucket, and return its sweep."""
    study = folder / f"{name}.yaml"
    study.write_text(small_study(name, "workload.users: [5, 10]"))
    return sweeps.run(sweeps.load_study(study), locate(store_url), executor="inline").path


def test_a_fetch_downloads_each_fragment_once(tmp_path: Path, store_url: str) -> None:
    there = run_study(tmp_path, store_url)
    pod = InProcessPod(store_url)
    remote = fetched_results.find_results(pod, "")
    assert (remote.name, remote.status["present"], remote.status["finished"]) == (there.name, 4, True)
    found = fetched_results.fetch_results(pod, remote.name, tmp_path / "here")
    assert open_sweep(found.path).rows().equals(open_sweep(there).rows())
    names = {path.relative_to(found.path).parts[0] for path in found.path.rglob("*") if path.is_file()}
    assert {"generations", "fragments"} <= names
    again = fetched_results.fetch_results(pod, remote.name, tmp_path / "here")
    files = [path for path in found.path.rglob("*") if path.is_file()]
    assert again.kept == sum(find_digest(path.name) is not None for path in files)
    assert again.kept >= sum(1 for _ in (found.path / "fragments").iterdir())


def test_an_interrupted_fetch_from_a_bucket_continues(
    tmp_path: Path, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = run_study(tmp_path, store_url)
    monkeypatch.setattr(fetched_results, "_BATCH_FILES", 1)
    pod = InProcessPod(store_url)
    pod.truncate(3)
    with pytest.raises(ClusterError, match=r"^cluster\."):
        fetched_results.fetch_results(pod, there.name, tmp_path / "here")
    found = fetched_results.fetch_results(pod, there.name, tmp_path / "here")
    assert open_sweep(found.path).rows().equals(open_sweep(there).rows())


def test_sql_runs_where_the_bucket_is_reachable(tmp_path: Path, store_url: str) -> None:
    there = run_study(tmp_path, store_url)
    answer = fetched_results.query_results(
        InProcessPod(store_url), there.name, "SELECT count(*) AS runs FROM runs", "json"
    )
    assert json.loads(answer) == [{"runs": 4}]


def test_a_discard_removes_one_sweep_only(tmp_path: Path, store_url: str) -> None:
    one, other = run_study(tmp_path, store_url), run_study(tmp_path, store_url, "other")
    words = destage("cluster", "discard", one.name, "--store", store_url).decode().split()
    assert words[0] == one.name
    assert int(words[1]) >= 4
    assert [sweep.name for sweep in list_sweeps(locate(store_url))] == [other.name]
    assert open_sweep(other).rows().num_rows == 4


def test_a_probe_reports_what_a_bucket_rejects(
    store_url: str, proxied_url: str, proxy: FaultyProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    destage("cluster", "probe", "--store", store_url)
    assert list_sweeps(locate(store_url)) == []
    monkeypatch.setattr(object_path, "_PAUSES_S", ())
    proxy.add_fault("deny", method="PUT", times=ALL)
    proxy.add_fault("deny", method="POST", times=ALL)
    with pytest.raises(ClusterError, match="access denied"):
        destage("cluster", "probe", "--store", proxied_url)
