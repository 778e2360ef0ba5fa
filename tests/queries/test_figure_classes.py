"""Classes of published figures: each from a case worked by hand, and the rule at its edges."""

from typing import Any

import pytest

from destage.queries.published.measurement import Measurement
from destage.queries.published.verdict_text import format_interval, summarize_verdicts
from destage.queries.published.verdicts import NO_ANSWER, find_interval, judge
from destage.store.schemas.figure_classes import KINDS, MEANINGS, FigureClass, classify, find_width
from destage.store.schemas.published_figures import PublishedFigure, read_figures
from destage.sweeps.study.reader import study_schema

WORDS: dict[str, Any] = {"kind": "ordering", "value": "a first", "expect": {"above": 1}}
ALIKE: dict[str, Any] = {"kind": "ordering", "value": "alike", "expect": {"between": [0.9, 1.1]}}
USERS: dict[str, Any] = {"kind": "predicted", "value": 51}
FIT: dict[str, Any] = {"kind": "calibrated", "value": 39}
SUM: dict[str, Any] = {"kind": "arithmetic", "value": 9.2, "compute": ""}
SETTING: dict[str, Any] = {"kind": "input", "value": 79, "compute": ""}
BATTERY: dict[str, Any] = {"kind": "property", "value": 72, "compute": ""}


def read_figure(**keys: Any) -> PublishedFigure:
    """Return a figure with some keys given."""
    (figure,) = read_figures({"published": [{"figure": "f", "source": "p. 1", **keys}]})
    return figure


def measured(found: tuple[float, float] | float | None) -> Measurement | None:
    if found is None:
        return None
    if isinstance(found, tuple):
        low, high = found
        return Measurement((low + high) / 2, low, high, 5, found)
    return Measurement(found, None, None, 1, (found, found))


@pytest.mark.parametrize(
    ("figure", "found", "expected"),
    [
        (USERS, (40.0, 50.4), "not reproduced"),
        (USERS, (40.0, 50.5), "reproduced blind"),
        (USERS | {"given": ["39 users"]}, (40.0, 55.0), "reproduced after a stated fit"),
        (USERS | {"given": ["39 users"]}, (124.0, 133.0), "not reproduced"),
        (USERS | {"post_hoc": "the disks"}, (40.0, 55.0), "post hoc"),
        (USERS | {"post_hoc": "the disks", "given": ["39 users"]}, (40.0, 55.0), "post hoc"),
        (USERS | {"post_hoc": "the disks"}, (60.0, 70.0), "not reproduced"),
        (USERS, (40.0, 80.0), "uninformative"),
        (USERS, (60.0, 300.0), "not reproduced"),
        (USERS, (-1.0, 60.0), "uninformative"),
        ({"kind": "predicted", "value": 9.2}, (9.172, 9.192), "reproduced blind"),
        ({"kind": "predicted", "value": 9.2}, (9.1, 9.14), "not reproduced"),
        ({"kind": "predicted", "value": 9.2, "decimals": 2}, (9.1, 9.19), "not reproduced"),
        ({"kind": "predicted", "value": 1}, 0.76, "uninformative"),
        ({"kind": "predicted", "value": 3400, "decimals": -2}, 3440.0, "reproduced blind"),
        ({"kind": "predicted", "value": -13}, (-13.7, -13.51), "not reproduced"),
        (FIT, (38.2, 40.2), "input"),
        (FIT, (39.6, 40.2), "not reproduced"),
        (WORDS, (1.01, 1.2), "reproduced blind"),
        (WORDS, (1.01, 9.2), "reproduced blind"),
        (WORDS, (0.99, 1.2), "uninformative"),
        (WORDS, (0.9, 1.0), "not reproduced"),
        (WORDS | {"given": ["x"]}, (1.01, 1.2), "reproduced after a stated fit"),
        (WORDS | {"post_hoc": "the band"}, (1.01, 1.2), "post hoc"),
        (ALIKE, (0.95, 1.05), "reproduced blind"),
        (ALIKE, (1.05, 1.15), "uninformative"),
        (ALIKE, 1.2, "not reproduced"),
        (BATTERY, 72.0, "model property"),
        (BATTERY, 71.0, "not reproduced"),
        ({**WORDS, "kind": "property"}, 1.5, "model property"),
        (SUM, 9.182, "arithmetic of the paper"),
        (SUM, 5.748, "arithmetic of the paper"),
        ({**WORDS, "kind": "arithmetic"}, 1.5, "arithmetic of the paper"),
        (
            {"kind": "inconsistent", "value": "two kits, one number", "note": "."},
            None,
            "arithmetic of the paper",
        ),
        (SETTING, 79.0, "input"),
        (SETTING, 80.0, "not reproduced"),
        ({"kind": "input", "value": "RAID 1"}, None, "input"),
        ({"kind": "not_simulated", "value": "$140", "note": "."}, None, "not simulated"),
    ],
)
def test_each_case_has_its_class(figure: dict[str, Any], found: Any, expected: str) -> None:
    assert judge(read_figure(**figure), measured(found)).figure_class == expected


