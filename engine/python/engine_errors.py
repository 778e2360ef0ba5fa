"""Translation of the extension module's exceptions to `destage.errors`."""

import json
import re

from destage.engine import _engine
from destage.errors import ConfigError, Issue, TraceError

_POSITION = re.compile(r"\[(\d+)\]")


def issues_of(error: _engine.EngineConfigError) -> list[Issue]:
    """Return the rules that a configuration breaks, places dotted as in ``workload.streams.0.arrival``."""
    return [
        Issue(each["code"], _POSITION.sub(r".\1", each["place"]), each["message"])
        for each in json.loads(error.issues)
    ]


def as_config_error(error: _engine.EngineConfigError) -> ConfigError:
    """Return the error that users see for a configuration that breaks rules."""
    return ConfigError(issues_of(error))


def as_trace_error(error: _engine.EngineTraceError, source: str = "") -> TraceError:
    """Return the error that users see for a trace, with the trace's file or address as its source."""
    (issue,) = json.loads(error.issues)
    found = TraceError(issue["code"], issue["message"], issue["place"], issue.get("data"))
    found.source = source
    return found
