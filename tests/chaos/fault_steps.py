"""What each fault does to the sessions of a schedule; afterwards the sweep may have any state."""

import signal
import time
from collections.abc import Callable
from pathlib import Path

from chaos.cluster import Machines
from chaos.execution import Execution
from chaos.places import Folder
from chaos.sweep import see

from destage import sweeps
from destage.errors import StoreError
from destage.objects import Location
from destage.store.files import durable
from destage.store.files.layout import SweepLayout, list_sizes
from destage.store.state.head import find_head

_DRIVER_POINTS = tuple(
    name for name in durable.NAMES if "head" in name or ("mid_" in name[:4] and "tmp" not in name)
)
_DAMAGE = {"store.damaged-file", "store.damaged-fragment"}


def kill(run: Execution) -> None:
    """Kill one to three sessions, or workers or a machine of them, at any moment or at a fail point."""
    for _ in range(run.random.randint(1, 3) if run.schedule.executor == "inline" else 1):
        if run.machines is not None and run.random.random() < 0.6:
            _kill_part(run, run.machines)
        elif run.random.random() < 0.6:
            _kill_at_point(run)
        else:
            session = run.start()
            moment_s = run.random.uniform(0, 1.5) + (4 if run.schedule.executor == "ray" else 0)
            run.steps.append(f"kill after {moment_s:.2f} s")
            time.sleep(moment_s)
            session.signal(signal.SIGKILL)
            run.end(session)


def _kill_at_point(run: Execution) -> None:
    points = _DRIVER_POINTS if run.machines is not None else durable.NAMES
    point = run.random.choice(points)
    count = run.random.randint(1, 3)
    env = {"DESTAGE_FAIL_POINT": f"{point}:{count}"}
    if run.schedule.executor == "ray":
        env["DESTAGE_FAIL_MARK"] = str(run.folder / f"mark-{len(run.steps)}")
    run.steps.append(f"kill at {point}:{count}")
    run.end(run.start(**env))


def _kill_part(run: Execution, machines: Machines) -> None:
    session = run.start()
    time.sleep(run.random.uniform(0.5, 3))
    if run.random.random() < 0.6:
        run.steps.append(f"kill worker {machines.signal_worker(run.random, signal.SIGKILL)}")
    else:
        run.steps.append("kill the second machine")
        machines.kill_machine()
    run.end(session)


def stop(run: Execution) -> None:
    """Stop a session past its lease while one with more axis values finishes the sweep, then continue it."""
    points = durable.NAMES if run.schedule.executor == "inline" else _DRIVER_POINTS
    point, count = run.random.choice(points), run.random.randint(1, 2)
    run.steps.append(f"stop at {point}:{count}")
    free = {"has_lease": False} if isinstance(run.place, Folder) else {}
    paused = run.start(
        run.sweep.few, DESTAGE_FAIL_POINT=f"{point}:{count}", DESTAGE_FAIL_SIGNAL="STOP", **free
    )
    if not run.wait_until(paused, "is_stopped"):
        run.end(paused)
        return
    time.sleep(run.place.lease_s)
    _finish_beside(run, free)
    seen = see(run.path)
    paused.signal(signal.SIGCONT)
    run.end(paused)
    assert see(run.path) == seen, "a writer that was stopped has changed the sweep"


def _finish_beside(run: Execution, options: dict[str, bool]) -> None:
    for _ in range(20):
        session = run.start(executor="inline" if run.schedule.executor == "ray" else None, **options)
        if run.end(session, {0, 1, 4}) == 0:
            return
        time.sleep(1)
    raise AssertionError("the lease of a stopped session does not expire")


def fill_the_disk(run: Execution) -> None:
    """Let the store have less space than the sweep needs."""
    run.steps.append(run.place.fill(run.random.uniform(0.05, 0.95)))
    session = run.start()
    code = run.end(session)
    lines = session.errors.read_text().splitlines()
    if code:
        assert code == 4, lines
        assert len(lines) <= 3, f"{len(lines)} lines for one cause"
    run.place.clear()


