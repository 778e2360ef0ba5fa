"""`destage explain ranges`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from destage.cli.parameters.shared_options import (
    Format,
    Json,
    Out,
    Store,
    SweepName,
    check_suffix,
    declare_conditions,
    declare_plot,
)
from destage.cli.terminal.output import print_data, print_json, print_note
from destage.cli.terminal.printed_rows import find_sweep, print_rows
from destage.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from destage.discovery.boxes import Box
    from destage.queries import Session
    from destage.queries.pairs.discovered_box import Discovery, Limit


def ranges(
    sweep: SweepName,
    where: Annotated[
        str,
        declare_conditions("--where", "The statement, an SQL condition over the columns that tables show."),
    ],
    against: Annotated[
        list[str] | None,
        declare_conditions(
            "--against",
            "Compare each point with the one that meets this SQL condition and is otherwise equal, as in "
            "'cache_capacity = 0'; its columns are base.NAME.",
        ),
    ] = None,
    coverage: Annotated[
        float | None,
        typer.Option("--coverage", help="Choose the densest box of at least this coverage."),
    ] = None,
    density: Annotated[
        float | None,
        typer.Option("--density", help="Choose the box with the largest coverage of at least this density."),
    ] = None,
    plot: Annotated[Path | None, declare_plot("Write a picture of the two main axes to FILE (.svg).")] = None,
    form: Format = "table",
    out: Out = None,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Find the ranges of the axes under which a statement holds.

    Prints the box of points that has most of the cases, the points where the statement holds, and few others:
    its density is the share of cases among the points inside, its coverage the share of all cases that are
    inside. By default, the box has the largest harmonic mean of both.
    """
    from destage.discovery.choice import Rule
    from destage.queries import open_session
    from destage.queries.pairs.discovered_box import discover

    _check_options(coverage, density, plot)
    with open_session(find_sweep(sweep, store)) as session:
        discovery = discover(session, where, against or (), Rule(coverage, density))
        if as_json:
            print_json(_as_json(discovery), out)
        elif form != "table" or out is not None:
            print_rows(_tabulate(discovery), form, out, session.units)
        else:
            print_data(f"{discovery.answer}\n")
            if discovery.limits:
                print_data("\n")
                print_rows(_present_limits(discovery), "table", None, {})
        for note in _list_notes(discovery):
            print_note(note)
        if plot is not None:
            _write_picture(discovery, session, plot)


def _write_picture(discovery: "Discovery", session: "Session", file: Path) -> None:
    from destage.queries.report.drawing.box_picture import draw_box

    if discovery.box is None or not discovery.limits:
        print_note("no picture: there is no box with limits")
        return
    file.write_text(draw_box(discovery, session.units), encoding="utf-8")
    print_note(f"picture: {file}")


def _check_options(coverage: float | None, density: float | None, plot: Path | None) -> None:
    check_suffix(plot, "--plot", ".svg")
    if coverage is not None and density is not None:
        message = "set --coverage or --density, not both: the other one is then maximized"
        raise UsageError("usage.conflicting-options", message, "--density")
    for option, share in (("--coverage", coverage), ("--density", density)):
        if share is not None and not 0 < share <= 1:
            raise UsageError("usage.out-of-range", f"{share}: must be above 0 and at most 1", option)


def _tabulate(found: "Discovery") -> "pa.Table":
    """Return a row per limit of the box [base units]; values of an axis without order are a text."""
    import pyarrow as pa

    schema = pa.schema(
        [
            pa.field("axis", pa.string()),
            *(pa.field(name, pa.float64()) for name in ("low", "high")),
            pa.field("values", pa.string()),
            *(pa.field(name, pa.float64()) for name in ("quasi_p", "density_without", "coverage_without")),
        ]
    )
    return pa.Table.from_pylist([_as_row(limit) for limit in found.limits], schema)


def _present_limits(found: "Discovery") -> "pa.Table":
    """Return the limits as people read them."""
    import pyarrow as pa

    columns: dict[str, list[object]] = {
        "limit": [limit.text for limit in found.limits],
        "density_without": [round(limit.density, 3) for limit in found.limits],
        "coverage_without": [round(limit.coverage, 3) for limit in found.limits],
        "quasi_p_value": [float(f"{limit.quasi_p:.2g}") for limit in found.limits],
    }
    return pa.table(columns)


def _as_json(found: "Discovery") -> dict[str, Any]:
    """Return a discovery as `--json` prints it."""
    return {
        "statement": found.statement,
        "answer": found.answer,
        "points": len(found.cases.holds),
        "cases": int(found.cases.holds.sum()),
        "unknown": found.cases.unknown,
        "unmatched": found.cases.unmatched,
        "box": None
        if found.box is None
        else {**_quality(found.box), "limits": list(map(_as_row, found.limits))},
        "trajectory": [_quality(box) for box in found.trajectory],
    }


def _list_notes(found: "Discovery") -> list[str]:
    """Return what to know about a discovery."""
    from destage.discovery.choice import CHANCE

    notes = []
    if found.box is not None:
        notes.append(
            f"density {found.box.density:.3f}, coverage {found.box.coverage:.3f}, "
            f"mass {found.box.mass:.3f} of {len(found.cases.holds)} points "
            f"({len(found.trajectory)} boxes peeled)"
        )
    doubtful = [limit.text for limit in found.limits if limit.quasi_p > CHANCE]
    if doubtful:
        notes.append(f"may be chance (quasi-p-value above {CHANCE}): {', '.join(doubtful)}")
    if found.cases.unknown:
        notes.append(f"{found.cases.unknown} points left out: the statement is null without a result")
    if found.cases.unmatched:
        notes.append(
            f"{found.cases.unmatched} points left out: no point to compare with; naming more axes in "
            "--against compares across them"
        )
    return notes


def _quality(box: "Box") -> dict[str, Any]:
    return {
        "density": box.density,
        "coverage": box.coverage,
        "mass": box.mass,
        "points": box.points,
        "cases": box.cases,
        "restricted": len(box.restricted),
    }


def _as_row(limit: "Limit") -> dict[str, Any]:
    return {
        "axis": limit.axis,
        "low": limit.low,
        "high": limit.high,
        "values": None if limit.values is None else ", ".join(map(str, limit.values)),
        "quasi_p": limit.quasi_p,
        "density_without": limit.density,
        "coverage_without": limit.coverage,
    }
