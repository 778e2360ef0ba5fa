"""Whether the head of a Ray cluster can still be reached.

Ray's library ends a driver a minute after it has lost the head, at any point, with lines of its log and exit
code 1; until then, a request to the head blocks. So the head is tested by a connection with a timeout.
"""

import socket
import time

_TIMEOUT_S = 2.0
"""Time that a connection may take [s]."""
_LOST_S = 45.0
"""Time without an answer after which the head is lost [s]; a supervised head may restart earlier."""


class RayHead:
    """The head of the cluster.

    Attributes:
        address: The host and port of its control store; empty for a Ray client, which does not connect to it.
        is_lost: Whether it has not answered for so long that the session ends.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.is_lost = False
        self._failing_since: float | None = None

    def answers(self) -> bool:
        """Return whether it accepts a connection now."""
        if not self.address:
            return True
        host, _, port = self.address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_TIMEOUT_S).close()
        except OSError:
            now = time.monotonic()
            self._failing_since = now if self._failing_since is None else self._failing_since
            self.is_lost = now - self._failing_since > _LOST_S
            return False
        self._failing_since = None
        return True