def jump_the_clock(run: Execution) -> None:
    """Let the clock of a session jump, in half of the schedules as a laptop's that sleeps."""
    wall = run.random.choice([-1, 1]) * run.random.choice([60.0, 3600.0, 86400.0, 3e7])
    asleep = abs(wall) if run.random.random() < 0.5 else 0.0
    jump = {"after": run.random.uniform(0, 1.5), "wall": wall, "asleep": asleep}
    run.steps.append(f"jump {jump}")
    run.end(run.start(jump=jump))


def flip_bits(run: Execution) -> None:
    """Flip one bit in some files between two sessions: an error names the file, or readers see no change."""
    if run.random.random() < 0.4:
        _kill_at_point(run)
    else:
        run.end(run.start())
    whole = _try_to_see(run.path)
    layout = SweepLayout(run.path)
    flipped = []
    for _ in range(run.random.randint(1, 3)):
        folder = run.random.choice([layout.generations, layout.fragments])
        files = [path for path, size in list_sizes(folder) if size and not path.name.startswith(".")]
        if files:
            flipped.append(_flip(run, run.random.choice(files)))
    seen = _try_to_see(run.path)
    if isinstance(whole, StoreError):
        assert isinstance(seen, StoreError)
        assert whole.code == seen.code == "store.not-a-sweep", "a session killed before its first head"
        return
    if isinstance(seen, StoreError):
        assert seen.code in _DAMAGE, seen
        assert any(path.name in str(seen) for path in flipped), f"{seen} names none of {flipped}"
    else:
        assert seen == whole, f"flipped bits of {flipped} changed what is read"
    try:
        found = find_head(layout)
    except StoreError:
        return  # verify needs a head
    if found is not None:
        named = {path.name for path in flipped} & {
            *found[1].files,
            *(p.name for p, _ in list_sizes(layout.fragments)),
        }
        problems = "\n".join(map(str, sweeps.verify(run.path, sample=0.0).problems))
        assert all(name in problems for name in named), f"verify does not name {named}: {problems}"


def _try_to_see(path: Location) -> object:
    """Return what a reader sees, or its error; a sweep of a killed session lacks rows."""
    try:
        return see(path)
    except StoreError as error:
        return error
    except AssertionError as lacks:
        return str(lacks)


def _flip(run: Execution, path: Location) -> Location:
    data = bytearray(path.read_bytes())
    bit = run.random.randrange(8 * len(data))
    data[bit // 8] ^= 1 << bit % 8
    if isinstance(path, Path):
        with path.open("r+b") as file:  # a disk does not empty a file first
            file.seek(bit // 8)
            file.write(data[bit // 8 : bit // 8 + 1])
    else:
        path.write_bytes(bytes(data))
    run.steps.append(f"flip bit {bit} of {path.parent.name}/{path.name}")
    return path


def _inject(kind: str) -> Callable[[Execution], None]:
    def inject(run: Execution) -> None:
        """Let writes or requests of two sessions be slow, fail, or succeed without a response."""
        for _ in range(2 if run.schedule.executor == "inline" else 1):
            after, times = run.random.randint(0, 30), run.random.randint(1, 4)
            where = run.place.inject(kind, after, times, run.random.uniform(0.1, 2), run.random.random())
            run.steps.append(f"{kind}: {where}, {times} times after {after}")
            run.end(run.start())
            run.place.clear()

    return inject


STEPS: dict[str, Callable[[Execution], None]] = {
    "kill": kill,
    "stop": stop,
    "full disk": fill_the_disk,
    "clock jump": jump_the_clock,
    "bit flip": flip_bits,
    "lost reply": _inject("lost reply"),
    "slow": _inject("slow"),
    "reset": _inject("reset"),
}
