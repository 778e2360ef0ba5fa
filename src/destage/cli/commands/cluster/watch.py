"""`destage cluster watch`."""

import time
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import typer

from destage.cli.commands.cluster.job import (
    SHORT_TIMEOUT_S,
    find_results,
    job_as_json,
    open_reader,
    summarize_job,
)
from destage.cli.commands.cluster.options import Context, Name, Namespace, SweepOption
from destage.cli.options import Json, Quiet, WatchTimeout, parse_duration
from destage.cli.output import print_json, print_note, print_warning
from destage.cli.progress import ProgressDisplay
from destage.cli.watched_progress import WatchedProgress
from destage.errors import ClusterError

if TYPE_CHECKING:
    from destage.cluster.jobs import Job
    from destage.cluster.reader_pod import ReaderPod

_FAILED, _CANCELLED = 4, 130
_INTERVAL_S = 5.0
_GRACE_S = 60.0
"""How long an API server that restarts may deny what it allowed before [s]."""


def watch(
    name: Name,
    sweep: SweepOption = "",
    timeout: WatchTimeout = "1d",
    context: Context = None,
    namespace: Namespace = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Follow a sweep until it ends, with a progress bar.

    Exits with 0 if it succeeded, 4 if it failed and 130 if it was cancelled.
    """
    seconds = parse_duration(timeout, "s", "--timeout")
    watcher = Watcher(*open_reader(name, context, namespace, SHORT_TIMEOUT_S), sweep)
    end = time.monotonic() + seconds
    with ProgressDisplay(watcher.job.release, is_quiet=quiet, is_watching=True) as display:
        while not watcher.is_over and time.monotonic() < end:
            watcher.wait(min(end, time.monotonic() + _INTERVAL_S))
            if (progress := watcher.progress()) is not None:
                display(progress)
    job = watcher.job
    if not watcher.is_over:
        message = f"not ended after {timeout}: {summarize_job(job)}"
        raise ClusterError("cluster.watch-timeout", message, job.name)
    print_note(f"{job.name}: {summarize_job(job)}")
    if as_json:
        print_json(job_as_json(job))
    if job.is_cancelled:
        raise typer.Exit(_CANCELLED)
    if job.outcome != "SUCCEEDED":
        raise typer.Exit(_FAILED)


class Watcher:
    """Follows one sweep and prints each change once."""

    def __init__(self, job: "Job", reader: "ReaderPod", sweep: str) -> None:
        self.job = job
        self._reader = reader
        self._sweep = sweep
        self._state = ""
        self._known: set[object] = set()
        self._progress = WatchedProgress()
        self._denied_since: float | None = None

    @property
    def is_over(self) -> bool:
        """Whether the job has ended or waits for a new submission."""
        return self.job.has_ended or self.job.is_cancelled

    def wait(self, until: float) -> None:
        """Follow the job until a time on the monotonic clock [s] and print what changed."""
        from destage.cluster.jobs import parse_job
        from destage.cluster.watch import watch as follow

        is_seen = False
        connection, name = self._reader.connection, self.job.name
        for manifest in follow(connection, "RayJob", name, until=until, was_allowed=True):
            self.job, is_seen = parse_job(manifest), True
            if self.is_over:
                break
        if not is_seen and not self._job_exists():
            raise ClusterError("cluster.sweep-missing", "the job was deleted", self.job.name)
        if summarize_job(self.job) != self._state:
            self._state = summarize_job(self.job)
            print_note(f"{self.job.name}: {self._state}")
        self._print_diagnostics()

    def progress(self) -> Any:
        """Return the sweep's progress in the form of a local run, or None where it cannot be read."""
        from destage.store.progress import Counts

        try:
            done = find_results(self._reader, self.job, self._sweep).status
        except ClusterError as error:
            self._warn_once(error)
            return None
        # An image of another release may know fewer counts.
        names = {each.name for each in fields(Counts)}
        return self._progress(Counts(**{name: value for name, value in done.items() if name in names}))

    def _job_exists(self) -> bool:
        """Return whether the job exists, assuming that it does while the API server is away."""
        from destage.cluster.connection import ApiError
        from destage.cluster.objects import find
        from destage.cluster.watch import is_transient

        try:
            exists = find(self._reader.connection, "RayJob", self.job.name) is not None
        except ClusterError as error:
            if isinstance(error, ApiError) and self._denied_since is None:
                self._denied_since = time.monotonic()
            is_new = self._denied_since is None or time.monotonic() < self._denied_since + _GRACE_S
            if not is_transient(error, was_allowed=is_new):
                raise
            self._warn_once(error)
            return True
        self._denied_since = None
        return exists

    def _print_diagnostics(self) -> None:
        from destage.cluster.diagnostics import diagnose_pods

        try:
            diagnostics = diagnose_pods(self._reader.connection, self.job)
        except ClusterError as error:
            self._warn_once(error)
            return
        for diagnostic in diagnostics:
            if (key := (diagnostic.component, diagnostic.reason)) not in self._known:
                self._known.add(key)
                print_warning(diagnostic.issue)

    def _warn_once(self, error: ClusterError) -> None:
        if str(error) not in self._known:
            self._known.add(str(error))
            for issue in error.issues:
                print_warning(issue)
