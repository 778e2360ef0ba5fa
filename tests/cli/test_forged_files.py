"""A store may come from anywhere: a forged file of any kind ends in one line with a code, and soon.

Every forged file has the digest of its content in its name, and the head names it.
"""

import json
import math
import os
import random
import re
import shutil
import signal
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from small_studies import RATE, small_calibration, small_seek, small_study

from destage import sweeps
from destage.store.files.digests import digest_of, encode_record
from destage.store.files.layout import SweepLayout
from destage.store.files.parquet import as_parquet
from destage.store.state.head import FORMAT, Head, list_heads, list_segments, read_head

SQL, STATUS, REPORT = ("query", "SWEEP", "FROM runs"), ("status", "SWEEP"), ("report", "SWEEP")
VERIFY, RESUME = ("admin", "verify", "SWEEP"), ("run", "SWEEP", "--quiet")
IN_TURN = (SQL, VERIFY, STATUS, REPORT, VERIFY, STATUS, SQL, VERIFY, STATUS, RESUME, SQL, VERIFY)
"""Commands that open a sweep, by cost: a report takes as long as five others, and `run` writes one."""
LONGEST_S = 20
DEPTH = 10_000
VALUES = (None, -1, 1 << 63, 1.5, True, "x", "../x", "/etc/passwd", "a\0b", "", [], {}, [[]], {"a": None})
FEW, MANY = 2, 12
"""Forged files of a test, by default and in `make test-long`."""
Forge = Callable[[SweepLayout], object]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of a finished sweep that seeks, and has an analysis."""
    text = small_seek("small", [1, 2], 40, requests=200) + "sensitivity: {of: [users_supported]}\n"
    outcome = sweeps.run(sweeps.parse_study(text), tmp_path_factory.mktemp("forged"), executor="inline")
    return Path(str(outcome.path))


@pytest.fixture(scope="module")
def analysed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the directories of finished sweeps by the analysis that they have."""
    figures: dict[str, dict[str, object]] = {
        "now": {"set": {RATE: "100/s"}, "of": "response_mean", "value": "6.7ms", "tolerance": "5%"},
        "then": {
            "set": {RATE: "150/s"},
            "of": "response_mean",
            "value": "9ms",
            "against": ["6ms", "20ms"],
            "odds": ["response_mean <= 30ms"],
        },
        "idle": {"set": {RATE: "20/s"}, "of": "response_mean", "value": "5.3ms", "tolerance": "5%"},
        "odd": {"set": {RATE: "20/s"}, "of": "response_mean", "value": "90ms", "tolerance": "5%"},
    }
    raid = {"array.raid": {"choice": ["0", "10"]}}
    further = {
        # No queue has the response of the last one.
        "fits": {"light load": ["now", "idle", "odd"]},
        "candidates": {"between": {"set": {RATE: "120/s"}, "of": "response_mean"}},
    }
    calibration = small_calibration("queue", raid, figures, {"points": 16, "most": 1}, **further)
    search = small_study("searched", "array.disks: {integer: [4, 9]}", requests=100, replicates=1)
    search += "search: {objectives: [{minimize: array.disks}, {minimize: response_mean}], trials: 4}\n"
    texts = {"calibration": calibration, "trials": search}
    found = {
        kind: sweeps.run(sweeps.parse_study(text), tmp_path_factory.mktemp(kind), executor="inline").path
        for kind, text in texts.items()
    }
    return {kind: Path(str(path)) for kind, path in found.items()}


@contextmanager
def time_limit() -> Iterator[None]:
    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"still running after {LONGEST_S} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LONGEST_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


class Forgery:
    """A copy of the sweep with a forged file, on which commands run.

    One command runs on each forged content, all commands in turn; `make test-long` forges more contents.
    """

    def __init__(self, destage: Any, finished: Path, store: Path, name: str, *, is_long: bool) -> None:
        self.finished = finished
        self._destage = destage
        self._store = store
        self._is_long = is_long
        self._turn = zlib.crc32(name.encode())

    def choose(self, cases: Iterable[Any]) -> list[Any]:
        """Return a sample of forged contents, the same in each run."""
        found = list(cases)
        most = MANY if self._is_long else FEW
        return random.Random(len(found)).sample(found, min(most, len(found)))  # noqa: S311 - a sample, no secret

    def check(self, forge: Forge) -> None:
        """Forge a file of a copy of the sweep, and run the commands on it."""
        name = self.finished.name
        shutil.rmtree(self._store, ignore_errors=True)
        shutil.copytree(self.finished, self._store / "sweeps" / name)
        forge(SweepLayout(self._store / "sweeps" / name))
        self._turn += 1
        command = [name if word == "SWEEP" else word for word in IN_TURN[self._turn % len(IN_TURN)]]
        with time_limit():
            done = self._destage(*command)
        codes = [code for code, _ in done.issues]
        assert "system.internal-error" not in codes, f"{command}: {done.err}"
        is_placed = name in done.err or all(place for _, place in done.issues)
        is_placed = is_placed or codes == ["query.failed"]  # DuckDB names the column
        assert done.code == 0 or (codes and is_placed), f"{command}: {done.err}"


