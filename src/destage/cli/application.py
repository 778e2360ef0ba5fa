"""The application: help in plain words, and commands whose exceptions become error lines and an exit code."""

import errno
import os
import re
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from destage.cli.terminal.output import (
    INTERRUPTED,
    issue_as_json,
    open_standard_streams,
    print_data,
    print_error,
    print_json,
    print_note,
)
from destage.errors import (
    ClusterError,
    ConfigError,
    DestageError,
    InfrastructureError,
    Issue,
    MachineError,
    QueryError,
    TraceError,
    UnreachableError,
    UsageError,
)
from destage.extras import explain_missing
from destage.machine import LEAST_ADDRESS_SPACE_BYTES, check_address_space
from destage.system_failures import (
    SYSTEM_CODES,
    describe_system_error,
    find_shortage,
)

_MOST_PRINTED = 25
"""Mistakes that are printed; a wrong file may have one per line."""
_MOST_LISTED = 500
"""Mistakes that `--json` prints."""
_INVALID = 2
_INFRASTRUCTURE = 4
_BROKEN_PIPE = 141
DEBUG = "--debug"
"""The option that prints the traceback of an error; it may stand before the command."""
_HELP = "NoArgsIsHelpError"
"""Typer's error that carries the help text. Typer exports none of its errors, so they are known by name."""
_USAGE = {
    "BadArgumentUsage": "usage.missing-value",
    "BadOptionUsage": "usage.missing-value",
    "BadParameter": "usage.bad-value",
    "MissingParameter": "usage.missing-argument",
    "NoSuchOption": "usage.unknown-option",
}
_NUMBERS = {"float": "a number", "int": "a whole number"}
_NOT_A_NUMBER = re.compile(r"(?<=') is not a valid (float|int)(?:eger)?(?: range)?$")
"""What Typer says of a text that is not a number."""
_MACHINE = {number for number in SYSTEM_CODES if number != errno.ENOENT} | {errno.EIO, errno.ESTALE}
"""Failures of the machine, which another place or another time may not have."""


_COMMANDS = "destage.cli.commands"
"""The package with the modules of the commands."""
_QUERY = "destage-query"
"""The name of the thread of a query (`destage.sql.limits`), which most commands do not import."""


def _print_version(is_given: bool) -> None:
    if is_given:
        from importlib.metadata import version as installed_version

        print_data(f"destage {installed_version('destage')}\n")
        raise typer.Exit


class _Overview(TyperGroup):
    """The first screen, which lists the commands under the headings of their sections."""

    sections: Mapping[str, Sequence[str]]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write each section; one without a heading follows as a paragraph of its own."""
        del ctx
        width = max(map(len, self.commands))
        for heading, names in self.sections.items():
            formatter.write_paragraph()
            if heading:
                formatter.write_heading(heading)
            texts = [
                (name, self.commands[name].get_short_help_str(formatter.width - width - 4)) for name in names
            ]
            with formatter.indentation():
                formatter.write_dl([(name.ljust(width), text) for name, text in texts])


class Application(typer.Typer):
    """A Typer application that prints each error as one line, and as JSON where the command has `--json`.

    The module of a command is imported when the arguments name it.

    Attributes:
        is_debugging: Whether the traceback is printed as well.
    """

    is_debugging = False

    def __init__(self, sections: Mapping[str, Sequence[str]], **options: Any) -> None:
        """Create an application of modules of `destage.cli.commands`; `options` are those of Typer.

        Args:
            sections: The modules by the heading under which they are listed. A module of a group has it as
                `app`; that of a command has a function with the module's name.
        """
        super().__init__(cls=_Overview, **options)
        self._sections = sections
        self._names = [name for names in sections.values() for name in names]
        self.callback()(self._start)

    def _start(
        self,
        version: Annotated[
            bool,
            typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version."),
        ] = False,
        debug: Annotated[bool, typer.Option(DEBUG, help="Print the traceback of an error.")] = False,
    ) -> None:
        del version  # its callback has printed it
        self.is_debugging = debug

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run the command that the arguments name and exit."""
        open_standard_streams()
        arguments = list(args[0] if args else sys.argv[1:])
        options = arguments[: arguments.index("--")] if "--" in arguments else arguments
        try:
            check_address_space(LEAST_ADDRESS_SPACE_BYTES)
            # Without arguments, the shell may ask for completions, which need all parameters.
            command = self.build_command(self._find_names(options), is_overview=options == ["--help"])
            code = command(*args, prog_name=self.info.name, standalone_mode=False, **kwargs)
            sys.stdout.flush()
        except (KeyboardInterrupt, typer.Abort):
            code = INTERRUPTED
        except BrokenPipeError:
            code = _BROKEN_PIPE
        except Exception as error:  # noqa: BLE001 - the last place where an error can become one line
            code = self._report(error, as_json="--json" in options)
        _flush()
        code = code if isinstance(code, int) else 0
        if any(thread.name == _QUERY for thread in threading.enumerate()):
            # A query that cannot be interrupted; the interpreter would shut down below it.
            os._exit(code)
        sys.exit(code)

    def build_command(self, names: Sequence[str] | None = None, *, is_overview: bool = False) -> Any:
        """Return the command line with the named commands and groups, by default all.

        Args:
            is_overview: Whether it is for its own help text only: commands without parameters.
        """
        self.registered_commands, self.registered_groups = [], []
        for name in self._names if names is None else names:
            module = import_module(f"{_COMMANDS}.{name}")
            is_group = hasattr(module, "app")
            if is_overview:
                text = module.app.info.help if is_group else getattr(module, name).__doc__
                self.command(name, help=text)(_do_nothing)
            elif is_group:
                self.add_typer(module.app, name=name)
            else:
                self.command(name)(getattr(module, name))
        command: Any = typer.main.get_command(self)
        # Typer puts groups after commands.
        command.commands = {name: command.commands[name] for name in self._names if name in command.commands}
        command.sections = self._sections
        _use_plain_words(command)
        return command

    def _find_names(self, arguments: Sequence[str]) -> list[str] | None:
        """Return the command that the arguments name; None if none is, such as for a help text of all."""
        first = next((argument for argument in arguments if argument != DEBUG), None)
        return [first] if first in self._names else None

    def _report(self, error: Exception, *, as_json: bool) -> int:
        if self.is_debugging:
            traceback.print_exception(error)
        if type(error).__name__ == _HELP:
            print_note(str(error))
            return _INVALID
        if not isinstance(error, DestageError | OSError):
            error = find_shortage(error) or explain_missing(error)
        source = error.source if isinstance(error, DestageError) else ""
        issues = _issues_of(error)
        print_error(*issues[:_MOST_PRINTED], source=source)
        left_out = len(issues) - _MOST_PRINTED
        if left_out > 0:
            print_note(f"{left_out:,} more mistakes; is this the right file?")
        if as_json:
            listed = [issue_as_json(issue, source) for issue in issues[:_MOST_LISTED]]
            more = {"left_out": len(issues) - len(listed)} if len(issues) > len(listed) else {}
            print_json({"errors": listed, **more})
        return _exit_code(error)


