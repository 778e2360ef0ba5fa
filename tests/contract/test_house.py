"""The structure of the package, measured with its directory links resolved; no measure may get worse.

A limit is the value at present. Lower it after an improvement; raise it only with the reason in the commit.
"""

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from pprint import pformat

import pytest
from architecture.imports import PACKAGE, Floors, list_floors, read_graph
from architecture.study_path import SOURCES, record
from import_measures import count_floors, find_circles, list_file_imports

MOST_FLOORS = {
    "destage": 8,
    "destage.sweeps": 7,
    "destage.queries": 7,
    "destage.store": 5,
    "destage.cluster": 4,
}
"""Floors that the folders of a package need, by the longest path of imports."""
MOST_FILES = 15
"""Python files in a folder."""
MOST_CHECKS_OF_KIND = 10
"""Lines that ask what kind of study it is, where a class per kind could answer."""
_CHECK_OF_KIND = re.compile(
    r"\bseek is (not )?None|\.is_minimum\b|\bhas_(trials|calibrated)\(|\.adding is (not )?None"
    r"|session\.kind (==|!=|in)"
)
MOST_SHARED_NAMES = 13
"""Names that modules in two or more folders have."""
PROTOCOLS = {"destage.cli.commands": "a module of the command line has the name of its command"}
"""Packages whose modules have given names, and the reason."""
ENTERED = {
    "run first-sweep.yaml --executor inline --workers 1": 118,
    "size --users 5 --workload vdi --raid 10 --count 4 --controllers megaraid_9540": 105,
    "query first-sweep design_space": 49,
    "simulate first-sweep.yaml": 20,
    "status": 15,
}
"""Commands in an order in which each finds what it reads, and the files in which it runs functions."""
SLOW = 4
"""Files that a command enters on a slow machine only, such as those of progress and merging."""
STUDY = (
    (SOURCES / "examples" / "first-sweep.yaml")
    .read_text("utf-8")
    .replace("\naxes:", "\n  run: {warm_up: none, window: {requests: 50}}\naxes:")
)


GRAPH = read_graph()
CONTAINERS = list_floors(GRAPH)


def list_folders() -> Iterator[tuple[str, list[str]]]:
    """Return each folder of the package, relative to it, with the names of its Python files."""
    for folder, _, names in os.walk(SOURCES, followlinks=True):
        files = [name for name in names if name.endswith(".py")]
        yield Path(folder).relative_to(SOURCES).as_posix(), files


@pytest.mark.parametrize("floors", CONTAINERS, ids=lambda floors: floors.container)
def test_folders_need_no_more_floors(floors: Floors) -> None:
    count, most = count_floors(floors.arrows), MOST_FLOORS[floors.container]
    assert count <= most, (
        f"{floors.container} has {count} floors of imports, and may have {most}: import less"
    )


@pytest.mark.parametrize("floors", CONTAINERS, ids=lambda floors: floors.container)
def test_every_file_is_on_a_floor(floors: Floors) -> None:
    """Below the top, no file lies beside the folders of the import contract."""
    folder = SOURCES.joinpath(*floors.container.split(".")[1:])
    files = {file.stem for file in folder.glob("*.py")} - {"__init__"}
    assert set(floors.arrows) == {name for floor in floors.floors for name in floor}
    assert floors.container == PACKAGE or not files, f"move the files of {folder} into its folders"


def test_no_files_import_each_other_in_a_circle() -> None:
    """Imports inside functions count, so that none of them can hide a circle."""
    circles = [" imports ".join(circle) for circle in find_circles(list_file_imports(GRAPH))]
    assert not circles, f"move what both files need to a file below them:\n{pformat(circles)}"


def test_no_folder_has_too_many_files() -> None:
    counts = {folder: len(files) for folder, files in list_folders()}
    too_many = {folder: count for folder, count in counts.items() if count > MOST_FILES}
    assert not too_many, (
        f"{too_many}: a folder has at most {MOST_FILES} files; divide it by what imports what"
    )


def test_a_module_name_stands_in_one_room() -> None:
    rooms = defaultdict(set)
    for module in GRAPH.modules:
        room, _, name = module.rpartition(".")
        if room != PACKAGE and not any(f"{room}.".startswith(f"{protocol}.") for protocol in PROTOCOLS):
            rooms[name].add(room.removeprefix(f"{PACKAGE}."))
    shared = {name: sorted(places) for name, places in sorted(rooms.items()) if len(places) > 1}
    listing = "\n".join(f"{name}: {', '.join(places)}" for name, places in shared.items())
    assert len(shared) <= MOST_SHARED_NAMES, (
        f"{len(shared)} names stand in two or more folders, {MOST_SHARED_NAMES} may; rename one:\n{listing}"
    )


def test_few_places_ask_what_kind_of_study_it_is() -> None:
    lines = [
        f"{folder}/{name}:{number}"
        for folder, names in list_folders()
        for name in names
        for number, line in enumerate((SOURCES / folder / name).read_text("utf-8").splitlines(), 1)
        if _CHECK_OF_KIND.search(line)
    ]
    assert len(lines) <= MOST_CHECKS_OF_KIND, (
        f"{len(lines)} lines ask for the kind of a study, {MOST_CHECKS_OF_KIND} may; add to the class of the "
        f"kind (sweeps/rounds/, queries/report/reported_kinds.py):\n{pformat(lines)}"
    )


def test_a_command_enters_no_more_files(tmp_path: Path) -> None:
    (tmp_path / "first-sweep.yaml").write_text(STUDY, "utf-8")
    entered = {command: record(*command.split(), folder=tmp_path) for command in ENTERED}
    more = {
        command: (f"{len(files)} files, {ENTERED[command]} may", sorted(file for file, _ in files))
        for command, files in entered.items()
        if len(files) > ENTERED[command] + SLOW
    }
    assert not more, f"a command enters more files; join some, or call fewer:\n{pformat(more, width=110)}"
