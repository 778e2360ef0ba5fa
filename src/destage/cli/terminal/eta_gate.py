"""When the rate of a sweep foretells its end: not while only the pilot has settled."""

_BATCHES = 10
_SHARE = 0.1
"""Settled batches, or the share of the runs that were missing at first, after which the rate is steady."""


class EtaGate:
    """Judges the rate by the counts so far."""

    def __init__(self) -> None:
        self._first: int | None = None
        self._last = 0
        self._batches = 0

    def is_open(self, done: int, planned: int) -> bool:
        """Return whether a time left means something, after these further counts."""
        if self._first is None:
            self._first = self._last = done
        if done > self._last:
            self._last = done
            self._batches += 1
        missing = planned - self._first
        return self._batches >= _BATCHES or (missing > 0 and done - self._first >= _SHARE * missing)
