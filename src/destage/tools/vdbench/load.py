"""Vdbench's runs as workloads: each run of a parameter file, and each combination of its loops, is a test."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

from destage.errors import ConfigError, Issue
from destage.tools.imported_workload import DEFAULTS, ImportedWorkload, ImportOptions
from destage.tools.options import OptionReader
from destage.tools.values import ALL, OptionValueError, parse_decimal, sort_by_place
from destage.tools.vdbench.keywords import KEYWORDS, LOOPS, SIZES
from destage.tools.vdbench.parameter_file import ParameterFile, Settings
from destage.tools.vdbench.requests import build_components, read_requests
from destage.tools.vdbench.storages import Storage, lay_out, open_storage
from destage.tools.workload_parts import Part, render_rate, requests_of, times_of, warn_page_cache

_MOST_OUTSTANDING = 65_536
MOST_TESTS = 5_000
_DEFAULT_ELAPSED = 30
_MOST_VALUES = 1_000
_RANGE = re.compile(r"(\d[\w.]*)-(\d[\w.]*)", re.ASCII)
_UNLIMITED = frozenset({"max", "curve"})


@dataclass(frozen=True)
class _Load:
    """The workloads of one test with the storages of each."""

    run: Settings
    workloads: Sequence[tuple[Settings, Sequence[Storage]]]

    @property
    def storages(self) -> dict[str, Storage]:
        """The storages by name, each as it is opened by the last workload that uses it."""
        return {storage.settings.name: storage for _, used in self.workloads for storage in used}


def build_tests(definitions: ParameterFile) -> list[ImportedWorkload]:
    """Return the tests of all runs; mistakes are added to the definitions' issues."""
    reader = definitions.reader
    placed = lay_out(definitions.storages, reader)
    tests: list[ImportedWorkload] = []
    for run in definitions.runs:
        load = _find_load(definitions, run, placed)
        loops = _read_loops(run, reader)
        if reader.issues or not load.workloads:
            continue
        for values in product(*loops.values()):
            if len(tests) >= MOST_TESTS:
                message = f"loops make more than {MOST_TESTS} tests"
                reader.issues.append(run.word.issue("import.too-many-tests", "rd", message))
                return tests
            chosen = dict(zip(loops, values, strict=True))
            labels = [f"{key}={text}" for key, text in chosen.items() if len(loops[key]) > 1]
            name = " ".join([run.name, *labels])
            tests.append(_build_test(reader, load, chosen, name))
    return tests


def _find_load(definitions: ParameterFile, run: Settings, placed: Mapping[str, Storage]) -> _Load:
    loaded = []
    if "wd" in run.parameters or ("sd" not in run.parameters and definitions.workloads):
        workloads = definitions.select("wd", definitions.workloads, run.parameters.get("wd"))
    else:
        # A run of storages alone has one workload with Vdbench's defaults.
        workloads = [Settings("default", run.word, {})]
    for workload in workloads:
        named = run.parameters.get("sd") or workload.parameters.get("sd")
        storages = definitions.select("sd", definitions.storages, named)
        if not storages and named is None:
            message = "no storage; define one with sd="
            definitions.reader.issues.append(workload.word.issue("vdbench.unknown-name", "wd", message))
        used = [open_storage(placed[each.name], [workload, run], definitions.reader) for each in storages]
        loaded.append((workload, used))
    return _Load(run, loaded)


def _read_loops(run: Settings, reader: OptionReader) -> dict[str, list[str]]:
    """Return the values of each loop, the outermost first."""
    loops: dict[str, list[str]] = {}
    for key in run.parameters:
        name = key.removeprefix("for")
        if name in {*LOOPS, "iorate"}:
            parse = _parse_rates if name == "iorate" else partial(_parse_loop, name)
            loops[name] = run.get_all(key, parse, [], reader)
    return loops


def _parse_loop(name: str, texts: Sequence[str]) -> list[str]:
    """Return values as written, or those of a range with their units."""
    values = expand_range(texts)
    for text in values:
        KEYWORDS[name].parse(text)
    if values == texts or name not in {"xfersize", "hitarea"}:
        return list(dict.fromkeys(values))
    return [f"{int(text) >> 10}k" if int(text) % 1024 == 0 else text for text in values]


