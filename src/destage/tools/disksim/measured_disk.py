"""Validation of a disk model against the measurement of a real disk.

The disk is described as in a configuration. Missing facts are assumed and reported; parameters are fitted on
the first half of the measurement, and the second half gives the score.
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from destage.engine import catalog, configuration
from destage.errors import ConfigError, Issue
from destage.tools.disksim.disksim_model import read_model
from destage.tools.disksim.model_fit import CHOICES, FITTABLE, Fit, fit_disk
from destage.tools.disksim.service_times import ClassScore, MeasuredTrace, score_classes, simulate_service_ms

ASSUMED: Mapping[str, Any] = {
    "command_time": "0.2ms",
    "bus_rate": "5MB/s",
    "buffer.segments": 4,
    "buffer.segment": "256KiB",
    "buffer.hit_time": "0.1ms",
    "buffer.write_time": "0.45ms",
    "buffer.write_cache": True,
}
"""Defaults of missing facts, as docs/validating-a-disk.md explains; `read_settle` is a one-cylinder seek."""


_TIMES = ("hit_time", "write_time")
"""Null where they equal the command's; without them, a validation would assume others."""

DISKSIM_SUFFIXES = frozenset({".model", ".diskspecs", ".parv"})
"""Endings of DiskSim's files with facts of a disk."""


@dataclass(frozen=True)
class Validation:
    """The result of a validation.

    Attributes:
        disk: The scored disk in base units.
        assumed: The assumed values of missing facts.
        modelled_ms: Service times of the model [ms], one row for each replay.
    """

    disk: Mapping[str, Any]
    assumed: Mapping[str, Any]
    fitted: Mapping[str, float]
    chosen: Mapping[str, str]
    warnings: Sequence[Issue]
    classes: Sequence[ClassScore]
    modelled_ms: npt.NDArray[np.float64]


def find_unmodelled(given: str) -> Sequence[Issue]:
    """Return warnings of what the description of a disk states and no field of the model expresses."""
    path = Path(given)
    return read_model(path).unmodelled if path.suffix in DISKSIM_SUFFIXES else ()


