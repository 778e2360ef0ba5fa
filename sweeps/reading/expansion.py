"""The points of a study, or all mistakes in them at once; also of a study that has other mistakes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from destage.errors import ConfigError, DestageError, Issue
from destage.spec.validation import GENERIC_KINDS
from destage.store.schemas.published_figures import Publication
from destage.sweeps.keys.calibrate_settings import Calibration
from destage.sweeps.points.expander import Expander, check_users
from destage.sweeps.points.grid import BLOCK
from destage.sweeps.points.point import Expansion
from destage.sweeps.space.parameter_space import KEYS
from destage.sweeps.space.parameters import explain_unknown
from destage.sweeps.study.valid_study import Study

_LOCAL = frozenset(GENERIC_KINDS) - {"missing-key"}
"""Kinds of mistakes that do not depend on other fields, which may have been left out."""
_MOST_VALUES = 1_000
"""Values of one axis that are tried."""


def expand(study: Study, *, block: int = BLOCK) -> Expansion:
    """Expand a study into its points.

    Args:
        block: The maximum number of points built at a time.

    Raises:
        ConfigError: A point is an invalid configuration, or no point is left; with every mistake.
    """
    if isinstance(study.adding, Calibration):
        from destage.sweeps.calibration.waves import expand_draws  # noqa: PLC0415 - only a calibration needs it

        expansion = expand_draws(study, study.adding)
        check_users(study, expansion)
        return expansion
    try:
        return Expander(study, block).expand()
    except ConfigError as error:
        if not {issue.place.partition(".")[0] for issue in error.issues} <= {"where", "when", "derived"}:
            raise
        # Without valid conditions and expressions the points are still checked.
        raise study.error(add_point_mistakes(error.issues, study)) from error


def add_point_mistakes(issues: Sequence[Issue], study: Study) -> list[Issue]:
    """Return mistakes of a study, and those in the points that its valid parts describe.

    Args:
        study: The study without the parts that have mistakes.
    """
    places = {issue.place for issue in issues}
    keys = {place.partition(".")[0] for place in places}
    is_partial = bool(keys & {"points", "seek", "scenario", *KEYS})
    if "seek" in keys:
        study = replace(study, seek=None)
    if keys & KEYS:
        # Conditions and expressions may name what has mistakes.
        study = replace(study, when={}, derived={})
    mistakes = list(issues)
    for issue in _find_in_points(study):
        namespace, _, kind = issue.code.partition(".")
        if issue.place not in places and (not is_partial or namespace == "catalog" or kind in _LOCAL):
            mistakes.append(issue)
    return mistakes


def _find_in_points(study: Study) -> Iterator[Issue]:
    """Yield the mistakes of a study's points, each value of an axis with the first values of the others."""
    # The mistakes of published figures follow from those of the axes.
    points = tuple((label, _keep_known(assignments)) for label, assignments in study.points)
    plain = replace(
        study, publication=Publication(), where=None, points=tuple(point for point in points if point[1])
    )
    seen = set()
    for axis in [*study.axes, *range(len(study.zips))] or [""]:
        axes = {path: values[: _MOST_VALUES if path == axis else 1] for path, values in study.axes.items()}
        zips = tuple(
            {path: values[: _MOST_VALUES if index == axis else 1] for path, values in group.items()}
            for index, group in enumerate(study.zips)
        )
        try:
            expand(replace(plain, axes=axes, zips=zips))
        except DestageError as error:
            for issue in error.issues:
                if (issue.place, repr(issue.value)) not in seen:
                    seen.add((issue.place, repr(issue.value)))
                    yield issue


def _keep_known(assignments: Mapping[str, object]) -> dict[str, object]:
    return {
        path: value
        for path, value in assignments.items()
        if explain_unknown(path) is None and path != "run.replicate"
    }
