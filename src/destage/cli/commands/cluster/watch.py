"""`destage cluster watch`."""

import time
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated

import typer

from destage.cli.commands.cluster.job import (
    SHORT_TIMEOUT_S,
    describe_continuation,
    describe_driver,
    find_results,
    job_as_json,
    open_reader,
    summarize_job,
)
from destage.cli.commands.cluster.options import Context, Name, Namespace, SweepOption
from destage.cli.parameters.shared_options import Json, Quiet, WatchTimeout, parse_duration
from destage.cli.terminal.output import print_json, print_note, print_warning
from destage.cli.terminal.watched_progress import WatchDisplay, WatchedProgress, WatchState
from destage.errors import ClusterError

if TYPE_CHECKING:
    from destage.cluster.client.jobs import Job
    from destage.cluster.client.pod_command import ReaderPod
    from destage.sweeps import Progress

_FAILED, _CANCELLED = 4, 130
_INTERVAL_S, _ROWS_INTERVAL_S = 5.0, 10.0
_GRACE_S = 60.0
"""How long an API server that restarts may deny what it allowed before [s]."""
_MAX_RESTARTS = 20


def watch(
    name: Name,
    keep: Annotated[
        bool,
        typer.Option(
            "--keep", help="Restart the sweep whenever machines are lost, as the keeper on the cluster does."
        ),
    ] = False,
    sweep: SweepOption = "",
    timeout: WatchTimeout = "1d",
    context: Context = None,
    namespace: Namespace = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Follow the job, the driver and the rows of a sweep.

    Ends with the sweep: exits with 0 if it succeeded, 4 if it failed and 130 if it was cancelled.
    """
    from destage.queries.text.presentation import format_quantity

    seconds = parse_duration(timeout, "s", "--timeout")
    job, reader = open_reader(name, context, namespace, SHORT_TIMEOUT_S)
    watcher = Watcher(job, reader, sweep, is_keeping=keep)
    end = time.monotonic() + seconds
    with reader, WatchDisplay(job.release, is_quiet=quiet) as display:
        while not watcher.is_over and time.monotonic() < end:
            watcher.wait(min(end, time.monotonic() + _INTERVAL_S))
            display(watcher.look())
    job = watcher.job
    if not watcher.is_over:
        message = (
            f"the job has not ended after {format_quantity(seconds, 's')}: {summarize_job(job)}; "
            "it continues, watch it again or with a longer --timeout"
        )
        raise ClusterError("cluster.watch-timeout", message, job.name)
    print_note(f"{job.name}: {summarize_job(job)}{describe_continuation(job, has_keeper=False)}")
    if as_json:
        print_json(job_as_json(job))
    if job.is_cancelled:
        raise typer.Exit(_CANCELLED)
    if job.outcome != "SUCCEEDED":
        raise typer.Exit(_FAILED)


class Watcher:
    """Follows one sweep and prints each change once."""

    def __init__(self, job: "Job", reader: "ReaderPod", sweep: str, *, is_keeping: bool) -> None:
        self.job = job
        self._reader = reader
        self._sweep = sweep
        self._is_keeping = is_keeping
        self._restarts = 0
        self._state = ""
        self._known: set[object] = set()
        self._driver = "none"
        self._progress: Progress | None = None
        self._measure = WatchedProgress()
        self._looked_at: float | None = None
        self._denied_since: float | None = None
        self._is_restarting = self._restart()

    @property
    def is_over(self) -> bool:
        """Whether the job waits for a new submission, or has ended and will not be restarted."""
        return (self.job.has_ended and not self._is_restarting) or self.job.is_cancelled

    def wait(self, until: float) -> None:
        """Follow the job until a time on the monotonic clock [s] and print what changed."""
        from destage.cluster.client.jobs import parse_job
        from destage.cluster.client.watch import watch as follow

        is_seen = False
        connection, name = self._reader.connection, self.job.name
        for manifest in follow(connection, "RayJob", name, until=until, was_allowed=True):
            self.job, is_seen = parse_job(manifest), True
            self._is_restarting = self._restart()
            if self.is_over:
                break
        if not is_seen and not self._job_exists():
            raise ClusterError("cluster.sweep-missing", "the job was deleted", self.job.name)
        if not self.is_over:
            self._print_state()
        self._print_diagnostics()

    def look(self) -> WatchState:
        """Return the states of the job, of the driver and of the rows."""
        now = time.monotonic()
        if self.is_over or self._looked_at is None or now - self._looked_at >= _ROWS_INTERVAL_S:
            self._looked_at = now if self._read_results() else None
        outcome = f" ({self.job.outcome})" if self.job.outcome else ""
        return WatchState(f"{self.job.state}{outcome}", self._driver, self._progress)

    def _print_state(self) -> None:
        state = summarize_job(self.job)
        if state != self._state:
            self._state = state
            continuation = describe_continuation(self.job, has_keeper=not self._is_keeping)
            print_note(f"{self.job.name}: {state}{continuation}")

    def _restart(self) -> bool:
        """Return whether the job, which has ended, is restarted: from here, or by its keeper."""
        from destage.cluster.client.jobs import has_keeper, restart

        if not self.job.is_interrupted:
            return False
        connection = self._reader.connection
        try:
            if has_keeper(connection, self.job):
                return True
            if not self._is_keeping or self._restarts == _MAX_RESTARTS:
                return False
            self._print_state()
            if restart(connection, self.job):
                self._restarts += 1
                print_note(f"{self.job.name}: restarted ({self._restarts} of at most {_MAX_RESTARTS} times)")
        except ClusterError as error:
            self._warn_once(error)  # tried again with the next look at the job
        return True

    def _read_results(self) -> bool:
        """Read the rows from the head while it runs, from a reader after; return whether it answered."""
        from destage.cluster.client.pod_command import find_head_pod
        from destage.store.opened.counts import Counts

        try:
            # A reader would take room that the pods of a starting sweep need.
            pod = self._reader if self.is_over else find_head_pod(self._reader.connection, self.job)
            if pod is None:
                self._driver = "none"
                return True
            done = find_results(pod, self.job, self._sweep).status
        except ClusterError as error:
            self._driver = "none"
            self._warn_once(error)
            return False
        self._driver = "none" if self.is_over else describe_driver(done) or "unknown"
        # An image of another release may know fewer counts.
        names = {field.name for field in fields(Counts)}
        self._progress = self._measure(
            Counts(**{name: value for name, value in done.items() if name in names})
        )
        return True

    def _job_exists(self) -> bool:
        """Return whether the job exists, assuming that it does while the API server is away."""
        from destage.cluster.client.api_connection import ApiError
        from destage.cluster.client.objects import find
        from destage.cluster.client.watch import is_transient

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
        from destage.cluster.client.diagnostics import diagnose_pods

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
        key = (error.code, error.place)
        if key not in self._known:
            self._known.add(key)
            print_warning(*error.issues)
