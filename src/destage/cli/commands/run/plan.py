"""`destage run --plan`: the runs of a study."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from destage.cli.parameters.shared_options import check_suffix
from destage.cli.terminal.output import print_data, print_json, print_note, print_pairs
from destage.cli.terminal.progress_line import format_duration
from destage.cli.terminal.terminal_text import print_table

if TYPE_CHECKING:
    from destage.store import Location
    from destage.sweeps import Study
    from destage.sweeps.execution.time_estimate import TimeEstimate

_FIRST_ROWS = 10


def print_plan(
    study: "Study",
    store: "Location | None",
    axes: str | None,
    plot: Path | None,
    *,
    with_estimate: bool,
    as_json: bool,
) -> None:
    """Print the runs of a study and how long they will take, with a plot of the points if asked for."""
    import pyarrow.compute as pc

    from destage import sweeps
    from destage.engine.configuration import find_unit
    from destage.queries.tables.facts import collapse_table
    from destage.queries.text.plain_values import rows_as_json
    from destage.store.state.plan import CONFIG_COLUMNS, join_configs, read_axes
    from destage.sweeps.study.axis_forms import describe_axes, describe_design

    if plot is not None:
        check_suffix(plot, "--plot", ".svg")
    preview = sweeps.plan(study, store, with_estimate=with_estimate)
    estimate = preview.estimate
    rows = preview.table.drop_columns(list(CONFIG_COLUMNS))
    if len(pc.unique(rows["point_id"])) > preview.points:
        rows = collapse_table(rows, read_axes(rows.schema))
    config = json.loads(join_configs(preview.table.slice(0, 1))[0].as_py())
    units = {name: unit for name in rows.column_names if "." in name and (unit := find_unit(name, config))}
    picture: list[str] = []
    if plot is not None or axes is not None:
        from destage.cli.printed_results.design_picture import draw_plan

        picture = draw_plan(study, preview, units, axes, plot)
    forms, design = describe_axes(study), describe_design(study)
    if as_json:
        facts = {
            "sweep": str(preview.sweep_path),
            "axes": forms,
            "design": design,
            "points": preview.points,
            "runs": preview.runs,
            "present": preview.present,
            "shared": preview.shared,
            "adaptive": preview.adaptive,
            "estimate": None if estimate is None else asdict(estimate),
        }
        print_json(facts | {"rows": rows_as_json(rows)})
        return
    more = "; later rounds depend on its results" if preview.adaptive else "; no further rounds"
    shared = f", {preview.shared:,} in other sweeps of this store" if preview.shared else ""
    lines: dict[str, object] = {
        "sweep": preview.sweep_path,
        **forms,
        **({} if design is None else {"design": design}),
        "points": preview.points,
        "first round": f"{preview.runs} runs, {preview.present} already in the store{shared}{more}",
    }
    print_pairs(lines if estimate is None else lines | {"time": _describe_time(estimate)})
    if picture:
        print_data("".join(f"{line}\n" for line in ["", *picture, ""]))
    print_note(f"first {min(_FIRST_ROWS, rows.num_rows)} of {rows.num_rows} rows:")
    print_table(rows.slice(0, _FIRST_ROWS), units)


def _describe_time(estimate: "TimeEstimate") -> str:
    """Return the time as a range, with what it comes from."""
    if not estimate.runs_high:
        return "none: all runs are in the store"
    low, high = estimate.runs_low, estimate.runs_high
    runs = f"{high}" if low == high else f"{low} to {high}"
    shortest, longest = format_duration(estimate.low_s), format_duration(estimate.high_s)
    time = f"about {longest}" if shortest == longest else f"{shortest} to {longest}"
    return f"{time} for {runs} runs, {estimate.slots} at a time (from {estimate.samples} {estimate.basis})"
