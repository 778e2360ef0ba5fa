"""Figures of the two measured disks that are facts, held here because the traces may not be committed.

`disk_figures.json` has, for each disk: the statistics of its requests (classes with their counts, distances,
sizes and mean measured service times), the parameters fitted to it with their demerit figures, and the mean
service times of the model for requests drawn from these statistics. The last ones need no trace, so that a
changed model is noticed in every clone. With the traces in ../shared, the file is written by

    PYTHONPATH=tests .venv/bin/python -m validation.disk_figures
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from external_data import SHARED

from destage.tools.disksim import measured_disk, service_times
from destage.tools.disksim.measured_disk import Validation
from destage.tools.disksim.model_fit import FITTABLE
from destage.tools.disksim.service_times import (
    ALL,
    WRITES,
    MeasuredTrace,
    classify_requests,
    simulate_service_ms,
)

FILE = Path(__file__).with_name("disk_figures.json")
TRACES = SHARED / "traces" / "disksim"
DISKS = {
    "cheetah_9lp": ("cheetah9LP.trace.xz", "Cheetah 9LP", 0.15),
    "atlas_10k": ("atlas10k.trace.xz", "Atlas 10K", 0.25),
}
"""Trace, title, and maximum demerit figure over all requests [ms]."""

PHASES = 4
_REQUESTS = 10_000
_DECILES = np.linspace(0, 1, 11)
_ALIGNMENT = 4
"""All requests of both traces begin at multiples of this [sectors]."""

Figures = dict[str, Any]


def read_figures() -> dict[str, Figures]:
    """Return the held figures by disk."""
    figures: dict[str, Figures] = json.loads(FILE.read_text(encoding="utf-8"))
    return figures


@cache
def load_trace(name: str) -> MeasuredTrace:
    """Return the trace of one disk; `require_shared` says whether it is there."""
    return service_times.load(TRACES / DISKS[name][0])


@cache
def validate_disk(name: str, *, fitted: bool) -> Validation:
    """Return the validation of one disk on its trace, which takes seconds with a fit."""
    facts, fit = measured_disk.load_disk(name), list(FITTABLE) if fitted else []
    return measured_disk.validate(load_trace(name), facts, fit, overall_limit_ms=DISKS[name][2])


def collect_figures(name: str) -> Figures:
    """Return the figures of one disk from its trace."""
    trace, found = load_trace(name), validate_disk(name, fitted=True)
    figures = {
        "fitted": {parameter: float(value) for parameter, value in found.fitted.items()},
        "demerit_ms": {each.name: round(each.demerit_ms, 6) for each in found.classes},
        "last_sector": int(trace.lba.max()),
        "gap_deciles_ns": [round(float(gap)) for gap in np.quantile(trace.gap_ns, _DECILES)],
        "classes": _describe_classes(trace),
    }
    return {**figures, "modelled_ms": simulate_drawn(name, figures)}


def simulate_drawn(name: str, figures: Figures) -> dict[str, float]:
    """Return the model's mean service time by class [ms], for requests drawn from the figures."""
    disk, _ = measured_disk.complete_facts(measured_disk.load_disk(name))
    for parameter, value in figures["fitted"].items():
        part, _, key = parameter.rpartition(".")
        (disk[part] if part else disk)[key] = value if parameter == "buffer.lapse" else round(value)
    drawn = draw_requests(figures)
    times = simulate_service_ms(drawn, disk, PHASES).mean(axis=0)
    return {name: round(float(times[mask].mean()), 6) for name, mask in classify_requests(drawn).items()}


def draw_requests(figures: Figures) -> MeasuredTrace:
    """Return requests drawn from the figures; the class depends on the one before, all else on the class."""
    draws = np.random.default_rng(1)
    classes = figures["classes"]
    names = list(classes)
    position, columns, before = figures["last_sector"] // 2, [], "after_read"
    for _ in range(_REQUESTS):
        name = draws.choice(names, p=_normalise([classes[name][before] for name in names]))
        chosen, before = classes[name], "after_write" if name == WRITES else "after_read"
        sizes = chosen["sizes"]
        sectors = int(draws.choice([int(size) for size in sizes], p=_normalise(list(sizes.values()))))
        is_sequential = draws.random() < chosen["sequential"]
        far = np.interp(draws.random(), _DECILES, chosen["distance_deciles"])
        distance = 0 if is_sequential else int(far) // _ALIGNMENT * _ALIGNMENT
        places = [position - distance, position + distance]
        reached = [place for place in places if 0 <= place <= figures["last_sector"]] or [0]
        first = int(reached[draws.integers(len(reached))])
        columns.append((name == WRITES, first, sectors))
        position = first + sectors
    writes, first_sectors, counts_of_sectors = zip(*columns, strict=True)
    gaps = np.interp(draws.random(_REQUESTS), _DECILES, figures["gap_deciles_ns"])
    return MeasuredTrace(
        np.array(writes, dtype=np.bool_),
        np.array(first_sectors, dtype=np.uint64),
        np.array(counts_of_sectors, dtype=np.uint64),
        np.zeros(_REQUESTS),
        gaps.astype(np.uint64),
    )


def _describe_classes(trace: MeasuredTrace) -> dict[str, Figures]:
    first = trace.lba.astype(np.int64)
    ends = np.concatenate([[0], (first + trace.sectors.astype(np.int64))[:-1]])
    distances = np.abs(first - ends)
    after_write = np.concatenate([[False], trace.is_write[:-1]])
    described = {}
    for name, mask in classify_requests(trace).items():
        if name == ALL:
            continue
        is_far = mask & (distances > 0)
        sizes, counts = np.unique(trace.sectors[mask], return_counts=True)
        deciles = np.quantile(distances[is_far], _DECILES) if is_far.any() else np.zeros(len(_DECILES))
        described[name] = {
            "after_write": int((mask & after_write).sum()),
            "after_read": int((mask & ~after_write).sum()),
            "measured_ms": round(float(trace.service_ms[mask].mean()), 6),
            "sequential": round(1 - float(is_far.sum() / mask.sum()), 6),
            "distance_deciles": [round(float(distance)) for distance in deciles],
            "sizes": {str(size): int(count) for size, count in zip(sizes, counts, strict=True)},
        }
    return described


def _normalise(counts: list[int]) -> npt.NDArray[np.float64]:
    shares = np.array(counts, dtype=np.float64)
    normalised: npt.NDArray[np.float64] = shares / shares.sum()
    return normalised


def main() -> None:
    """Write the file from the traces."""
    figures = {name: collect_figures(name) for name in DISKS}
    FILE.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