@pytest.mark.parametrize(
    ("figure", "found", "why"),
    [
        (USERS, (40.0, 45.5), "the interval ends 9.8 % below the figure"),
        (USERS, (153.5, 200.0), "the interval ends at 3 times the figure"),
        (
            USERS | {"given": ["39 users"]},
            (55.0, 56.0),
            'the interval ends 6.9 % above the figure; fitted on "39 users"',
        ),
        (USERS | {"post_hoc": "the disks"}, (50.0, 55.0), "the disks"),
        (USERS, (40.0, 85.0), "the interval is wider than a factor of 2"),
        (SUM, 9.182, "follows from the paper's own figures"),
        (SUM, 5.748, "contradicts the paper's own figures: 5.748"),
        (WORDS, (0.5, 0.6), "the whole interval is outside the bounds"),
    ],
)
def test_a_row_says_why(figure: dict[str, Any], found: Any, why: str) -> None:
    assert judge(read_figure(**figure), measured(found)).why == why


def test_a_computed_figure_without_rows_has_no_answer() -> None:
    verdict = judge(read_figure(**USERS, compute="a.b"), None)
    assert (verdict.figure_class, verdict.why) == (FigureClass.NOT_SIMULATED, NO_ANSWER)


def test_a_width_of_exactly_two_still_counts() -> None:
    at_edge, beyond = (
        classify(is_inside=True, width=width, is_post_hoc=False, is_fitted=False) for width in (2.0, 2.001)
    )
    assert (at_edge, beyond) == (FigureClass.BLIND, FigureClass.UNINFORMATIVE)


@pytest.mark.parametrize(
    ("low", "high", "width"),
    [(2, 3, 1.5), (-3, -2, 1.5), (0, 3, float("inf")), (-1, 1, float("inf")), (0, 0, 1)],
)
def test_the_width_is_upper_over_lower(low: float, high: float, width: float) -> None:
    assert find_width(low, high) == width


def test_rounding_is_part_of_a_numbers_interval_only() -> None:
    found = measured((9.0, 9.1))
    assert found is not None
    assert find_interval(read_figure(kind="predicted", value=9.2), found) == pytest.approx((8.95, 9.15))
    assert find_interval(read_figure(**WORDS), found) == (9.0, 9.1)


def test_the_interval_is_shown_with_its_width() -> None:
    row = {"predicted_low": 119.0, "predicted_high": 139.0, "predicted_width": 139 / 119}
    assert format_interval(row) == "119 to 139 (factor 1.17)"
    assert format_interval(row | {"predicted_width": None}) == "119 to 139 (includes 0)"
    assert format_interval(row | {"predicted_low": None}) == ""


def test_classes_are_counted_in_one_order() -> None:
    """Inputs are no results; a figure that follows from others is not counted beside them."""
    names = ("not reproduced", "input", "reproduced blind", "input", "arithmetic of the paper")
    rows = [{"class": name, "follows_from": None} for name in names]
    rows.append({"class": "reproduced blind", "follows_from": "a, b"})
    assert summarize_verdicts(rows) == (
        "2 published figures: 1 reproduced blind, 1 not reproduced "
        "(beside 2 that follow from others and 2 inputs)"
    )
    assert summarize_verdicts(rows[:1]) == "1 published figure: 1 not reproduced"


def test_the_classes_have_one_definition() -> None:
    assert list(MEANINGS) == list(FigureClass)
    kinds = study_schema()["properties"]["published"]["items"]["oneOf"]
    assert [each["properties"]["kind"]["const"] for each in kinds] == list(KINDS)