def _do_nothing() -> None:
    """Stand for a command in a help text."""


def _flush() -> None:
    """Write what stdout holds, or drop it if that fails, so that the interpreter does not try again."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _exit_code(error: Exception) -> int:
    match error:
        case ClusterError() | UnreachableError() | MachineError() | InfrastructureError():
            return _INFRASTRUCTURE
        case TraceError(__cause__=UnreachableError()):
            return _INFRASTRUCTURE
        case OSError() if error.errno in _MACHINE:
            return _INFRASTRUCTURE
        case ConfigError() | TraceError() | QueryError() | UsageError():
            return _INVALID
        case _:
            # Typer's own errors carry the code for wrong usage.
            return int(getattr(error, "exit_code", 1))


def _issues_of(error: Any) -> tuple[Issue, ...]:
    if isinstance(error, DestageError):
        return error.issues
    if isinstance(error, OSError):
        return (describe_system_error(error),)
    if hasattr(error, "format_message"):
        return (_usage_issue(error),)
    message = " ".join(f"{type(error).__name__}: {error}".split())
    return (Issue("system.internal-error", "", f"{message}; run again with --debug to see the traceback"),)


def _usage_issue(error: Any) -> Issue:
    """Return one of Typer's errors as an issue."""
    kind = type(error).__name__
    parameter = getattr(error, "param", None)
    is_group = hasattr(getattr(error.ctx, "command", None), "commands")
    code = _USAGE.get(kind, "usage.unknown-command" if is_group else "usage.extra-argument")
    place = getattr(error, "option_name", "")
    if parameter is not None:
        is_option = parameter.param_type_name == "option"
        place = max(parameter.opts, key=len) if is_option else parameter.metavar
    message = error.message if kind == "BadParameter" else error.format_message()
    message = " ".join(message.removeprefix("Value error, ").split()).removesuffix(".")
    message = _NOT_A_NUMBER.sub(lambda found: f": must be {_NUMBERS[found[1]]}", message)
    return Issue(code, place, message[:1].lower() + message[1:])


_MOST_SHOWN = 2**31
"""Larger maximums come from the integer type and are not shown."""
_NUMERIC = ("int", "float")


def _use_plain_words(command: Any) -> None:
    """Replace types by placeholders in the help of a command and of its subcommands.

    `--workers INTEGER RANGE  [x>=1]` becomes `--workers N  [at least 1]`. The methods that are replaced are
    Typer's own; one that a later version no longer calls leaves its text as it is.
    """
    for parameter in getattr(command, "params", ()):
        bounds = _describe_bounds(parameter.type)
        vars(parameter.type)["_describe_range"] = lambda bounds=bounds: bounds
        if parameter.param_type_name == "argument":
            name = parameter.human_readable_name
            usage = name if parameter.required else f"[{name}]"
            vars(parameter)["make_metavar"] = lambda ctx, usage=False, name=name, inside=usage: (  # noqa: ARG005
                inside if usage else name
            )
        elif parameter.metavar is None and not getattr(parameter, "is_flag", False):
            choices = getattr(parameter.type, "choices", None) or ()
            parameter.metavar = "|".join(map(str, choices)) or _name_value(parameter)
    for inner in getattr(command, "commands", {}).values():
        _use_plain_words(inner)


def _name_value(parameter: Any) -> str:
    """Return what a value is called: `N` for a number, else the last word of the option."""
    if parameter.type.name.startswith(_NUMERIC):
        return "N"
    longest: str = max(parameter.opts, key=len)
    return longest.rpartition("-")[2].upper()


def _describe_bounds(kind: Any) -> str:
    least, most = getattr(kind, "min", None), getattr(kind, "max", None)
    most = None if most is not None and most >= _MOST_SHOWN else most
    if most is not None:
        return f"at most {most}" if least is None else f"{least} to {most}"
    return f"at least {least}" if least else ""
