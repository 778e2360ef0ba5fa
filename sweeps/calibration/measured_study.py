"""A calibration built from measured lines and an array: their loads as figures, and what is usually unknown.

Nobody states firmware times, the state of an SSD, whether a drive's own write cache is on, or where a file
lies. Each has a prior by the class of the part, around the value of the catalogue. A prior that is stated
replaces the usual one.
"""

import copy
import itertools
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from destage import engine
from destage.engine.configuration import has_write_cache
from destage.errors import ConfigError, Issue
from destage.measured.line import MeasuredLine
from destage.measured.line_load import make_stream
from destage.measured_systems.calibrated import find_discrepancy
from destage.spec import quantities
from destage.spec.documents import value_at
from destage.sweeps.calibration.candidate_loads import list_candidates
from destage.sweeps.calibration.measured_figures import measure
from destage.sweeps.space import parameters

_WINDOW = 4_000
"""Requests of a figure, after a warm-up until the contents of a write cache are steady."""
_REPLICATES = 2
_WAVES = {"points": 64, "most": 4, "effective": 60}
_STREAM = "workload.streams.0"
_START = "run.initial_dirty"
_PARTS = {"controller.use", "array.disk.use"}
_SHARE = "share_in_use"
"""The unknown that says where files lie (docs/decisions/0046)."""
_SHARES = 1_000
_PIECE = "128MiB"
_TIMES = 3.0
"""How far times of firmware and interfaces may be from the catalogue's, as a ratio."""
_FLASH = 2.0
_SEEK = 1.15
DESTAGE_DEPTH = "controller.cache.write.destage_depth"
_CLASSES, _MIXED, _MIXED_READS = {1.0: "reads", 0.0: "writes"}, "mixed loads", 0.5
"""Classes of loads by their share of reads, as those of the discrepancy (`calibrated.py`)."""


def make_measured_study(
    name: str,
    lines: Mapping[str, MeasuredLine],
    hardware: Mapping[str, Any],
    *,
    held: Mapping[str, MeasuredLine] = MappingProxyType({}),
    predicted: Mapping[str, Mapping[str, Any]],
    changed: Mapping[str, Any] = MappingProxyType({}),
    unknowns: Mapping[str, Mapping[str, Any]],
    known: Sequence[str] = (),
    without: str | None = None,
) -> dict[str, Any]:
    """Return a study that calibrates an array on measured lines.

    What is predicted has the discrepancy of such predictions of the measured systems (`calibrated.py`).

    Args:
        lines: What is fitted, by the names of the figures (`name_figures`).
        hardware: The tables of a scenario beside workload and run: array, and controller if there is one.
        held: Further lines, which are predicted and compared.
        predicted: Streams to predict by the name of their figure.
        changed: Values of the array, by path, with which the loads of `predicted` are predicted too, or all
            loads if there are none.
        unknowns: Priors that are stated, by path.
        known: Paths that are not unknown.
        without: A measured system that is left out, to predict it.

    Raises:
        ConfigError: No line has a load and a result, or a path of `known` is not among the unknowns.
    """
    figures = _make_figures(lines)
    fitted = list(figures)
    if not figures:
        message = "no line states its load (request size, and outstanding I/Os or a rate) and a response time"
        raise ConfigError([Issue("study.no-measured-value", "SET", message, name)])
    streams = [figure["set"][_STREAM] for figure in figures.values()]
    # The others replace it or its fields, which a mix lacks.
    first = copy.deepcopy(next((stream for stream in streams if "mix" not in stream), streams[0]))
    further = _make_figures(held)
    asked = []
    for label, stream in predicted.items():
        asked.append(_choose_name(label, {**figures, **further}))
        further[asked[-1]] = _predict(dict(stream))
    candidates = {
        label: _predict(stream)
        for label, stream in list_candidates(
            [figure["set"][_STREAM] for figure in figures.values()],
            [figure["set"][_STREAM] for figure in further.values()],
        ).items()
        if label not in {**figures, **further}
    }
    scenario: dict[str, Any] = {
        "workload": {"streams": [first]},
        **copy.deepcopy(dict(hardware)),
        "run": {"warm_up": "auto", "window": {"requests": _WINDOW}},
    }
    for figure in further.values():
        figure["discrepancy"] = _find_discrepancy(scenario, figure["class"], without)
    figures |= further
    least = _find_share(scenario, figures.values())
    files = {} if least is None else {_SHARE: {"uniform": [least, 1.0]}}
    priors = {**files, **dict(_list_unknowns(scenario)), **unknowns}
    for path in known:
        if path not in priors:
            message = f"is not unknown; unknowns: {', '.join(priors)}"
            raise ConfigError([Issue("study.unknown-name", "--known", message, path)])
        del priors[path]
    if has_write_cache(engine.normalise(scenario)):
        _start_full([*figures.values(), *candidates.values()])
    if _SHARE in priors:
        _scatter(scenario, figures.values())
    after = {**changed, **_describe_new_parts(scenario, changed, priors)}
    what = ", ".join(
        f"{path}={value if isinstance(value, str) else json.dumps(value)}" for path, value in changed.items()
    )
    for label in (asked or list(figures)) if changed else ():
        figure = figures[label]
        figures[_choose_name(f"{label} with {what}", figures)] = {
            "set": {**figure["set"], **after},
            "of": "response_mean",
            "class": figure["class"],
            "discrepancy": _find_discrepancy(scenario, figure["class"], without),
        }
    if "controller" in scenario:
        # Otherwise a drive's own write cache would have no effect behind that of the controller.
        cache = scenario["controller"].setdefault("cache", {})
        cache.setdefault("write", {}).setdefault("force_destages", False)
    return {
        "name": f"{name}_calibrated",
        "question": "What explains the measured figures, and what does it predict?",
        "scenario": scenario,
        "replicates": _REPLICATES,
        "calibrate": {
            "unknowns": priors,
            "figures": figures,
            "fits": {"given" if held else "all": fitted},
            "candidates": candidates,
            "waves": _WAVES,
        },
    }


