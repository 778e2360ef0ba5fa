"""The verbs that hold a model against a measurement: validate disk."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from destage.cli.options import traced
from destage.cli.output import Json, print_data, print_json
from destage.errors import ConfigError

if TYPE_CHECKING:
    from destage.disk_validation.measured_disk import Validation

app = typer.Typer(help="Models against measurements.", no_args_is_help=True, rich_markup_mode=None)
_NANOSECONDS_PER_MS = 1e6


@app.callback()
def _group() -> None:
    """Hold models against measurements."""


@app.command("disk")
def disk(
    trace: Annotated[
        Any,
        typer.Option(
            "--trace",
            parser=traced,
            metavar="FILE",
            help="Measured service times (DiskSim's VALIDATE form, .xz, .gz).",
        ),
    ],
    facts: Annotated[
        str,
        typer.Option(
            "--disk",
            metavar="FILE|NAME",
            help="The disk's facts: .toml, DiskSim's .model or .diskspecs, or a name.",
        ),
    ],
    fit: Annotated[
        list[str] | None,
        typer.Option(
            "--fit", metavar="FIELD", help="Fit this on the first half; may be repeated. Default: all."
        ),
    ] = None,
    no_fit: Annotated[bool, typer.Option("--no-fit", help="Fit nothing.")] = False,
    limit_ms: Annotated[
        float, typer.Option("--limit-ms", min=0.0, help="What the demerit over all requests may be [ms].")
    ] = 0.25,
    phases: Annotated[
        int, typer.Option("--phases", min=1, max=64, help="Replays, each with another phase of the spindle.")
    ] = 4,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 where a limit is not met.")] = False,
    as_json: Json = False,
) -> None:
    """Score a disk's model against service times measured on the real one.

    What is fitted is fitted on the first half of the trace; the second half is the score.
    """
    from destage.disk_validation import measured_disk, measured_trace

    if no_fit and fit:
        raise ConfigError("--no-fit and --fit exclude each other")
    names = [] if no_fit else list(measured_disk.FITTABLE if fit is None else fit)
    measured = measured_trace.load(trace)
    try:
        found = measured_disk.validate(
            measured, measured_disk.load_disk(facts), names, overall_limit_ms=limit_ms, phases=phases
        )
    except ConfigError as error:
        raise ConfigError(f"{facts}: {error.message}", error.issues) from error
    if as_json:
        print_json(_facts(found))
    else:
        print_data(_page(found))
    if strict and not all(each.is_met for each in found.classes):
        raise typer.Exit(1)


def _facts(found: "Validation") -> dict[str, Any]:
    return {
        "assumed": dict(found.assumed),
        "fitted": {name: _written(name, value) for name, value in found.fitted.items()},
        "classes": [{**asdict(each), "is_met": each.is_met} for each in found.classes],
    }


def _written(name: str, value: float) -> str:
    if name == "bus_rate":
        return f"{value / 1e6:.3f}MB/s"
    if name == "buffer.lapse":
        return f"{value:.4f}"
    return f"{value / _NANOSECONDS_PER_MS:.4f}ms"


def _page(found: "Validation") -> str:
    lines = [
        (
            f"{'class':<24}{'n':>6} {'mean ms':>14} {'demerit ms':>11} {'95 %':>15} {'limit':>6} "
            f"{'first half':>10} {'halves':>7} {'toy':>6} {'corr':>6}"
        )
    ]
    for each in found.classes:
        low, high = each.interval_ms
        correlation = "" if each.correlation is None else f"{each.correlation:.2f}"
        lines.append(
            f"{each.name:<24}{each.requests:>6} {each.measured_ms:>6.3f} {each.modelled_ms:>7.3f} "
            f"{each.demerit_ms:>11.3f} {f'{low:.3f}..{high:.3f}':>15} {each.limit_ms:>6.3f} "
            f"{each.train_ms:>10.3f} {each.halves_ms:>7.3f} {each.toy_ms:>6.3f} {correlation:>6} "
            f"{'met' if each.is_met else 'NOT MET'}"
        )
    lines.append("")
    lines.append("n, mean (measured, modelled) and demerit: second half. halves: first half against second.")
    lines.append("toy: draws from the first half's times.")
    for title, pairs in (
        ("fitted on the first half", {name: _written(name, value) for name, value in found.fitted.items()}),
        ("assumed, for want of a fact", found.assumed),
    ):
        text = ", ".join(f"{name} = {value}" for name, value in pairs.items()) or "nothing"
        lines.append(f"{title}: {text}")
    return "\n".join(lines) + "\n"
