"""A calibration from a study of tests and the figures that were measured in them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from destage.errors import ConfigError, Issue
from destage.measured.line import MeasuredLine
from destage.spec.validation import suggest
from destage.sweeps.calibration.measured_figures import measure
from destage.sweeps.space import distributions

_FORM = re.compile(r"([^=]+)=(\w+):(.+)")
_REPLICATES = 3


def make_calibration(
    document: Mapping[str, Any], lines: Sequence[MeasuredLine], unknowns: Sequence[str]
) -> dict[str, Any]:
    """Return a study that calibrates the points of another one on measured lines.

    A line belongs to the point with the name of its workload as its label. Points without a line are to be
    predicted.

    Args:
        document: A study with labelled points, as `destage workload import --study` writes it.
        unknowns: Priors as `PATH=FORM:VALUE,VALUE`, such as `array.disks=integer:2,8`.

    Raises:
        ConfigError: A prior is malformed, or no line belongs to a point.
    """
    points = {point["label"]: point for point in document.get("points", []) if "label" in point}
    figures: dict[str, dict[str, object]] = {
        str(label): {
            "set": {path: value for path, value in point.items() if path != "label"},
            "of": "response_mean",
        }
        for label, point in points.items()
    }
    for line in lines:
        if line.workload in figures:
            figures[line.workload] |= measure(line)
    if not any("value" in figure for figure in figures.values()):
        names = [str(line.workload) for line in lines]
        hint = suggest(names[0], list(figures)) if names else ""
        message = f"no point has the label of a measured workload ({', '.join(names)}){hint}"
        raise ConfigError([Issue("study.unknown-name", "points", message)])
    kept = {key: value for key, value in document.items() if key not in {"points", "axes", "seek", "charts"}}
    replicates = kept.get("replicates", _REPLICATES)
    return {
        **kept,
        "name": f"{document['name']}_calibrated",
        "replicates": max(replicates, 2) if isinstance(replicates, int) else replicates,
        "calibrate": {"unknowns": dict(map(_read_prior, unknowns)), "figures": figures},
    }


def _read_prior(text: str) -> tuple[str, dict[str, object]]:
    match = _FORM.fullmatch(text)
    forms = list(distributions.SCHEMAS)
    if match is None or match.group(2) not in forms:
        message = f"must have the form PATH=FORM:VALUE,VALUE; forms: {', '.join(forms)}"
        raise ConfigError([Issue("study.bad-form", "--unknown", message, text)])
    path, form, values = match.groups()
    return path.strip(), {form: [_read_value(value.strip()) for value in values.split(",")]}


def _read_value(text: str) -> object:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
