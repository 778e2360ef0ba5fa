"""Small sweeps on disk, written by the store's own writer, whose every figure the test chose."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from small_stores import publish

from destage import engine
from destage.queries import Session, open_session
from destage.spec.axis_names import MAXIMIZE, name_answer
from destage.store.files.layout import SweepLayout
from destage.store.fragment_files.fragments import write_fragment
from destage.store.fragment_files.stored_rows import rows_schema
from destage.store.state.answers import answers_schema, certificates_schema
from destage.store.state.plan import plan_schema

SCENARIO = {
    "workload": {"use": "call_center"},
    "controller": {"use": "smart_array_5i_plus"},
    "array": {"raid": "5", "disks": 4, "disk": {"use": "u320_10k_36gb"}},
}
MakeSession = Callable[..., Session]


@pytest.fixture
def make_session(tmp_path: Path) -> MakeSession:
    """Give a function that writes a sweep and opens it."""
    config = json.dumps(engine.normalise(SCENARIO))

    def make(
        runs: Sequence[Mapping[str, Any]] = (),
        *,
        axes: Mapping[str, pa.DataType] | None = None,
        seek: str | None = None,
        answers: Sequence[Mapping[str, Any]] = (),
        certificates: Sequence[Mapping[str, Any]] = (),
        planned_only: Sequence[Mapping[str, Any]] = (),
        analyses: Mapping[str, pa.Table] | None = None,
        rounds: int = 1,
        finished: bool = False,
        **spec: Any,
    ) -> Session:
        layout = SweepLayout(tmp_path / "sweeps" / "study-00000000")
        fields = [pa.field(name, kind) for name, kind in (axes or {}).items()]
        schema = plan_schema(fields, seek, seek and name_answer(seek, MAXIMIZE))
        planned = [{"round": 0, **row, **_split(row.get("config", config))} for row in (*runs, *planned_only)]
        plan = pa.Table.from_pylist(
            [{name: row.get(name) for name in schema.names} for row in planned], schema
        )
        size = -(-len(planned) // rounds)
        found = (
            pa.Table.from_pylist(list(answers), answers_schema(fields)),
            pa.Table.from_pylist(list(certificates), certificates_schema()),
        )
        publish(
            layout,
            *(plan.slice(start, size) for start in range(0, len(planned), size or 1)),
            study=yaml.safe_dump({"name": "study", "scenario": SCENARIO, **spec}),
            answers=found if answers else None,
            finished=finished,
            analyses=analyses,
        )
        executed = {row["run_id"]: row for row in runs}
        if executed:
            rows = [
                {name: row.get(name, "ok" if name == "status" else None) for name in rows_schema().names}
                for row in executed.values()
            ]
            write_fragment(layout.fragments, pa.Table.from_pylist(rows, rows_schema()))
        return open_session(layout.root)

    return make


def _split(config: str) -> dict[str, str]:
    """Return the columns of a plan that hold a configuration."""
    return {f"config.{name}": json.dumps({name: value})[1:-1] for name, value in json.loads(config).items()}


CAPACITY = "controller.cache.capacity"
RAID = "array.raid"
USERS = "workload.users"
MIB = 2**20


@pytest.fixture
def seek_session(make_session: MakeSession) -> Session:
    """Two points that seek users, two replicates each, with probes beside the certified runs."""
    runs, certificates, answers = [], [], []
    for place, (capacity, label) in enumerate([(32 * MIB, "no cache"), (64 * MIB, None)]):
        point = f"p{place}"
        found = [30 + 10 * place, 34 + 10 * place]
        for replicate, value in enumerate(found):
            for users, response in (
                (value, 29_000.0 + replicate),
                (value + 1, 31_000.0),
                (2 * value, 90_000.0),
            ):
                runs.append(
                    {
                        "point_id": point,
                        "label": label,
                        "replicate": replicate,
                        "run_id": f"{point}-{replicate}-{users}",
                        CAPACITY: capacity,
                        RAID: "5",
                        USERS: users,
                        "response_p95_us": response,
                        "read_hit_ratio": 0.1,
                        "write_hit_ratio": 0.2 + 0.1 * place,
                        "hit_ratio": 0.15,
                        "requests": 1000,
                    }
                )
            certificates.append(
                {
                    "point_id": point,
                    "replicate": replicate,
                    "n": value,
                    "run_id_pass": f"{point}-{replicate}-{value}",
                    "run_id_fail": f"{point}-{replicate}-{value + 1}",
                    "state": "certified",
                }
            )
        mean = sum(found) / 2
        answers.append(
            {
                "point_id": point,
                "label": label,
                CAPACITY: capacity,
                RAID: "5",
                "metric": "users_supported",
                "answer_mean": mean,
                "answer_low": mean - 5,
                "answer_high": mean + 5,
                "answer_half_width": 5.0,
                "n": 2,
                "answers": found,
                "monotone": True,
                "binding": "response_p95 <= 30ms",
                "limiting": "disk",
                "interval_met": True,
                "undecided": 0,
                "failed": 0,
            }
        )
    return make_session(
        runs,
        axes={CAPACITY: pa.int64(), RAID: pa.string()},
        seek=USERS,
        answers=answers,
        certificates=certificates,
        question="How many users <b>does</b> it carry?",
        places={"small": {CAPACITY: "32MiB", RAID: "5"}, "large": {CAPACITY: "64MiB"}},
        published=[
            {
                "figure": "users, 32 MiB",
                "compute": "small.users_supported",
                "value": 39,
                "source": "a paper, p. 1",
                "kind": "calibrated",
            },
            {
                "figure": "users, 64 MiB",
                "compute": "large.users_supported",
                "value": 51,
                "source": "a paper, p. 1",
                "kind": "predicted",
            },
        ],
    )
