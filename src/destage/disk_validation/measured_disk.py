"""Validation of a disk model against the measurement of a real disk.

The disk is described as in a configuration. Missing facts are assumed and reported; parameters are fitted on
the first half of the measurement, and the second half gives the score. Service times come from
`disk_service_times`: the disk model of all runs, with one request outstanding and the recorded gaps.

The gaps do not determine the angle of the platter (the disk's speed and the clock drift apart by turns), so
the model is replayed several times, each with all gaps longer by a different fraction of a turn.
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from destage.disk_validation.demerit import ClassScore, compute_loss, score_classes
from destage.disk_validation.disksim_model import read_model
from destage.disk_validation.measured_trace import MeasuredTrace
from destage.engine import _engine, catalog, configuration
from destage.errors import ConfigError, Issue, TraceError

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

FITTABLE: Mapping[str, tuple[float, float]] = {
    "command_time": (0.0, 20e6),
    "bus_rate": (1e5, 1e10),
    "buffer.hit_time": (0.0, 20e6),
    "buffer.write_time": (0.0, 20e6),
    "buffer.lapse": (0.0, 0.5),
}
"""Fields that can be fitted, with minimum and maximum [ns, bytes/s, fraction]."""

_STEPS: Mapping[str, float] = {"bus_rate": 0.5e6, "buffer.lapse": 0.03}
_STEP_NS = 0.1e6
_SEED = 1
_EVALUATIONS = 60
"""Maximum replays of a fit, per parameter."""


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
    classes: Sequence[ClassScore]
    modelled_ms: npt.NDArray[np.float64]


def load_disk(given: str) -> dict[str, Any]:
    """Read the facts of a disk.

    Args:
        given: A TOML file with the fields of a disk (and `use`, to start from a catalogue entry), a DiskSim
            `.model` or `.diskspecs` file, or a catalogue name.
    """
    path = Path(given)
    if path.suffix in {".model", ".diskspecs"}:
        return read_model(path)
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
    unknown = [name for name in fit if name not in FITTABLE]
    if unknown:
        message = f"cannot be fitted; allowed: {', '.join(FITTABLE)}"
        raise ConfigError([Issue("disk.not-fittable", "--fit", message, name) for name in unknown])
    disk, assumed = complete_facts(facts)
    if "buffer" not in disk or disk["buffer"] is None:
        fit = [name for name in fit if not name.startswith("buffer.")]
    fitted = _fit(trace, disk, fit, phases) if fit else {}
    for name, value in fitted.items():
        _put(disk, name, value)
    modelled = simulate_service_ms(trace, disk, phases)
    assumed = {name: value for name, value in assumed.items() if name not in fitted}
    return Validation(disk, assumed, fitted, score_classes(trace, modelled, overall_limit_ms), modelled)


def complete_facts(facts: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a disk in base units, and the assumed values of missing facts."""
    resolved = catalog.resolve({"array": {"disk": dict(facts)}})["array"]["disk"]
    assumed: dict[str, Any] = {}
    # All SCSI disks measured so far have a buffer; `buffer = null` is a disk without one.
    resolved.setdefault("buffer", {})
    for name, value in ASSUMED.items():
        part, _, key = name.rpartition(".")
        holder = resolved.get(part) if part else resolved
        if isinstance(holder, dict) and key not in holder:
            holder[key] = assumed[name] = value
    disk = _canonical(resolved)
    if "read_settle" not in resolved:
        disk["read_settle"] = _single_cylinder_ns(disk["seek"])
        assumed["read_settle"] = f"{disk['read_settle'] / 1e6:g}ms"
    return disk, assumed


def simulate_service_ms(
    trace: MeasuredTrace, disk: Mapping[str, Any], phases: int
) -> npt.NDArray[np.float64]:
    """Simulate the service time of each request [ms], one row for each of `phases` replays."""
    turn_ns = 60e9 / float(disk["rpm"])
    text = json.dumps({key: value for key, value in disk.items() if key != "kind"})
    columns = trace.lba.astype("<u8").tobytes(), trace.sectors.astype("<u8").tobytes()
    writes = trace.is_write.astype("u1").tobytes()
    rows = []
    for phase in range(phases):
        gaps = (trace.gap_ns + np.uint64(round(phase * turn_ns / phases))).astype("<u8").tobytes()
        try:
            raw = _engine.disk_service_times(text, _SEED, *columns, writes, gaps)
        except ValueError as error:
            raise TraceError("disk.bad-request", str(error)) from None
        rows.append(np.frombuffer(raw, dtype="<u8") / 1e6)
    return np.stack(rows)


def _canonical(disk: Mapping[str, Any]) -> dict[str, Any]:
    scenario = {
        "workload": {
            "streams": [
                {
                    "name": "s",
                    "arrival": {"kind": "fixed_outstanding", "depth": 1},
                    "operations": {"read_fraction": 1.0, "size": {"kind": "constant", "value": "512B"}},
                    "address": {"kind": "uniform"},
                }
            ]
        },
        "array": {"raid": "0", "disks": 1, "stripe_unit": "64KiB", "disk": disk},
    }
    canonical: dict[str, Any] = configuration.normalise(scenario)["arrays"][0]["disk"]
    if canonical["kind"] != "disk":
        message = "must be a disk; other devices have no mechanics to validate"
        raise ConfigError([Issue("disk.not-a-disk", "kind", message, canonical["kind"])])
    return canonical


def _single_cylinder_ns(seek: Mapping[str, Any]) -> int:
    match seek["kind"]:
        case "figures":
            return int(seek["track_to_track"])
        case "table":
            return int(seek["points"][0]["time"])
        case _:
            return int(seek["a"]) + int(seek["b"])


def _place(disk: dict[str, Any], name: str) -> tuple[dict[str, Any], str]:
    part, _, key = name.rpartition(".")
    return (disk[part] if part else disk), key


def _put(disk: dict[str, Any], name: str, value: float) -> None:
    holder, key = _place(disk, name)
    holder[key] = value if name == "buffer.lapse" else round(value)


def _fit(trace: MeasuredTrace, disk: dict[str, Any], names: Sequence[str], phases: int) -> dict[str, float]:
    """Return the values that minimise the loss on the first half (Nelder, Mead 1965); changes `disk`."""
    try:
        from scipy.optimize import minimize  # noqa: PLC0415 - an optional dependency
    except ImportError:
        message = "fitting needs scipy; install destage[fit], or use --no-fit"
        raise ConfigError([Issue("disk.fit-needs-scipy", "--fit", message)]) from None

    first = trace.first_half()
    scale = np.array([_STEPS.get(name, _STEP_NS) for name in names])
    low, high = (np.array([FITTABLE[name][side] for name in names]) for side in (0, 1))

    def values(point: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.asarray(np.clip(point * scale, low, high), dtype=np.float64)

    def loss_at(point: npt.NDArray[np.float64]) -> float:
        for name, value in zip(names, values(point), strict=True):
            _put(disk, name, float(value))
        return compute_loss(first, simulate_service_ms(first, disk, phases))

    start = np.array([_get(disk, name) for name in names]) / scale
    simplex = np.vstack([start, start + np.eye(len(names))])
    options: Any = {
        "initial_simplex": simplex,
        "maxfev": _EVALUATIONS * len(names),
        "xatol": 0.02,
        "fatol": 1e-6,
    }
    search: Any = minimize
    found = values(search(loss_at, start, method="Nelder-Mead", options=options).x)
    return dict(zip(names, map(float, found), strict=True))


def _get(disk: dict[str, Any], name: str) -> float:
    holder, key = _place(disk, name)
    return float(holder[key])
