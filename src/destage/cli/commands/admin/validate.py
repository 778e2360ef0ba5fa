"""`destage admin validate`: a disk model compared with measurements."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from destage.cli.parameters.shared_options import Json, parse_trace
from destage.cli.terminal.hard_stop import HardStop
from destage.cli.terminal.output import print_data, print_json, print_warning
from destage.errors import ConfigError, UsageError
from destage.spec.printed_text import align_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from destage.errors import Issue
    from destage.tools.disksim.measured_disk import Validation

_NANOSECONDS_PER_MS = 1e6


def validate(
    trace: Annotated[
        Any,
        typer.Option(
            "--trace",
            parser=parse_trace,
            metavar="FILE",
            help="Measured service times in DiskSim's VALIDATE format, plain or compressed (.gz, .xz).",
        ),
    ],
    facts: Annotated[
        str,
        typer.Option(
            "--disk",
            metavar="FILE|NAME",
            help="Disk: a .toml file, DiskSim's .parv, .diskspecs or .model, or the name of a "
            "catalogue disk.",
        ),
    ],
    fit: Annotated[
        list[str] | None,
        typer.Option(
            "--fit",
            metavar="FIELD",
            help="Field to fit on the first half of the trace; repeatable (default: all that can be fitted).",
        ),
    ] = None,
    no_fit: Annotated[bool, typer.Option("--no-fit", help="Do not fit any field.")] = False,
    limit_ms: Annotated[
        float, typer.Option("--limit-ms", min=0.0, help="Maximum demerit over all requests [ms].")
    ] = 0.25,
    phases: Annotated[
        int,
        typer.Option(
            "--phases", min=1, max=64, help="Number of replays, each with a different spindle phase."
        ),
    ] = 4,
    save: Annotated[
        Path | None,
        typer.Option("--save", metavar="FILE", help="Write the disk with its fitted values as a .toml file."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with code 1 if a limit is exceeded.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Score a disk model against the service times of the real disk.

    Fit fields on the first half of the trace and compute the score on the second half.
    """
    from destage.tools.disksim import measured_disk, service_times
    from destage.tools.disksim.model_fit import CHOICES, FITTABLE

    if no_fit and fit:
        raise UsageError("usage.conflicting-options", "cannot be combined with --fit", "--no-fit")
    every = (*FITTABLE, *CHOICES)
    names = [] if no_fit else list(every if fit is None else fit)
    try:
        with HardStop():
            measured = service_times.load(trace)
            unmodelled = measured_disk.find_unmodelled(facts)
            validation = measured_disk.validate(
                measured, measured_disk.load_disk(facts), names, overall_limit_ms=limit_ms, phases=phases
            )
    except ConfigError as error:
        raise ConfigError(error.issues, error.source or facts) from error
    warnings = [*unmodelled, *validation.warnings]
    print_warning(*warnings, source=facts)
    if save is not None:
        measured_disk.save_disk(save, validation.disk)
    if as_json:
        print_json(_as_json(validation, warnings))
    else:
        print_data(_as_text(validation))
    if strict and not all(request_class.is_met for request_class in validation.classes):
        raise typer.Exit(1)


def _as_json(validation: "Validation", warnings: "Sequence[Issue]") -> dict[str, Any]:
    return {
        "assumed": dict(validation.assumed),
        "fitted": {name: _quantity(name, value) for name, value in validation.fitted.items()},
        "chosen": dict(validation.chosen),
        "warnings": [
            {"code": warning.code, "place": warning.place, "message": warning.message} for warning in warnings
        ],
        "classes": [
            {**asdict(request_class), "is_met": request_class.is_met} for request_class in validation.classes
        ],
    }


def _quantity(name: str, value: float) -> str:
    """Return the value of a fitted field with its unit."""
    if name == "bus_rate":
        return f"{value / 1e6:.3f}MB/s"
    if name == "buffer.lapse":
        return f"{value:.4f}"
    return f"{value / _NANOSECONDS_PER_MS:.4f}ms"


def _as_text(validation: "Validation") -> str:
    rows = [
        [
            *("class", "n", "measured ms", "modelled ms", "demerit ms", "95 % CI", "limit"),
            *("first half", "halves", "resampled", "correlation", ""),
        ]
    ]
    for request_class in validation.classes:
        low, high = request_class.interval_ms
        rows.append(
            [
                request_class.name,
                f"{request_class.requests}",
                f"{request_class.measured_ms:.3f}",
                f"{request_class.modelled_ms:.3f}",
                f"{request_class.demerit_ms:.3f}",
                f"{low:.3f} to {high:.3f}",
                f"{request_class.limit_ms:.3f}",
                f"{request_class.train_ms:.3f}",
                f"{request_class.halves_ms:.3f}",
                f"{request_class.toy_ms:.3f}",
                "" if request_class.correlation is None else f"{request_class.correlation:.2f}",
                "met" if request_class.is_met else "NOT MET",
            ]
        )
    text = align_cells(rows, left=1) + (
        "\nAll figures are for the second half of the trace unless noted.\n"
        "first half: demerit on the first half; halves: demerit of the first half against the second;\n"
        "resampled: demerit of service times drawn from the first half.\n"
    )
    for title, pairs in (
        (
            "fitted on the first half",
            {name: _quantity(name, value) for name, value in validation.fitted.items()},
        ),
        ("chosen on the first half", validation.chosen),
        ("assumed, not in the disk's description", validation.assumed),
    ):
        text += f"{title}: {', '.join(f'{name} = {value}' for name, value in pairs.items()) or 'none'}\n"
    return text
