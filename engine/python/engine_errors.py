"""Translation of the extension module's exceptions to `destage.errors`."""

import re

from destage.engine import _engine
from destage.errors import ConfigError, Issue, TraceError

_POSITION = re.compile(r"\[(\d+)\]")


def issues_of(error: _engine.EngineConfigError) -> list[Issue]:
    """Return the rules that a configuration breaks, places dotted as in ``workload.streams.0.arrival``."""
    triples = [each if len(each) == 3 else ("scenario.rule", *each) for each in error.issues]
    return [Issue(code, _POSITION.sub(r".\1", place), message) for code, place, message in triples]


def as_config_error(error: _engine.EngineConfigError) -> ConfigError:
    """Return the error that users see for a configuration that breaks rules."""
    return ConfigError(issues_of(error))


def as_trace_error(error: _engine.EngineTraceError, source: str = "") -> TraceError:
    """Return the error that users see for a trace, with the trace's file or address as its source."""
    found = TraceError(
        getattr(error, "code", "trace.bad-record"),
        getattr(error, "message", str(error)),
        getattr(error, "place", ""),
    )
    found.source = source
    return found
