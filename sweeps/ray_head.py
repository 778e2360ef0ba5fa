"""Whether the head of a Ray cluster can still be reached.

A driver that has lost the head is ended by Ray's own library after a minute, in the middle of whatever it
does, with lines of its log and exit code 1; a question to the head in between waits as long.
"""

import socket
import time

_TIMEOUT_S = 2.0
"""Time that a connection may take [s]."""
_LOST_S = 45.0
"""Time after which a head that does not answer is given up [s]; a supervised one may start again before."""


class RayHead:
    """The head of the cluster.

    Attributes:
        address: The host and port of its control store; empty for a Ray client, which does not connect to it.
        is_lost: Whether it has not answered for so long that it is given up.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.is_lost = False
        self._answered_at = time.monotonic()

    def answers(self) -> bool:
        """Return whether it accepts a connection now."""
        if not self.address:
            return True
        host, _, port = self.address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_TIMEOUT_S).close()
        except OSError:
            self.is_lost = time.monotonic() - self._answered_at > _LOST_S
            return False
        self._answered_at = time.monotonic()
        return True
