"""The benchmark cases match their titles, and their request lists are reproducible."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import script_modules

from destage.engine import simulate, traces

LISTS = script_modules.load_script("benchmarks/request_list.py")
ARRAYS = ["3-raid10", "4-raid5", "5-raid5-write-back"]


def _scenario(name: str, requests: int = 100_000) -> dict[str, Any]:
    scenario: dict[str, Any] = LISTS.load_case(name)["scenario"]
    return {**scenario, "run": {**scenario["run"], "window": {"requests": requests}}}


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_case_is_8_kb_over_the_whole_array(name: str) -> None:
    """Uniform over at least 80 % of the array, 67 % reads, and hardly any sector is written twice."""
    scenario = _scenario(name)
    table = traces.table(traces.record(scenario))
    first, count, op = (table[column].to_numpy() for column in ("lba_512", "n_512", "op"))
    disk = scenario["array"]["disk"]
    assert disk["geometry"]["capacity"] == "73.4GB"
    data_disks = {"10": 4, "5": 7}[scenario["array"]["raid"]]
    capacity = data_disks * 73.4e9
    assert set(count.tolist()) == {16}
    assert np.mean(op == 0) == pytest.approx(0.67, abs=0.01)
    # The empirical distribution of addresses is uniform over nearly all of the array.
    quantiles = np.quantile(first * 512.0, [0.005, 0.25, 0.5, 0.75, 0.995])
    assert (quantiles[-1] - quantiles[0]) / capacity > 0.98 * 0.99
    assert quantiles[1:4] / capacity == pytest.approx([0.25, 0.5, 0.75], abs=0.01)


def test_the_write_back_case_destages_every_write() -> None:
    """Less than 2 % of the writes hit, and every line is destaged before the end of the run."""
    scenario = _scenario("5-raid5-write-back", 400_000)
    row = simulate(scenario)
    assert row["status"] == "ok"
    assert row["write_hit_ratio"] < 0.02
    assert scenario["run"]["drain"] is True
    left = row["dirty_end_sectors"]
    assert row["accepted_sectors"] == row["destaged_sectors"] + row["absorbed_sectors"] + left
    # 4 I/Os per write, less for the few that share a stripe.
    assert 3.5 < (row["disk_reads"] - row["reads"] + row["disk_writes"]) / row["writes"] < 4.05
    assert row["drain_s"] > 0


@pytest.mark.parametrize("name", ["3-raid10", "4-raid5"])
def test_a_case_without_a_cache_has_none(name: str) -> None:
    row = simulate(_scenario(name))
    assert row["status"] == "ok"
    assert (row["accepted_sectors"], row["read_hit_ratio"] or 0.0) == (0, 0.0)
    penalty = {"3-raid10": 2, "4-raid5": 4}[name]
    assert (row["disk_reads"] + row["disk_writes"]) == pytest.approx(
        row["reads"] + penalty * row["writes"], rel=0.01
    )


def test_a_request_list_matches_its_case() -> None:
    """The rate is 400/s, and the list is reproducible."""
    scenario = _scenario("4-raid5", 5_000)
    table = traces.table(traces.record(scenario))
    again = traces.table(traces.record(scenario))
    assert table.equals(again)
    assert table.num_rows >= 5_000
    gaps = np.diff(table["t_ns"].to_numpy())
    assert gaps.mean() == pytest.approx(2.5e6, rel=0.05)


@pytest.mark.parametrize("form", ["csv", "disksim"])
def test_lists_for_other_simulators_have_every_request(form: str, tmp_path: Path) -> None:
    table = traces.table(traces.record(_scenario("2-disk-open", 1_000)))
    LISTS._write_list(table, form, tmp_path / "list")
    lines = (tmp_path / "list").read_text().splitlines()
    assert len(lines) == table.num_rows + (form == "csv")
    first = lines[-1].replace(",", " ").split()
    lba = str(table["lba_512"][-1].as_py())
    assert lba in first
    assert "8" in first


def test_the_cache_case_is_skewed_over_its_objects() -> None:
    case = LISTS.load_case("6-lru-zipf")
    small = {**case, "accesses": {**case["accesses"], "objects": 10_000, "count": 200_000}}
    keys, counts = np.unique(LISTS.accesses(small), return_counts=True)
    assert len(keys) > 9_000
    harmonic = (1 / np.arange(1, 10_001)).sum()
    assert counts.max() / 200_000 == pytest.approx(1 / harmonic, rel=0.05)
