"""Lines of text on a terminal: broken at words, with the text of a named fact below its beginning."""

import re
import textwrap
from collections.abc import Iterable

from destage.cli.terminal.text_table import find_width

_FACT = re.compile(r" +\S+(?: \S+)* {2,}(?=\S)")
"""The name of a fact, as in `  dead battery   no effect`."""


def wrap_lines(lines: Iterable[str]) -> str:
    """Return lines as a text that fits the terminal; as they are where there is none."""
    width = find_width()
    return "".join(f"{_wrap(line, width)}\n" for line in lines)


def _wrap(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    name = _FACT.match(line)
    indent = 0 if name is None else name.end()
    return textwrap.fill(
        line[indent:],
        width,
        initial_indent=line[:indent],
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
