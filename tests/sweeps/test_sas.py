"""The studies of HP's SAS brief: what limits each configuration."""

from typing import Any

import pytest

from destage import engine
from destage.sweeps import studies
from destage.sweeps.reading.expansion import expand

PCI_X = 1.067e9
"""Rate of the P600's host bus, 64 bits at 133 MHz [bytes/s]."""
STUDIES = [name for name in studies.names() if name.startswith("sas_")]
U320 = 320e6
"""Rate of one bus [bytes/s]."""


def _rows(name: str, **axes: object) -> list[dict[str, Any]]:
    """Run the first replicate of each point with these axis values, by the last segment of the path."""
    found = []
    for point in expand(studies.load(name)).points:
        values = {path.removesuffix(".use").rpartition(".")[2]: value for path, value in point.axes.items()}
        if point.label is None and all(values[name] == value for name, value in axes.items()):
            found.append(values | engine.simulate(point.config))
    return found


def test_each_study_has_figures_assumptions_and_charts() -> None:
    assert len(STUDIES) == 7
    for name in STUDIES:
        document = studies.load(name).document
        assert document["published"], name
        assert document["assumptions"], name
        assert document["charts"], name


@pytest.mark.parametrize("disk", ["u320_15k_72gb", "u320_10k_72gb"])
def test_a_bus_carries_its_disks_up_to_its_rate(disk: str) -> None:
    rate = {row["disks"]: row["throughput_bytes_per_s"] for row in _rows("sas_bus", disk=disk)}
    for disks, found in rate.items():
        assert found == pytest.approx(min(disks * rate[1], U320), rel=0.03), disks
    assert 14 * rate[1] > 3 * U320


def test_sas_throughput_grows_beyond_the_rate_of_a_bus() -> None:
    rate = {row["disks"]: row["throughput_bytes_per_s"] for row in _rows("sas_bus", disk="savvio_10k1_73gb")}
    assert rate[8] > 7.5 * rate[1] > U320
    assert 20 * rate[1] > PCI_X
    assert rate[20] == pytest.approx(PCI_X, rel=0.03)
