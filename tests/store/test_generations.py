"""Generations: of all writers that claim, readers take the last, whatever the others still write."""

import itertools
import json
import random
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from small_stores import publish

from destage.errors import StoreError
from destage.store import open_sweep
from destage.store.files.digests import digest_of, is_intact, read_checked
from destage.store.files.layout import SweepLayout
from destage.store.state import head as heads
from destage.store.state.head import (
    Generation,
    Head,
    claim_generation,
    decode_head,
    find_head,
    list_heads,
    read_head,
)
from destage.store.state.plan import plan_schema


def plan_of(*run_ids: str, number: int = 0) -> pa.Table:
    """Return a planning round of these runs."""
    rows = [{"point_id": "p", "run_id": run_id, "replicate": 0, "round": number} for run_id in run_ids]
    return pa.Table.from_pylist(rows, schema=plan_schema([], None))


def planned(layout: SweepLayout) -> list[str]:
    """Return the run ids that a reader sees."""
    return [str(run_id) for run_id in open_sweep(layout.root).plan()["run_id"].to_pylist()]


def test_readers_take_the_latest_generation(layout: SweepLayout) -> None:
    assert find_head(layout) is None
    publish(layout, plan_of("a"), plan_of("b", number=1))
    assert planned(layout) == ["a", "b"]
    publish(layout, plan_of("x"))
    assert planned(layout) == ["x"]


def test_a_superseded_writer_changes_nothing(layout: SweepLayout) -> None:
    late = claim_generation(layout)
    publish(layout, plan_of("new"))
    files = {path.name for path in layout.generations.iterdir()}
    head = Head(late.write("study", ".yaml", b"name: late\n"))
    with pytest.raises(StoreError, match=r"^store\.superseded "):
        late.publish(head)
    with pytest.raises(StoreError, match=r"^store\.superseded "):
        late.drop_earlier(head)
    assert planned(layout) == ["new"]
    assert files < {path.name for path in layout.generations.iterdir()}


