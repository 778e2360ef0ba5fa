"""The verbs that plan, run and follow a sweep."""

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from destage.cli.judging import print_verdicts
from destage.cli.options import Executor, Quiet, RayAddress, ReportFile, Store, SweepName, Workers
from destage.cli.output import Json, print_data, print_json, print_pairs, say, warn
from destage.cli.progress import ProgressDisplay
from destage.cli.table import print_table

if TYPE_CHECKING:
    from destage.store import Location
    from destage.sweeps import Outcome, Study

Spec = Annotated[
    str, typer.Argument(metavar="SPEC", help="A study: a YAML file, or the name of a bundled one.")
]
_FIRST_ROWS = 10
_UNFINISHED = {"interrupted", "infrastructure"}


def run(
    spec: Spec,
    store: Store = None,
    executor: Executor = "auto",
    workers: Workers = None,
    ray_address: RayAddress = None,
    report: ReportFile = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Run a study, print its design space and write its report; what the store holds is not run again."""
    from destage import sweeps

    executor = _on_cluster(ray_address, executor)
    run_study(sweeps.load_study(spec), store, executor, workers, report, quiet=quiet, as_json=as_json)


def run_study(
    study: "Study",
    store: "Location | None",
    executor: Any,
    workers: int | None,
    report: Path | None,
    *,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run a study and show what it answers.

    Args:
        study: The study.
        store: The store; None for the default one.
        executor: Where the runs are executed.
        workers: How many at a time.
        report: Where the report goes; None for the sweep's own.
        quiet: Whether no progress is shown.
        as_json: Whether stdout gets JSON.
    """
    from destage import sweeps

    with ProgressDisplay(study.name, is_quiet=quiet) as display:
        outcome = sweeps.run(study, store, executor=executor, workers=workers, progress=display)
    _conclude(outcome, report, as_json=as_json)


def resume(
    sweep: SweepName,
    store: Store = None,
    executor: Executor = "auto",
    workers: Workers = None,
    ray_address: RayAddress = None,
    report: ReportFile = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Run what a sweep still lacks, print its design space and write its report."""
    from destage import sweeps
    from destage.store import find_sweep

    executor = _on_cluster(ray_address, executor)
    path = find_sweep(sweep, store)
    with ProgressDisplay(path.name, is_quiet=quiet) as display:
        outcome = sweeps.resume(path, executor=executor, workers=workers, progress=display)
    _conclude(outcome, report, as_json=as_json)


def plan(spec: Spec, store: Store = None, as_json: Json = False) -> None:
    """Show what a study would run, without running or writing anything."""
    from destage import sweeps
    from destage.engine.scenario_schema import unit_at
    from destage.queries.formats import rows_of

    preview = sweeps.plan(sweeps.load_study(spec), store)
    facts = {
        "sweep": str(preview.sweep_path),
        "points": preview.points,
        "runs": preview.runs,
        "present": preview.present,
        "adaptive": preview.adaptive,
    }
    rows = preview.table.drop_columns(["config"])
    config = json.loads(preview.table["config"][0].as_py()) if preview.runs else {}
    if as_json:
        print_json(facts | {"rows": rows_of(rows)})
        return
    more = "more rounds follow from the rows of this one" if preview.adaptive else "this is all"
    print_pairs(
        {
            "sweep": facts["sweep"],
            "points": preview.points,
            "first round": f"{preview.runs} runs, {preview.present} of them in the store; {more}",
        }
    )
    say(f"the first {min(_FIRST_ROWS, rows.num_rows)} of {rows.num_rows} rows:")
    units = {name: unit_at(name, config) for name in rows.column_names if "." in name}
    print_table(rows.slice(0, _FIRST_ROWS), {name: unit for name, unit in units.items() if unit})


def status(
    sweep: Annotated[
        str | None, typer.Argument(metavar="[SWEEP]", help="A sweep; without it, all of the store.")
    ] = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Say how far a sweep is, or every sweep of the store."""
    from destage.store import find_sweep, list_sweeps, progress

    paths = list_sweeps(store) if sweep is None else [find_sweep(sweep, store)]
    found = {path.name: progress.status(path) for path in paths}
    if as_json:
        print_json({name: asdict(one) for name, one in found.items()})
        return
    lines: dict[str, object] = {}
    for name, one in found.items():
        state = "finished" if one.finished else "unfinished"
        failed = f", {one.failed} failed" if one.failed else ""
        rounds = "1 round" if one.rounds == 1 else f"{one.rounds} rounds"
        writer = f", being written by {one.writer}" if one.writer else ""
        lines[name] = f"{state}: {one.present} of {one.planned} runs in {rounds}{failed}{writer}"
    print_pairs(lines)
    if not lines:
        say("no sweeps yet")


def _on_cluster(address: str | None, executor: Any) -> Any:
    """Return the executor for a Ray cluster that is there already, where one is named."""
    if address is None:
        return executor
    if executor == "inline":
        raise typer.BadParameter("--ray-address is for the executor ray: leave out --executor inline")
    os.environ["RAY_ADDRESS"] = address
    return "ray"


def _conclude(outcome: "Outcome", report: Path | None, *, as_json: bool) -> None:
    from destage.queries import open_session
    from destage.queries.formats import rows_of
    from destage.queries.report import answer_sentences, write_report
    from destage.queries.verdicts import verdict_table

    for message in outcome.messages:
        warn(message)
    where = ""
    if outcome.executed:
        where = f" ({outcome.executor}, {outcome.executed / max(outcome.seconds, 1e-3):.1f} runs/s)"
    say(
        f"{outcome.path.name}: {outcome.runs} runs there; {outcome.executed} executed{where}, "
        f"{outcome.reused} reused, {outcome.failed} failed, in {outcome.seconds:.1f} s"
    )
    if outcome.state in _UNFINISHED:
        if as_json:
            print_json({"outcome": _outcome(outcome)})
        warn(f"{outcome.state}: what was run is kept; continue with: destage resume {outcome.path}")
        raise typer.Exit(outcome.exit_code)
    with open_session(outcome.path) as session:
        rows = session.query("design_space")
        judged = verdict_table(session)
        file = write_report(session, report)
        if as_json:
            print_json(
                {
                    "outcome": _outcome(outcome),
                    "report": str(file),
                    "design_space": rows_of(rows),
                    "published": rows_of(judged),
                }
            )
        else:
            print_table(rows, session.units)
            if judged.num_rows:
                print_data("\n")
                print_verdicts([(outcome.path.name, judged.to_pylist())])
        # Last, so that the answer stands where the eye is when the table has scrolled by.
        for sentence in answer_sentences(session):
            say(sentence)
    say(f"report: {file}")
    if outcome.state == "budget":
        warn(f"the budget was reached; continue with: destage resume {outcome.path}")
    raise typer.Exit(outcome.exit_code)


def _outcome(outcome: "Outcome") -> dict[str, Any]:
    return asdict(outcome) | {"path": str(outcome.path)}
