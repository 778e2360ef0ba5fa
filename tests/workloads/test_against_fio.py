"""Imported jobs against the real fio: what its null engine sends, beside what the engine draws.

The job files use the options of fio's own examples. The figures and their tolerances are those of
`request_figures`; `_APPROXIMATED` has what docs/workloads.md calls inexact, with the difference that remains.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from fio_jobs import read_job_file
from real_fio import run_fio
from request_figures import Requests, differences, distance, measure, most_common_gap, share_of_gap

from destage.engine import configuration, traces, workload_profile

pytestmark = pytest.mark.fio
_JOBS = sorted((Path(__file__).parent / "fio_jobs").glob("*.fio"))
_REQUESTS = 100_000
_SECTOR = 512
_SCATTERED = {"zipf", "pareto", "normal"}
# fio hashes ranks onto blocks, so that some ranks share a block.
_HASH = 0.01
# fio's map gives neighbours in turn late in a pass, also where it repeats the order; a permutation does not.
_ORDER = 0.005


def _draw(workload: Mapping[str, Any], count: int) -> dict[str, Requests]:
    """Return the first `count` requests of the first source of each stream."""
    drawn = {}
    for stream in workload["streams"]:
        scenario = workload_profile.build_reference_scenario({"streams": [stream]})
        scenario["run"] = {"warm_up": "none", "window": {"requests": count + 64}}
        table = traces.table(traces.record(configuration.normalise(scenario)))
        op, first, sectors = (table[name].to_numpy() for name in ("op", "lba_512", "n_512"))
        offset, size = first.astype("int64") * _SECTOR, sectors.astype("int64") * _SECTOR
        drawn[stream["name"]] = Requests(op.astype("int64"), offset, size).first(count)
    return drawn


@pytest.fixture(scope="session", autouse=True)
def fio() -> None:
    """Skip where fio is missing."""
    if shutil.which("fio") is None:
        pytest.skip("no fio on PATH; on Debian, `make workloads-test` installs it for root")


def test_there_are_forty_jobs() -> None:
    assert len(_JOBS) >= 40


@pytest.mark.parametrize("path", _JOBS, ids=lambda path: path.stem)
def test_an_imported_job_sends_what_fio_sends(path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    workload = read_job_file(text, path.name).workload
    sent = run_fio(text, [stream["name"] for stream in workload["streams"]], _REQUESTS, tmp_path)
    for name, theirs in sent.items():
        ours = _draw({"streams": [_of(workload, name)]}, len(theirs.op))[name]
        wrong = _compare(ours, theirs, _addresses(_of(workload, name)))
        assert not wrong, f"{name}, {len(theirs.op)} requests (ours, fio's, tolerance): {wrong}"


def _of(workload: Mapping[str, Any], name: str) -> dict[str, Any]:
    return next(stream for stream in workload["streams"] if stream["name"] == name)


def _addresses(stream: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [part["address"] for part in (stream, *stream.get("mix", ())) if "address" in part]


def _compare(
    ours: Requests, theirs: Requests, addresses: list[dict[str, Any]]
) -> dict[str, tuple[float, ...]]:
    """Return the figures that differ by more than their tolerance."""
    mine, other = measure(ours), measure(theirs)
    is_scattered = any(address["kind"] in _SCATTERED for address in addresses)
    found = differences(mine, other, bias=_HASH if is_scattered else 0.0)
    if any(address.get("sampling") == "cyclic" for address in addresses):
        share, its, tolerance = found["sequential"]
        found["sequential"] = share, its, tolerance + _ORDER
    wrong: dict[str, tuple[float, ...]] = {
        name: figures for name, figures in found.items() if abs(figures[0] - figures[1]) > figures[2]
    }
    gap = most_common_gap(theirs)
    shares = share_of_gap(ours, gap), share_of_gap(theirs, gap)
    if abs(shares[0] - shares[1]) > found["sequential"][2]:
        wrong[f"gaps of {gap} bytes"] = (*shares, found["sequential"][2])
    if not is_scattered:
        most, tolerance = distance(mine, other)
        if most > tolerance:
            wrong["addresses"] = (most, 0.0, tolerance)
    return wrong