@pytest.fixture(params=["few", pytest.param("many", marks=pytest.mark.long)])
def forgery(request: pytest.FixtureRequest, destage: Any, finished: Path, tmp_path: Path) -> Forgery:
    return Forgery(destage, finished, tmp_path / "store", request.node.name, is_long=request.param == "many")


def find_head_of(layout: SweepLayout) -> Head:
    head = read_head(layout)
    assert head is not None
    return head


def write_head(layout: SweepLayout, head: Head | dict[str, Any] | bytes) -> None:
    (place,) = list_heads(layout)
    assert isinstance(place, Path)
    if isinstance(head, bytes):
        place.write_bytes(head)
    else:
        place.write_bytes(head.encode() if isinstance(head, Head) else encode_record(head))


def put(layout: SweepLayout, name: str, data: bytes) -> str:
    """Write a file in place of another one under the digest of its content, and return its name."""
    forged = re.sub(r"-[0-9a-f]{32}\.", f"-{digest_of(data)}.", name)
    folder = layout.generations
    assert isinstance(folder, Path)
    (folder / name).unlink()
    (folder / forged).write_bytes(data)
    return forged


def put_study(layout: SweepLayout, data: bytes) -> None:
    head = find_head_of(layout)
    write_head(layout, replace(head, study=put(layout, head.study, data)))


def change_table(layout: SweepLayout, kind: str, change: Callable[[pa.Table], bytes]) -> None:
    """Replace a table of the head."""
    head = find_head_of(layout)
    name = {"plan": head.rounds[0], "answers": head.answers, "certificates": head.certificates}.get(
        kind, head.analyses.get(kind)
    )
    assert name is not None
    place = layout.generations / name
    assert isinstance(place, Path)
    forged = put(layout, name, change(pq.read_table(place)))
    fields = json.loads(json.dumps(asdict(head)).replace(name, forged))
    write_head(layout, {"format": FORMAT, **fields})


def with_column(table: pa.Table, name: str, column: pa.Array) -> bytes:
    return as_parquet(table.set_column(table.column_names.index(name), name, column))


def forge_columns(table: pa.Table) -> Iterator[Callable[[pa.Table], bytes]]:
    """Yield changes of a table: each column as numbers, nulls, hostile texts, lists, and left out."""
    columns: tuple[Callable[[int], pa.Array], ...] = (
        lambda rows: pa.array(range(rows), pa.int64()),
        lambda rows: pa.nulls(rows, pa.string()),
        lambda rows: pa.array(["a\0b\x1b[2J"] * rows),
        lambda rows: pa.array([[1]] * rows),
        lambda rows: pa.array([b"\xff"] * rows, pa.binary()),
    )
    for name in table.column_names:
        for column in columns:
            yield lambda found, name=name, column=column: with_column(found, name, column(found.num_rows))  # type: ignore[misc]
        yield lambda found, name=name: as_parquet(found.drop_columns([name]))  # type: ignore[misc]


def forge_numbers(table: pa.Table) -> Iterator[Callable[[pa.Table], bytes]]:
    """Yield changes of a table: each column of numbers without a number, beyond all, and below 0."""
    for field in table.schema:
        for value in (math.nan, math.inf, -1.0, None) if pa.types.is_floating(field.type) else (None,):
            column = pa.array([value] * len(table), field.type)
            yield lambda found, name=field.name, column=column: with_column(found, name, column)  # type: ignore[misc]


