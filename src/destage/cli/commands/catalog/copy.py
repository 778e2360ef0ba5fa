"""`destage catalog copy`: the studies, traces and the notebook that the documentation uses."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from destage.cli.parameters.shared_options import Json
from destage.cli.terminal.output import print_json, print_note
from destage.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

_TRACE = ".parquet"
_NAMED = 3
"""Files that a message names."""


def copy(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder, created if missing.")] = Path(
        "examples"
    ),
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
    as_json: Json = False,
) -> None:
    """Copy the examples, and the traces that they replay, to a folder."""
    entries = [*_find_entries(), *_find_traces()]
    present = [entry.name for entry in entries if (folder / entry.name).exists()]
    if present and not force:
        others = " and others" if len(present) > _NAMED else ""
        message = f"{folder} already has {', '.join(present[:_NAMED])}{others}"
        raise UsageError("usage.file-exists", f"{message}; --force replaces them", "FOLDER")
    folder.mkdir(parents=True, exist_ok=True)
    for entry in entries:
        (folder / entry.name).write_bytes(entry.read_bytes())
    if as_json:
        print_json([str(folder / entry.name) for entry in entries])
    print_note(f"{len(entries)} files copied to {folder}")


def describe_examples() -> dict[str, str]:
    """Return the examples with what each is."""
    return {entry.name: _describe(entry) for entry in _find_entries()}


def find_example(name: str) -> str:
    """Return the text of an example."""
    return next(entry.read_text(encoding="utf-8") for entry in _find_entries() if entry.name == name)


def _find_entries() -> "list[Traversable]":
    from importlib.resources import files

    entries = (files("destage") / "examples").iterdir()
    return sorted(
        (entry for entry in entries if entry.name.endswith((".yaml", ".ipynb"))), key=lambda entry: entry.name
    )


def _find_traces() -> "Iterator[Traversable]":
    """Return the traces, which the bundled studies replay, too."""
    from importlib.resources import files

    studies = files("destage") / "sweeps" / "studies"
    return (trace for trace in studies.iterdir() if trace.name.endswith(_TRACE))


def _describe(entry: "Traversable") -> str:
    """Return the question of a study, or what another file is."""
    if entry.name.endswith(".ipynb"):
        return "A notebook: studies, simulations and miss ratio curves in Python."
    lines = entry.read_text(encoding="utf-8").splitlines()
    question = next((line for line in lines if line.startswith("question:")), "")
    comment = next((line for line in lines if line.startswith("# ")), "")
    return question.removeprefix("question:").strip(" \"'") or comment.removeprefix("# ")