def load_disk(given: str) -> dict[str, Any]:
    """Read the facts of a disk.

    Args:
        given: A TOML file with the fields of a disk (and `use`, to start from a catalogue entry), a DiskSim
            `.model`, `.diskspecs` or `.parv` file, or a catalogue name.
    """
    path = Path(given)
    if path.suffix in DISKSIM_SUFFIXES:
        return dict(read_model(path).facts)
    if path.suffix != ".toml":
        return dict(catalog.entry("disks", given).config)
    try:
        facts = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(
            [Issue("disk.unreadable", "", f"cannot be read: {error.strerror}")], str(path)
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError([Issue("disk.bad-syntax", "", f"invalid TOML: {error}")], str(path)) from None
    return facts if "use" in facts else {"kind": "disk", **facts}


def validate(
    trace: MeasuredTrace,
    facts: Mapping[str, Any],
    fit: Sequence[str],
    *,
    overall_limit_ms: float,
    phases: int = 4,
) -> Validation:
    """Score a disk on the second half of a measurement.

    Raises:
        ConfigError: The facts break rules, or a field cannot be fitted.
    """
    unknown = [name for name in fit if name not in FITTABLE and name not in CHOICES]
    if unknown:
        message = f"cannot be fitted; allowed: {', '.join((*FITTABLE, *CHOICES))}"
        raise ConfigError([Issue("disk.not-fittable", "--fit", message, name) for name in unknown])
    disk, assumed = complete_facts(facts)
    if "buffer" not in disk or disk["buffer"] is None:
        fit = [name for name in fit if not name.startswith("buffer.")]
    fitted = fit_disk(trace, disk, fit, phases) if fit else Fit({}, {}, ())
    modelled = simulate_service_ms(trace, disk, phases)
    assumed = {name: value for name, value in assumed.items() if name not in {*fitted.values, *fitted.chosen}}
    scores = score_classes(trace, modelled, overall_limit_ms)
    return Validation(disk, assumed, fitted.values, fitted.chosen, fitted.warnings, scores, modelled)


def complete_facts(facts: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a disk in base units, and the assumed values of missing facts."""
    resolved = catalog.resolve({"array": {"disk": dict(facts)}})["array"]["disk"]
    assumed: dict[str, Any] = {}
    # All SCSI disks measured so far have a buffer; `buffer = null` is a disk without one.
    resolved.setdefault("buffer", {})
    for name, value in ASSUMED.items():
        if name == "buffer.write_time" and not (resolved["buffer"] or {}).get("write_cache", True):
            continue
        part, _, key = name.rpartition(".")
        holder = resolved.get(part) if part else resolved
        if isinstance(holder, dict) and key not in holder:
            holder[key] = assumed[name] = value
    disk = canonical_disk(resolved)
    if "read_settle" not in resolved:
        disk["read_settle"] = _single_cylinder_ns(disk["seek"])
        assumed["read_settle"] = f"{disk['read_settle'] / 1e6:g}ms"
    return disk, assumed


def canonical_disk(disk: Mapping[str, Any]) -> dict[str, Any]:
    """Return a disk in base units.

    Raises:
        ConfigError: The facts break rules, or are not of a disk.
    """
    scenario = load_single_disk(disk, "s", 1, "512B")
    canonical: dict[str, Any] = configuration.normalise(scenario)["arrays"][0]["disk"]
    if canonical["kind"] != "disk":
        message = "must be a disk; other devices have no mechanics to validate"
        raise ConfigError([Issue("disk.not-a-disk", "kind", message, canonical["kind"])])
    return canonical


def load_single_disk(
    disk: Mapping[str, Any],
    name: str,
    depth: int,
    size: str,
    *,
    reads: float = 1,
    address: Mapping[str, Any] = MappingProxyType({"kind": "uniform"}),
) -> dict[str, Any]:
    """Return a scenario of one disk with a stream that keeps `depth` requests outstanding."""
    operations = {"read_fraction": reads, "size": {"kind": "constant", "value": size}}
    arrival = {"kind": "fixed_outstanding", "depth": depth}
    stream = {"name": name, "arrival": arrival, "operations": operations, "address": dict(address)}
    return {
        "workload": {"streams": [stream]},
        "array": {"raid": "0", "disks": 1, "disk": dict(disk)},
    }


def _single_cylinder_ns(seek: Mapping[str, Any]) -> int:
    if seek["kind"] == "figures":
        return int(seek["track_to_track"])
    return int(seek["points"][0]["time"] if seek["kind"] == "table" else seek["a"] + seek["b"])


def save_disk(path: Path, disk: Mapping[str, Any]) -> None:
    """Write a disk in base units.

    Raises:
        ConfigError: The file cannot be written.
    """
    try:
        path.write_text(as_toml(disk), encoding="utf-8")
    except OSError as error:
        message = f"cannot be written: {error.strerror}"
        raise ConfigError([Issue("disk.unwritable", "--save", message)], str(path)) from None


def as_toml(disk: Mapping[str, Any]) -> str:
    """Return a disk as TOML, with the times of its buffer; other fields that are null keep their defaults."""
    given = {key: value for key, value in disk.items() if value is not None}
    if buffer := given.get("buffer"):
        times = {key: disk["command_time"] for key in _TIMES if buffer[key] is None}
        given["buffer"] = {**buffer, **times}
    lines = [f"{key} = {_value(value)}" for key, value in given.items() if not isinstance(value, Mapping)]
    for table, fields in given.items():
        if isinstance(fields, Mapping):
            lines += ["", f"[{table}]"]
            lines += [f"{key} = {_value(value)}" for key, value in fields.items() if value is not None]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        fields = (f"{key} = {_value(item)}" for key, item in value.items() if item is not None)
        return f"{{ {', '.join(fields)} }}"
    if isinstance(value, list):
        return "[\n" + "".join(f"  {_value(item)},\n" for item in value) + "]"
    return json.dumps(value)
