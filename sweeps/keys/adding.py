"""The keys with which a study adds points to its own, by the results of those so far."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from destage.errors import Issue
from destage.sweeps.keys.calibrate_reader import read_calibration
from destage.sweeps.keys.calibrate_schema import CALIBRATE
from destage.sweeps.keys.refine_key import REFINE, read_refinement
from destage.sweeps.keys.search_key import SEARCH, read_search
from destage.sweeps.space.distributions import Distribution
from destage.sweeps.space.parameter_space import Space


class Adding(Protocol):
    """How a study adds points to its own, by the results of those so far."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The result columns that it needs."""
        ...


@dataclass(frozen=True, slots=True)
class Others:
    """What the other keys of a study say.

    Attributes:
        sampled: The axes with a distribution, by dotted path.
        answer: The name of the answer of the study's seek, if it has one.
        replicates: The replicates of each point.
        needs_units: Whether a number without a unit is a mistake where the parameter has one.
    """

    space: Space
    sampled: Mapping[str, Distribution]
    answer: str | None
    replicates: int
    needs_units: bool


@dataclass(frozen=True, slots=True)
class AddingKey:
    """A key that adds points.

    Attributes:
        read: Returns the settings of a document with the key that fits the schema, None if a mistake leaves
            none, and every mistake in them.
    """

    name: str
    schema: Mapping[str, Any]
    read: Callable[[Mapping[str, Any], Others], tuple[Adding | None, list[Issue]]]


ADDING = (
    AddingKey("search", SEARCH, lambda study, others: read_search(study, others.sampled, others.answer)),
    AddingKey("refine", REFINE, lambda study, others: read_refinement(study, others.space, others.answer)),
    AddingKey(
        "calibrate",
        CALIBRATE,
        lambda study, others: read_calibration(study, others.replicates, needs_units=others.needs_units),
    ),
)
"""All of them; a study has at most one."""


def read_adding(document: Mapping[str, Any], others: Others) -> tuple[Adding | None, list[Issue]]:
    """Return how a study adds points, if it does, and every mistake in the keys."""
    read = [key.read(document, others) for key in ADDING if key.name in document]
    return next((adding for adding, _ in read if adding is not None), None), [
        issue for _, issues in read for issue in issues
    ]
