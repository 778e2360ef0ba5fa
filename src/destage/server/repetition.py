"""A function that is called repeatedly on its own thread."""

import threading
from collections.abc import Callable


class Repetition:
    """Calls a function, which returns the pause before its next call [s], until it is stopped."""

    def __init__(self, name: str, function: Callable[[], float]) -> None:
        self._function = function
        self._is_stopped = threading.Event()
        # A daemon, so that a call that does not end cannot keep the process alive.
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        pause = 0.0
        while not self._is_stopped.wait(pause):
            pause = self._function()

    def request_stop(self) -> None:
        """Make no further call."""
        self._is_stopped.set()

    def join(self, seconds: float) -> bool:
        """Return whether the thread has ended within a time."""
        self._thread.join(seconds)
        return not self._thread.is_alive()
