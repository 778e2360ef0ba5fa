"""`destage trace replay`."""

from typing import Annotated, Literal

import typer

from destage.cli.commands.trace.options import TraceFile
from destage.cli.parameters.part_options import check_entry, check_sizes, parse_array, place_at_option
from destage.cli.parameters.shared_options import Format, Json, Out, Quiet, Store, Workers
from destage.cli.printed_results.finished_sweep import outcome_as_json, summarize
from destage.cli.terminal.hard_stop import HardStop
from destage.cli.terminal.output import print_data, print_json, print_note, print_warning
from destage.cli.terminal.printed_rows import print_rows
from destage.cli.terminal.progress_line import ProgressDisplay, warn_if_stopped
from destage.cli.terminal.terminal_text import wrap_lines
from destage.errors import ConfigError, TraceError, UsageError


def replay(
    trace: TraceFile,
    on: Annotated[
        str, typer.Option("--on", metavar="ARRAY", help="RAID level and disks, as in raid5x8 or raid10x4.")
    ],
    cache: Annotated[
        str | None,
        typer.Option("--cache", metavar="SIZE,...", help="Cache sizes, as in 0,256MiB (default: as built)."),
    ] = None,
    disk: Annotated[str, typer.Option("--disk", metavar="NAME", help="Disk, of the catalogue.")] = "exos_x18",
    controller: Annotated[
        str, typer.Option("--controller", metavar="NAME", help="Controller, of the catalogue.")
    ] = "megaraid_9560_8i",
    mode: Annotated[
        Literal["dependent", "open", "asap"],
        typer.Option(
            "--mode",
            help="When a request is issued: after those that its process waits for (dependent), at its "
            "recorded time (open), or as soon as possible (asap).",
        ),
    ] = "dependent",
    depth: Annotated[
        int | None,
        typer.Option("--depth", min=1, max=100_000, help="Outstanding requests in mode asap (default: 1)."),
    ] = None,
    addresses: Annotated[
        Literal["error", "wrap", "compact"],
        typer.Option(
            "--map",
            help="Addresses beyond the array: an error, modulo its capacity (wrap), or only the "
            "touched parts of the trace, close together (compact).",
        ),
    ] = "error",
    replicates: Annotated[
        int, typer.Option("--replicates", min=1, max=1000, help="Runs per cache size.")
    ] = 3,
    form: Format = "table",
    out: Out = None,
    store: Store = None,
    workers: Workers = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Replay a trace on an array, with each cache size.

    Prints completion or response times and hit ratios with 95 % intervals. The runs are a sweep in the store.
    """
    from destage import sweeps
    from destage.queries import open_session
    from destage.queries.findings.replay_results import tabulate_replay
    from destage.queries.report.reported_kinds import compose_answer
    from destage.queries.text.plain_values import rows_as_json
    from destage.sweeps.reading.new_study import make_study

    if depth is not None and mode != "asap":
        raise UsageError("usage.conflicting-options", "requires --mode asap", "--depth")
    sizes = check_sizes(cache or "")
    array = parse_array(on, "--on")
    check_entry("controller", controller)
    check_entry("disk", disk)
    study = make_study(
        trace,
        controller=controller,
        disk=disk,
        raid=array.raid,
        disks=array.disks,
        caches=sizes,
        mode=mode,
        depth=depth,
        addresses=addresses,
        replicates=replicates,
    )
    try:
        with HardStop(study.name), ProgressDisplay(study.name, is_quiet=quiet) as display:
            outcome = sweeps.run(study, store, workers=workers, progress=display)
    except ConfigError as error:
        raise place_at_option(error, "--on") from None
    except TraceError as error:
        if error.code != "trace.beyond-array":
            raise
        message = error.message.replace("set `map` to wrap or compact", "use --map wrap or --map compact")
        raise TraceError(error.code, message, "--map") from None
    print_warning(*outcome.messages)
    if warn_if_stopped(outcome):
        raise typer.Exit(outcome.exit_code)
    with open_session(outcome.path) as session:
        rows = tabulate_replay(session, mode, is_brief=form == "table" and out is None and not as_json)
        if as_json:
            print_json(
                {
                    "outcome": outcome_as_json(outcome),
                    "answer": compose_answer(session),
                    "results": rows_as_json(rows),
                },
                out,
            )
        else:
            print_rows(rows, form, out, session.units)
            if form == "table" and out is None:
                print_data(wrap_lines(["", *compose_answer(session)]))
    print_note(summarize(outcome))
    raise typer.Exit(outcome.exit_code)
