"""The bundled studies: sweep specs that each answer a question, the published experiments among them.

A trace that one of them replays lies beside it, and is installed with it.
"""

from importlib.resources import files
from pathlib import Path
from typing import Any

from destage.errors import ConfigError
from destage.spec.documents import parse_document
from destage.spec.validation import suggest
from destage.sweeps.study import Study, parse_fields, parse_study


def names() -> list[str]:
    """Return the names of the bundled studies."""
    entries = files("destage.sweeps.studies").iterdir()
    return sorted(entry.name.removesuffix(".yaml") for entry in entries if entry.name.endswith(".yaml"))


def text(name: str) -> str:
    """Return a bundled study as it is written.

    Args:
        name: One of `names()`.

    Raises:
        ConfigError: There is no such study.
    """
    if name not in names():
        raise ConfigError(
            f"no bundled study {name!r}; there are {', '.join(names())}{suggest(name, names())}"
        )
    return files("destage.sweeps.studies").joinpath(f"{name}.yaml").read_text()


def question(name: str) -> str:
    """Return the question that a bundled study answers.

    Args:
        name: One of `names()`.
    """
    document = parse_document(text(name), f"{name}.yaml")
    return str(document.get("question", "")) if isinstance(document, dict) else ""


def load(name: str) -> Study:
    """Read a bundled study.

    Args:
        name: One of `names()`.

    Raises:
        ConfigError: There is no such study.
    """
    return parse_study(text(name), name=f"{name}.yaml", folder=Path(__file__).parent)


def load_study(source: str | Path) -> Study:
    """Read a study.

    Args:
        source: A YAML file, or the name of a bundled study.

    Raises:
        ConfigError: It cannot be read, or has mistakes; all of them are in its issues.
        TraceError: A trace that it replays cannot be read.
    """
    if (written := _file(source)) is not None:
        return parse_study(written, name=str(source), folder=Path(source).parent)
    return load(str(source))


def load_fields(source: str | Path) -> dict[str, Any]:
    """Read the fields of a study as they are written; its traces, which may lie elsewhere, are not read.

    Args:
        source: A YAML file, or the name of a bundled study.

    Raises:
        ConfigError: It cannot be read, or the fields are not those of a study.
    """
    if (written := _file(source)) is not None:
        return parse_fields(written, str(source))
    return parse_fields(text(str(source)), f"{source}.yaml")


def _file(source: str | Path) -> bytes | None:
    """Return what a study's file holds, or None where a bundled one is meant."""
    path = Path(source)
    if path.is_file():
        try:
            return path.read_bytes()
        except OSError as error:
            raise ConfigError(f"{source}: cannot be read: {error.strerror}") from error
    if str(source) in names():
        return None
    known = ", ".join(names())
    raise ConfigError(f"no study {str(source)!r}: neither a file nor a bundled study ({known})")
