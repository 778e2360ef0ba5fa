"""Problems of a trace's records, and the progress of reading them."""

import time
from typing import Any

from destage.cli.terminal.output import print_note, print_warning
from destage.errors import Issue

_INTERVAL_S = 5.0


class ReadingProgress:
    """Prints now and then how much of a long trace has been read."""

    def __init__(self) -> None:
        self._printed_at = time.monotonic()

    def __call__(self, done: int, size: int) -> None:
        """Print the share of bytes that have been read."""
        now = time.monotonic()
        if now - self._printed_at >= _INTERVAL_S and size:
            self._printed_at = now
            print_note(f"read {done / size:.0%}")


def warn_about(problems: list[dict[str, Any]], trace: object) -> None:
    """Print a warning for each kind of problem of a trace's records, with the place of the first one."""
    for problem in problems:
        count = problem["count"]
        message = f"{problem['message']}; {count} in total" if count > 1 else problem["message"]
        print_warning(Issue(problem["code"], problem["place"], message, data={"count": count}), str(trace))