def _describe_new_parts(
    scenario: Mapping[str, Any], changed: Mapping[str, Any], unknowns: Iterable[str]
) -> dict[str, Any]:
    """Return what is unknown of parts that a change replaces, as the catalogue states it of the new ones.

    What was fitted is of the parts that were measured.
    """
    replaced = tuple(path.removesuffix("use") for path in changed if path in _PARTS)
    found = {}
    if replaced:
        after = copy.deepcopy(dict(scenario))
        for path, value in changed.items():
            parameters.assign(after, path, value)
        config = engine.normalise(after)
        for path in unknowns:
            if path.startswith(replaced) and (value := parameters.read(config, path)) is not None:
                unit = parameters.find_parameter(path).unit
                found[path] = quantities.render(value, unit) if unit and isinstance(value, int) else value
    return {path: value for path, value in found.items() if path not in changed}


def name_figures(lines: Iterable[MeasuredLine]) -> list[str]:
    """Return the names of the lines' figures, each its own: a repeated name gets a number."""
    names: dict[str, None] = {}
    for line in lines:
        names[_choose_name(str(line.workload or line.test or "line"), names)] = None
    return list(names)


def _make_figures(lines: Mapping[str, MeasuredLine]) -> dict[str, dict[str, Any]]:
    """Return the figures of the lines that state their load and a result, by name."""
    return {
        name: {**_predict(stream), **figure}
        for name, line in lines.items()
        if (figure := measure(line)) and (stream := make_stream(line)) is not None
    }


def _predict(stream: dict[str, Any]) -> dict[str, Any]:
    """Return the figure of a stream that is not measured."""
    load_class = _CLASSES.get(_read_share(stream), _MIXED)
    return {"set": {_STREAM: stream}, "of": "response_mean", "class": load_class}


def _read_share(stream: Mapping[str, Any]) -> float:
    if "mix" in stream:
        return sum(float(kind["weight"]) for kind in stream["mix"] if kind["operations"]["read_fraction"])
    return float(stream.get("operations", {}).get("read_fraction", 1.0))


def _find_discrepancy(scenario: Mapping[str, Any], load_class: str, without: str | None) -> str:
    kind = engine.normalise(scenario)["arrays"][0]["disk"]["kind"]
    reads = next((reads for reads, name in _CLASSES.items() if name == load_class), _MIXED_READS)
    share = find_discrepancy("flash" if kind == "ssd" else "spinning", reads, without)
    return f"{share:.0%}"


def _find_share(scenario: Mapping[str, Any], figures: Iterable[Mapping[str, Any]]) -> float | None:
    """Return the least share of the array that can be in use; None where it does not matter.

    It holds the largest file. Where a file lies in an SSD makes no difference.
    """
    sizes = [quantities.parse(size, "bytes") for figure in figures if (size := _read_footprint(figure))]
    array = engine.normalise(scenario)["arrays"][0]
    if not sizes or array["disk"]["kind"] == "ssd":
        return None
    share = math.ceil(_SHARES * max(sizes) / engine.usable_capacity(array)) / _SHARES
    return share if share < 1 else None


