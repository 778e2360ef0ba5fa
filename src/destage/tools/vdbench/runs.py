"""Tests of a Vdbench run (RD): every combination of its loops."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from destage.errors import Issue
from destage.tools.imported_workload import ImportedWorkload
from destage.tools.values import OptionValueError
from destage.tools.vdbench import keywords
from destage.tools.vdbench.definitions import ParameterFile, Settings
from destage.tools.vdbench.parameter_file import Parameter
from destage.tools.vdbench.requests import build_components, parse_seeks, read_requests
from destage.tools.vdbench.storages import OpenFlags, Storage, lay_out, read_flags
from destage.tools.vdbench.values import (
    expand_range,
    parse_number,
    parse_percentage,
    parse_positive,
    parse_seconds,
    parse_sectors,
)
from destage.tools.workload_parts import ALL, Part, render_rate, requests_of, times_of

MOST_TESTS = 5_000
_DEFAULT_ELAPSED = 30
_MOST_OUTSTANDING = 65_536
_CHECKS = {
    "xfersize": parse_sectors,
    "threads": parse_positive,
    "rdpct": parse_percentage,
    "rhpct": parse_percentage,
    "whpct": parse_percentage,
    "seekpct": parse_seeks,
    "hitarea": parse_sectors,
}
_MEANINGS = {
    "lun": "a contiguous range of the array",
    "size": "size of the storage",
    "count": "storages of the same kind",
    "threads": "outstanding requests of a storage",
    "hitarea": "the part of a storage that hits go to",
    "offset": "first byte used",
    "align": "random addresses are multiples of this",
    "openflags": "the host has no cache; o_sync and o_dsync force writes to stable storage (FUA)",
    "range": "the part of the storage that is used",
    "sd": "its storages, each with the same share",
    "skew": "share of all requests",
    "xfersize": "request sizes",
    "rdpct": "share of reads [%]",
    "readpct": "share of reads [%]",
    "writepct": "share of writes [%]",
    "wrpct": "share of writes [%]",
    "seekpct": "share of requests with a random address, each drawn independently [%]",
    "stride": "gap before each request with a new address",
    "iorate": "requests per second; max keeps all threads busy",
    "rhpct": "share of reads in the hit area [%]",
    "whpct": "share of writes in the hit area [%]",
    "wd": "its workloads",
    "elapsed": "length of the measurement",
    "warmup": "warm-up before the measurement",
    "distribution": "gaps between arrivals",
    "curve": "shares of a measured rate",
}


@dataclass(frozen=True)
class _Load:
    """The workloads of one test with the storages of each."""

    run: Settings
    workloads: Sequence[tuple[Settings, Sequence[tuple[Storage, OpenFlags]]]]


def build_tests(definitions: ParameterFile, file: str) -> list[ImportedWorkload]:
    """Return the tests of all runs; mistakes are added to the definitions' issues."""
    issues = definitions.issues
    placed = lay_out(definitions.storages, issues)
    tests: list[ImportedWorkload] = []
    for run in definitions.runs:
        load = _find_load(definitions, run, placed)
        loops = _read_loops(run, issues)
        if issues or not load.workloads:
            continue
        for values in product(*loops.values()):
            if len(tests) >= MOST_TESTS:
                message = f"loops make more than {MOST_TESTS} tests"
                issues.append(run.word.issue("import.too-many-tests", "rd", message))
                return tests
            chosen = dict(zip(loops, values, strict=True))
            labels = [f"{key}={text}" for key, text in chosen.items() if len(loops[key]) > 1]
            name = " ".join([run.name, *labels])
            tests.append(_build_test(definitions, load, chosen, name, file))
    return tests


def _find_load(definitions: ParameterFile, run: Settings, placed: Mapping[str, Storage]) -> _Load:
    found = []
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
            definitions.issues.append(workload.word.issue("vdbench.unknown-name", "wd", message))
        opened = [
            (placed[one.name], read_flags([one, workload, run], definitions.issues)) for one in storages
        ]
        found.append((workload, opened))
    return _Load(run, found)


