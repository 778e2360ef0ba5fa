"""Ray's messages on the driver's terminal: a lost machine is one line instead of Ray's own state."""

import re
from collections.abc import Callable
from typing import Any

from ray._private import worker

_MARKED_DEAD = re.compile(
    r"The node with node id: (\w+) and address: (\S+) .*has been marked dead", re.DOTALL
)
"""What the head reports of each lost machine."""
_LAST_WORDS = "Raylet is terminated."
"""What two processes of a machine report before, with twenty lines of its log, if they outlive its raylet."""
Print = Callable[[dict[str, Any], bool], None]


class MessageFilter:
    """Prints Ray's messages, and each loss of a machine as one line."""

    def __init__(self, print_message: Print) -> None:
        self._print = print_message
        self._lost: set[str] = set()

    def __call__(self, data: dict[str, Any], ignore_prefix: bool) -> None:
        """Print a message, given as Ray's table with `lines`."""
        text = "\n".join(data["lines"])
        if _LAST_WORDS in text:
            return
        lost = _MARKED_DEAD.search(text)
        if lost is None:
            self._print(data, ignore_prefix)
        elif lost[1] not in self._lost:
            self._lost.add(lost[1])
            line = f"the machine {lost[2]} of the Ray cluster was lost; others execute its runs"
            self._print({**data, "lines": [line]}, ignore_prefix)


def shorten_messages() -> None:
    """Replace Ray's printing of messages, for which it has no setting."""
    if not isinstance(worker.print_to_stdstream, MessageFilter):
        worker.print_to_stdstream = MessageFilter(worker.print_to_stdstream)
