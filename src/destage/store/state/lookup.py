"""The sweeps of a store, by path, URL, name or prefix, and the head that readers of one take.

The head of a sweep whose head file is damaged is restored from the names of the files beside it. Rows are
whole without a head, and so is the plan, whose first round has the text of the study. A restored head is for
reading: the next writer replays the plan and publishes a new one.
"""

import os
import re
from collections import defaultdict
from dataclasses import dataclass

from destage.errors import Issue, StoreError
from destage.objects import Location, ObjectPath, locate
from destage.spec.near_names import suggest
from destage.store.files.digests import damaged, find_digest
from destage.store.files.layout import SweepLayout, find_modified_time, list_sizes
from destage.store.state.head import DAMAGE, INDEX, Head, find_head, list_heads

_MOST_LISTED = 3
"""Sweeps that a message lists; of more, only the nearest."""


def default_store() -> Location:
    """Return the default store: `DESTAGE_STORE`, else `destage-store` in the current directory."""
    return locate(os.environ.get("DESTAGE_STORE") or "destage-store")


def list_sweeps(store: Location | None = None) -> list[Location]:
    """Return the directories of all sweeps of a store, newest last."""
    root = (store if store is not None else default_store()) / "sweeps"
    folders: list[Location] = []
    if isinstance(root, ObjectPath):
        folders += root.list_prefixes()
    elif root.is_dir():
        folders += root.iterdir()
    heads = {folder: list_heads(SweepLayout(folder)) for folder in folders}
    changed = {folder: find_modified_time(names[-1]) for folder, names in heads.items() if names}
    return sorted(changed, key=lambda folder: (changed[folder] or 0.0, folder.name))


def find_sweep(text: str | Location, store: Location | None = None) -> Location:
    """Return the directory of a sweep given by path, URL, name or prefix.

    Args:
        text: A sweep's directory or URL, its name `<name>-<id>`, its study's name, or a prefix of its name.
        store: The store to look in; by default `default_store()`.
    """
    place = locate(text)
    if list_heads(SweepLayout(place)):
        return place
    sweeps = list_sweeps(store)
    wanted = str(text)
    for matches in (
        [path for path in sweeps if path.name == wanted],
        [path for path in sweeps if path.name.rpartition("-")[0] == wanted],
        [path for path in sweeps if path.name.startswith(wanted)],
    ):
        if len(matches) == 1:
            return matches[0]
        if matches:
            names = ", ".join(path.name for path in matches)
            message = f"matches {len(matches)} sweeps: {names}; give more of the name"
            raise StoreError("store.ambiguous-sweep", message, str(wanted))
    root = store if store is not None else default_store()
    stored = [path.name for path in sweeps]
    if len(stored) <= _MOST_LISTED:
        hint = f"; sweeps there: {', '.join(stored) or 'none yet'}"
    else:
        hint = f"{suggest(wanted, stored)}; `destage status` lists all {len(stored)}"
    raise StoreError("store.unknown-sweep", f"not in the store {root}{hint}", str(wanted))


_FILE = re.compile(r"(\d{6}-[0-9a-f]{8})-([a-z][a-z0-9_-]*)-[0-9a-f]{32}\.(?:parquet|yaml)")
_ROUND = re.compile(r"plan-(\d+)")
_STUDY, _ANSWERS, _CERTIFICATES = "study", "answers", "certificates"
RESTORE = "`destage run SWEEP` restores it"
"""What an error or warning of a damaged file of a plan tells the user to do."""


@dataclass(frozen=True, slots=True)
class OpenHead:
    """The head that readers take.

    Attributes:
        generation: The name of its generation.
    """

    generation: str
    head: Head
    warnings: tuple[Issue, ...] = ()


def open_head(layout: SweepLayout) -> OpenHead | None:
    """Return the head that readers take, if the sweep has one; a damaged one is restored.

    Raises:
        StoreError: It is damaged and cannot be restored, or of another format.
    """
    heads: list[Location] = []
    try:
        named_head = find_head(layout)
        if named_head is not None:
            return OpenHead(*named_head)
        heads = list_heads(layout)
        if not heads or isinstance(layout.root, ObjectPath):
            return None  # an empty object is being written
        raise damaged(heads[-1])
    except StoreError as error:
        heads = heads or list_heads(layout)
        if error.code not in DAMAGE or not heads:
            raise
        generation = heads[-1].name[: len("000000-00000000")]
        try:
            head = _restore_head(layout, generation)
        except StoreError as damage:
            raise error from damage
        if head is None:
            raise
    message = f"damaged: study, plan and rows are read without it; {RESTORE}"
    return OpenHead(generation, head, (Issue("store.head-restored", str(heads[-1]), message),))


def _restore_head(layout: SweepLayout, generation: str) -> Head | None:
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
