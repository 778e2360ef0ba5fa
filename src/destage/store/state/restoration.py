"""The head of a sweep whose head file is damaged, from the names of the files beside it.

Rows are whole without a head, and so is the plan, whose first round has the text of the study. A restored
head is for reading: the next writer replays the plan and publishes a new one.
"""

import re
from collections import defaultdict

from destage.objects import Location
from destage.store.files.digests import find_digest
from destage.store.files.layout import SweepLayout, list_sizes
from destage.store.state.head import INDEX, Head

_FILE = re.compile(r"(\d{6}-[0-9a-f]{8})-([a-z][a-z0-9_-]*)-[0-9a-f]{32}\.(?:parquet|yaml)")
_ROUND = re.compile(r"plan-(\d+)")
_STUDY, _ANSWERS, _CERTIFICATES = "study", "answers", "certificates"


def restore_head(layout: SweepLayout, generation: str) -> Head | None:
    """Return the head of a generation from the names of files; None without a plan.

    Tables of answers are taken only if the folder has no file of another plan or study.
    """
    files: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for path, _ in list_sizes(layout.generations):
        match = _FILE.fullmatch(path.name)
        if match is not None and match[1] <= generation and not match[2].startswith(f"{INDEX}-"):
            files[match[2]][match[1]] = path.name
    rounds = _choose_rounds(files, generation)
    if not rounds:
        return None
    studies = files.pop(_STUDY, {})
    is_clear = len(studies) <= 1 and all(len(names) == 1 for names in files.values())
    tables = {stem: min(names.values()) for stem, names in files.items() if not _ROUND.fullmatch(stem)}
    tables = tables if is_clear else {}
    runs = {run for name in rounds for run in _read_runs(layout.generations / name)}
    return Head(
        study=studies[max(studies)] if studies else f"{generation}-{_STUDY}.yaml",
        rounds=rounds,
        answers=tables.pop(_ANSWERS, None),
        certificates=tables.pop(_CERTIFICATES, None),
        planned=len(runs),
        analyses=tables,
    )


def _choose_rounds(files: defaultdict[str, dict[str, str]], generation: str) -> tuple[str, ...]:
    """Return the rounds of a generation, with those of earlier ones that it continues.

    A round that it has written again with the same content, as the file was damaged, begins no other plan.
    """
    numbers = sorted(int(match[1]) for stem in files if (match := _ROUND.fullmatch(stem)) is not None)
    own = [number for number in numbers if generation in files[f"plan-{number}"]]
    is_other = any(
        len({find_digest(name) for name in files[f"plan-{number}"].values()}) > 1 for number in own
    )
    rounds: list[str] = []
    for number in numbers:
        if number != len(rounds) or (is_other and number > max(own)):
            break
        names = files[f"plan-{number}"]
        rounds.append(names.get(generation) or names[max(names)])
    return tuple(rounds)


def _read_runs(place: Location) -> list[str]:
    # Only a damaged head is restored, and `status` must start fast.
    from destage.store.state.plan import read_round  # noqa: PLC0415

    runs: list[str] = read_round(place, ["run_id"])["run_id"].to_pylist()
    return runs