@pytest.mark.parametrize("field", ["format", *Head.__dataclass_fields__])
def test_forged_heads(forgery: Forgery, field: str) -> None:
    whole = {"format": FORMAT, **asdict(find_head_of(SweepLayout(forgery.finished)))}
    for value in forgery.choose(VALUES):
        forgery.check(
            lambda layout, value=value: write_head(layout, {**whole, field: value}),  # type: ignore[misc]
        )


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b'{"digest": null}',
        b"[" * DEPTH,
        b'{"a":' * DEPTH + b"1" + b"}" * DEPTH,
        b"\xff\xfe\0",
        b"9" * 10_000,
    ],
    ids=["empty", "null", "list", "digest", "deep", "deep-table", "bytes", "digits"],
)
def test_heads_that_are_none(forgery: Forgery, data: bytes) -> None:
    forgery.check(lambda layout: write_head(layout, data))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null\n",
        b"[]\n",
        b"name: [\n",
        b"name: a\0b\n",
        b"\xff\n",
        b"name: " + b"[" * DEPTH + b"]" * DEPTH,
        b"name: " + b"{a: " * DEPTH + b"}" * DEPTH,
        b"a: &a [x, x]\nb: &b [*a, *a]\n",
        b"!!python/object/apply:os.getcwd []\n",
    ],
    ids=["empty", "null", "list", "open", "nul", "bytes", "deep", "deep-table", "alias", "tag"],
)
def test_studies_that_are_none(forgery: Forgery, data: bytes) -> None:
    forgery.check(lambda layout: put_study(layout, data))


@pytest.mark.parametrize(
    "key",
    [
        *("name", "question", "scenario", "axes", "seek", "replicates", "sensitivity", "points", "zip"),
        *("design", "published", "fitted", "places", "paper", "prices", "charts", "answer", "search"),
        *("calibrate", "assumptions", "derived"),
    ],
)
def test_forged_studies(forgery: Forgery, key: str) -> None:
    head = find_head_of(SweepLayout(forgery.finished))
    whole = yaml.safe_load((forgery.finished / "generations" / head.study).read_bytes())
    for value in forgery.choose((*VALUES, [3], [{}], {"a": {"b": {"c": [1]}}})):
        data = json.dumps({**whole, key: value}).encode()
        forgery.check(lambda layout, data=data: put_study(layout, data))  # type: ignore[misc]


@pytest.mark.parametrize("kind", ["plan", "answers", "certificates", "sensitivity"])
def test_forged_tables(forgery: Forgery, kind: str) -> None:
    head = find_head_of(SweepLayout(forgery.finished))
    named = {"plan": head.rounds[0], "answers": head.answers, "certificates": head.certificates}
    name = named.get(kind, head.analyses.get(kind))
    table = pq.read_table(forgery.finished / "generations" / str(name))
    for change in (
        lambda _: b"",
        lambda _: b"PAR1" + bytes(100) + b"PAR1",
        lambda found: as_parquet(found.slice(0, 0)),
        lambda _: as_parquet(pa.table({})),
        *forgery.choose(forge_columns(table)),
    ):
        forgery.check(
            lambda layout, change=change: change_table(layout, kind, change),  # type: ignore[misc]
        )


@pytest.mark.parametrize(
    "kind",
    [
        *("trials", "calibration", "posterior", "unknowns", "predictive", "odds", "worth_knowing"),
        "next_measurements",
        "missed_figures",
    ],
)
def test_forged_tables_of_analyses(forgery: Forgery, analysed: dict[str, Path], kind: str) -> None:
    forgery.finished = analysed["trials" if kind == "trials" else "calibration"]
    head = find_head_of(SweepLayout(forgery.finished))
    table = pq.read_table(forgery.finished / "generations" / head.analyses[kind])
    changes = [
        lambda found: as_parquet(found.slice(0, 0)),
        lambda found: as_parquet(found.slice(1)),
        lambda found: as_parquet(pa.concat_tables([found, found])),
        *forge_columns(table),
        *(change for change in forge_numbers(table)),
    ]
    for change in forgery.choose(changes):
        forgery.check(
            lambda layout, change=change: change_table(layout, kind, change),  # type: ignore[misc]
        )


@pytest.mark.parametrize("key", ["destage.axes", "destage.seek", "destage.answer"])
def test_forged_metadata_of_plans(forgery: Forgery, key: str) -> None:
    values = [json.dumps(value) for value in (*VALUES, ["array.disks", "array.disks"], ["config.run"])]
    for text in forgery.choose((*values, "", "[" * DEPTH)):

        def change(found: pa.Table, text: str = text) -> bytes:
            return as_parquet(found.replace_schema_metadata({**found.schema.metadata, key: text}))

        forgery.check(
            lambda layout, change=change: change_table(layout, "plan", change),  # type: ignore[misc]
        )


