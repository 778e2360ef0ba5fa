"""A write cache that fills or empties during the window is reported: such a load does not last."""

from typing import Any

import pyarrow as pa
import pytest

from destage import engine
from destage.queries.findings.caveats import describe_run, list_unsteady_caches
from destage.queries.report.reported_kinds import compose_answer

SHORT = {"requests": 20000}


def run(point: str, replicate: int = 0, *, dirty: tuple[int, int], accepted: int = 1000) -> dict[str, Any]:
    """Return a run of a point, 200 of whose accepted sectors overwrote dirty ones."""
    return {
        "point_id": point,
        "replicate": replicate,
        "run_id": f"{point}{replicate}",
        "array.disks": 4,
        "response_p95_us": 900.0,
        "throughput_iops": 90.0,
        "dirty_start_sectors": dirty[0],
        "dirty_end_sectors": dirty[1],
        "accepted_sectors": accepted,
        "requests": 1000,
        "writes": 500,
        "absorbed_sectors": 200,
    }


def study(window: object, **fields: Any) -> dict[str, Any]:
    """Return the fields of a study with a measurement window."""
    return {"scenario": {"run": {"window": window}, **fields}}


def test_share_is_that_of_new_dirty_data(make_session: Any) -> None:
    # 400 of the 800 sectors that became dirty were still so at the end, in the mean of two replicates.
    runs = [run("a", dirty=(100, 600)), run("a", 1, dirty=(100, 400)), run("b", dirty=(500, 540))]
    session = make_session(runs, axes={"array.disks": pa.int64()}, replicates=2)
    (sentence,) = list_unsteady_caches(session)
    assert "at 1 of 2 points" in sentence
    assert "up to 50 %" in sentence
    assert sentence in compose_answer(session)


@pytest.mark.parametrize(
    ("fields", "is_reported"),
    [
        (study(SHORT), True),
        (study({"duration": "1s"}), True),
        (study("auto"), True),
        (study("whole"), False),
        (study({"phase": "backup"}), False),
        (study(SHORT, faults=[{"kind": "mains_lost"}]), False),
        (study(SHORT, workload={"phases": [{"name": "logon"}]}), False),
        ({**study(SHORT), "points": [{"faults": []}]}, False),
        ({**study("whole"), "axes": {"run.window": [SHORT]}}, False),
        ({**study(SHORT), "axes": {"run.window": [SHORT, {"requests": 50000}]}}, True),
    ],
)
def test_only_a_load_that_goes_on_is_judged(
    make_session: Any, fields: dict[str, Any], is_reported: bool
) -> None:
    session = make_session([run("a", dirty=(0, 700))], axes={"array.disks": pa.int64()})
    session.spec = {"name": "study", **fields}
    assert bool(list_unsteady_caches(session)) == is_reported


TRACE = {"streams": [{"arrival": {"kind": "trace", "file": "t.parquet"}}]}


@pytest.mark.parametrize(
    ("fields", "advice"),
    [
        (study(SHORT), "run.warm_up and run.window to auto"),
        (study("auto"), "run.max_requests"),
        (study("auto", workload=TRACE), "a longer trace, or use a smaller cache"),
        (study(SHORT, workload=TRACE), "a longer trace, or use a smaller cache"),
    ],
)
def test_the_advice_is_one_that_can_be_followed(
    make_session: Any, fields: dict[str, Any], advice: str
) -> None:
    session = make_session([run("a", dirty=(0, 700))], axes={"array.disks": pa.int64()})
    session.spec = {"name": "study", **fields}
    (sentence,) = list_unsteady_caches(session)
    assert advice in sentence
    assert ("to auto" in sentence) == ("to auto" in advice)


def test_the_advice_for_a_calibration_names_the_study(make_session: Any) -> None:
    """A measured set is calibrated without a study; `--out` writes the one to change."""
    session = make_session([run("a", dirty=(0, 700))], axes={"array.disks": pa.int64()})
    session.spec = {"name": "study", **study(SHORT), "calibrate": {}}
    (sentence,) = list_unsteady_caches(session)
    assert "--out" in sentence


def test_a_cache_without_writes_or_at_rest_is_not_reported(make_session: Any) -> None:
    runs = [run("a", dirty=(0, 0), accepted=200), run("b", dirty=(170, 100)), run("c", dirty=(100, 170))]
    session = make_session(runs, axes={"array.disks": pa.int64()})
    assert list_unsteady_caches(session) == []


def test_a_cache_that_empties_has_a_sentence_of_its_own(make_session: Any) -> None:
    # 200 sectors more were destaged than the 800 that became dirty.
    runs = [run("a", dirty=(600, 400)), run("b", dirty=(100, 500))]
    session = make_session(runs, axes={"array.disks": pa.int64()})
    filling, emptying = list_unsteady_caches(session)
    assert "filling" in filling
    assert "25 % more than the new dirty data" in emptying


def test_a_change_by_few_writes_is_not_reported(make_session: Any) -> None:
    # All new dirty data stayed, but only 8 of 1,000 requests were writes that the disks did not see.
    runs = [{**run("a", dirty=(0, 800)), "writes": 10}, {**run("b", dirty=(0, 800)), "writes": 20}]
    session = make_session(runs, axes={"array.disks": pa.int64()})
    (sentence,) = list_unsteady_caches(session)
    assert "at 1 of 2 points" in sentence


def test_a_run_longer_than_the_filling_has_no_remark() -> None:
    # Two disks destage a fraction of what arrives; half of the cache is free at the start.
    def simulate(requests: int) -> tuple[dict[str, Any], dict[str, Any]]:
        scenario = {
            "workload": {
                "streams": [
                    {
                        "name": "writes",
                        "arrival": {"kind": "fixed_outstanding", "depth": 4},
                        "operations": {"read_fraction": 0, "size": {"kind": "constant", "value": "8KiB"}},
                        "address": {"kind": "uniform", "footprint": "8GB"},
                    }
                ]
            },
            "controller": {"use": "smart_array_5i_plus", "cache": {"capacity": "64MiB", "write_fraction": 1}},
            "array": {"raid": "1", "disks": 2, "disk": {"use": "u320_10k_36gb"}, "stripe_unit": "64KiB"},
            "run": {"warm_up": "none", "window": {"requests": requests}},
        }
        return scenario, engine.simulate(scenario)

    assert "Not sustained:" in describe_run(*simulate(2000))[0]
    assert describe_run(*simulate(200_000)) == []
