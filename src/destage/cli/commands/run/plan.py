"""`destage run --plan`: the runs of a study, and a picture of its points over two axes."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from destage.cli.parameters.shared_options import check_suffix
from destage.cli.terminal.output import print_data, print_json, print_note, print_pairs
from destage.cli.terminal.progress_line import format_duration
from destage.cli.terminal.terminal_text import print_table
from destage.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from destage.store import Location
    from destage.sweeps import Study
    from destage.sweeps.execution.outcomes import Preview
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
    from destage.spec.axis_names import list_distinct
    from destage.store.state.plan import CONFIG_COLUMNS, join_configs, read_axes
    from destage.sweeps.study.axis_forms import describe_axes, describe_design

    check_suffix(plot, "--plot", ".svg")
    preview = sweeps.plan(study, store, with_estimate=with_estimate)
    estimate = preview.estimate
    rows = preview.table.drop_columns(list(CONFIG_COLUMNS))
    if len(pc.unique(rows["point_id"])) > preview.points:
        axes_of_rows = read_axes(rows.schema)
        rows = collapse_table(
            rows, axes_of_rows, list_distinct(axes_of_rows, has_prices=study.prices is not None)
        )
    config = json.loads(join_configs(preview.table.slice(0, 1))[0].as_py())
    units = {name: unit for name in rows.column_names if "." in name and (unit := find_unit(name, config))}
    picture: list[str] = []
    if plot is not None or axes is not None:
        picture = _draw_plan(study, preview, units, axes, plot)
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


def _draw_plan(
    study: "Study", preview: "Preview", units: Mapping[str, str], axes: str | None, plot: Path | None
) -> list[str]:
    """Draw the points of a plan, to a file or as the lines of a text.

    Args:
        preview: What the study would run.
        axes: Two axes by dotted path or name, separated by a comma; None chooses them.

    Raises:
        UsageError: There are not two such axes.
    """
    import pyarrow.compute as pc

    from destage.queries.report.drawing.design_plot import PlottedAxis, draw_design, draw_text
    from destage.spec.axis_names import name_axes
    from destage.store.state.plan import read_axes
    from destage.sweeps.study.axis_forms import describe_design, list_log_axes

    rows = preview.table
    every_axis = read_axes(rows.schema)
    chosen = _find_axes(axes, every_axis) if axes is not None else _choose_axes(study, rows, every_axis)
    points = rows.take(pc.index_in(pc.unique(rows["point_id"]), rows["point_id"]))
    log_axes, names = list_log_axes(study), name_axes(every_axis)
    x, y = (
        PlottedAxis(names[path], units.get(path), points[path].to_pylist(), path in log_axes)
        for path in chosen
    )
    if plot is None:
        return draw_text(x, y)
    count = f"{preview.points:,} points"
    design = describe_design(study)
    plot.write_text(
        draw_design(study.name, f"{count}; {design}" if design else count, x, y), encoding="utf-8"
    )
    print_note(f"plot written to {plot}")
    return []


def _find_axes(given: str, every_axis: list[str]) -> list[str]:
    """Return the axes that a user names."""
    from destage.spec.near_names import suggest
    from destage.sql.statements import alias_paths

    names = {name: paths[0] for name, paths in alias_paths(every_axis).items() if len(paths) == 1}
    names |= {path: path for path in every_axis}
    parts = [part.strip() for part in given.split(",")]
    if len(parts) != 2:  # noqa: PLR2004 - a plot has two axes
        raise UsageError("usage.bad-value", f"{given!r} does not name two axes, as in X,Y", "--axes")
    for part in parts:
        if part not in names:
            message = f"{part!r} is not an axis{suggest(part, sorted(names))}"
            raise UsageError("usage.bad-value", message, "--axes")
    return [names[part] for part in parts]


def _choose_axes(study: "Study", rows: "pa.Table", every_axis: list[str]) -> list[str]:
    """Return the first two axes with several numbers, sampled ones first."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def is_numeric(path: str) -> bool:
        kind = rows.schema.field(path).type
        return (pa.types.is_integer(kind) or pa.types.is_floating(kind)) and len(pc.unique(rows[path])) > 1

    sampled = () if study.design is None else study.design.axes
    numeric = sorted(filter(is_numeric, every_axis), key=lambda path: path not in sampled)
    if len(numeric) < 2:  # noqa: PLR2004 - a plot has two axes
        message = "fewer than two axes have several numbers; name two axes with --axes"
        raise UsageError("usage.bad-value", message, "--plot")
    return numeric[:2]
