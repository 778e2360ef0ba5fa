"""`destage simulate`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from destage.cli.parameters.completion import complete_configurations, complete_parameters
from destage.cli.parameters.scenario_file import EXAMPLE, assign_field
from destage.cli.parameters.shared_options import Catalog, Json, read_file, use_catalog
from destage.cli.terminal.output import print_data, print_json, print_pairs


def simulate(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A configuration or a study, in YAML or JSON.",
            autocompletion=complete_configurations,
        ),
    ],
    assign: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="PATH=VALUE",
            help=f"Set a field by its path, as in {EXAMPLE}; repeatable.",
            autocompletion=complete_parameters,
        ),
    ] = None,
    catalog_files: Catalog = None,
    as_json: Json = False,
) -> None:
    """Simulate one configuration and print its result row."""
    use_catalog(catalog_files)
    from destage import engine
    from destage.sweeps.reading.scenario_text import check_units, locate_mistakes, parse_scenario

    scenario, source = parse_scenario(read_file(file, "FILE"), str(file), file.parent)
    assigned = [assign_field(scenario, text) for text in assign or []]
    with locate_mistakes(source, assigned):
        check_units(scenario, assigned, source)
        row = engine.simulate(scenario, folder=file.parent)
    from destage.engine.workload_description import describe_assumed_localities
    from destage.queries.findings.caveats import describe_run, describe_run_error

    remarks = [
        *describe_run(scenario, row),
        *describe_run_error(engine.normalise(scenario), row),
        *describe_assumed_localities(scenario, assigned),
    ]
    if as_json:
        print_json(row | {"remarks": remarks})
        return
    from destage.queries.text.presentation import format_number

    def cell(value: object) -> str:
        return format_number(value) if isinstance(value, int | float) else str(value)

    meanings = {column.name: column.meaning for column in engine.columns()}
    print_pairs(
        {
            name: f"{cell(value):<14}  {meanings[name]}"
            for name, value in row.items()
            if value is not None and not name.startswith("timeline_")
        }
    )
    print_data("".join(f"\n{sentence}\n" for sentence in remarks))
    _print_timeline(row)


def _print_timeline(row: dict[str, Any]) -> None:
    """Print the events of a run, unless they are only the begin and end of the measurement window."""
    columns = [row[f"timeline_{name}"] for name in ("s", "event", "subject", "value")]
    lines = [
        f"{time_s:>14.6f} s  {event:<22}  {' '.join(filter(None, [subject, f'{value:g}' if value else '']))}"
        for time_s, event, subject, value in zip(*columns, strict=True)
    ]
    if any(not event.startswith("window_") for event in row["timeline_event"]):
        print_data("\ntimeline\n" + "".join(f"{line.rstrip()}\n" for line in lines))
