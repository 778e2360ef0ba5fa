"""Sweeps of one bucket share runs with a bounded number of requests."""

from pathlib import Path

from objects.faulty_proxy import FaultyProxy
from small_studies import small_study

from destage import sweeps
from destage.store import locate, open_sweep
from destage.sweeps import Outcome, Study, load_study


def _study(folder: Path, name: str, users: list[int]) -> Study:
    file = folder / f"{name}.yaml"
    file.write_text(small_study(name, f"workload.users: {users}"))
    return load_study(str(file))


def _run(study: Study, url: str) -> Outcome:
    return sweeps.run(study, locate(url), executor="inline", workers=1)


def test_runs_of_another_sweep_are_read_once(tmp_path: Path, proxy: FaultyProxy, proxied_url: str) -> None:
    apart = _run(_study(tmp_path, "apart", [7, 8]), proxied_url)
    near = _run(_study(tmp_path, "near", [1, 2, 3]), proxied_url)
    other = _study(tmp_path, "other", [2, 3, 4])
    fragments = sum(1 for _ in (locate(str(near.path)) / "fragments").list_objects())  # type: ignore[union-attr]
    before = len(proxy.requests)
    outcome = _run(other, proxied_url)
    assert (outcome.runs, outcome.executed, outcome.shared) == (6, 2, 4)
    asked = [path for method, path in proxy.requests[before:] if method == "GET"]
    # Of the sweep without a shared run: its files are listed, its head and its plan are read.
    assert sum(apart.path.name in path for path in asked) <= 2 * 4
    assert not [path for path in asked if apart.path.name in path and "fragments" in path]
    # Of the other one, each fragment once and their list, too. (A client may read an object in two requests.)
    assert sum(near.path.name in path for path in asked) <= 2 * (4 + 1 + fragments)
    rows = {row["run_id"]: row for row in open_sweep(near.path).rows().to_pylist()}
    found = open_sweep(outcome.path).rows().to_pylist()
    assert sum(rows.get(row["run_id"]) == row for row in found) == 4
