"""`destage workload`: workloads from and for other tools."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from destage.cli.parameters.completion import complete_importable_files, complete_workloads
from destage.cli.parameters.shared_options import (
    Catalog,
    ImportedTest,
    Json,
    parse_duration,
    parse_size,
    use_catalog,
)
from destage.cli.terminal.output import print_data, print_json, print_note, print_warning
from destage.errors import ConfigError

app = typer.Typer(
    help="Import and export workloads of other tools.", no_args_is_help=True, rich_markup_mode=None
)
_Workload = Annotated[
    str,
    typer.Argument(
        metavar="NAME|FILE",
        help="A bundled workload; a workload, configuration or study in YAML; or what `workload import` "
        "reads.",
        autocompletion=complete_workloads,
    ),
]


@app.command("import")
def import_(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE|COMMAND",
            help="A fio job file, an Iometer configuration, a DiskSpd script or profile, a Vdbench parameter "
            "file, a sysbench script, a CrystalDiskMark result or settings, or a log of iostat or Perfmon; "
            "or a command of fio, DiskSpd or sysbench in quotes.",
            autocompletion=complete_importable_files,
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the YAML to FILE instead of stdout.")
    ] = None,
    tool: Annotated[
        Literal["auto", "fio", "iometer", "diskspd", "vdbench", "sysbench", "crystaldiskmark"],
        typer.Option("--format", help="Tool that the file is of; auto detects it from the content."),
    ] = "auto",
    test: Annotated[
        str | None,
        typer.Option(
            "--test",
            "--spec",
            metavar="NAME",
            help="Test to import, such as an Iometer access specification (default: all).",
        ),
    ] = None,
    is_study: Annotated[
        bool,
        typer.Option(
            "--study",
            help="Write a study of one test, too; of a fio job file, with a point for each group of jobs "
            "that stonewall separates.",
        ),
    ] = False,
    on: Annotated[
        str | None,
        typer.Option(
            "--on", metavar="ARRAY", help="RAID level and disks of the study, as in raid5x8 or raid10x4."
        ),
    ] = None,
    disk: Annotated[
        str, typer.Option("--disk", metavar="NAME", help="Disk of --on, of the catalogue.")
    ] = "exos_x18",
    controller: Annotated[
        str, typer.Option("--controller", metavar="NAME", help="Controller of --on, of the catalogue.")
    ] = "megaraid_9560_8i",
    ignore_unknown: Annotated[
        bool,
        typer.Option(
            "--ignore-unknown", help="Skip options that cannot be simulated, with a warning for each."
        ),
    ] = False,
    catalog_files: Catalog = None,
    as_json: Json = False,
) -> None:
    """Convert another tool's test to a workload in YAML.

    Several tests become a study. Comments in the output explain how each option was translated.
    """
    use_catalog(catalog_files)
    from destage.cli.parameters.imported_files import (
        choose_hardware,
        imported_as_json,
        list_warnings,
        make_study,
        read_tests,
    )
    from destage.tools.imported_workload import ImportOptions

    hardware = choose_hardware(on, disk, controller)
    options = ImportOptions(tool, test, is_study or bool(hardware), ignore_unknown)
    file, tests = read_tests(source, options)
    study = make_study(source, tests, hardware) if len(tests) > 1 or options.is_study else None
    text = tests[0].to_yaml() if study is None else study.to_yaml()
    if as_json:
        print_json(imported_as_json(tests, study))
    elif out is None:
        print_data(text)
    if out is not None:
        out.write_text(text, encoding="utf-8")
        count = f" of {len(tests)} tests" if len(tests) > 1 else ""
        print_note(f"{'workload' if study is None else 'study'}{count} written to {out}")
    if study is not None and not hardware:
        print_note("the study has no array; add `array:` to its scenario, or import with --on raid5x8")
    print_warning(*list_warnings(tests), source=file)


@app.command("export")
def export(
    name: _Workload,
    to: Annotated[
        Literal["fio", "diskspd"], typer.Option("--to", help="Tool that issues the workload's requests.")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the job to FILE instead of stdout.")
    ] = None,
    target: Annotated[
        str,
        typer.Option("--target", metavar="PATH", help="File or disk to test; writes destroy its contents."),
    ] = "destage.dat",
    size: Annotated[
        str | None,
        typer.Option("--size", metavar="SIZE", help="Size of the target, for a workload of the whole array."),
    ] = None,
    duration: Annotated[str, typer.Option("--duration", metavar="TIME", help="Length of the test.")] = "60s",
    test: ImportedTest = None,
    as_json: Json = False,
) -> None:
    """Write another tool's job that issues a workload's requests.

    The job runs on real hardware. A part that the tool cannot express is an error; comments say what
    is only similar.
    """
    from destage.cli.parameters.imported_files import find_workload
    from destage.engine import workload_profile
    from destage.tools.export_report import Target
    from destage.tools.registry import find_tool

    _, workload, _ = find_workload(name, test)
    bytes_ = None if size is None else parse_size(size, "--size")
    seconds = max(1, round(parse_duration(duration, "s", "--duration")))
    try:
        canonical = workload_profile.canonical_workload(workload)
    except ConfigError as error:
        raise ConfigError(error.issues, name) from error
    text, notes = find_tool(to).open_part("export").write(canonical, Target(target, bytes_, seconds), name)
    if as_json:
        print_json({"tool": to, "job": text, "notes": notes})
    elif out is None:
        print_data(text)
    if out is not None:
        out.write_text(text, encoding="utf-8")
        print_note(f"job written to {out}")
    for note in notes:
        print_note(note)
