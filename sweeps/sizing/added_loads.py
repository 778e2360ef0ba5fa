"""What is asked about a present array, from its configuration and the loads that are added to it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from destage.engine import catalog
from destage.engine.workload_description import describe_assumed_localities
from destage.errors import ConfigError, Issue
from destage.sweeps.sizing.families import check_levels
from destage.sweeps.sizing.present_array import PresentArray
from destage.sweeps.sizing.request import MOST, RAID_LEVELS
from destage.sweeps.sizing.shared_load import ADD, NamedLoad, resolve
from destage.sweeps.sizing.single_changes import Considered
from destage.sweeps.sizing.stored_data import scale_data, write_size
from destage.sweeps.space import parameters
from destage.sweeps.space.parameters import find_parameter
from destage.sweeps.study.users import USERS

_WITH_USERS = re.compile(r"(.+):(\d+)")


def split_users(text: str) -> tuple[str, int | None]:
    """Return the name of a load and the users that it states after a colon, as in `vdi:300`; None without.

    Raises:
        ConfigError: There are none, or more than a workload can have.
    """
    match = _WITH_USERS.fullmatch(text)
    if match is None or Path(text).exists():
        return text, None
    users = int(match[2])
    if not 1 <= users <= (find_parameter(USERS).most or 0):
        message = "the users after the colon must be from 1 to 1,000,000"
        raise ConfigError([Issue("study.out-of-range", ADD, message, text)])
    return match[1], users


def make_array(
    name: str,
    present: tuple[Mapping[str, Any], Sequence[str]],
    loads: Sequence[NamedLoad],
    *,
    objectives: Sequence[str],
    failures: Mapping[str, Sequence[str]],
    capacity: int | None,
    kept: int | None,
    most: int | None,
    phase: str | None = None,
) -> PresentArray:
    """Return the question whether an array carries more.

    Args:
        name: The name of the array in the names of studies.
        present: Its configuration with its present load, and sentences on what that assumes.
        capacity: The data of the added load [bytes]; None for its own.
        kept: The data that the array must hold after a change [bytes]; None for its usable capacity.
        most: The most disks; None for the usual number, or twice the present one.

    Raises:
        ConfigError: A workload is not in the catalogue, or the array has more disks than are considered, or
            less room than it must keep.
    """
    scenario, stated = present
    remarks = [*stated]
    for load in loads:
        remarks += [*describe_assumed_localities({"workload": load.workload}), *load.remarks]
    array = PresentArray(
        scenario=scenario,
        added=[_scale(load.workload, capacity) for load in loads],
        name=f"{name}-and-{'-'.join(load.name for load in loads)}",
        objectives=objectives,
        most=MOST if most is None else most,
        phase=phase,
        remarks=tuple(dict.fromkeys(remarks)),
        kept=kept,
        failures=failures,
    )
    if array.kept_bytes > array.usable_bytes:
        message = f"the array holds {write_size(array.usable_bytes)}; it must be at most that"
        raise ConfigError([Issue("study.out-of-range", "keep", message, kept)])
    if most is None:
        return replace(array, most=max(MOST, 2 * array.disks))
    if most < array.disks:
        message = f"{most} are the most disks considered, and the array has {array.disks}"
        raise ConfigError([Issue("study.out-of-range", "most", message, most)])
    return array


def consider(
    table: Mapping[str, Any], controllers: Sequence[str], disks: Sequence[str], raid: Sequence[str]
) -> Considered:
    """Return the parts and levels that changes are chosen from: those given, or all that have a price.

    Args:
        table: The price table.

    Raises:
        ConfigError: A part is not in the catalogue, or there is no such RAID level.
    """
    considered = Considered(
        controllers or list(table["controllers"]), disks or list(table["disks"]), raid or RAID_LEVELS
    )
    check_levels(considered.raid)
    kinds: Mapping[catalog.Kind, Sequence[str]] = {
        "controllers": considered.controllers,
        "disks": considered.disks,
    }
    issues = [
        replace(issue, place=kind)
        for kind, names in kinds.items()
        for name in names
        for issue in catalog.check_name(kind, name)
    ]
    if issues:
        raise ConfigError(issues)
    return considered


def _scale(workload: Mapping[str, Any], capacity: int | None) -> dict[str, Any]:
    """Return a workload, with its parts of the catalogue, over data of another size."""
    scaled = {"workload": resolve(workload, ADD)}
    for path, value in ({} if capacity is None else scale_data(scaled["workload"], capacity)).items():
        parameters.assign(scaled, path, value)
    return scaled["workload"]
