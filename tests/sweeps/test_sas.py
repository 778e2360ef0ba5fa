"""The studies of HP's SAS brief: their arithmetic, and what binds where it says so."""

from typing import Any

import pytest

from destage import engine
from destage.queries.measurement import Measurement
from destage.queries.verdicts import judge
from destage.sql import Database, find_qualifiers, join_statement
from destage.sweeps import studies
from destage.sweeps.points import expand

STUDIES = [name for name in studies.names() if name.startswith("sas_")]
U320 = 320e6
"""Rate of one bus [bytes/s]."""


def _rows(name: str, **axes: object) -> list[dict[str, Any]]:
    """Run the first replicate of each point of a study that has these values of axes, by their last name."""
    found = []
    for point in expand(studies.load(name)).points:
        values = {path.removesuffix(".use").rpartition(".")[2]: value for path, value in point.axes.items()}
        if point.label is None and all(values[name] == value for name, value in axes.items()):
            found.append(values | engine.simulate(point.config))
    return found


def test_every_study_of_the_brief_is_judged_and_drawn() -> None:
    assert len(STUDIES) == 7
    for name in STUDIES:
        document = studies.load(name).document
        assert document["published"], name
        assert document["assumptions"], name
        assert document["charts"], name


def test_the_brief_s_arithmetic_is_exact_where_it_is_said_to_be_and_nowhere_else() -> None:
    expected = {"exact": "exact", "inconsistent": "paper inconsistent", "ordering": "ordering holds"}
    judged = 0
    with Database({}) as database:
        for name in STUDIES:
            document = studies.load(name).document
            for figure in document["published"]:
                if "compute" not in figure or find_qualifiers(figure["compute"], document.get("places", {})):
                    continue
                (row,) = database.query(join_statement(figure["compute"], {})).to_pylist()
                found = judge(figure, Measurement(row["value"], None, None, 1))
                assert found == expected[figure["kind"]], figure["figure"]
                judged += 1
    assert judged > 20


@pytest.mark.parametrize("disk", ["u320_15k_72gb", "u320_10k_72gb"])
def test_a_bus_carries_what_its_disks_bring_up_to_its_rate(disk: str) -> None:
    rate = {row["disks"]: row["throughput_bytes_per_s"] for row in _rows("sas_bus", disk=disk)}
    for disks, found in rate.items():
        assert found == pytest.approx(min(disks * rate[1], U320), rel=0.03), disks
    assert 14 * rate[1] > 3 * U320


def test_seven_more_sas_disks_bring_seven_times_as_much_where_a_bus_would_be_full() -> None:
    rate = {row["disks"]: row["throughput_bytes_per_s"] for row in _rows("sas_bus", disk="savvio_10k1_73gb")}
    assert rate[8] > 7.5 * rate[1] > U320
    assert rate[20] < 20 * rate[1] * 0.85
