"""Fit the call-centre studies to the only figure used for the fit: 39 users without write cache.

Usage: fit_call_center.py [STUDY ...]

For each point without write cache, the script fixes the users at 39 and seeks the largest number of I/Os per
interaction that meets the study's objectives, with the study's replicates and run settings. The fitted value
is the rounded mean over the replicates; no other figure is used. The result is deterministic: the script
exits with 1 if a study has another value.
"""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import destage
from destage import sweeps
from destage.sweeps import parameters, studies
from destage.sweeps.points import Point, expand
from destage.sweeps.study import Study, parse_study

USERS = 39
FITTED = "workload.streams.0.arrival.ios"
STUDIES = ("call_center_prior", "call_center_curve")


def main(names: list[str]) -> int:
    """Print fitted and stored values; return the exit code."""
    differing = 0
    for name in names or STUDIES:
        study = studies.load(name)
        print(f"{name}: I/Os per interaction at which {USERS} users are supported without write cache")
        print(f"{'point':<46}{'fitted':>8}{'in the study':>14}   over replicates")
        baselines = _baselines(study)
        for label, (mean, half_width) in fit_study(study).items():
            written = parameters.read(baselines[label].config, FITTED)
            differing += written != round(mean)
            print(f"{label:<46}{round(mean):>8}{written!s:>14}   {mean:.1f} ± {half_width:.1f}")
    return 1 if differing else 0


def fit_study(study: Study) -> dict[str, tuple[float, float]]:
    """Return the I/Os per interaction for 39 users by point without write cache, and their half-width."""
    inverse = parse_study(json.dumps(_inverse(study)), name=f"the fit of {study.name}")
    with TemporaryDirectory() as store:
        outcome = sweeps.run(inverse, Path(store), executor="inline", workers=1)
        answers = destage.open(outcome.path).answers().collect()
    return {row["label"]: (row["answer_mean"], row["answer_half_width"]) for row in answers.to_dicts()}


def _inverse(study: Study) -> dict[str, Any]:
    """Return the inverse study: users given, I/Os sought."""
    scenario = dict(study.document["scenario"])
    return {
        "name": f"{study.name}_fit",
        "scenario": scenario | {"workload": {**scenario["workload"], "users": USERS}},
        "points": [
            {path: value for path, value in point.axes.items() if value is not None and path != FITTED}
            | {"label": label}
            for label, point in _baselines(study).items()
        ],
        "seek": {**study.document["seek"], "maximize": FITTED, "start": 32},
        "replicates": study.document["replicates"],
    }


def _baselines(study: Study) -> dict[str, Point]:
    """Return the points without write cache by label, or by number if they have none."""
    points = [
        point
        for point in expand(study).points
        if point.axes.get("controller.use") == "smart_array_5i"
        or point.axes.get("controller.cache.capacity") == 0
    ]
    return {point.label or f"without cache, {at}": point for at, point in enumerate(points, start=1)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
