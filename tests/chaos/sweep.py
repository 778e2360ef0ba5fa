"""The sweep of the schedules: two studies, the second with more axis values, and their results."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from small_studies import small_seek

from destage import sweeps
from destage.engine import results_schema
from destage.store import Location, open_sweep
from destage.store.files.digests import find_digest
from destage.store.files.parquet import read_parquet


@dataclass(frozen=True, slots=True)
class Seen:
    """What a reader sees of a finished sweep, but for host and time.

    Attributes:
        rounds: The digests of the planning rounds.
        rows: The text of each row; `repr` distinguishes any two floats, and equals for NaN.
    """

    rounds: tuple[str, ...]
    rows: tuple[str, ...]
    answers: str
    certificates: str


@dataclass(frozen=True, slots=True)
class ChaosSweep:
    """The two studies with their undisturbed results.

    Attributes:
        few: A study with one axis value.
        more: The same study with two.
        few_reference: The sweep of `few` after an undisturbed run.
        references: The file of the undisturbed results, for readers.
    """

    few: Path
    more: Path
    few_reference: Path
    more_reference: Path
    references: Path

    @property
    def name(self) -> str:
        """The name of the sweep's directory, of both studies."""
        return self.more_reference.name

    def size(self) -> int:
        """Return the size of the whole sweep [bytes]."""
        return sum(path.stat().st_size for path in self.more_reference.rglob("*") if path.is_file())


@dataclass(frozen=True, slots=True)
class References:
    """The results of the undisturbed sweeps.

    Attributes:
        rows: The text of each row by run.
        results: What a reader sees, by number of axis values.
    """

    rows: dict[str, str]
    results: dict[int, Seen]


def read_references(file: Path) -> References:
    """Read the undisturbed results."""
    content = json.loads(file.read_text())
    results = {
        int(count): Seen(tuple(seen["rounds"]), tuple(seen["rows"]), seen["answers"], seen["certificates"])
        for count, seen in content["results"].items()
    }
    return References(content["rows"], results)


def make_chaos_sweep(folder: Path) -> ChaosSweep:
    """Write the studies and run each without any disturbance."""
    places: dict[str, tuple[Path, Path]] = {}
    for name, disks in (("few", [1]), ("more", [1, 2])):
        study = folder / f"{name}.yaml"
        study.write_text(small_seek("chaos", disks, 60))
        outcome = sweeps.run(sweeps.load_study(study), folder / name, executor="inline", workers=2)
        assert outcome.state == "finished"
        assert isinstance(outcome.path, Path)
        places[name] = study, outcome.path
    assert places["few"][1].name == places["more"][1].name
    references = References(
        {**list_rows(places["few"][1]), **list_rows(places["more"][1])},
        {1: see(places["few"][1]), 2: see(places["more"][1])},
    )
    (folder / "references.json").write_text(json.dumps(asdict(references)))
    (few, few_sweep), (more, more_sweep) = places["few"], places["more"]
    return ChaosSweep(few, more, few_sweep, more_sweep, folder / "references.json")


def list_rows(path: Location) -> dict[str, str]:
    """Return each row of a sweep by run."""
    rows = open_sweep(path).rows().select(["run_id", *results_schema().names]).to_pylist()
    assert len({row["run_id"] for row in rows}) == len(rows), "a run has several rows"
    return {row["run_id"]: repr(row) for row in rows}


def see(path: Location) -> Seen:
    """Return what a reader sees of a sweep."""
    sweep = open_sweep(path)
    rows = list_rows(path)
    planned = dict.fromkeys(sweep.plan()["run_id"].to_pylist())
    assert rows.keys() == planned.keys(), "the rows are not those of the plan"
    return Seen(
        tuple(str(find_digest(place.name)) for place in sweep.plan_files()),
        tuple(rows.values()),
        repr(sweep.answers().to_pylist()),
        repr(sweep.certificates().to_pylist()),
    )


def assert_exact(path: Location, reference: Path, *, once_on_disk: bool) -> None:
    """Assert that a sweep has the rows of the plan, each once, equal to an undisturbed sweep bit for bit.

    Args:
        once_on_disk: Whether no two fragments may hold one run; no reader sees the second one.
    """
    assert see(path) == see(reference)
    found = sweeps.status(path)
    assert found.finished
    assert found.present == found.planned
    verified: Any = sweeps.verify(path, sample=0.1)
    assert verified.problems == ()
    if once_on_disk:
        stored = sum(read_parquet(place).num_rows for place in open_sweep(path).row_files())
        assert stored == found.planned, "runs are stored several times"
