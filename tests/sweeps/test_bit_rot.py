"""One flipped bit in a finished sweep is an error that names the file, or changes no value."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from destage import sweeps
from destage.engine import results_schema
from destage.errors import Issue, StoreError
from destage.queries import open_session
from destage.store import open_sweep
from destage.sweeps import Study, verify

MakeStudy = Callable[..., Study]
SEEK = {"maximize": "workload.users", "subject_to": ["response_p95 <= 60ms"], "max": 200}
CODES = {"store.damaged-file", "store.damaged-fragment"}


def _seen(path: Path) -> list[Any]:
    sweep = open_sweep(path)
    rows = sweep.rows().select(["run_id", *results_schema().names])
    with open_session(path) as session:
        answers = session.sql("SELECT * FROM answers").to_pylist()
    return [sweep.spec(), sweep.plan().to_pylist(), rows.to_pylist(), answers, sweeps.status(path).finished]


@contextmanager
def _error_or_none() -> Iterator[list[StoreError]]:
    """Catch an error of the store, if there is one."""
    caught: list[StoreError] = []
    try:
        yield caught
    except StoreError as error:
        caught.append(error)


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[] if seed < 2 else pytest.mark.long) for seed in range(12)]
)
def test_a_flipped_bit_is_never_read(make_study: MakeStudy, tmp_path: Path, seed: int) -> None:
    study = make_study(seek=SEEK, axes={"array.disks": [1, 2]})
    path = Path(str(sweeps.run(study, tmp_path, executor="inline").path))
    whole = _seen(path)
    choose = random.Random(seed)  # noqa: S311 - a sample of bits, no secret
    kinds = ("generations/*", "fragments/*")
    seen_as_error = 0
    for turn in range(15):
        file = choose.choice(sorted(path.glob(kinds[turn % 2])))
        data = file.read_bytes()
        bit = choose.randrange(8 * len(data))
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        file.write_bytes(bytes(damaged))
        open_warnings: list[Issue] = []
        with _error_or_none() as caught:
            sweep = open_sweep(path)
            found = _seen(path)
            open_warnings = list(sweep.warnings) if sweep.spec() else []
            # A restored head does not say that the sweep has finished.
            is_restored = any(issue.code == "store.head-restored" for issue in open_warnings)
            assert found == ([*whole[:-1], False] if is_restored else whole), f"{file.name}: bit {bit}"
        if open_warnings:
            assert file.name in str(open_warnings[0])
            assert open_warnings[0].code in {"store.head-restored", "store.study-restored"}
            seen_as_error += 1
        elif caught:
            assert caught[0].code in CODES, f"{file.name}: bit {bit}: {caught[0]}"
            assert file.name in str(caught[0])
            assert caught[0].place.endswith(".json") or verify(path).problems
            seen_as_error += 1
        if turn % 5 < 2:
            again = sweeps.run(study, tmp_path, executor="inline")
            assert again.state == "finished"
            assert _seen(path) == whole
            assert verify(path, sample=1.0).problems == ()
        else:
            file.write_bytes(data)
    assert seen_as_error > 6
