"""`destage size`."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from destage.cli.parameters.added_load import make_question
from destage.cli.parameters.completion import complete_configurations, complete_workloads
from destage.cli.parameters.shared_options import (
    Catalog,
    Json,
    Quiet,
    Store,
    Workers,
    is_given,
    parse_trace,
    reject_options,
    repeat_command,
    use_catalog,
)
from destage.cli.parameters.sizing_load import (
    LoadOptions,
    range_parser,
    reject_ranges,
)
from destage.cli.parameters.sizing_request import (
    DEFAULT_COUNT,
    EXAMPLE,
    SizeOptions,
    make_request,
    parse_growth,
    place_at_options,
)
from destage.cli.terminal.output import print_data, print_json, print_note
from destage.cli.terminal.progress_line import warn_if_between_sweeps

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from destage.sweeps import Outcome, Study
    from destage.sweeps.sizing.request import InputRange, SizingRequest


def size(
    context: typer.Context,
    users: Annotated[
        Any,
        typer.Option(
            "--users",
            parser=range_parser("users"),
            metavar="N|LOW..HIGH",
            help="Number of users; with --trace, of copies of the trace (default: that of a workload's "
            "file, else 1). A range gives odds and regret.",
        ),
    ] = None,
    read_share: Annotated[
        Any,
        typer.Option(
            "--read-share",
            parser=range_parser("read_share"),
            metavar="SHARE|LOW..HIGH",
            help="Share of reads of --iops, or of a workload of one stream, such as 0.7 or 70% (default: the "
            "workload's own).",
        ),
    ] = None,
    workload: Annotated[
        str | None,
        typer.Option(
            "--workload",
            metavar="NAME|FILE",
            help="Workload of the catalogue, such as vdi; a workload, configuration or study in YAML; or "
            "what `workload import` reads, such as a fio job.",
            autocompletion=complete_workloads,
        ),
    ] = None,
    have: Annotated[
        Path | None,
        typer.Option(
            "--have",
            metavar="FILE",
            help="Check whether an array carries more: its configuration with its present load.",
            autocompletion=complete_configurations,
        ),
    ] = None,
    add: Annotated[
        list[str] | None,
        typer.Option(
            "--add",
            metavar="NAME[:USERS]|FILE",
            help="Load beside --workload, or beside that of --have, as --workload takes it; repeatable.",
            autocompletion=complete_workloads,
        ),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option(
            "--keep",
            metavar="SIZE",
            help="With --have: data that the array must hold after a change (default: its usable capacity).",
        ),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option("--test", metavar="NAME", help="Test of an imported file that has several."),
    ] = None,
    iops: Annotated[
        Any,
        typer.Option(
            "--iops",
            parser=range_parser("iops"),
            metavar="RATE|LOW..HIGH",
            help="Reads and writes per second, instead of a workload: at random times and addresses. "
            "Needs --read-share.",
        ),
    ] = None,
    read_iops: Annotated[
        Any,
        typer.Option(
            "--read-iops",
            parser=range_parser("read_iops"),
            metavar="RATE|LOW..HIGH",
            help="Reads per second, in place of --iops.",
        ),
    ] = None,
    write_iops: Annotated[
        Any,
        typer.Option(
            "--write-iops",
            parser=range_parser("write_iops"),
            metavar="RATE|LOW..HIGH",
            help="Writes per second, likewise.",
        ),
    ] = None,
    request_size: Annotated[
        str | None,
        typer.Option("--size", metavar="SIZE", help="Size of these reads and writes, such as 8KiB."),
    ] = None,
    trace: Annotated[
        Any,
        typer.Option(
            "--trace",
            parser=parse_trace,
            metavar="TRACE",
            help="Block trace instead of a workload: a file or a URL.",
        ),
    ] = None,
    phase: Annotated[
        str | None,
        typer.Option(
            "--phase",
            metavar="NAME",
            help="Phase of the workload to measure, such as logons (default: the first, if it has phases).",
        ),
    ] = None,
    capacity: Annotated[
        str | None,
        typer.Option(
            "--capacity",
            metavar="SIZE",
            help="Data that the array must hold, such as 40TB; the workload's areas are scaled to it by "
            "one factor (default: the workload's own footprint).",
        ),
    ] = None,
    growth: Annotated[
        float,
        typer.Option(
            "--growth",
            parser=parse_growth,
            metavar="PERCENT",
            help="Growth of the data, added to --capacity, such as 30%; 0 to 1000.",
        ),
    ] = 0.0,
    spares: Annotated[
        int,
        typer.Option(
            "--spares", min=0, max=64, metavar="N", help="Hot spares, which have a price and hold no data."
        ),
    ] = 0,
    response_p95: Annotated[
        str | None,
        typer.Option(
            "--response-p95",
            metavar="TIME",
            help="Limit of the 95th percentile of the response time (default: 30ms, unless --subject-to has "
            "one).",
        ),
    ] = None,
    subject_to: Annotated[
        list[str] | None,
        typer.Option(
            "--subject-to",
            metavar="OBJECTIVE",
            help="Further objective, such as 'response_p99 <= 80ms'; repeatable. disk_busy_max <= 0.9 "
            "applies unless another bound is given.",
        ),
    ] = None,
    during_rebuild: Annotated[
        list[str] | None,
        typer.Option(
            "--during-rebuild",
            metavar="OBJECTIVE",
            help="Objective while a failed disk is rebuilt, such as 'response_p95 <= 80ms'; repeatable.",
        ),
    ] = None,
    dead_battery: Annotated[
        list[str] | None,
        typer.Option(
            "--dead-battery",
            metavar="OBJECTIVE",
            help="Objective while the battery of the write cache is dead, likewise; repeatable.",
        ),
    ] = None,
    disks: Annotated[
        list[str] | None,
        typer.Option("--disks", metavar="NAMES", help="Disks to consider (default: all that have a price)."),
    ] = None,
    controllers: Annotated[
        list[str] | None,
        typer.Option(
            "--controllers", metavar="NAMES", help="Controllers to consider (default: all that have a price)."
        ),
    ] = None,
    raid: Annotated[
        list[str] | None,
        typer.Option("--raid", metavar="LEVELS", help="RAID levels to consider (default: 10,5,6)."),
    ] = None,
    count: Annotated[
        str, typer.Option("--count", metavar="N|FROM-TO", help="Number of disks, or the range to consider.")
    ] = DEFAULT_COUNT,
    budget: Annotated[
        float | None,
        typer.Option(
            "--budget", min=0, metavar="PRICE", help="Highest price, in the currency of the prices."
        ),
    ] = None,
    prices: Annotated[
        Path | None,
        typer.Option(
            "--prices", metavar="FILE", help="Price table in YAML (default: an example, not quotes)."
        ),
    ] = None,
    assign: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="PATH=VALUE",
            help=f"Set a field of the configuration by its path, as in {EXAMPLE}; repeatable.",
        ),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Also print the response curve, all candidates, and the parts without a price."
        ),
    ] = False,
    example_prices: Annotated[
        bool, typer.Option("--example-prices", help="Print the example of a price table and exit.")
    ] = False,
    store: Store = None,
    workers: Workers = None,
    quiet: Quiet = False,
    catalog_files: Catalog = None,
    as_json: Json = False,
) -> None:
    """Find the cheapest configuration that carries a load.

    Searches controllers, disks, RAID levels and numbers of disks. Give one of each to check whether an array
    supports the load. With --have and --add, checks whether an array carries more than its present load, and
    which single change makes it. Exits with 1 if no configuration meets the objectives.

    --during-rebuild and --dead-battery give objectives in states of failure. The array found is the cheapest
    that meets all objectives in normal operation and in each state; with --have, the array and each change
    have to meet them. With ranges, a candidate carries what it carries in its worst state.

    With ranges, such as --users 250..350, gives the odds that each candidate meets the objectives, and its
    regret: its price beyond the cheapest that carries the load, or all of it where it does not carry it.
    Recommends the least regret on average; every value of a range is as probable as any other.
    """
    use_catalog(catalog_files)
    from destage import sizing
    from destage.cli.printed_results import sizing_answer
    from destage.failure_sizing import find_affordable

    if example_prices:
        from destage.sweeps.keys.prices import example_prices as read_example

        print_data(read_example())
        return
    inputs = [given for given in (users, iops, read_share, read_iops, write_iops) if given is not None]
    lows = {given.name: given.low for given in inputs}
    options = SizeOptions(
        load=LoadOptions(workload=workload, test=test, trace=trace, size=request_size, **lows),
        have=have,
        add=add or (),
        keep=keep,
        response_p95=response_p95,
        subject_to=subject_to or (),
        failures={"during_rebuild": during_rebuild or (), "dead_battery": dead_battery or ()},
        disks=disks or (),
        controllers=controllers or (),
        raid=raid or (),
        count=count if is_given(context, "--count") else None,
        budget=budget,
        prices=prices,
        phase=phase,
        assign=assign or (),
        capacity=capacity,
        growth=growth,
        spares=spares,
    )
    outcomes: list[Outcome] = []
    run = sizing_answer.make_runner(store, workers, outcomes, quiet=quiet)
    with warn_if_between_sweeps("size"), place_at_options(options):
        if have is not None or keep is not None:
            from destage.present_sizing import check_array

            reason = "--have does not take it: its array and its load are those of the file"
            reject_options(context, reason, "--workload", "--trace", "--spares", "--budget")
            if iops is None:
                reject_options(context, reason, "--read-share")
            reject_ranges(inputs)
            question = make_question(options)
            fit = check_array(question.array, question.considered, question.prices, run)
            if as_json:
                print_json(sizing_answer.fit_as_json(fit, outcomes))
            else:
                sizing_answer.print_fit(fit, outcomes, with_misses=explain)
                print_note(f"again: {repeat_command(context)}")
            raise typer.Exit(0 if fit.added.fits else 1)

        def request_at(values: "Mapping[str, Any]") -> "SizingRequest":
            return make_request(replace(options, load=replace(options.load, **values)))

        if any(given.has_width for given in inputs):
            reject_options(context, "it explains the answer for one load, not for ranges", "--explain")
            reject_options(context, "it is beside one load: a range is of one alone", "--add")
            is_carried = _answer_ranges(context, inputs, request_at, run, outcomes)
            raise typer.Exit(0 if is_carried else 1)
        request = request_at({})
        sized = find_affordable(request, run, sizing.find_candidates, sizing.describe_cheapest)
        curve = sizing.measure_curve(request, sized.carrying[0], run) if explain and sized.carrying else []
        if as_json:
            print_json(sizing_answer.as_json(sized, curve, outcomes))
        else:
            sizing_answer.print_sizing(sized, curve, request, outcomes)
            print_note(f"again: {repeat_command(context)}")
            if explain:
                if sized.carrying and not curve:
                    print_note("no response curve: no stream of the workload is per user")
                sizing_answer.print_candidates(sized)
        raise typer.Exit(0 if sized.carrying else 1)


def _answer_ranges(
    context: typer.Context,
    inputs: "Sequence[InputRange]",
    request_at: "Callable[[Mapping[str, Any]], SizingRequest]",
    run: "Callable[[Study], Outcome]",
    outcomes: "list[Outcome]",
) -> bool:
    """Print the answer for a load in ranges, and return whether an array carries some of it.

    Args:
        outcomes: The sweeps that `run` has run.
    """
    from destage import failure_sizing, sizing
    from destage.cli.printed_results import sizing_answer
    from destage.sweeps.sizing.uncertain_load import describe_load

    load = describe_load(inputs, request_at)
    if not context.params["quiet"]:
        print_note(sizing_answer.describe_work(load))
    ranged = sizing.judge_ranges(load, run, failure_sizing.find_cheapest_in_failures)
    if context.params["as_json"]:
        print_json(sizing_answer.ranged_as_json(ranged, outcomes))
    else:
        sizing_answer.print_ranged(ranged, request_at({}), outcomes)
        print_note(f"again: {repeat_command(context)}")
    return bool(ranged.carrying)