def _read_loops(run: Settings, issues: list[Issue]) -> dict[str, list[str]]:
    """Return the values of each loop, the outermost first."""
    loops: dict[str, list[str]] = {}
    for key, parameter in run.order:
        name = key.removeprefix("for") if key.startswith("for") else key
        try:
            if name in keywords.LOOPS:
                values = expand_range([value.text for value in parameter.values])
                for text in values:
                    _CHECKS[name](text)
                loops[name] = _render(name, parameter, values)
            elif name == "iorate":
                loops[name] = _read_rates(parameter)
        except OptionValueError as error:
            issues.append(parameter.issue("import.bad-value", str(error)))
    return loops


def _render(name: str, parameter: Parameter, values: list[str]) -> list[str]:
    """Return values as written, or those of a range with their units."""
    written = [value.text for value in parameter.values]
    if values == written or name not in {"xfersize", "hitarea"}:
        return list(dict.fromkeys(values))
    return [f"{int(text) >> 10}k" if int(text) % 1024 == 0 else text for text in values]


def _read_rates(parameter: Parameter) -> list[str]:
    texts = [value.text.lower() for value in parameter.values]
    for text in texts:
        if text.endswith("%"):
            raise OptionValueError("in per cent is a share of a rate that Vdbench measures first; give rates")
    rates = texts if set(texts) & {"max", "curve"} else expand_range(texts)
    for text in rates:
        if text not in {"max", "curve"} and not parse_number(text):
            raise OptionValueError("must be above 0, max or curve")
    return list(dict.fromkeys(rates))


def _build_test(
    definitions: ParameterFile, load: _Load, chosen: Mapping[str, str], name: str, file: str
) -> ImportedWorkload:
    issues, run = definitions.issues, load.run
    found: list[Issue] = []
    own, common, notes = [], [], []
    for (workload, storages), weight in zip(load.workloads, _weights(load, found), strict=True):
        requests = read_requests(workload, chosen, found)
        if requests.gap is not None and not requests.seeks:
            notes.append("Without effect: stride: it applies to the share of requests that seekpct gives.")
        parts = build_components(requests, workload, storages, weight, found)
        rate = workload.get("iorate", parse_number, 0.0, found)
        if rate:
            stream = {"name": workload.name, "arrival": _open(run, rate, found), **_requests(parts)}
            own.append(stream)
        else:
            common += parts
    rate_text = chosen.get("iorate", "max")
    streams: list[Part] = list(own)
    if common:
        if rate_text in {"max", "curve"}:
            arrival: Part = {"kind": "fixed_outstanding", "depth": _depth(load, chosen, found)}
        else:
            arrival = _open(run, parse_number(rate_text), found)
        streams.insert(0, {"name": "workload", "arrival": arrival, **_requests(common)})
    known = {(issue.code, issue.place, issue.message) for issue in issues}
    issues += [issue for issue in found if (issue.code, issue.place, issue.message) not in known]
    is_open = bool(own) or rate_text not in {"max", "curve"}
    return ImportedWorkload(
        tool="Vdbench",
        file=file,
        workload={"users": 1, "streams": streams},
        run=_run(run, issues),
        remarks=(*_write_remarks(load, is_open=is_open), *dict.fromkeys(notes), *definitions.remarks),
        mapping={streams[0]["name"]: tuple(_describe(load, chosen))} if streams else {},
        warnings=(*definitions.warnings, *_find_warnings(load, rate_text)),
        name=name,
    )


def _requests(parts: Sequence[Part]) -> Part:
    return requests_of(parts) if parts else {}


def _weights(load: _Load, issues: list[Issue]) -> list[float]:
    """Return the share of each workload; those without skew share the rest equally."""
    skews = [workload.get("skew", parse_percentage, 0.0, issues) for workload, _ in load.workloads]
    total, free = sum(skews), skews.count(0.0)
    if total > ALL + 1:
        parameter = next(w.parameters["skew"] for w, _ in load.workloads if "skew" in w.parameters)
        message = f"the workloads of {load.run.name} add up to {total:g} %; allowed is up to 100"
        issues.append(parameter.issue("import.bad-value", message))
    rest = max(0.0, ALL - total) / free if free else 0.0
    weights = [skew or rest for skew in skews]
    return weights if all(weights) else [max(weight, 1e-9) for weight in weights]


