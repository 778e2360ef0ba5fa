"""Fit the study call_center to the only figure used for the fit: 39 users without write cache.

Usage: fit_call_center.py [--write]

For each limit and each system without write cache, the script fixes the users at 39 and seeks the largest
number of I/Os per interaction that meets the limit, with the study's replicates and run settings. The fitted
value is the rounded answer; no other figure is used. The result is deterministic: the
script exits with 1 if the study has another value, and `--write` writes the fitted values into the study.
"""

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from destage import sweeps
from destage.store import open_sweep
from destage.sweeps import studies
from destage.sweeps.reading.parsing import parse_study
from destage.sweeps.study.valid_study import Study

USERS = 39
FITTED = "workload.streams.0.arrival.ios"
BASELINE = {"controller.use": "smart_array_5i"}
STUDY = "call_center"
Assignments = Mapping[str, object]


def main(arguments: list[str]) -> int:
    """Print fitted and stored values; return the exit code."""
    study = studies.load(STUDY)
    text = studies.text(STUDY)
    differing = 0
    print(f"I/Os per interaction at which {USERS} users are supported without write cache")
    print(f"{'limit and system':<46}{'fitted':>8}{'in the study':>14}   over replicates")
    for limit, systems in list_systems(study).items():
        for number, (system, (mean, half_width)) in enumerate(
            zip(systems, fit_systems(study, limit, systems), strict=True), start=1
        ):
            written = system[FITTED]
            differing += written != round(mean)
            name = f"{limit}, system {number}"
            print(f"{name:<46}{round(mean):>8}{written!s:>14}   {mean:.1f} ± {half_width:.1f}")
            text = _write(text, limit, number, system, round(mean))
    if "--write" in arguments:
        (Path(studies.__file__).parent / f"{STUDY}.yaml").write_text(text, encoding="utf-8")
        return 0
    return 1 if differing else 0


def list_systems(study: Study) -> dict[str, list[Assignments]]:
    """Return the points without write cache by the label of their limit."""
    systems: dict[str, list[Assignments]] = {}
    for label, assignments in study.points:
        if label is not None and BASELINE.items() <= assignments.items():
            systems.setdefault(label, []).append(assignments)
    return systems


def fit_systems(study: Study, limit: str, systems: list[Assignments]) -> list[tuple[float, float]]:
    """Return the I/Os per interaction for 39 users on each system under a limit, and their half-width."""
    inverse = parse_study(json.dumps(_inverse(study, limit, systems)), name=f"the fit of {study.name}")
    with TemporaryDirectory() as store:
        outcome = sweeps.run(inverse, Path(store), executor="inline", workers=1)
        answers = open_sweep(outcome.path).answers().to_pylist()
    found = {row["label"]: (row["answer_mean"], row["answer_half_width"]) for row in answers}
    return [found[str(number)] for number in range(len(systems))]


def _inverse(study: Study, limit: str, systems: list[Assignments]) -> dict[str, Any]:
    """Return the inverse study under a limit: users given, I/Os sought."""
    scenario = dict(study.document["scenario"])
    seek = {key: value for key, value in study.document["seek"].items() if key != "limits"}
    return {
        "name": f"{study.name}_fit",
        "scenario": scenario | {"workload": {**scenario["workload"], "users": USERS}},
        "points": [
            {path: value for path, value in system.items() if path != FITTED} | {"label": str(number)}
            for number, system in enumerate(systems)
        ],
        "seek": {
            **seek,
            "maximize": FITTED,
            "subject_to": study.document["seek"]["limits"][limit],
            "start": 32,
        },
        "replicates": study.document["replicates"],
    }


def _write(text: str, limit: str, number: int, system: Assignments, value: int) -> str:
    """Return the study's text with a fitted value in its points and in its list of fitted parameters."""
    pattern = re.compile(rf"({re.escape(FITTED)}: )\d+")
    exponent = f"workload.streams.0.address.exponent: {system['workload.streams.0.address.exponent']},"
    lines = []
    for line in text.splitlines(keepends=True):
        if f'label: "{limit}"' in line and f'raid: "{system["array.raid"]}"' in line and exponent in line:
            line = pattern.sub(rf"\g<1>{value}", line)  # noqa: PLW2901 - the same line, rewritten
        elif f"{limit}, system {number}" in line:
            line = re.sub(r"value: \d+", f"value: {value}", line)  # noqa: PLW2901
        lines.append(line)
    return "".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
