"""Translation of the extension module's exceptions to `destage.errors`."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

from destage.engine import _engine
from destage.errors import ConfigError, DestageError, Issue, SimulationError, TraceError

_POSITION = re.compile(r"\[(\d+)\]")
_ISSUE = re.compile(r"(\S+?)(?: at (.+?))?: (.+)", re.DOTALL)
"""The text of a failed run: code, place, message."""


def issues_of(error: _engine.EngineConfigError) -> list[Issue]:
    """Return the rules that a configuration breaks, places dotted as in ``workload.streams.0.arrival``."""
    return [
        Issue(each["code"], _POSITION.sub(r".\1", each["place"]), each["message"])
        for each in json.loads(error.issues)
    ]


@contextmanager
def translated_errors() -> Iterator[None]:
    """Raise the engine's errors as those of `destage.errors`, for the length of a `with` block."""
    try:
        yield
    except _engine.EngineConfigError as error:
        raise ConfigError(issues_of(error)) from None
    except _engine.EngineTraceError as error:
        raise as_trace_error(error) from None


def as_trace_error(error: _engine.EngineTraceError, source: str = "") -> TraceError:
    """Return the error for a trace, with its file or address as the source."""
    (issue,) = json.loads(error.issues)
    found = TraceError(issue["code"], issue["message"], issue["place"], issue.get("data"))
    found.source = source
    return found


def as_run_error(kind: str, text: str) -> DestageError:
    """Return the error for a failed run, given `error_kind` and `error` of its row."""
    match = _ISSUE.fullmatch(text)
    if match is None:
        raise ValueError(f"a failed run without a code: {text}")
    code, place, message = match.groups(default="")
    place = _POSITION.sub(r".\1", place)
    if kind == "configuration":
        return ConfigError([Issue(code, place, message)])
    return (TraceError if kind == "trace" else SimulationError)(code, message, place)
