"""What a published figure may be called after a comparison: one definition for studies, pages and reports."""

from enum import StrEnum
from types import MappingProxyType


class FigureClass(StrEnum):
    """The class of a published figure; its value is the name that people read."""

    BLIND = "reproduced blind"
    FITTED = "reproduced after a stated fit"
    POST_HOC = "post hoc"
    MISSED = "not reproduced"
    UNINFORMATIVE = "uninformative"
    PROPERTY = "model property"
    ARITHMETIC = "arithmetic of the paper"
    INPUT = "input"
    NOT_SIMULATED = "not simulated"


MOST_WIDTH = 2.0
"""Largest upper over lower end of an interval that tests anything."""

MEANINGS = MappingProxyType(
    {
        FigureClass.BLIND: "the figure was not used to set anything and lies inside the interval",
        FigureClass.FITTED: "the figure lies inside the interval after a parameter was fitted on another "
        "figure, which is named",
        FigureClass.POST_HOC: "the figure lies inside the interval, but something was chosen with the figure "
        "in view",
        FigureClass.MISSED: "the figure lies outside the interval, whatever its width",
        FigureClass.UNINFORMATIVE: "the figure lies inside an interval that is wider than a factor of "
        f"{MOST_WIDTH:g}, or a comparison's interval includes its bound",
        FigureClass.PROPERTY: "true by construction of the model or the study",
        FigureClass.ARITHMETIC: "computed from other figures of the paper: it follows from them or does not",
        FigureClass.INPUT: "a setting taken from the paper, or the figure that a parameter was fitted on",
        FigureClass.NOT_SIMULATED: "nothing in the study computes it, or its points have no answer",
    }
)
"""What each class says, in the order in which classes are listed."""

KINDS = MappingProxyType(
    {
        "predicted": "a simulated number; reproduced if it lies inside the prediction interval",
        "ordering": "a simulated comparison; reproduced if the whole interval lies within bounds",
        "calibrated": "a parameter was fitted on it; an input",
        "property": "true by construction",
        "arithmetic": "follows from other figures of the paper",
        "inconsistent": "contradicts other figures of the paper",
        "input": "configured as published",
        "not_simulated": "not compared; the note says why",
    }
)
"""The kinds that a study may give a figure, with the rule by which each is classified."""


def find_width(low: float, high: float) -> float:
    """Return the larger over the smaller end of an interval; infinite where it includes zero."""
    if low == high:
        return 1.0
    if low * high <= 0:
        return float("inf")
    least, most = sorted((abs(low), abs(high)))
    return most / least


def classify(*, is_inside: bool, width: float, is_post_hoc: bool, is_fitted: bool) -> FigureClass:
    """Return the class of a simulated figure.

    Args:
        is_inside: Whether the figure lies inside the prediction interval.
        width: The interval's upper over lower end; 1 for a comparison, which has bounds instead.
        is_post_hoc: Whether something was chosen with the figure in view.
        is_fitted: Whether a parameter was fitted on another figure.
    """
    if not is_inside:
        return FigureClass.MISSED
    if width > MOST_WIDTH:
        return FigureClass.UNINFORMATIVE
    if is_post_hoc:
        return FigureClass.POST_HOC
    return FigureClass.FITTED if is_fitted else FigureClass.BLIND
