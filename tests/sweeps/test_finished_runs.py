"""What a session keeps of finished runs: packed ids, statuses, and results where planning needs them."""

import random

import numpy as np
import pyarrow as pa

from destage.sweeps.rounds.finished_runs import FinishedRuns
from destage.sweeps.space.identity import pack_ids, read_bytes, unpack_ids


def _ids(count: int, seed: int = 1) -> list[str]:
    draw = random.Random(seed)  # noqa: S311 - test cases
    return [f"{draw.getrandbits(128):032x}" for _ in range(count)]


def test_packed_ids_unpack_to_themselves() -> None:
    ids = _ids(50)
    whole = pa.chunked_array([ids[:20], [], ids[20:]], pa.string())
    assert unpack_ids(read_bytes(pack_ids(whole)).tobytes()) == tuple(ids)
    assert pack_ids(whole.slice(7, 30)).to_pylist() == [bytes.fromhex(one) for one in ids[7:37]]
    assert len(pack_ids(whole.slice(0, 0))) == 0


def test_runs_are_found_in_the_order_added() -> None:
    ids = _ids(6)
    finished = FinishedRuns(("events", "requests_needed"), keeps_facts=False)
    assert finished.find(pack_ids(pa.array(ids))).tolist() == [-1] * 6
    for start, statuses in ((0, ["ok", "failed"]), (2, ["not_stationary", "ok", "overloaded"])):
        some = ids[start : start + len(statuses)]
        needed = [7.0 if status == "not_stationary" else None for status in statuses]
        columns = {"run_id": some, "status": statuses, "events": [1.0] * len(some)}
        finished.add(pa.table({**columns, "requests_needed": pa.array(needed, pa.float64())}))
    numbers = finished.find(pack_ids(pa.array(ids)))
    assert numbers.tolist() == [0, 1, 2, 3, 4, -1]
    assert finished.have_status(numbers, "ok").tolist() == [True, False, False, True, False, False]
    assert not finished.have_status(numbers, "array_failed").any()
    assert np.array_equal(finished.needed_requests(numbers[1:3]), [np.nan, 7.0], equal_nan=True)
    assert (len(finished), finished.facts) == (5, {})
