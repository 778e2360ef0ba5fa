"""Import of Iometer access specifications as workloads.

One specification makes one workload, as Iometer runs those of a worker one after the other as separate tests.
Each worker is a stream. The lines become two distributions of sizes, one of reads and one of writes, which is
the same mixture. docs/workloads.md has the table.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from destage.errors import ConfigError, Issue
from destage.spec.near_names import suggest
from destage.tools.imported_workload import DEFAULTS, ImportedWorkload, ImportOptions
from destage.tools.iometer.configuration_file import (
    AccessSpecification,
    Configuration,
    Line,
    Worker,
    read_configuration,
)
from destage.tools.values import ALL, SECTOR
from destage.tools.workload_parts import (
    Part,
    bursts_of,
    contiguous,
    operations_of,
    render_bytes,
    size_of,
    times_of,
    walk_of,
)


def recognizes(text: str) -> bool:
    """Return whether a text looks like an Iometer configuration."""
    return "'access specification" in text.lower()


def read_tests(text: str, file: str, options: ImportOptions = DEFAULTS) -> list[ImportedWorkload]:
    """Read one access specification, or for a study each that workers are assigned, or all if none are.

    Raises:
        ConfigError: With every line that cannot be simulated, each with its place and what is allowed.
    """
    configuration = read_configuration(text, file)
    if options.test is not None or not options.is_study:
        return [_import_specification(configuration, _choose(configuration, file, options.test), file)]
    specifications = configuration.specifications
    assigned = {name for worker in configuration.workers for name in worker.assigned}
    names = [name for name in specifications if name in assigned] or list(specifications)
    return [_import_specification(configuration, specifications[name], file) for name in names]


def _import_specification(
    configuration: Configuration, chosen: AccessSpecification, file: str
) -> ImportedWorkload:
    workers = [worker for worker in configuration.workers if chosen.name in worker.assigned]
    issues = list(_find_mistakes(chosen.lines))
    for worker in workers:
        if worker.kind.upper() != "DISK":
            place, message = f"worker {worker.name!r}", "must be a disk worker; the network is not simulated"
            issues.append(Issue("iometer.unsupported-worker", place, message, worker.kind))
    if not chosen.lines:
        message = "the access specification has no lines"
        issues.append(Issue("iometer.empty-specification", chosen.place, message, chosen.name))
    if issues:
        raise ConfigError(issues, file)
    streams = [_stream(chosen, worker) for worker in workers or [Worker("worker")]]
    return ImportedWorkload(
        workload={"users": 1, "streams": _number_names(streams)},
        run=times_of(configuration.ramp_time, configuration.run_time),
        remarks=tuple(_write_remarks(chosen, workers)),
        mapping={streams[0]["name"]: tuple(_describe_lines(chosen))},
        warnings=tuple(_find_warnings(configuration, chosen, workers)),
        name=chosen.name,
    )


def _choose(configuration: Configuration, file: str, name: str | None) -> AccessSpecification:
    specifications = configuration.specifications
    if name is None and len(specifications) == 1:
        return next(iter(specifications.values()))
    names = ", ".join(map(repr, specifications))
    if name is None:
        message = f"{len(specifications)} access specifications; choose one with --spec: {names}"
        raise ConfigError([Issue("iometer.ambiguous-specification", "", message)], file)
    if name not in specifications:
        message = f"no such access specification{suggest(name, specifications)}; known: {names}"
        raise ConfigError([Issue("iometer.unknown-specification", "", message, name)], file)
    return specifications[name]


def _find_mistakes(lines: Sequence[Line]) -> Iterator[Issue]:
    bursts = [(line.delay, line.burst) for line in lines]
    size = f"must be a positive multiple of {SECTOR} bytes"
    same = "must be the same in all lines of a specification"
    for line, burst in zip(lines, bursts, strict=True):
        for is_wrong, field, value, message in (
            (line.reply, "reply", line.reply, "must be 0; replies are not simulated"),
            (not line.size or line.size % SECTOR, "size", line.size, size),
            (line.alignment % SECTOR, "align", line.alignment, f"must be a multiple of {SECTOR}, or 0"),
            (burst != bursts[0], "delay,burst", f"{line.delay},{line.burst}", same),
        ):
            if is_wrong:
                yield Issue("iometer.unsupported-value", f"{line.place}, {field}", message, value)


def _stream(chosen: AccessSpecification, worker: Worker) -> Part:
    depth = max(1, worker.depth) * max(1, len(worker.targets))
    lies = contiguous(worker.start * SECTOR, worker.size * SECTOR or None)
    lines = [line for line in chosen.lines if line.share]
    groups: dict[tuple[int, int], list[Line]] = {}
    for line in lines:
        groups.setdefault((line.random, line.alignment), []).append(line)
    parts: list[Part] = [
        {
            "weight": sum(line.share for line in group),
            "operations": _operations(group),
            "address": walk_of(random, lies),
        }
        for (random, _), group in groups.items()
    ]
    requests: Part = {"mix": parts}
    if len(parts) == 1:
        requests = {key: value for key, value in parts[0].items() if key != "weight"}
    arrival: Part = {"kind": "fixed_outstanding", "depth": depth}
    if lines[0].delay:
        arrival = bursts_of(max(1, lines[0].burst), lines[0].delay / 1000, depth)
    return {"name": worker.name, "arrival": arrival, **requests}


def _operations(lines: Sequence[Line]) -> Part:
    """Return the mixture of the lines as a share of reads and the sizes of reads and of writes."""
    reads, writes = Counter[int](), Counter[int]()
    for line in lines:
        reads[line.size] += line.share * line.reads
        writes[line.size] += line.share * (ALL - line.reads)
    read, write = reads.total(), writes.total()
    sizes = [
        size_of({size: ALL * weight / weights.total() for size, weight in weights.items() if weight})
        if weights.total()
        else None
        for weights in (reads, writes)
    ]
    reads_share = ALL * read / (read + write)
    return operations_of(reads_share, sizes[0] or {}, sizes[1], alignment=lines[0].alignment or SECTOR)


def _number_names(streams: list[Part]) -> list[Part]:
    """Number the streams with the same name: every manager has a `Worker 1`."""
    names = [stream["name"] for stream in streams]
    for index, (name, stream) in enumerate(zip(names, streams, strict=True)):
        if names.count(name) > 1:
            stream["name"] = f"{name} ({names[: index + 1].count(name)})"
    return streams


def _describe_lines(chosen: AccessSpecification) -> list[str]:
    return [
        f"access specification {chosen.name!r}:",
        *(
            f"{line.share} % of {render_bytes(line.size)}: {line.reads} % reads, {line.random} % random, "
            f"aligned to {render_bytes(line.alignment or SECTOR)}"
            + (f", delay of {line.delay} ms after every {line.burst} I/Os" if line.delay else "")
            for line in chosen.lines
        ),
    ]


def _write_remarks(chosen: AccessSpecification, workers: Sequence[Worker]) -> Iterator[str]:
    if len({line.random for line in chosen.lines}) > 1:
        yield (
            "Approximated: lines with different % random are separate sequences; in Iometer all sequential "
            "requests of a target continue from its last one."
        )
    if any(line.delay for line in chosen.lines) and any(worker.depth > 1 for worker in workers):
        yield (
            "Approximated: the delay begins when a burst is complete; in Iometer, some of its I/Os may still "
            "be outstanding."
        )
    if any(len(worker.targets) > 1 for worker in workers):
        yield "Approximated: the targets of a worker are one, with the outstanding I/Os of all of them."
    yield "Without effect: the test setup except its times, and the results display."


def _find_warnings(
    configuration: Configuration, chosen: AccessSpecification, workers: Sequence[Worker]
) -> Iterator[Issue]:
    if not workers:
        message = "assigned to no worker; assumed: Iometer's defaults, 1 outstanding I/O on the whole array"
        yield Issue("iometer.no-worker", chosen.place, message, chosen.name)
    if configuration.test_type.upper() != "NORMAL":
        message = "a series of tests; only its first is imported; vary the load with an axis of a study"
        yield Issue("iometer.test-series", "Test Type", message, configuration.test_type)
