"""The options of `destage size --have` as a question: the present array, and the loads that are added."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from destage.cli.parameters.scenario_file import assign_field
from destage.cli.parameters.shared_options import parse_size, read_file
from destage.cli.parameters.sizing_load import SizedLoad, make_slug, read_added, read_load
from destage.cli.parameters.sizing_request import (
    SizeOptions,
    choose_phase,
    read_capacity,
    read_count,
    read_prices,
    split,
)
from destage.errors import UsageError

if TYPE_CHECKING:
    from destage.sweeps.sizing.present_array import PresentArray
    from destage.sweeps.sizing.single_changes import Considered


@dataclass(frozen=True, slots=True)
class Question:
    """An array with the loads that are added, and what its changes are chosen from."""

    array: "PresentArray"
    considered: "Considered"
    prices: Mapping[str, Any] | None


def make_question(options: SizeOptions) -> Question:
    """Return the question that the options make.

    Raises:
        UsageError: Options contradict each other, or one is missing.
    """
    from destage.sweeps.reading.scenario_text import parse_scenario, read_present
    from destage.sweeps.sizing.added_loads import consider, make_array
    from destage.sweeps.sizing.failure_states import list_failures
    from destage.sweeps.sizing.request import list_objectives
    from destage.sweeps.sizing.shared_load import NamedLoad

    file = options.have
    if file is None:
        message = "--keep needs --have, the array that a load is added to"
        raise UsageError("usage.conflicting-options", message, "--keep")
    loads, data = _read_loads(options), read_capacity(options)
    scenario, source = parse_scenario(read_file(file, "--have"), str(file), file.parent)
    assigned = [assign_field(scenario, text) for text in options.assign]
    array = make_array(
        make_slug(file.stem),
        read_present(scenario, source, file.parent, assigned),
        [NamedLoad(load.workload, load.name, load.remarks) for load in loads],
        objectives=list_objectives(options.response_p95, options.subject_to),
        failures=list_failures(options.failures),
        capacity=data,
        kept=None if options.keep is None else parse_size(options.keep, "--keep", "TB"),
        most=None if options.count is None else read_count(options.count)[1],
        phase=options.phase,
    )
    if options.phase is not None:
        choose_phase(array.share()[0]["workload"], options.phase)
    table = read_prices(options.prices)
    considered = consider(table, split(options.controllers), split(options.disks), split(options.raid))
    return Question(array, considered, None if options.prices is None else table)


def _read_loads(options: SizeOptions) -> list[SizedLoad]:
    """Return the loads that are added."""
    given = options.load
    if not options.add and not given.is_rate:
        message = (
            "missing; --have needs a load that is added: --add, or a rate, as by --iops and --read-share"
        )
        raise UsageError("usage.missing-argument", message, "--add")
    if len(options.add) + given.is_rate == 1:
        return [read_added(name, given) for name in options.add] or [read_load(given)]
    alone = {
        "--users": given.users,
        "--test": given.test,
        "--capacity": options.capacity,
        "--iops": given.iops,
        "--read-iops": given.read_iops,
        "--write-iops": given.write_iops,
    }
    for option, value in alone.items():
        if value is not None:
            message = (
                f"{option} is for one added load, and several are given; a file has its own users and data, "
                "and a name may have its users after a colon, as in vdi:300"
            )
            raise UsageError("usage.conflicting-options", message, option)
    return [read_added(name) for name in options.add]
