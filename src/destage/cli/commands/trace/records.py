"""`destage trace info` and `convert`: traces that are read record by record, in constant memory."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from destage.cli.commands.trace.options import (
    PLACES,
    Columns,
    FormatName,
    Separator,
    SkipBad,
    TraceFile,
    Units,
    VolumeNumber,
    reading_options,
)
from destage.cli.parameters.shared_options import Json, check_suffix, translate_places
from destage.cli.printed_results.workload_summary import round_size
from destage.cli.terminal.output import print_data, print_json, print_note, print_warning
from destage.cli.terminal.terminal_text import bar
from destage.errors import Issue
from destage.spec.printed_text import align_cells

_SORTED_OUT = {"trace.out-of-order", "trace.late"}
"""Problems that sorting the whole trace removes."""
_INTERVAL_S = 5.0
"""Time between two notes of the progress [s]."""
_VOLUMES = 20
"""Volumes to print; JSON has all."""
_BAR = 30
_COLUMN = 10
_WIDE = 12
_LEAST, _WHOLE, _MOST_ROUNDED = 0.01, 10, 99
"""Bounds between which shares are written in different precision [%]."""
_DAY, _HOUR, _MINUTE = 86_400, 3_600, 60


def info(
    trace: TraceFile,
    format_name: FormatName = None,
    columns: Columns = None,
    units: Units = None,
    separator: Separator = "auto",
    skip_bad: SkipBad = 0,
    volume: VolumeNumber = None,
    with_digest: Annotated[
        bool, typer.Option("--digest", help="Also print the content digest; loads the trace into memory.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Print the statistics of a trace.

    The trace is read once, in constant memory.
    """
    from destage.engine import traces
    from destage.engine.traces import trace_streams

    reading = reading_options(format_name, columns, units, separator, skip_bad, volume)
    with translate_places(PLACES):
        facts = trace_streams.profile(trace, **reading, progress=_ReadingProgress())
        if with_digest:
            facts["digest"] = traces.digest(trace, **reading)
    if as_json:
        print_json(facts)
        return
    print_data("".join(f"{line}\n" for line in _describe_trace(facts)))
    _print_volumes(facts["volumes"])
    _warn_about(facts["problems"], trace)


def _print_volumes(volumes: list[dict[str, Any]]) -> None:
    """Print the volumes with most requests, where there are several."""
    if len(volumes) < 2:  # noqa: PLR2004 - one volume is the whole trace
        return
    rows = [["volume", "reads", "writes", "flushes", "read", "written", "footprint", "sequential"]]
    rows += [_volume_cells(volume) for volume in volumes[:_VOLUMES]]
    print_data(f"\n{align_cells(rows)}")
    if len(volumes) > _VOLUMES:
        print_note(f"{len(volumes) - _VOLUMES} more volumes; --json prints all")


def _volume_cells(volume: dict[str, Any]) -> list[str]:
    counts = [f"{volume[name]:,}".replace(",", "\u202f") for name in ("reads", "writes", "flushes")]
    sizes = [round_size(volume[f"{name}_bytes"] or 0) for name in ("read", "written", "footprint")]
    sequential = volume["sequential_share"]
    number = "others" if volume["volume"] is None else str(volume["volume"])
    return [number, *counts, *sizes, "-" if sequential is None else format_share(sequential)]


