"""A reader that polls a sweep while it is written, and checks that nothing that it reads is misleading.

It checks that every head names a whole generation: files with the content that was written, and the rounds of
one of the two studies from the first on. Each row that it reads is that of an undisturbed sweep. Each answer
states the number of missing runs, and a sweep that is called finished has all of them.
"""

import json
import sys
import time
import traceback
from dataclasses import asdict, dataclass, field
from pathlib import Path

import yaml
from chaos.sweep import References, read_references

from destage import sweeps
from destage.engine import results_schema
from destage.errors import DestageError
from destage.queries import open_session
from destage.queries.report.reported_kinds import compose_answer
from destage.sql import quote
from destage.store import Location, locate
from destage.store.files.digests import damaged, find_digest, is_intact
from destage.store.files.layout import SweepLayout
from destage.store.state.head import read_head

_DISKS = "array.disks"
_PAUSE_S, _LOOK_S = 0.2, 0.05
_EARLY = ("store.not-a-sweep", "store.changed-while-read")
"""Codes of a sweep that is being written."""
_DAMAGE = ("store.damaged-file", "store.damaged-fragment")


@dataclass
class Findings:
    """What a reader has seen.

    Attributes:
        polls: The number of times that it read the whole sweep.
        partial: How many of them lacked runs, and said so.
        damage: The texts of errors that name a damaged file.
        wrong: What it must not have seen.
    """

    polls: int = 0
    partial: int = 0
    damage: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def watch(store: str, sweep: str, references: str, folder: str) -> int:
    """Poll a sweep until a file `stop` appears in a folder, then write the findings into it.

    Args:
        sweep: The name of the sweep's directory.
        references: The file of the undisturbed results.
    """
    stop, path = Path(folder) / "stop", locate(store) / "sweeps" / sweep
    expected, findings = read_references(Path(references)), Findings()
    is_last = False
    while not is_last and not findings.wrong:
        is_last = stop.exists()
        began = time.monotonic()
        _poll(path, expected, findings)
        # Most of the time is that of the sweep.
        next_s = time.monotonic() + max(_PAUSE_S, 2 * (time.monotonic() - began))
        while not stop.exists() and time.monotonic() < next_s:
            time.sleep(_LOOK_S)
    (Path(folder) / "findings.json").write_text(json.dumps(asdict(findings)))
    return 0


def _poll(path: Location, references: References, findings: Findings) -> None:
    """Read the sweep once; an error with a code of a damaged or young sweep is an answer, too."""
    try:
        _check_head(path, references)
        findings.partial += _check_answers(path, references)
        findings.polls += 1
    except DestageError as error:
        if error.code in _DAMAGE:
            findings.damage.append(str(error))
        elif error.code not in _EARLY:
            findings.wrong.append(str(error))
    except Exception as error:  # noqa: BLE001 - reported by the test
        traceback.print_exc(file=sys.stderr)
        findings.wrong.append(f"{type(error).__name__}: {error}")


def _check_head(path: Location, references: References) -> None:
    layout = SweepLayout(path)
    head = read_head(layout)
    if head is None:
        return
    for name in sorted(head.files):
        place = layout.generations / name
        try:
            if not is_intact(place):
                raise damaged(place)
        except FileNotFoundError:
            assert read_head(layout) != head, f"the head names {name}, which does not exist"
            return
    try:
        study = yaml.safe_load((layout.generations / head.study).read_bytes())
    except FileNotFoundError:
        return
    result = references.results[len(study["axes"][_DISKS])]
    rounds = tuple(str(find_digest(name)) for name in head.rounds)
    assert rounds == result.rounds[: len(rounds)], "the rounds are not those of the study"
    assert not head.finished or rounds == result.rounds, "a finished plan lacks rounds"


def _check_answers(path: Location, references: References) -> bool:
    """Check what queries return; return whether runs are missing."""
    finished = sweeps.status(path).finished
    with open_session(path) as session:
        answers = repr(session.sweep.answers().to_pylist())
        known = {"[]", *(result.answers for result in references.results.values())}
        assert answers in known, "the answers are those of no undisturbed sweep"
        names = ", ".join(map(quote, ["run_id", *results_schema().names]))
        statement = f"SELECT {names} FROM stored_rows"  # noqa: S608 - names of result columns
        for row in session.sql(statement).to_pylist():
            assert references.rows.get(row["run_id"]) == repr(row), f"run {row['run_id']} has another row"
        statement = "SELECT count(*) AS n FROM plan ANTI JOIN runs USING (run_id)"
        missing = session.sql(statement)["n"][0].as_py()
        assert missing == session.missing_runs
        # Between status and opening, a session may have moved damaged fragments away.
        finished = finished and sweeps.status(path).finished
        assert not (finished and missing), f"a finished sweep lacks {missing} runs"
        sentences = compose_answer(session) if missing else []
    assert not missing or sentences[0].startswith(f"{missing:,} of "), "an answer hides missing runs"
    return bool(missing)
