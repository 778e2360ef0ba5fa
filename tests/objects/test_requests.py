"""Requests of a sweep in a bucket: few per run, none for a fragment that the index has, also throttled."""

import time
from collections import Counter
from pathlib import Path

import pytest
from objects.faulty_proxy import ALL, FaultyProxy
from small_studies import small_study

from destage import sweeps
from destage.engine import results_schema
from destage.store import Location, locate, open_sweep
from destage.store.files.layout import SweepLayout, list_sizes
from destage.store.fragment_files import index, merging
from destage.sweeps.execution import driver

RUNS = 400


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Write a study of `RUNS` runs of a few milliseconds."""
    path = tmp_path / "requests.yaml"
    path.write_text(small_study("requests", "workload.users: {range: [1, 100, 1]}", replicates=RUNS // 100))
    return path


def _run(study: Path, store: Location) -> sweeps.Outcome:
    outcome = sweeps.run(sweeps.load_study(study), store, executor="inline", workers=2)
    assert outcome.state == "finished", outcome.messages
    return outcome


def _rows(sweep: Location) -> str:
    return repr(open_sweep(sweep).rows().select(["run_id", *results_schema().names]).to_pylist())


def _count(proxy: FaultyProxy) -> Counter[str]:
    """Return the number of requests by method and folder, lists apart."""
    found: Counter[str] = Counter()
    for method, path in proxy.requests:
        # A list names the folder in its query.
        folder = next((one for one in ("fragments", "generations", "lease") if f"/{one}/" in path), "list")
        found[f"{method} {folder}"] += 1
    return found


def test_a_run_costs_few_requests(
    study: Path, proxy: FaultyProxy, proxied_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "EAGER", 10)
    path = _run(study, locate(proxied_url)).path
    fragments = list(list_sizes(SweepLayout(path).fragments))
    asked = _count(proxy)
    # Three pilots and some more batches are committed one by one; the rest are parts.
    assert len(fragments) < 30
    if not proxied_url.startswith("g"):
        assert asked["PUT fragments"] == len(fragments)
    assert sum(asked.values()) < RUNS / 2, asked


def test_a_resume_with_nothing_to_do_writes_nothing(
    study: Path, proxy: FaultyProxy, proxied_url: str
) -> None:
    """The session before ended in another second than its fragments; else a resume takes a session."""
    store = locate(proxied_url)
    first = _run(study, store)
    time.sleep(1.1)
    _run(study, store)
    proxy.clear()
    again = _run(study, store)
    assert (again.runs, again.executed, again.reused, again.path) == (RUNS, 0, RUNS, first.path)
    assert {method for method, _ in proxy.requests} <= {"GET", "HEAD"}, proxy.requests
    assert len(proxy.requests) <= 6, proxy.requests


def test_a_resume_sees_what_was_changed_in_between(study: Path, store_url: str) -> None:
    store = locate(store_url)
    path = _run(study, store).path
    time.sleep(1.1)
    _run(study, store)
    whole = _rows(path)
    (fragment, _), *_ = list_sizes(SweepLayout(path).fragments)
    fragment.unlink()
    assert _run(study, store).executed > 0
    time.sleep(1.1)
    _run(study, store)
    for changed in (one for one, _ in list_sizes(SweepLayout(path).generations) if "-study-" in one.name):
        changed.write_bytes(b"{}")
    assert _run(study, store).executed == 0
    assert sweeps.status(path).warnings == ()
    assert _rows(path) == whole


def test_a_resume_downloads_no_fragment(
    study: Path, proxy: FaultyProxy, proxied_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "_FRESH_S", 0.0)
    path = _run(study, locate(proxied_url)).path
    before = len(proxy.requests)
    assert _run(study, locate(proxied_url)).executed == 0
    assert sweeps.status(path).finished
    gets = [one for method, one in proxy.requests[before:] if method == "GET"]
    assert not [one for one in gets if "/fragments/" in one and "prefix=" not in one]


def test_a_rewritten_object_is_not_taken_from_the_index(study: Path, store_url: str) -> None:
    """Of the same size, a second later: its rows are executed again."""
    _run(study, locate(store_url))
    time.sleep(index._FRESH_S + 1)
    extra = study.with_name("more.yaml")
    extra.write_text(study.read_text().replace("100, 1]", "101, 1]"))
    path = _run(extra, locate(store_url)).path  # its index has the fragments of the first session
    whole = _rows(path)
    fragment, _ = next(iter(list_sizes(SweepLayout(path).fragments)))
    data = fragment.read_bytes()
    time.sleep(1.1)
    fragment.write_bytes(bytes([*data[:99], data[99] ^ 1, *data[100:]]))
    again = _run(extra, locate(store_url))
    assert [one.code for one in again.messages] == ["store.damaged-fragment"]
    assert again.executed > 0
    assert _rows(path) == whole


def test_throttling_costs_no_row(
    study: Path, proxy: FaultyProxy, proxied_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One request in ten is answered with 503 SlowDown, while parts are merged, too."""
    monkeypatch.setattr(driver, "EAGER", 30)
    monkeypatch.setattr(merging, "FAN_IN", 8)
    undisturbed = _rows(_run(study, tmp_path / "undisturbed").path)
    proxy.add_fault("slow down", times=ALL, every=10)
    outcome = _run(study, locate(proxied_url))
    throttled = len(proxy.requests) // 10
    proxy.clear()
    assert throttled >= 3
    assert outcome.messages == ()
    assert (outcome.executed, outcome.failed) == (RUNS, 0)
    assert _rows(outcome.path) == undisturbed
