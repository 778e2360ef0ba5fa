"""The answer of a study names the assumed locality that its points rest on."""

from typing import Any

import pyarrow as pa
import pytest

from destage.queries.findings.caveats import list_assumed_localities
from destage.queries.report.reported_kinds import compose_answer

USE = "workload.use"
VDI = "Rests on an assumed locality: Zipf 0.9 over 20 GB (preset vdi)."
XENAPP = "Rests on an assumed locality: Zipf 0.9 over 4 GB (preset xenapp_mcs)."


@pytest.fixture
def session(make_session: Any) -> Any:
    """Return a function that opens a session of a study with some fields."""

    def make(**fields: Any) -> Any:
        run = {
            "point_id": "a",
            "replicate": 0,
            "run_id": "a",
            "workload.users": 10,
            "response_p95_us": 9000.0,
            "throughput_iops": 90.0,
        }
        session = make_session([run], axes={"workload.users": pa.int64()})
        session.spec = {**session.spec, **fields}
        return session

    return make


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"scenario": {"workload": {"use": "vdi"}}}, [VDI]),
        ({"scenario": {"workload": {"use": "iometer_oltp"}}}, []),
        ({"scenario": {"workload": {"streams": []}}}, []),
        (
            {"scenario": {"workload": {"use": "vdi"}}, "axes": {USE: ["vdi", "xenapp_mcs", "jesd219"]}},
            [VDI, XENAPP],
        ),
        ({"scenario": {}, "axes": {USE: ["xenapp_mcs"]}}, [XENAPP]),
        ({"scenario": {"workload": {"use": "vdi"}}, "axes": {"workload.streams.0.address": []}}, []),
        (
            {"scenario": {"workload": {"use": "vdi"}}, "points": [{USE: "xenapp_mcs"}, {"array.disks": 4}]},
            [XENAPP, VDI],
        ),
        ({"scenario": {"workload": {"use": "vdi"}}, "points": [{USE: "xenapp_mcs"}]}, [XENAPP]),
    ],
)
def test_each_preset_of_the_points_is_named(
    session: Any, fields: dict[str, Any], expected: list[str]
) -> None:
    assert list_assumed_localities(session(**fields)) == expected


def test_the_answer_has_the_sentence_after_its_results(session: Any) -> None:
    answer = compose_answer(session(scenario={"workload": {"use": "vdi"}}))
    assert answer[0].startswith("Fastest: response p95 of 9 ms ")
    assert answer[-1] == VDI


def test_an_answer_without_results_rests_on_nothing(make_session: Any) -> None:
    empty = make_session(
        [{"point_id": "a", "replicate": 0, "run_id": "a", "workload.users": 10}],
        axes={"workload.users": pa.int64()},
    )
    empty.spec = {**empty.spec, "scenario": {"workload": {"use": "vdi"}}}
    assert VDI not in compose_answer(empty)