def _read_footprint(figure: Mapping[str, Any]) -> str | None:
    """Return the size of the files of a figure; None if it has none, or its part of the array is stated."""
    address = figure["set"][_STREAM].get("address", {})
    stated = address.get("placement", {}).get("offset", "0B")
    return None if quantities.parse(stated, "bytes") else address.get("footprint")


def find_most_destages(disk: Mapping[str, Any]) -> int:
    """Return the most destages in flight for each disk that a controller is taken to have.

    No document states them. Drives of the interfaces hold 32 commands; seeks gain little beyond 16.
    """
    return 32 if disk["kind"] == "ssd" else 16


def _start_full(figures: Iterable[dict[str, Any]]) -> None:
    """Let random writes without pauses start with the full write cache that they end up with.

    Otherwise most of a run is its warm-up: a cache of 2 GB takes 150,000 writes of 8 KiB from its marks.
    """
    for figure in figures:
        stream = figure["set"][_STREAM]
        kinds = stream.get("arrival", {}).get("kind"), stream.get("address", {}).get("kind")
        if kinds == ("fixed_outstanding", "uniform") and not _read_share(stream):
            figure["set"][_START] = 1.0


def _scatter(scenario: dict[str, Any], figures: Iterable[dict[str, Any]]) -> None:
    """Let the pieces of files lie anywhere in the share of the array that is in use."""
    address = scenario["workload"]["streams"][0]["address"]
    address["placement"] = {"kind": "scattered", "extent": _PIECE, "share": 1.0}
    for figure in figures:
        if _read_footprint(figure):
            stream = figure["set"][_STREAM]
            others = {path: value for path, value in figure["set"].items() if path != _STREAM}
            load = {key: value for key, value in stream.items() if key not in {"name", "address"}}
            area = {key: value for key, value in stream["address"].items() if key != "placement"}
            figure["set"] = {
                **others,
                **{f"{_STREAM}.{key}": value for key, value in load.items()},
                **{f"{_STREAM}.address.{key}": value for key, value in area.items()},
                f"{_STREAM}.address.placement.share": {"unknown": _SHARE},
            }


def _choose_name(name: str, taken: Mapping[str, object]) -> str:
    names = itertools.chain([name], (f"{name} #{number}" for number in itertools.count(2)))
    return next(label for label in names if label not in taken)


def _list_unknowns(scenario: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the usual unknowns of an array with their priors."""
    config = engine.normalise(scenario)
    array, controller = config["arrays"][0], config["controller"]
    disk = array["disk"]
    around = _Around({"array": array, "controller": controller})
    if disk["kind"] == "ssd":
        yield "array.disk.precondition", {"choice": ["random", "sequential", "empty"]}
        yield "array.disk.write_cache", {"choice": [True, False]}
        yield from around("array.disk.command_latency", _TIMES)
        yield from around("array.disk.interface.command_overhead", _TIMES)
        yield from around("array.disk.read_time", _FLASH)
        yield from around("array.disk.program_time", _FLASH)
        yield from around("array.disk.commit_time", _TIMES)
    else:
        if disk["buffer"] is not None:
            yield "array.disk.buffer.write_cache", {"choice": [True, False]}
        yield "array.disk.queue.choice_fraction", {"uniform": [0.05, 1.0]}
        yield from around("array.disk.command_time", _TIMES)
        yield from around("array.disk.seek.average", _SEEK)
    if "controller" not in scenario:
        return
    yield from around("controller.firmware.command_time", _TIMES)
    if disk["kind"] == "ssd":
        yield from around("controller.link.latency", _TIMES)
        # A controller without SATA links tunnels their commands.
        yield from around("controller.back_end.sata_overhead", _TIMES)
        yield from around("controller.back_end.sata_write_overhead", _TIMES)
    if has_write_cache(config):
        yield DESTAGE_DEPTH, {"integer": [1, find_most_destages(disk)]}


class _Around:
    """Priors around the values of a configuration: every ratio as likely, up to a factor."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._config = config

    def __call__(self, path: str, factor: float) -> Iterator[tuple[str, dict[str, Any]]]:
        value = value_at(self._config, path)
        if value:
            ends = [quantities.render(round(value * ratio), "ns") for ratio in (1 / factor, factor)]
            yield path, {"log_uniform": ends}
