"""The bundled studies: sweep specs that each answer a question, the published experiments among them.

A trace that one of them replays is next to it and installed with it.
"""

from importlib.resources import files
from pathlib import Path
from typing import Any

from destage.errors import ConfigError, Issue
from destage.spec.documents import MOST_BYTES, parse_document, read_beginning
from destage.spec.near_names import suggest
from destage.sweeps.reading.parsing import parse_fields, parse_study
from destage.sweeps.study.valid_study import Study


def names() -> list[str]:
    """Return the names of the bundled studies."""
    entries = files("destage.sweeps.studies").iterdir()
    return sorted(entry.name.removesuffix(".yaml") for entry in entries if entry.name.endswith(".yaml"))


def text(name: str) -> str:
    """Return the YAML text of a bundled study."""
    if name not in names():
        meant = suggest(name, names())
        message = f"neither a file nor a bundled study{meant}; `destage catalog list studies` lists all"
        raise ConfigError([Issue("study.not-found", name, message)])
    return files("destage.sweeps.studies").joinpath(f"{name}.yaml").read_text()


def question(name: str) -> str:
    """Return the question that a bundled study answers."""
    document = parse_document(text(name), f"{name}.yaml", "study")
    return str(document.get("question", "")) if isinstance(document, dict) else ""


def load(name: str) -> Study:
    """Load a bundled study."""
    return parse_study(text(name), name=f"{name}.yaml", folder=Path(__file__).parent)


def load_study(source: str | Path) -> Study:
    """Load a study from a YAML file, or the bundled study of a name.

    Raises:
        ConfigError: The file cannot be read, or the study has mistakes; with all of them.
        TraceError: A trace that it replays cannot be read.
    """
    if (written := _read_file(source)) is not None:
        return parse_study(written, name=str(source), folder=Path(source).parent)
    return load(str(source))


def load_fields(source: str | Path) -> dict[str, Any]:
    """Load the fields of a study as written, without reading its traces."""
    if (written := _read_file(source)) is not None:
        return parse_fields(written, str(source), Path(source).parent)
    return parse_fields(text(str(source)), f"{source}.yaml")


def _read_file(source: str | Path) -> bytes | None:
    """Return the content of a study's file, or None if there is no such file."""
    path = Path(source)
    if path.exists() and not (path.is_file() or path.is_dir()):
        # A study is read several times, and a pipe only once.
        message = "a pipe or device; write the study to a file"
        raise ConfigError([Issue("study.unreadable", str(source), message)])
    if not path.is_file():
        return None
    try:
        return read_beginning(path, MOST_BYTES)
    except OSError as error:
        message = f"cannot be read: {error.strerror}"
        raise ConfigError([Issue("study.unreadable", str(source), message)]) from error
