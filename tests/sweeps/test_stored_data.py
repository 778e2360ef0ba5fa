"""The data that a load addresses, and the same load over data of another size."""

from typing import Any

import pytest

from destage import engine
from destage.engine import catalog
from destage.spec import quantities
from destage.sweeps.sizing.stored_data import HELD, measure_data, scale_data
from destage.sweeps.space import parameters

TERABYTE = 10**12
SERVER = {"kind": "server", "service": {"kind": "constant", "value": "1ms"}, "capacity": "40TB"}


def scale(workload: dict[str, Any], capacity: int) -> dict[str, Any]:
    scenario = {"workload": dict(workload), "array": {"raid": "0", "disks": 1, "disk": SERVER}}
    for path, value in scale_data(workload, capacity).items():
        parameters.assign(scenario, path, value)
    return scenario


@pytest.mark.parametrize(
    ("name", "size"),
    [("vdi", 20), ("exchange_2003", 42), ("tpcc_like", 52), ("tpc_e", None), ("vdi_logon_storm", 20)],
)
def test_the_data_of_a_preset_end_with_its_last_area(name: str, size: int | None) -> None:
    assert measure_data({"use": name}) == (None if size is None else size * 10**9)


@pytest.mark.parametrize("name", [entry.name for entry in catalog.entries("workloads")])
def test_every_preset_fits_the_capacity_that_it_is_scaled_to(name: str) -> None:
    """On an array of just this size, and not on one that is a thousandth smaller."""
    scenario = scale({"use": name, "users": 3}, 40 * TERABYTE)
    assert not [issue for issue in engine.validate(scenario) if issue.code == "scenario.beyond-array"]
    scenario["array"]["disk"] = {**SERVER, "capacity": "39.95TB"}
    assert [issue for issue in engine.validate(scenario) if issue.code == "scenario.beyond-array"]


def test_areas_keep_their_shares() -> None:
    """A log of 2 GB after a database of 50 GB; of 52 TB, they are 2 and 50 TB."""
    scaled = scale_data({"use": "tpcc_like"}, 52 * TERABYTE)
    path = "workload.streams.0.steps.{}.address.{}"
    sizes = [
        quantities.parse(scaled[path.format(*place)], "bytes")
        for place in [(0, "footprint"), (1, "placement.offset"), (1, "footprint")]
    ]
    assert sizes == pytest.approx([50e12 * HELD, 50e12 * HELD, 2e12 * HELD], rel=1e-3)