def test_a_head_written_after_the_check_is_not_taken(
    layout: SweepLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer that is paused between its last look and its write: no lease can prevent that."""
    late = claim_generation(layout)
    head = Head(late.write("study", ".yaml", b"name: late\n"))

    def pause(point: str) -> None:
        if point == "before_head":
            monkeypatch.undo()
            publish(layout, plan_of("new"))

    monkeypatch.setattr(heads, "pass_point", pause)
    late.publish(head)
    assert len(list_heads(layout)) == 2
    assert planned(layout) == ["new"]
    with pytest.raises(StoreError, match=r"^store\.superseded "):
        late.drop_earlier(head)


def test_dropping_keeps_what_the_head_names(layout: SweepLayout) -> None:
    publish(layout, plan_of("a"), plan_of("b", number=1))
    first = read_head(layout)
    assert first is not None
    generation = claim_generation(layout)
    kept = Head(first.study, first.rounds[:1], planned=1)
    generation.publish(kept)
    generation.drop_earlier(kept)
    own = {f"{generation.name}.claim", f"{generation.name}-000001.json"}
    assert {path.name for path in layout.generations.iterdir()} == own | {first.study, first.rounds[0]}
    assert planned(layout) == ["a"]


class _Writer:
    """A writer that claims, adds a round of its own to the stored plan, and drops the rest, step by step."""

    def __init__(self, name: str, layout: SweepLayout) -> None:
        self.name = name
        self.layout = layout

    def steps(self) -> list[Callable[[], None]]:
        return [self._claim, self._read, self._write, self._publish, self._drop]

    def _claim(self) -> None:
        self.generation = claim_generation(self.layout)

    def _read(self) -> None:
        self.kept = find_head(self.layout)

    def _write(self) -> None:
        study = self.generation.write("study", ".yaml", f"name: {self.name}\n".encode())
        mine = self.generation.write("plan", ".txt", self.name.encode())
        rounds = () if self.kept is None else self.kept[1].rounds
        self.head = Head(study, (*rounds, mine))

    def _publish(self) -> None:
        self.generation.publish(self.head)

    def _drop(self) -> None:
        self.generation.drop_earlier(self.head)


@pytest.mark.parametrize("seed", range(40))
def test_no_interleaving_of_writers_loses_a_file_of_the_head(layout: SweepLayout, seed: int) -> None:
    """Three writers without any lease: what readers take is always whole, and the last claim wins."""
    choose = random.Random(seed)  # noqa: S311 - an interleaving, no secret
    writers = [_Writer(name, layout) for name in "abc"]
    waiting = {writer.name: writer.steps() for writer in writers}
    superseded = set()
    while any(waiting.values()):
        name = choose.choice([name for name, steps in waiting.items() if steps])
        try:
            waiting[name].pop(0)()
        except StoreError as error:
            assert error.code == "store.superseded"  # noqa: PT017 - each step may raise it
            waiting[name] = []
            superseded.add(name)
        head = read_head(layout)
        for file in head.files if head is not None else ():
            assert is_intact(layout.generations / file)
    last = max(writers, key=lambda writer: writer.generation.name)
    assert last.name not in superseded
    head = read_head(layout)
    assert head is not None
    assert read_checked(layout.generations / head.study) == f"name: {last.name}\n".encode()


def test_claims_at_the_same_time_get_different_numbers(
    layout: SweepLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every order of two claims' steps: write, look."""
    inner = heads.write_durably
    others: list[Generation] = []

    def write(path: Path, data: bytes, **points: str | None) -> None:
        if not others and path.suffix == ".claim":
            monkeypatch.setattr(heads, "write_durably", inner)
            others.append(claim_generation(layout))  # between our look and our claim
        inner(path, data, **points)

    monkeypatch.setattr(heads, "write_durably", write)
    mine = claim_generation(layout)
    assert mine.name[:6] > others[0].name[:6]


@pytest.mark.parametrize("position", [0, 5, 40, 90, 150, -10])
def test_a_flipped_bit_in_a_head_is_seen(layout: SweepLayout, position: int) -> None:
    """Writers refuse the head; readers find study and plan without it, and say so."""
    publish(layout, plan_of("a"), finished=True)
    (place,) = list_heads(layout)
    data = bytearray(place.read_bytes())
    for bit in range(8):
        damaged = data.copy()
        damaged[position] ^= 1 << bit
        place.write_bytes(bytes(damaged))
        with pytest.raises(StoreError, match=r"^store\.damaged-file at .*json"):
            read_head(layout)
        sweep = open_sweep(layout.root)
        assert [(issue.code, issue.place) for issue in sweep.warnings] == [
            ("store.head-restored", str(place))
        ]
        assert (sweep.plan()["run_id"].to_pylist(), sweep.spec()) == (["a"], {"name": "study"})
    assert find_head(layout, past_damage=True) is None


def test_a_head_of_another_format_is_refused(layout: SweepLayout) -> None:
    content = {"format": "destage-sweep-99", "study": "x"}
    digest = digest_of(json.dumps(content, sort_keys=True).encode())
    with pytest.raises(StoreError, match=r"^store\.other-format "):
        decode_head(json.dumps({**content, "digest": digest}).encode(), layout.root)
    (layout.root / "spec.yaml").write_text("name: old\n")
    with pytest.raises(StoreError, match=r"^store\.other-format "):
        open_sweep(layout.root)


def test_a_file_of_the_plan_that_is_lost_is_named(layout: SweepLayout) -> None:
    generation = publish(layout, plan_of("a"))
    for path in layout.generations.glob(f"{generation.name}-plan*"):
        path.unlink()
    with pytest.raises(StoreError, match=r"^store\.lost-file at "):
        open_sweep(layout.root).plan()


def test_a_reader_whose_files_were_dropped_takes_the_later_head(layout: SweepLayout) -> None:
    publish(layout, plan_of("a"))
    early, both = open_sweep(layout.root), open_sweep(layout.root)
    both.spec()
    generation = publish(layout, plan_of("b"))
    head = read_head(layout)
    assert head is not None
    generation.drop_earlier(head)
    assert early.plan()["run_id"].to_pylist() == ["b"]
    # A reader that has read the earlier study must not see it with the later plan.
    with pytest.raises(StoreError, match=r"^store\.changed-while-read "):
        both.plan()


def test_numbers_grow(layout: SweepLayout) -> None:
    names = [claim_generation(layout).name for _ in range(12)]
    assert names == sorted(names)
    assert [int(name[:6]) for name in names] == list(itertools.islice(itertools.count(1), 12))
