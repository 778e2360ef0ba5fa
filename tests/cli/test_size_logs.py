"""`destage size` for the load of a running system."""

import json
from pathlib import Path
from typing import Any

import pytest

from destage.queries import open_session
from destage.tools.results import read_results

LOG = Path(__file__).parents[1] / "measured" / "data" / "perfmon.csv"


def test_an_array_is_sized_for_a_log(destage: Any, tmp_path: Path) -> None:
    """The runs have the rate of the log, and the answer says what was assumed of its addresses."""
    (tmp_path / "perfmon.csv").write_bytes(LOG.read_bytes())
    (line,) = read_results("perfmon.csv", LOG.read_bytes()).lines
    parts = ("--disks", "dc600m_960gb", "--controllers", "megaraid_9540", "--raid", "10", "--count", "2")
    short = ("--set", "run={warm_up: {requests: 100}, window: {requests: 4000}}", "--quiet", "--json")
    done = destage("size", "--workload", "perfmon.csv", "--capacity", "100GB", *parts, *short)
    assert done.code == 0, done.err
    answer = json.loads(done.out)
    with open_session(answer["sweeps"][0]) as session:
        rows = session.sql("SELECT avg(throughput_iops) AS rate, avg(reads / requests) AS reads FROM runs")
    found = rows.to_pylist()[0]
    assert found["rate"] == pytest.approx(line.throughput_iops, rel=0.05)
    assert found["reads"] == pytest.approx(line.read_fraction, abs=0.05)
    assert any("Poisson" in sentence for sentence in answer["answer"])
