"""The bundled studies: sweep specs that each answer a question, the published experiments among them.

A trace that one of them replays lies beside it, and is installed with it.
"""

from importlib.resources import files
from pathlib import Path

from destage.engine.documents import parse_document
from destage.engine.validation import nearest
from destage.errors import ConfigError
from destage.sweeps.study import Study, parse_study


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
            f"no bundled study {name!r}; there are {', '.join(names())}{nearest(name, names())}"
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
    path = Path(source)
    if path.is_file():
        try:
            text = path.read_bytes()
        except OSError as error:
            raise ConfigError(f"{source}: cannot be read: {error.strerror}") from error
        return parse_study(text, name=str(source), folder=path.parent)
    if str(source) in names():
        return load(str(source))
    known = ", ".join(names())
    raise ConfigError(f"no study {str(source)!r}: neither a file nor a bundled study ({known})")
