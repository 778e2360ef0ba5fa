"""The questions of `destage init` on a terminal."""

from collections.abc import Callable, Sequence

import typer
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.output import create_output
from prompt_toolkit.validation import ValidationError, Validator

from destage.errors import DestageError


class _Check(Validator):
    """Shows the error of an answer below the line."""

    def __init__(self, check: Callable[[str], object]) -> None:
        self._check = check

    def validate(self, document: Document) -> None:
        try:
            self._check(document.text.strip())
        except DestageError as error:
            raise ValidationError(len(document.text), error.issues[0].message) from None


def ask(question: str, default: str, check: Callable[[str], object], words: Sequence[str] = ()) -> str:
    """Return the answer to a question, which `check` accepts; Tab completes words.

    Raises:
        typer.Abort: Ctrl-C or Ctrl-D.
    """
    session: PromptSession[str] = PromptSession(
        completer=WordCompleter(list(words), sentence=True, match_middle=True) if words else None,
        complete_while_typing=True,
        validator=_Check(check),
        validate_while_typing=False,
        # The answer may go to a file; the questions then are on stderr.
        output=create_output(always_prefer_tty=True),
    )
    try:
        return session.prompt(f"{question}: ", default=default).strip()
    except (KeyboardInterrupt, EOFError):
        raise typer.Abort from None