@pytest.mark.parametrize("part", ["config.workload", "config.controller", "config.run", "config.arrays"])
def test_forged_configurations(forgery: Forgery, part: str) -> None:
    member = part.removeprefix("config.")
    deep = "[" * DEPTH + "]" * DEPTH
    texts = ("null", "[]", "3", '"x"', "{}", '{"streams": 3}', deep, "}", '"a\\u0000b"')
    for text in forgery.choose(texts):

        def change(found: pa.Table, text: str = text) -> bytes:
            return with_column(found, part, pa.array([f'"{member}":{text}'] * found.num_rows))

        forgery.check(
            lambda layout, change=change: change_table(layout, "plan", change),  # type: ignore[misc]
        )


@pytest.mark.parametrize("name", ["run_id", "status", "error_kind", "events", "response_p95_us"])
def test_forged_fragments(forgery: Forgery, name: str) -> None:
    rows = pq.read_table(next((forgery.finished / "fragments").iterdir()))

    def forge(layout: SweepLayout, change: Callable[[pa.Table], bytes]) -> None:
        assert isinstance(layout.fragments, Path)
        for place in list(layout.fragments.iterdir()):
            data = change(pq.read_table(place))
            place.unlink()
            (layout.fragments / re.sub(r"-[0-9a-f]{32}\.", f"-{digest_of(data)}.", place.name)).write_bytes(
                data
            )

    for change in forgery.choose(forge_columns(rows.select([name]))):
        for keeps_index in (True, False):

            def act(layout: SweepLayout, keeps_index: bool = keeps_index, change: Any = change) -> None:
                forge(layout, change)
                for segment in list_segments(layout) if not keeps_index else ():
                    segment.unlink()

            forgery.check(act)


def test_forged_indexes(forgery: Forgery) -> None:
    (segment,) = list_segments(SweepLayout(forgery.finished))
    assert isinstance(segment, Path)
    table = pq.read_table(segment)
    (entry, *_) = entries = json.loads(table.schema.metadata[b"destage.fragments"])
    changes = [*forge_columns(table.select(["run_id", "status"]))]
    for value in (
        *VALUES,
        [entry, None],
        [{**entry, "rows": -1}],
        [{**entry, "rows": "1"}],
        [{**entry, "name": 3}],
    ):
        text = json.dumps(value)
        changes.append(
            lambda found, text=text: as_parquet(found.replace_schema_metadata({"destage.fragments": text}))  # type: ignore[misc]
        )
    deep = "[" * DEPTH
    changes.append(lambda found: as_parquet(found.replace_schema_metadata({"destage.fragments": deep})))
    assert entries
    for change in forgery.choose(changes):

        def act(layout: SweepLayout, change: Any = change) -> None:
            put(layout, segment.name, change(table))

        forgery.check(act)


def test_forged_progress(forgery: Forgery) -> None:
    (place,) = (forgery.finished / "generations").glob("*.progress")
    whole = json.loads(place.read_bytes())
    del whole["digest"]
    for field in whole:
        for value in forgery.choose(VALUES):
            data = encode_record({**whole, field: value})
            forgery.check(
                lambda layout, data=data: (layout.generations / place.name).write_bytes(data),  # type: ignore[misc]
            )


def _as_pipe(place: Path) -> None:
    os.mkfifo(place)


def _as_device(place: Path) -> None:
    place.symlink_to("/dev/zero")


def _as_directory(place: Path) -> None:
    place.mkdir()


def _as_circle(place: Path) -> None:
    place.symlink_to(place)


def _as_hole(place: Path) -> None:
    with place.open("wb") as file:
        file.truncate(1 << 42)


@pytest.mark.parametrize("make", [_as_pipe, _as_device, _as_directory, _as_circle, _as_hole])
@pytest.mark.parametrize(
    "pattern",
    [
        *(
            "generations/*0.json",
            "generations/*-study-*",
            "generations/*-plan-0-*",
            "generations/*-answers-*",
        ),
        *(
            "generations/*-index-*",
            "generations/*.progress",
            "fragments/*",
            "lease",
            "generations",
            "fragments",
        ),
    ],
)
def test_no_pipe_device_or_directory_is_read(
    forgery: Forgery, pattern: str, make: Callable[[Path], None]
) -> None:
    def forge(layout: SweepLayout) -> None:
        assert isinstance(layout.root, Path)
        place = next(iter(layout.root.glob(pattern.replace("*0.json", "*.json"))))
        if place.is_dir():
            shutil.rmtree(place)
        else:
            place.unlink()
        make(place)

    forgery.check(forge)
