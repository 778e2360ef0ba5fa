"""The prompt of `destage query`: statements of several lines, completion, history, and errors in one line."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.output import create_output

from destage.cli.parameters.sql_completion import SqlCompleter
from destage.cli.terminal.output import print_error, print_note
from destage.errors import DestageError

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    from prompt_toolkit.key_binding import KeyPressEvent

    from destage.queries import Session

_LEAVE = {"exit", "quit", "\\q", ".exit", ".quit"}


def run_prompt(session: "Session", print_table: "Callable[[pa.Table], None]") -> None:
    """Read statements and print their rows until Ctrl-D.

    Ctrl-C ends a running statement, or drops the one that is being written.
    """
    prompt: PromptSession[str] = PromptSession(
        history=_open_history(),
        completer=SqlCompleter(session.public),
        complete_while_typing=False,
        key_bindings=_bind_enter(),
        multiline=True,
        prompt_continuation=lambda width, *_: "... ".rjust(width),
        # Rows may go to a file; the prompt then is on stderr.
        output=create_output(always_prefer_tty=True),
    )
    print_note(
        f"{session.spec.get('name', 'sweep')}: SHOW TABLES lists the relations, DESCRIBE NAME explains one, "
        "; ends a statement, Tab completes names, Ctrl-D exits"
    )
    while True:
        try:
            text = prompt.prompt("destage> ")
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        if text.strip().rstrip(";").lower() in _LEAVE:
            return
        if text.strip(" \t\n;"):
            _run(session, text, print_table)


def _run(session: "Session", text: str, print_table: "Callable[[pa.Table], None]") -> None:
    """Print the rows of a text's statements up to the first error."""
    try:
        for statement in session.split(text):
            print_table(session.run(statement))
    except DestageError as error:
        print_error(*error.issues)
    except KeyboardInterrupt:
        print_note("interrupted")


def is_complete(text: str) -> bool:
    """Return whether Enter runs a text rather than adding a line to it."""
    stripped = text.strip()
    return not stripped or stripped.endswith(";") or stripped.lower() in _LEAVE


def _bind_enter() -> KeyBindings:
    bindings = KeyBindings()

    @bindings.add("enter")
    def _(event: "KeyPressEvent") -> None:
        buffer = event.current_buffer
        if is_complete(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    return bindings


def _open_history() -> History:
    """Return the history in the user's state directory, or one in memory if that cannot be written."""
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    path = Path(state).expanduser() / "destage" / "sql_history"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(path)
