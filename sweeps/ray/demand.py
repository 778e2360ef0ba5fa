"""The processors that a sweep asks Ray's autoscaler for: one request for all that the plan can use.

The request lasts while the cluster is smaller. Nodes that execute runs are in use and need none.
"""

import time
from collections.abc import Callable

WORTH_S = 30.0
"""Work for which a processor is asked for [s]: less is done before a node has started."""
PATIENCE_S = 15.0
"""Time without growth after which the request is changed [s]."""
_NOTICEABLE = 4
"""Part of a request by which it must have changed to be renewed."""


class RayDemand:
    """The request of one sweep.

    If the cluster may not become as large as a request, Ray's second autoscaler ignores all of it. Which size
    is allowed is not known here. So while the cluster does not grow, half as many further processors are
    asked for each time, and in the end all of them again: the limit may have been raised, or another sweep
    may have replaced the request.
    """

    def __init__(self, request: Callable[[int], None]) -> None:
        """Make the demand of a sweep that needs nothing yet.

        Args:
            request: Asks the autoscaler for a cluster with a number of processors.
        """
        self._request = request
        self._asked = 0
        self._had = 0
        self._divisor = 1
        self._since = 0.0

    def update(self, wanted: int, had: int, others: int) -> None:
        """Ask for what is missing, if anything is.

        Args:
            wanted: Processors that the sweep can use.
            had: Processors that it uses, or that are free.
            others: Processors that other jobs use.
        """
        missing = wanted - had
        if missing <= 0:
            self.withdraw()
            return
        now = time.monotonic()
        is_due = False
        if not self._asked or had > self._had:
            self._divisor, self._since = 1, now
        elif now - self._since >= PATIENCE_S:
            self._divisor = 2 * self._divisor if 2 * self._divisor <= missing else 1
            self._since, is_due = now, True
        self._had = had
        processors = others + had + max(1, missing // self._divisor)
        if is_due or abs(processors - self._asked) > self._asked // _NOTICEABLE:
            self._request(processors)
            self._asked = processors

    def withdraw(self) -> None:
        """Ask for nothing."""
        if self._asked:
            self._request(0)
            self._asked = 0
