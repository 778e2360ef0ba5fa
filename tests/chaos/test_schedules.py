"""Sweeps under random faults: the rows are those of an undisturbed sweep, and no reader is ever misled.

`make chaos` runs 200 schedules, `make test` a few. `make chaos CHAOS_SEED=1 CHAOS_ONLY=17` repeats one.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from chaos.conftest import Surroundings
from chaos.execution import Execution
from chaos.fault_steps import STEPS
from chaos.places import Bucket, Folder
from chaos.schedules import Schedule, read_schedules, short_schedules
from chaos.sweep import assert_exact

Record = Callable[[str, object], None]
ONCE = ("kill", "clock jump", "bit flip")
"""Faults in spite of which the store holds each run in one fragment."""


# One process starts the surroundings, which cost more than a schedule.
@pytest.mark.xdist_group("schedules")
@pytest.mark.parametrize("schedule", short_schedules(), ids=str)
def test_a_sweep_is_exact_in_spite_of_a_fault(
    schedule: Schedule, surroundings: Surroundings, tmp_path: Path, record_property: Record
) -> None:
    check(schedule, surroundings, tmp_path, record_property)


# The machines of a cluster are shared: one process starts them.
_ONE_PROCESS = pytest.mark.xdist_group("raylets")


@pytest.mark.chaos
@pytest.mark.parametrize(
    "schedule",
    [
        pytest.param(each, id=str(each), marks=_ONE_PROCESS if each.executor == "raylets" else ())
        for each in read_schedules()
    ],
)
def test_schedule(
    schedule: Schedule, surroundings: Surroundings, tmp_path: Path, record_property: Record
) -> None:
    check(schedule, surroundings, tmp_path, record_property)


def check(schedule: Schedule, around: Surroundings, folder: Path, record_property: Record) -> None:
    """Run a schedule and assert its verdict: an exact sweep, and readers that were never misled."""
    choose = schedule.random()
    machines = around.machines() if schedule.executor == "raylets" else None
    place: Folder | Bucket
    if schedule.store == "local":
        orders = folder if machines is None else machines.orders
        place = Folder(folder / "store", orders, around.sweep.size())
    else:
        try:
            place = around.servers.open_bucket(schedule.store, choose.random())
        except LookupError as missing:
            pytest.skip(str(missing))
    record_property("chaos", f"{schedule.executor}/{schedule.store}/{schedule.fault}")
    run = Execution(schedule, around.sweep, place, around.zygote, folder, machines, choose)
    try:
        run.start_reader()
        STEPS[schedule.fault](run)
        run.place.clear()
        run.finish()
        found = run.end_reader()
        record_property("polls", found.polls)
        record_property("partial", found.partial)
        assert found.polls, "the reader never read the whole sweep"
        assert not found.damage or schedule.fault == "bit flip", found.damage
        # Ray's workers outlive a killed session, and a write that reports an error may have succeeded.
        once = schedule.executor == "inline" and schedule.fault in ONCE
        assert_exact(run.path, around.sweep.more_reference, once_on_disk=once)
    except BaseException as error:
        command = f"make chaos CHAOS_SEED={schedule.seed} CHAOS_ONLY={schedule.number}"
        error.add_note("\n".join([*run.steps, f"again: {command}"]))
        raise
    finally:
        run.end_all()
        if isinstance(place, Folder):
            place.remove()
