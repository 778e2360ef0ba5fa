"""The options of `destage size --have` as a question: the present array, and the loads that are added."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from destage.cli.parameters.scenario_file import (
    assign_field,
    check_units,
    locate_mistakes,
    read_scenario,
)
from destage.cli.parameters.shared_options import parse_size, translate_places
from destage.cli.parameters.sizing_load import LoadOptions, SizedLoad, make_slug, read_load
from destage.cli.parameters.sizing_request import (
    SizeOptions,
    choose_phase,
    read_capacity,
    read_count,
    read_prices,
    split,
)
from destage.errors import ConfigError, Issue, UsageError

if TYPE_CHECKING:
    from destage.spec.source import Source
    from destage.sweeps.sizing.present_array import PresentArray
    from destage.sweeps.sizing.single_changes import Considered

_VARIED = ("axes", "zip", "points", "design", "search", "refine", "seek", "calibrate")
"""The keys of a study that may give it more than one configuration."""


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
    from destage.engine.workload_description import describe_assumed_localities
    from destage.sweeps.sizing.failure_states import list_failures
    from destage.sweeps.sizing.present_array import PresentArray
    from destage.sweeps.sizing.request import MOST, RAID_LEVELS, list_objectives
    from destage.sweeps.sizing.single_changes import Considered
    from destage.sweeps.sizing.stored_data import write_size

    if options.have is None:
        option = "--add" if options.add else "--keep"
        message = f"{option} needs --have, the array that a load is added to"
        raise UsageError("usage.conflicting-options", message, option)
    loads = _read_loads(options)
    added = _scale(loads, options)
    scenario, localities = _read_present(options.have, options.assign)
    objectives = list_objectives(options.response_p95, options.subject_to)
    for load in loads:
        localities += [*describe_assumed_localities({"workload": load.workload}), *load.remarks]
    array = PresentArray(
        scenario=scenario,
        added=added,
        name=f"{make_slug(options.have.stem)}-and-{'-'.join(load.name for load in loads)}",
        objectives=objectives,
        most=0,
        phase=options.phase,
        remarks=tuple(dict.fromkeys(localities)),
        kept=None if options.keep is None else parse_size(options.keep, "--keep"),
        failures=list_failures(options.failures),
    )
    if array.kept_bytes > array.usable_bytes:
        message = f"{options.keep}: the array holds {write_size(array.usable_bytes)}; it must be at most that"
        raise UsageError("usage.out-of-range", message, "--keep")
    most = max(MOST, 2 * array.disks)
    if options.count is not None:
        _, most = read_count(options.count)
        if most < array.disks:
            message = (
                f"{options.count!r}: the last number is the most considered; the array has {array.disks}"
            )
            raise UsageError("usage.bad-value", message, "--count")
    if options.phase is not None:
        choose_phase(array.share()[0]["workload"], options.phase)
    table = read_prices(options.prices)
    considered = Considered(
        split(options.controllers) or list(table["controllers"]),
        split(options.disks) or list(table["disks"]),
        split(options.raid) or RAID_LEVELS,
    )
    _check_names(considered)
    return Question(replace(array, most=most), considered, None if options.prices is None else table)


def _read_loads(options: SizeOptions) -> list[SizedLoad]:
    """Return the loads that are added."""
    given = options.load
    if not options.add and not given.is_rate:
        message = (
            "missing; --have needs a load that is added: --add, or a rate, as by --iops and --read-share"
        )
        raise UsageError("usage.missing-argument", message, "--add")
    if len(options.add) + given.is_rate == 1:
        return [read_load(replace(given, workload=next(iter(options.add), None)))]
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
                f"{option} is for one added load, and several are given; a file has its own users and data"
            )
            raise UsageError("usage.conflicting-options", message, option)
    return [read_load(LoadOptions(workload=name)) for name in options.add]


def _scale(loads: Sequence[SizedLoad], options: SizeOptions) -> list[dict[str, Any]]:
    """Return the workloads of loads over the data that the options state."""
    from destage.engine import catalog
    from destage.sweeps.sizing.shared_load import ADD
    from destage.sweeps.sizing.stored_data import scale_data
    from destage.sweeps.space import parameters

    data = read_capacity(options)
    workloads = []
    for load in loads:
        scaled: dict[str, Any] = {"workload": dict(load.workload)}
        for path, value in ({} if data is None else scale_data(load.workload, data)).items():
            parameters.assign(scaled, path, value)
        with translate_places({"workload.use": ADD}):
            workloads.append(catalog.resolve(scaled)["workload"])
    return workloads


def _read_present(file: Path, assign: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Return the configuration of the array with its load, and the localities that its load assumes."""
    from destage import engine
    from destage.engine.workload_description import describe_assumed_localities

    scenario, source = read_scenario(file, "--have")
    _check_one_point(source)
    assigned = [assign_field(scenario, text) for text in assign]
    with locate_mistakes(source, assigned):
        check_units(scenario, assigned, source)
        scenario = engine.traces.bind(scenario, file.parent)
        described = engine.normalise(scenario)
        if len(described["arrays"]) > 1:
            message = f"{len(described['arrays'])} arrays; --have takes a configuration with one"
            raise ConfigError([Issue("scenario.several-arrays", "arrays", message)])
    localities = describe_assumed_localities(scenario, assigned)
    own = {key: scenario[key] for key in ("workload", engine.catalog.OWN) if key in scenario}
    return {**scenario, "workload": engine.catalog.resolve(own)["workload"]}, localities


def _check_one_point(source: "Source") -> None:
    """Reject a study of more than one configuration."""
    from destage.spec.documents import parse_document

    document = parse_document(source.text, source.name)
    varied = (
        [key for key in _VARIED if key in document] if isinstance(document, dict) and source.within else []
    )
    if varied:
        message = "a study of several configurations; --have takes one: leave out this key"
        raise source.error([Issue("study.unknown-key", varied[0], message)])


def _check_names(considered: "Considered") -> None:
    from destage.engine import catalog
    from destage.sweeps.sizing.families import check_levels

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
