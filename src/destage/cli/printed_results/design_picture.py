"""The picture of a study's points over two of its axes."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from destage.cli.terminal.output import print_note
from destage.errors import UsageError
from destage.spec.axis_names import name_axes
from destage.spec.validation import suggest

if TYPE_CHECKING:
    import pyarrow as pa

    from destage.sweeps import Study
    from destage.sweeps.execution.outcomes import Preview


def draw_plan(
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
