"""Fit the call-centre studies on the one figure that they may be fitted on: 39 users without write cache.

Usage: fit_call_center.py [STUDY ...]

For each point of a study whose controller has no write cache, the users are held at 39, and the greatest
number of I/Os in an interaction is sought that still meets the study's own objectives, by its own replicates
and run. What is fitted is the mean over the replicates, rounded; no other figure is looked at. It comes out
the same every time: the script exits with 1 where a study says otherwise.
"""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import destage
from destage import sweeps
from destage.sweeps import studies
from destage.sweeps.study import Study, parse_study

USERS = 39
FITTED = "workload.streams.0.arrival.ios"
NO_WRITE_CACHE = "smart_array_5i"
STUDIES = ("call_center_prior",)


def main(names: list[str]) -> int:
    """Print what is fitted and what each study says; return how to exit."""
    differing = 0
    for name in names or STUDIES:
        study = studies.load(name)
        print(f"{name}: I/Os of an interaction at which {USERS} users are carried without write cache")
        print(f"{'point':<44}{'fitted':>8}{'in the study':>14}   over replicates")
        for label, (mean, half_width) in fit(study).items():
            written = _baselines(study)[label].get(FITTED)
            differing += written != round(mean)
            print(f"{label:<44}{round(mean):>8}{written or '-':>14}   {mean:.1f} ± {half_width:.1f}")
    return 1 if differing else 0


def fit(study: Study) -> dict[str, tuple[float, float]]:
    """Return, by label, the I/Os that 39 users may have at each point without write cache, and the half-width.

    Args:
        study: One that seeks users.
    """
    inverse = parse_study(json.dumps(_inverse(study)), name=f"the fit of {study.name}")
    with TemporaryDirectory() as store:
        outcome = sweeps.run(inverse, Path(store), executor="inline", workers=1)
        answers = destage.open(outcome.path).answers().collect()
    return {row["label"]: (row["answer_mean"], row["answer_half_width"]) for row in answers.to_dicts()}


def _inverse(study: Study) -> dict[str, Any]:
    """Return the study turned round: users given, I/Os sought."""
    document = study.document
    points = [
        {key: value for key, value in point.items() if key != FITTED} | {"label": label}
        for label, point in _baselines(study).items()
    ]
    scenario = dict(document["scenario"])
    scenario["workload"] = {**scenario["workload"], "users": USERS}
    seek = {**document["seek"], "maximize": FITTED, "start": 32}
    return {
        "name": f"{study.name}_fit",
        "scenario": scenario,
        "points": points,
        "seek": seek,
        "replicates": document["replicates"],
    }


def _baselines(study: Study) -> dict[str, dict[str, Any]]:
    return {
        point["label"]: {key: value for key, value in point.items() if key != "label"}
        for point in study.document["points"]
        if point["controller.use"] == NO_WRITE_CACHE
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