def _parse_rates(texts: Sequence[str]) -> list[str]:
    lower = [text.lower() for text in texts]
    if any(text.endswith("%") for text in lower):
        raise OptionValueError("in per cent is a share of a rate that Vdbench measures first; give rates")
    rates = lower if set(lower) & _UNLIMITED else expand_range(lower)
    if not all(text in _UNLIMITED or parse_decimal(text) for text in rates):
        raise OptionValueError("must be above 0, max or curve")
    return list(dict.fromkeys(rates))


def expand_range(texts: Sequence[str]) -> list[str]:
    """Return the values of a list: `1-64,d` doubles, `10-100,10` counts, other lists are their values."""
    values: list[str] = []
    left = list(texts)
    while left:
        text = left.pop(0)
        match = _RANGE.fullmatch(text)
        if match is None:
            values.append(text)
        else:
            step = left.pop(0) if left else "1"
            values += _count(SIZES.parse(match[1]), SIZES.parse(match[2]), step)
    return values


def _count(first: int, last: int, step: str) -> list[str]:
    is_doubling, sign = step.lower() == "d", 1 if first <= last else -1
    by = 0 if is_doubling else SIZES.parse(step)
    if (is_doubling and not min(first, last)) or (not is_doubling and not by):
        raise OptionValueError("must have the form (from-to,step) with a step above 0, or d to double")
    values, value = [], first
    while value * sign <= last * sign and value > 0:
        values.append(str(value))
        if len(values) > _MOST_VALUES:
            raise OptionValueError(f"has more than {_MOST_VALUES} values")
        value = value + sign * by if not is_doubling else value * 2 if sign > 0 else value // 2
    return values


def _build_test(reader: OptionReader, load: _Load, chosen: Mapping[str, str], name: str) -> ImportedWorkload:
    run = load.run
    own, common, notes = [], [], []
    for (workload, storages), weight in zip(load.workloads, _weights(load, reader), strict=True):
        requests = read_requests(workload, chosen, reader)
        if requests.stride is not None and not requests.seekpct:
            notes.append("Without effect: stride: it applies to the share of requests that seekpct gives.")
        parts = build_components(requests, workload, storages, weight, reader)
        rate = workload.get("iorate", 0.0, reader)
        if rate:
            own.append({"name": workload.name, "arrival": _open(run, rate, reader), **requests_of(parts)})
        else:
            common += parts
    rate_text = chosen.get("iorate", "max")
    is_limited = rate_text not in _UNLIMITED
    streams: list[Part] = list(own)
    if common:
        arrival = (
            _open(run, parse_decimal(rate_text), reader)
            if is_limited
            else {"kind": "fixed_outstanding", "depth": _depth(load, chosen, reader)}
        )
        streams.insert(0, {"name": "workload", "arrival": arrival, **requests_of(common)})
    return ImportedWorkload(
        workload={"users": 1, "streams": streams},
        run=times_of(run.get("warmup", 0, reader), max(1, run.get("elapsed", _DEFAULT_ELAPSED, reader))),
        remarks=(
            *_write_remarks(load, is_open=bool(own) or is_limited),
            *dict.fromkeys(notes),
            *reader.remarks,
        ),
        mapping={streams[0]["name"]: tuple(_describe(load, chosen))} if streams else {},
        warnings=(*reader.warnings, *_find_warnings(load, rate_text)),
        name=name,
    )


def _weights(load: _Load, reader: OptionReader) -> list[float]:
    """Return the share of each workload; those without skew share the rest equally."""
    skews = [workload.get("skew", 0.0, reader) for workload, _ in load.workloads]
    total, free = sum(skews), skews.count(0.0)
    if total > ALL + 1:
        parameter = next(w.parameters["skew"] for w, _ in load.workloads if "skew" in w.parameters)
        message = f"the workloads of {load.run.name} add up to {total:g} %; allowed is up to 100"
        reader.issues.append(parameter.issue("import.bad-value", message))
    rest = max(0.0, ALL - total) / free if free else 0.0
    weights = [skew or rest for skew in skews]
    return weights if all(weights) else [max(weight, 1e-9) for weight in weights]


