"""The execution of one schedule: sessions with a fault, sessions without, and a reader beside all of them."""

import json
import os
import random
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

from chaos.cluster import Machines
from chaos.injection.sitecustomize import FOLDER
from chaos.places import Bucket, Folder
from chaos.reader import Findings
from chaos.schedules import Schedule
from chaos.sweep import ChaosSweep
from chaos.zygote import RAY_TOKEN, Session, Zygote

from destage.store import Location, locate

SESSION_S = 240.0
"""Time limit of a session [s]; a few seconds on an idle machine."""
_RESUMES = 12
_LOOK_S = 0.01
_ENDS = {0, 1, 4, -signal.SIGKILL}
"""Exit codes of a session with a fault: all done, superseded or locked, machine failure, killed."""


@dataclass
class Execution:
    """A schedule with everything that its sessions need.

    Attributes:
        folder: For the files of this schedule.
        machines: The running Ray cluster, for the executor `raylets`.
        steps: What happened, for the report of a failure.
    """

    schedule: Schedule
    sweep: ChaosSweep
    place: Folder | Bucket
    zygote: Zygote
    folder: Path
    machines: Machines | None
    random: random.Random
    steps: list[str] = field(default_factory=list)
    _reader: Session | None = None
    _sessions: list[Session] = field(default_factory=list)

    @property
    def path(self) -> Location:
        """The sweep, as readers name it."""
        return locate(self.place.url) / "sweeps" / self.sweep.name

    @property
    def orders(self) -> Path:
        """Folder of the files that name the faults which processes inject."""
        return self.folder if self.machines is None else self.machines.orders

    def start_reader(self) -> None:
        """Start a reader that polls the sweep until `end_reader`."""
        self._reader = self.zygote.fork(
            "reader",
            self.folder / "reader.log",
            dict(os.environ),
            store=self.place.url,
            sweep=self.sweep.name,
            references=str(self.sweep.references),
            folder=str(self.folder),
        )

    def end_reader(self) -> Findings:
        """End the reader after one more look, and return what it has seen."""
        assert self._reader is not None
        (self.folder / "stop").touch()
        code = self._reader.wait(SESSION_S)
        log = self._reader.errors.read_text()
        assert code == 0, log
        found = Findings(**json.loads((self.folder / "findings.json").read_text()))
        assert not found.wrong, f"{found.wrong[0]}\n{log}"
        return found

    def start(self, study: Path | None = None, executor: str | None = None, **options: object) -> Session:
        """Start a session; options beginning with a capital letter are of its environment."""
        executor = executor or self.schedule.executor
        env = {name: str(options.pop(name)) for name in list(options) if name.isupper()}
        base = {**os.environ, **RAY_TOKEN}
        if executor == "raylets":
            assert self.machines is not None
            base = self.machines.driver_env()
        else:
            base["PYTHONPATH"] = str(Path(__file__).parent / "injection")
        base[FOLDER] = str(self.orders)
        session = self.zygote.fork(
            "driver",
            self.folder / f"session-{len(self._sessions)}.log",
            {**base, **env},
            study=str(study or self.sweep.more),
            store=self.place.faulty_url,
            executor="inline" if executor == "inline" else "ray",
            lease_s=self.place.lease_s or 30.0,
            holds_rows=self.schedule.number % 2 == 1,
            merges=self.schedule.number % 4 > 1,
            **options,
        )
        self._sessions.append(session)
        return session

    def end(self, session: Session, allowed: set[int] = _ENDS) -> int:
        """Wait for a session with a fault; check that it ended in an orderly way."""
        code = session.wait(SESSION_S)
        log = session.errors.read_text()
        if code is None:
            session.signal(signal.SIGKILL)
            session.wait(SESSION_S)
        self.steps.append(f"exit {code} {log.strip()[:400]} {time.monotonic():.1f}")
        assert code is not None, f"the session did not end\n{log}"
        assert code in allowed, f"exit code {code}\n{log}"
        assert "Traceback" not in log, log
        assert "internal-error" not in log, log
        return code

    def finish(self) -> None:
        """Run sessions without faults until one has finished the sweep."""
        executor = self.schedule.executor
        if executor == "ray" and self.random.random() < 0.5:
            executor = "inline"  # a sweep may change its executor
        for _ in range(_RESUMES):
            session = self.start(executor=executor)
            code = self.end(session, {0, 1, 4})
            if code == 0:
                return
            time.sleep(1 if "store.locked" in session.errors.read_text() else 0.1)
        raise AssertionError(f"the sweep was not finished in {_RESUMES} sessions")

    def wait_until(self, session: Session, is_so: str) -> bool:
        """Wait until a session is stopped; return whether it is, and has not ended."""
        end = time.monotonic() + SESSION_S
        while time.monotonic() < end:
            if getattr(session, is_so):
                return True
            if session.has_ended:
                return False
            time.sleep(_LOOK_S)
        raise AssertionError(f"not {is_so} after {SESSION_S:.0f} s")

    def end_all(self) -> None:
        """Kill what still runs, and remove all faults."""
        self.place.clear()
        for session in [*self._sessions, *([self._reader] if self._reader else [])]:
            if not session.is_reaped:
                session.signal(signal.SIGKILL)
                session.wait(SESSION_S)