def _describe_trace(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the description of a trace line by line, from what `streams.profile` returns."""
    yield _headline(facts)
    volumes = f", {_count(len(facts['volumes']))} volumes" if len(facts["volumes"]) > 1 else ""
    yield _line("format", f"{facts['format']}, {_count(facts['records'])} records{volumes}")
    yield from _describe_times(facts)
    yield from _describe_operations(facts)
    for name, title in (("read_sizes", "reads"), ("write_sizes", "writes")):
        yield from _describe_sizes(title, facts[name])
    yield from _describe_addresses(facts)
    if facts["response"] is not None:
        yield from _describe_response(facts["response"])
    if "digest" in facts:
        yield _line("digest", str(facts["digest"]))


def _headline(facts: Mapping[str, Any]) -> str:
    """Return a summary of the trace in one line."""
    transfers = facts["reads"] + facts["writes"]
    size = facts["read_bytes"] + facts["written_bytes"]
    parts = []
    if transfers:
        parts += [f"{format_share(facts['reads'] / transfers)} reads", f"mean {round_size(size / transfers)}"]
        if facts["sequential_share"] is not None:
            parts.append(f"{format_share(facts['sequential_share'])} sequential")
        parts.append(f"footprint {_sampled(facts)}{round_size(facts['touched']['footprint_bytes'])}")
    requests = f"{_count(facts['records'])} request{'' if facts['records'] == 1 else 's'}"
    return ", ".join([*parts, f"{requests} in {_duration(facts['duration_s'])}"])


def _describe_times(facts: Mapping[str, Any]) -> Iterator[str]:
    rate = facts["rate"]
    start = f", from {facts['start_s']:.12g} s on the recording's clock" if facts["start_s"] else ""
    yield _line("time", f"{_duration(facts['duration_s'])}{start}")
    if rate["mean_per_s"] is not None:
        peak = "" if rate["peak_per_s"] is None else f", {_count(rate['peak_per_s'])} in the busiest second"
        yield _line("rate", f"{_number(rate['mean_per_s'])}/s on average{peak}")
    shape = {
        "coefficient of variation of gaps": rate["gap_cv"],
        "dispersion in 1 s": rate["dispersion_1s"],
        "Hurst exponent": rate["hurst"],
        "b-model bias": rate["b_model_bias"],
    }
    parts = [f"{name} {_number(value)}" for name, value in shape.items() if value is not None]
    if parts:
        yield _line("", ", ".join(parts))


def _describe_operations(facts: Mapping[str, Any]) -> Iterator[str]:
    records = facts["records"]
    kinds = {"reads": facts["reads"], "writes": facts["writes"], "flushes": facts["flushes"]}
    shares = [f"{format_share(count / records)} {name}" for name, count in kinds.items() if count]
    yield _line("mix", ", ".join(shares))
    kinds = {"synchronous": facts["synchronous"], "forced to the media": facts["forced_to_media"]}
    extra = [f"{format_share(count / records)} {name}" for name, count in kinds.items() if count]
    if facts["processes"] > 1:
        extra.append(f"{_count(facts['processes'])} processes")
    if extra:
        yield _line("", ", ".join(extra))
    moved = round_size(facts["read_bytes"]), round_size(facts["written_bytes"])
    yield _line("data", f"{moved[0]} read, {moved[1]} written")


def _describe_sizes(title: str, sizes: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield the sizes of reads or writes: percentiles, then a bar for each class."""
    if sizes is None or sizes["mean_bytes"] is None:
        return
    names = {"median": "p50_bytes", "90 %": "p90_bytes", "99 %": "p99_bytes", "maximum": "max_bytes"}
    listed = ", ".join(f"{name} {round_size(sizes[key])}" for name, key in names.items())
    yield _line(title, f"mean {round_size(sizes['mean_bytes'])}, {listed}")
    histogram = sizes["histogram"]
    total, most = sum(count for _, count in histogram), max(count for _, count in histogram)
    for size, count in histogram:
        drawn = (
            f"{'≤ ' + round_size(size):>{_WIDE}}  {format_share(count / total):>8}  {bar(count / most, _BAR)}"
        )
        yield _line("", drawn.rstrip())


def _describe_addresses(facts: Mapping[str, Any]) -> Iterator[str]:
    touched = facts["touched"]
    sampled = "" if touched["sampled_one_in"] == 1 else f" (one block in {touched['sampled_one_in']} sampled)"
    parts = [
        f"{_sampled(facts)}{round_size(touched['footprint_bytes'])} touched",
        f"{round_size(touched['read_footprint_bytes'])} by reads",
        f"{round_size(touched['written_footprint_bytes'])} by writes",
    ]
    yield _line("address", f"{', '.join(parts)}, up to {round_size(facts['end_bytes'])}{sampled}")
    again = {
        "of accesses to blocks touched before": touched["re_reference_share"],
        "of reads": touched["read_re_reference_share"],
        "of writes to blocks written before": touched["overwrite_share"],
    }
    yield from _lines_of(again)
    order = {
        "of the requests continue the one before": facts["sequential_share"],
        "continue one of the recent streams": facts["streamed_share"],
    }
    yield from _lines_of(order)


def _describe_response(response: Mapping[str, Any]) -> Iterator[str]:
    words = {"p50": "median", "p90": "90 %", "p99": "99 %", "max": "maximum"}
    times = [(name.removesuffix("_ms"), value) for name, value in response.items() if name.endswith("_ms")]
    listed = ", ".join(f"{words.get(name, name)} {_number(value)} ms" for name, value in times)
    yield _line("response", f"{listed}; known of {_count(response['known'])} requests")


def _lines_of(shares: Mapping[str, float | None]) -> Iterator[str]:
    parts = [f"{format_share(share)} {name}" for name, share in shares.items() if share is not None]
    if parts:
        yield _line("", ", ".join(parts))


def _line(title: str, text: str) -> str:
    return f"{title:<{_COLUMN}}{text}".rstrip()


def _sampled(facts: Mapping[str, Any]) -> str:
    return "" if facts["touched"]["sampled_one_in"] == 1 else "about "


def format_share(share: float) -> str:
    """Return a share in percent: whole above 10 %, two digits below; 0 % and 100 % are exact."""
    percent = 100 * share
    if share in {0, 1}:
        return f"{percent:.0f} %"
    if percent > _MOST_ROUNDED:
        return f"{min(percent, 99.9):.1f} %"
    if percent < _LEAST:
        return f"< {_LEAST} %"
    return f"{percent:.0f} %" if percent >= _WHOLE else f"{percent:.2g} %"


def _duration(seconds: float) -> str:
    for unit, length in (("d", _DAY), ("h", _HOUR), ("min", _MINUTE)):
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.3g} s"


