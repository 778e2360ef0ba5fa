"""The verb that follows a sweep on a cluster to its end: watch."""

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from destage.cli.clustering import Context, Name, Namespace, sentence, told
from destage.cli.following import PATIENCE_S, SweepOption, opened, remote_results
from destage.cli.options import Quiet
from destage.cli.output import Json, print_json, say, warn
from destage.cli.progress import ProgressDisplay
from destage.errors import ClusterError

if TYPE_CHECKING:
    from destage.cluster.jobs import Job
    from destage.cluster.reader_pod import ReaderPod

_FAILED, _CANCELLED = 4, 130
_LOOK_S = 5.0
_FORGIVEN_S = 60.0
"""For so long a server that restarts may forbid what it allowed [s]."""


def watch(
    name: Name,
    sweep: SweepOption = "",
    timeout: Annotated[
        float, typer.Option("--timeout", min=1, help="Stop looking after so long [s].")
    ] = 86400.0,
    context: Context = None,
    namespace: Namespace = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Follow a sweep to its end, with the bar of a local run.

    Ends with 0 when it succeeded, with 4 when it failed, with 130 when it was cancelled.
    """
    watcher = Watcher(*opened(name, context, namespace, PATIENCE_S), sweep)
    end = time.monotonic() + timeout
    with ProgressDisplay(watcher.job.release, is_quiet=quiet) as display:
        while not watcher.is_over and time.monotonic() < end:
            watcher.wait(min(end, time.monotonic() + _LOOK_S))
            if (progress := watcher.progress()) is not None:
                display(progress)
    job = watcher.job
    if not watcher.is_over:
        message = f"not ended after {timeout:g} s: {sentence(job)}"
        raise ClusterError("cluster.watch-timeout", message, job.name)
    say(f"{job.name}: {sentence(job)}")
    if as_json:
        print_json(told(job))
    if job.is_cancelled:
        raise typer.Exit(_CANCELLED)
    if job.outcome != "SUCCEEDED":
        raise typer.Exit(_FAILED)


class Watcher:
    """Follows one sweep and says what changes, each thing once.

    Attributes:
        job: The sweep's job, as it was last seen.
    """

    def __init__(self, job: "Job", reader: "ReaderPod", sweep: str) -> None:
        self.job = job
        self._reader = reader
        self._sweep = sweep
        self._state = ""
        self._known: set[object] = set()
        self._began = time.monotonic()
        self._refused_since: float | None = None
        self._first: int | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing happens to the sweep any more without somebody's doing."""
        return self.job.has_ended or self.job.is_cancelled

    def wait(self, until: float) -> None:
        """Follow the job for a while, and say what is new of it and of its pods.

        Args:
            until: When to stop [s on the monotonic clock].

        Raises:
            ClusterError: It is deleted, or the server refuses.
        """
        from destage.cluster.jobs import parse_job
        from destage.cluster.watch import watch as follow

        is_seen = False
        connection, name = self._reader.connection, self.job.name
        for manifest in follow(connection, "RayJob", name, until=until, was_allowed=True):
            self.job, is_seen = parse_job(manifest), True
            if self.is_over:
                break
        if not is_seen and not self._is_there():
            raise ClusterError("cluster.sweep-missing", "the job was deleted", self.job.name)
        if sentence(self.job) != self._state:
            self._state = sentence(self.job)
            say(f"{self.job.name}: {self._state}")
        self._tell_troubles()

    def progress(self) -> Any:
        """Return how far the sweep is, as a local run would tell, or None while nothing can be seen of it."""
        from destage.sweeps import Progress

        try:
            done = remote_results(self._reader, self.job, self._sweep).status
        except ClusterError as error:
            self._say_once(str(error))
            return None
        if self._first is None:
            self._first = done["present"]
        rate = (done["present"] - self._first) / max(time.monotonic() - self._began, 1e-3)
        left = done["planned"] - done["present"]
        return Progress(
            phase="run" if left else "answer",
            round=max(0, done["rounds"] - 1),
            done=done["present"],
            planned=done["planned"],
            reused=0,
            failed=done["failed"],
            rate=rate,
            eta_s=left / rate if rate > 0 else None,
        )

    def _is_there(self) -> bool:
        """Return whether the job is there still, as far as can be known while the server is away."""
        from destage.cluster.connection import ApiError
        from destage.cluster.objects import find
        from destage.cluster.watch import is_transient

        try:
            is_there = find(self._reader.connection, "RayJob", self.job.name) is not None
        except ClusterError as error:
            if isinstance(error, ApiError) and self._refused_since is None:
                self._refused_since = time.monotonic()
            is_new = self._refused_since is None or time.monotonic() < self._refused_since + _FORGIVEN_S
            if not is_transient(error, was_allowed=is_new):
                raise
            self._say_once(str(error))
            return True
        self._refused_since = None
        return is_there

    def _tell_troubles(self) -> None:
        from destage.cluster.diagnostics import diagnose_pods

        try:
            troubles = diagnose_pods(self._reader.connection, self.job)
        except ClusterError as error:
            self._say_once(str(error))
            return
        for trouble in troubles:
            if (mark := (trouble.component, trouble.reason)) not in self._known:
                self._known.add(mark)
                warn(str(trouble))

    def _say_once(self, text: str) -> None:
        if text not in self._known:
            self._known.add(text)
            say(text)
