"""The application: runs a verb and turns what it raises into red lines and an exit code."""

import os
import sys
import traceback
from collections.abc import Iterator
from typing import Any, NoReturn

import typer

from destage.cli.output import complain, say, warn
from destage.errors import ClusterError, ConfigError, DestageError, QueryError, TraceError, UnreachableError

_INVALID = 2
_INFRASTRUCTURE = 4
_INTERRUPTED = 130
_BROKEN_PIPE = 141
_NOTHING_ASKED = "NoArgsIsHelpError"
"""The error that carries the help text; Typer does not export it."""


class Application(typer.Typer):
    """A Typer application whose errors are one red line each.

    Attributes:
        is_debugging: Whether a traceback is shown as well.
    """

    is_debugging = False

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run the verb that the arguments name and exit."""
        try:
            code = super().__call__(*args, standalone_mode=False, **kwargs)
            sys.stdout.flush()
        except KeyboardInterrupt:
            warn("interrupted")
            code = _INTERRUPTED
        except BrokenPipeError:
            # Whoever read stdout has gone; let nothing be written to it at exit either.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = _BROKEN_PIPE
        except Exception as error:  # noqa: BLE001 - the last place where an error can be told in one line
            code = self._tell(error)
        sys.exit(code if isinstance(code, int) else 0)

    def _tell(self, error: Exception) -> int:
        if self.is_debugging:
            traceback.print_exception(error)
        if type(error).__name__ == _NOTHING_ASKED:
            say(str(error))
        else:
            for line in _lines(error):
                complain(line)
        return _exit_code(error)


def _exit_code(error: Exception) -> int:
    match error:
        case ClusterError() | UnreachableError() | TraceError(__cause__=UnreachableError()):
            return _INFRASTRUCTURE
        case ConfigError() | TraceError() | QueryError():
            return _INVALID
        case _:
            # Typer's own errors carry the code for wrong usage.
            return int(getattr(error, "exit_code", 1))


def _lines(error: Exception) -> Iterator[str]:
    if isinstance(error, ConfigError) and error.issues:
        source = error.message.rpartition(": ")[0]
        for issue in error.issues:
            yield f"{source}: {issue}" if source else str(issue)
    elif isinstance(error, DestageError):
        yield str(error)
    elif isinstance(error, OSError):
        yield f"{error.filename or 'the system'}: {error.strerror or error}"
    elif hasattr(error, "format_message"):
        yield " ".join(str(error.format_message()).split())
    else:
        yield f"{type(error).__name__}: {error} (--debug shows where)"