def _number(value: float) -> str:
    from destage.queries.text.presentation import format_rounded

    return format_rounded(value)


def _count(value: int) -> str:
    return f"{value:,}".replace(",", "\u202f")


def convert(
    trace: TraceFile,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Parquet file to write.")],
    format_name: FormatName = None,
    columns: Columns = None,
    units: Units = None,
    separator: Separator = "auto",
    skip_bad: SkipBad = 0,
    volume: VolumeNumber = None,
    is_sorted_whole: Annotated[
        bool, typer.Option("--sort", help="Sort the whole trace by time; loads it into memory.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Convert a trace to compact Parquet.

    Flushes, process ids, flags, volumes and response times are kept.
    """
    from destage.engine import traces
    from destage.engine.traces import trace_streams

    reading = reading_options(format_name, columns, units, separator, skip_bad, volume)
    check_suffix(out, "OUT", ".parquet")
    facts: dict[str, Any] = {"file": str(out)}
    with translate_places(PLACES):
        if is_sorted_whole:
            loaded = traces.load(trace, **reading)
            traces.write_parquet(loaded, out)
            profile = trace_streams.profile(trace, **reading)
            problems = [problem for problem in profile["problems"] if problem["code"] not in _SORTED_OUT]
            facts |= {"records": len(loaded), "problems": problems}
        else:
            facts |= trace_streams.convert(trace, out, **reading, progress=_ReadingProgress())
    facts["bytes"] = out.stat().st_size
    if as_json:
        print_json(facts)
        return
    _warn_about(facts["problems"], trace)
    print_note(f"{facts['records']} records written to {out} ({facts['bytes']} bytes)")


class _ReadingProgress:
    """Prints now and then how much of a long trace has been read."""

    def __init__(self) -> None:
        self._printed_at = time.monotonic()

    def __call__(self, done: int, size: int) -> None:
        """Print the share of bytes that have been read."""
        now = time.monotonic()
        if now - self._printed_at >= _INTERVAL_S and size:
            self._printed_at = now
            print_note(f"read {done / size:.0%}")


def _warn_about(problems: list[dict[str, Any]], trace: object) -> None:
    """Print a warning for each kind of problem of a trace's records, with the place of the first one."""
    for problem in problems:
        count = problem["count"]
        message = f"{problem['message']}; {count} in total" if count > 1 else problem["message"]
        issue = Issue(problem["code"], problem["place"], message, data={"count": count})
        print_warning(issue, source=str(trace))