def _depth(load: _Load, chosen: Mapping[str, str], reader: OptionReader) -> int:
    """Return the outstanding requests of all storages together."""
    threads = int(chosen.get("threads", 0))
    depth = sum(threads or storage.threads for storage in load.storages.values())
    if depth > _MOST_OUTSTANDING:
        message = f"{depth} outstanding requests; at most {_MOST_OUTSTANDING} are simulated"
        reader.issues.append(load.run.word.issue("import.bad-value", "threads", message))
    return min(depth, _MOST_OUTSTANDING)


def _open(run: Settings, rate: float, reader: OptionReader) -> Part:
    kind = run.get("distribution", "poisson", reader)
    return {"kind": kind, "rate": render_rate(rate)}


def _write_remarks(load: _Load, *, is_open: bool) -> Iterator[str]:
    if len(load.storages) > 1:
        yield "Assumed: the storages follow one another; those of unknown size are the whole array."
        yield "Approximated: the threads of all storages are one queue."
    if is_open:
        yield "Approximated: arrivals do not wait for threads; Vdbench has at most `threads` outstanding."
        distribution = load.run.parameters.get("distribution")
        if distribution is not None and "uniform".startswith(distribution.text.lower()):
            yield f"Approximated: {distribution}: equal gaps."
    given = {key for settings in (load.run, *(w for w, _ in load.workloads)) for key in settings.parameters}
    if given & {"rhpct", "whpct", "forrhpct", "forwhpct"}:
        yield "Assumed: hits are uniform in the hit area, which no other request uses."
    seeks = [w.parameters["seekpct"].text.lower() for w, _ in load.workloads if "seekpct" in w.parameters]
    if set(seeks) & {"eof", "-1"}:
        yield "Approximated: a sequence starts again at the end of its storage, where Vdbench ends the test."


def _describe(load: _Load, chosen: Mapping[str, str]) -> Iterator[str]:
    run = load.run
    yield f"rd={run.name}, line {run.word.line}:"
    for key, parameter in run.parameters.items():
        name = key.removeprefix("for")
        value = f", here {chosen[name]}" if name in chosen and len(parameter.values) > 1 else ""
        yield f"{parameter}: {KEYWORDS[name].meaning}{value}"
    for workload, _ in load.workloads:
        for key, parameter in workload.parameters.items():
            yield f"wd={workload.name}, {parameter}: {KEYWORDS[key].meaning}"
    for name, storage in load.storages.items():
        for key, parameter in storage.settings.parameters.items():
            yield f"sd={name}, {parameter}: {KEYWORDS[key].meaning}"


def _find_warnings(load: _Load, rate: str) -> Iterator[Issue]:
    storages = load.storages
    cached = [name for name, used in storages.items() if not (used.is_direct or used.is_raw)]
    if cached:
        word = storages[cached[0]].settings.word
        yield warn_page_cache("openflags", cached, word, storages=cached)
    unknown = [name for name, used in storages.items() if used.whole.last is None and not used.is_device]
    if unknown:
        word = storages[unknown[0]].settings.word
        message = f"not given for {', '.join(unknown)}; assumed: the whole array"
        yield word.mark("import.unknown-size", "size", message)
    if rate == "curve":
        given = load.run.parameters
        parameter = next(given[key] for key in given if key.removeprefix("for") == "iorate")
        message = (
            "only the maximum is imported: the other rates are shares of it, which Vdbench measures first"
        )
        yield parameter.issue("vdbench.curve", message)


_DEFINITION = re.compile(r"^\s*(sd|wd|rd|fsd|fwd)=\S+", re.MULTILINE | re.IGNORECASE)


def recognizes(text: str) -> bool:
    """Return whether a text looks like a parameter file."""
    kinds = {match[1].lower().removeprefix("f") for match in _DEFINITION.finditer(text)}
    return len(kinds) > 1


def read_tests(text: str, file: str, options: ImportOptions = DEFAULTS) -> list[ImportedWorkload]:
    """Read the tests of a parameter file.

    Raises:
        ConfigError: With every parameter that cannot be read, each with its place and what is allowed.
    """
    definitions = ParameterFile(OptionReader(options.ignore_unknown))
    issues = definitions.reader.issues
    definitions.read(text)
    tests = []
    if not any(issue.code == "vdbench.file-system" for issue in issues):
        tests = build_tests(definitions)
        if not definitions.runs and not issues:
            message = "no run; a run is rd=name,wd=..."
            issues.append(Issue("import.no-test", "", message))
    if issues:
        raise ConfigError(sort_by_place(issues), file)
    return tests