def _depth(load: _Load, chosen: Mapping[str, str], issues: list[Issue]) -> int:
    """Return the outstanding requests of all storages together."""
    storages = {one.settings.name: one for _, used in load.workloads for one, _ in used}
    each = parse_positive(chosen["threads"]) if "threads" in chosen else None
    depth = sum(each or one.threads for one in storages.values())
    if depth > _MOST_OUTSTANDING:
        message = f"{depth} outstanding requests; at most {_MOST_OUTSTANDING} are simulated"
        issues.append(load.run.word.issue("import.bad-value", "threads", message))
    return min(depth, _MOST_OUTSTANDING)


def _open(run: Settings, rate: float, issues: list[Issue]) -> Part:
    kind = run.get("distribution", _parse_distribution, "poisson", issues)
    return {"kind": kind, "rate": render_rate(rate)}


def _parse_distribution(text: str) -> str:
    lower = text.lower()
    if "exponential".startswith(lower):
        return "poisson"
    if "deterministic".startswith(lower) or "uniform".startswith(lower):
        return "constant"
    raise OptionValueError("must be exponential, uniform or deterministic")


def _run(run: Settings, issues: list[Issue]) -> Part:
    warm_up = run.get("warmup", parse_seconds, 0, issues)
    elapsed = run.get("elapsed", parse_seconds, _DEFAULT_ELAPSED, issues)
    return times_of(warm_up, max(1, elapsed))


def _write_remarks(load: _Load, *, is_open: bool) -> Iterator[str]:
    storages = {one.settings.name: one for _, used in load.workloads for one, _ in used}
    if len(storages) > 1:
        yield "Assumed: the storages follow one another; those of unknown size are the whole array."
        yield "Approximated: the threads of all storages are one queue."
    if is_open:
        yield "Approximated: arrivals do not wait for threads; Vdbench has at most `threads` outstanding."
        distribution = load.run.parameters.get("distribution")
        if distribution is not None and "uniform".startswith(distribution.text.lower()):
            yield f"Approximated: {distribution}: equal gaps."
    names = ("rhpct", "whpct", "forrhpct", "forwhpct")
    if any(name in one.parameters for one in (load.run, *(w for w, _ in load.workloads)) for name in names):
        yield "Assumed: hits are uniform in the hit area, which no other request uses."
    seeks = [w.parameters["seekpct"].text.lower() for w, _ in load.workloads if "seekpct" in w.parameters]
    if set(seeks) & {"eof", "-1"}:
        yield "Approximated: a sequence starts again at the end of its storage, where Vdbench ends the test."


def _describe(load: _Load, chosen: Mapping[str, str]) -> Iterator[str]:
    run = load.run
    yield f"rd={run.name}, line {run.word.line}:"
    for key, parameter in run.order:
        name = key.removeprefix("for") if key.startswith("for") else key
        value = f", here {chosen[name]}" if name in chosen and len(parameter.values) > 1 else ""
        yield f"{parameter}: {_MEANINGS[name]}{value}"
    for workload, _ in load.workloads:
        for key, parameter in workload.parameters.items():
            yield f"wd={workload.name}, {parameter}: {_MEANINGS[key]}"
    storages = {one.settings.name: one.settings for _, used in load.workloads for one, _ in used}
    for storage in storages.values():
        for key, parameter in storage.parameters.items():
            yield f"sd={storage.name}, {parameter}: {_MEANINGS[key]}"


def _find_warnings(load: _Load, rate: str) -> Iterator[Issue]:
    opened = {one.settings.name: (one, flags) for _, used in load.workloads for one, flags in used}
    cached = [name for name, (one, flags) in opened.items() if not flags.is_direct and not one.is_raw]
    if cached:
        word = opened[cached[0]][0].settings.word
        message = (
            f"o_direct not set for {', '.join(cached)}: requests use the host's page cache, which is not "
            "simulated; here all go to the array"
        )
        data = {"storages": cached}
        yield Issue("import.page-cache", "openflags", message, data=data, line=word.line, column=word.column)
    unknown = [name for name, (one, _) in opened.items() if not one.has_size and not one.is_device]
    if unknown:
        word = opened[unknown[0]][0].settings.word
        message = f"not given for {', '.join(unknown)}; assumed: the whole array"
        yield Issue("import.unknown-size", "size", message, line=word.line, column=word.column)
    if rate == "curve":
        parameter = next(one for key, one in load.run.order if key.removeprefix("for") == "iorate")
        message = (
            "only the maximum is imported: the other rates are shares of it, which Vdbench measures first"
        )
        yield parameter.issue("vdbench.curve", message)
