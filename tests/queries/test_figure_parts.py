"""A figure that is computed from others of its study is in no better class, and is counted once."""

from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest

from destage.queries.published.verdicts import judge_figures

DISKS = "array.disks"
PLACES = {"on": {DISKS: 8}, "off": {DISKS: 4}, "also_off": {DISKS: 4}}
SMALL = {"figure": "small", "value": 10, "kind": "predicted", "compute": "off.response_mean_us"}
LARGE = {"figure": "large", "value": 5, "kind": "predicted", "compute": "on.response_mean_us"}
RATIO = {"figure": "ratio", "value": 2, "compute": "also_off.response_mean_us / on.response_mean_us"}
BLIND, POST_HOC, PROPERTY = "reproduced blind", "post hoc", "model property"


def judge(
    make_session: Any, *figures: dict[str, Any], fitted: str | None = None
) -> dict[str, dict[str, Any]]:
    """Return the rows of figures by name: 10 us with four disks, 5 us with eight, in each replicate."""
    runs = [
        {"point_id": f"p{disks}", "run_id": f"p{disks}-{at}", "replicate": at, DISKS: disks}
        | {"response_mean_us": 40.0 / disks + at / 1e3}
        for disks in (4, 8)
        for at in range(3)
    ]
    spec: dict[str, Any] = {"published": [{"source": "p. 1", "kind": "predicted", **one} for one in figures]}
    if fitted is not None:
        spec["fitted"] = [{"parameter": "x", "value": 1, "on": fitted}]
    session = make_session(runs, axes={DISKS: pa.int64()}, places=PLACES, **spec)
    return {row["figure"]: row for row in judge_figures(session).to_pylist()}


@pytest.mark.parametrize(
    ("small", "found"),
    [
        ({}, BLIND),
        ({"post_hoc": "chosen"}, POST_HOC),
        ({"kind": "property"}, PROPERTY),
        ({"value": 11}, "not reproduced"),
        # Figures that are put in are no results: they limit nothing.
        ({"kind": "input"}, BLIND),
    ],
)
def test_a_ratio_is_in_no_better_class_than_its_parts(
    make_session: Any, small: dict[str, Any], found: str
) -> None:
    rows = judge(make_session, SMALL | small, LARGE, RATIO)
    assert rows["ratio"]["class"] == found
    assert rows["ratio"]["follows_from"] == "small, large"
    assert rows["large"]["class"] == BLIND
    assert rows["small"]["follows_from"] is None


def test_the_parts_may_follow_later_and_the_class_is_the_worst(make_session: Any) -> None:
    rows = judge(make_session, RATIO, SMALL | {"post_hoc": "chosen"}, LARGE | {"kind": "property"})
    assert (rows["ratio"]["class"], rows["ratio"]["follows_from"]) == (PROPERTY, "small, large")


def test_the_parts_are_those_that_give_the_ratio(make_session: Any) -> None:
    """As the mean response of HP's formula and that of its trace, of which one is in the printed change."""
    other = SMALL | {"figure": "measured", "value": 30}
    rows = judge(make_session, other, SMALL, LARGE, RATIO)
    assert (rows["measured"]["class"], rows["ratio"]["class"]) == ("not reproduced", BLIND)
    assert rows["ratio"]["follows_from"] == "small, large"


def test_a_ratio_that_its_columns_figures_do_not_give_is_one_of_its_own(make_session: Any) -> None:
    """The time of another statement, which the model does not distinguish, is no part of this one's ratio."""
    rows = judge(make_session, SMALL | {"value": 30}, LARGE, RATIO)
    assert (rows["ratio"]["class"], rows["ratio"]["follows_from"]) == (BLIND, None)


def test_the_columns_of_parts_may_be_shifted(make_session: Any) -> None:
    """As a time from another hour: 10 us less 4, over 5 us."""
    ratio = RATIO | {"compute": "(off.response_mean_us - 4) / on.response_mean_us", "value": 1.2}
    late = SMALL | {"compute": "off.response_mean_us - 4", "value": 6, "post_hoc": "chosen"}
    assert judge(make_session, late, LARGE, ratio)["ratio"]["class"] == POST_HOC


def test_a_change_in_percent_follows_from_figures_in_other_units(make_session: Any) -> None:
    change = {"figure": "change", "value": -50, "decimals": 0}
    change["compute"] = "100 * (on.response_mean_us / off.response_mean_us - 1)"
    times = [
        SMALL
        | {"compute": "off.response_mean_us / 1000", "value": 0.01, "decimals": 4, "post_hoc": "chosen"},
        LARGE | {"compute": "on.response_mean_us * 1e3", "value": 5000, "decimals": -1},
    ]
    row = judge(make_session, *times, change)["change"]
    assert (row["follows_from"], row["class"]) == ("large, small", POST_HOC)


def test_a_ratio_of_a_fitted_figure_is_not_blind(make_session: Any) -> None:
    """Even if it says that it depends on none."""
    rows = judge(make_session, SMALL | {"kind": "calibrated"}, LARGE, RATIO | {"given": []}, fitted="small")
    assert rows["ratio"]["class"] == "reproduced after a stated fit"


def test_a_ratio_with_one_published_part_is_a_figure_of_its_own(make_session: Any) -> None:
    rows = judge(make_session, SMALL | {"post_hoc": "chosen"}, RATIO)
    assert (rows["ratio"]["class"], rows["ratio"]["follows_from"]) == (POST_HOC, None)


def test_a_figure_printed_twice_is_counted_once(make_session: Any) -> None:
    again = RATIO | {"figure": "in words", "compute": "off.response_mean_us/on.response_mean_us"}
    rows = judge(make_session, RATIO, again)
    assert (rows["ratio"]["follows_from"], rows["in words"]["follows_from"]) == (None, "ratio")


def test_two_measurements_of_one_quantity_are_two_figures(make_session: Any) -> None:
    """As the times of two statements that the model does not distinguish: neither limits the other."""
    rows = judge(make_session, SMALL | {"value": 30}, SMALL | {"figure": "other", "value": 10.0})
    assert [(row["class"], row["follows_from"]) for row in rows.values()] == [
        ("not reproduced", None),
        (BLIND, None),
    ]


def test_an_order_needs_no_exact_parts_but_their_basis(make_session: Any) -> None:
    """That eight disks are faster is right even where both times are not."""
    order = {"figure": "order", "kind": "ordering", "expect": {"above": 1}} | {"compute": RATIO["compute"]}
    order["value"] = "faster"
    missed = judge(make_session, SMALL | {"value": 30}, LARGE, order)
    assert missed["order"]["class"] == BLIND
    chosen = judge(make_session, SMALL | {"post_hoc": "chosen"}, LARGE, order)
    assert chosen["order"]["class"] == POST_HOC


def test_a_missed_ratio_stays_missed(make_session: Any) -> None:
    rows = judge(make_session, SMALL | {"kind": "property"}, LARGE, RATIO | {"value": 9})
    assert rows["ratio"]["class"] == "not reproduced"


def test_classes_never_rise_from_part_to_ratio(make_session: Any) -> None:
    """A ratio of a ratio's parts: the order of classes is that of the definition."""
    changes: list[dict[str, Any]] = [{}, {"post_hoc": "chosen"}, {"kind": "property"}, {"value": 11}]
    order = [BLIND, POST_HOC, PROPERTY, "not reproduced"]
    found = [judge(make_session, SMALL | one, LARGE, RATIO)["ratio"]["class"] for one in changes]
    assert all(order.index(a) < order.index(b) for a, b in pairwise(found))
