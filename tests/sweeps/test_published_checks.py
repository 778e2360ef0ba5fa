"""Mistakes in published figures and answers are reported before anything runs, each at its place."""

from typing import Any

import pytest
import yaml

from destage.errors import ConfigError
from destage.sweeps import parse_study
from destage.sweeps.reading.expansion import expand

STUDY: dict[str, Any] = {
    "name": "study",
    "scenario": {
        "workload": {"use": "call_center"},
        "controller": {"use": "smart_array_5i_plus"},
        "array": {"raid": "5", "disk": {"use": "u320_10k_36gb"}},
        "run": {"window": {"requests": 1000}},
    },
    "axes": {"array.disks": [4, 6], "array.raid": ["5", "6"]},
    "places": {"on": {"array.disks": 4, "array.raid": "5"}, "four": {"array.disks": 4}},
}
FIGURE: dict[str, Any] = {
    "figure": "f",
    "source": "p. 1",
    "value": 3,
    "kind": "predicted",
    "compute": "on.response_mean_us",
}


def mistakes(*figures: dict[str, Any], **more: Any) -> dict[str, str]:
    """Return the code of each mistake by its place."""
    study = {**STUDY, "published": list(figures), **more}
    with pytest.raises(ConfigError) as caught:
        expand(parse_study(yaml.safe_dump(study)))
    return {issue.place: issue.code for issue in caught.value.issues}


def test_valid_figures_pass() -> None:
    figures = [
        FIGURE,
        {**FIGURE, "figure": "g", "compute": "four.response_mean_us", "for_each": ["array.raid"]},
        {**FIGURE, "figure": "h", "compute": "sqrt(9.0)", "kind": "arithmetic"},
        {**FIGURE, "figure": "i", "compute": "four.response_mean_us", "at": {"array.raid": "6"}},
    ]
    expand(parse_study(yaml.safe_dump({**STUDY, "published": figures})))


@pytest.mark.parametrize(
    ("changes", "place", "code"),
    [
        ({"compute": "on.respnse_mean_us"}, "published.0.compute", "study.bad-sql"),
        ({"compute": "of.response_mean_us"}, "published.0.compute", "study.bad-sql"),
        ({"compute": "on.response_mean_us; SELECT 1"}, "published.0.compute", "study.bad-sql"),
        ({"compute": "four.response_mean_us"}, "published.0.compute", "study.ambiguous-place"),
        (
            {"compute": "four.reads", "for_each": ["array.disks"]},
            "published.0.compute",
            "study.ambiguous-place",
        ),
        ({"at": {"array.raid": "6"}}, "published.0.at", "study.no-matching-point"),
        ({"at": {"array.rai": "6"}}, "published.0.at.array.rai", "study.unknown-key"),
        ({"kind": "ordering"}, "published.0.expect", "study.missing-key"),
        ({"kind": "ordering", "expect": {"abov": 1}}, "published.0.expect.abov", "study.unknown-key"),
        ({"tolerance": 0.1}, "published.0.tolerance", "study.unknown-key"),
        ({"expect": {"above": 1}}, "published.0.expect", "study.unknown-key"),
        ({"value": "fast"}, "published.0.value", "study.wrong-type"),
        ({"kind": "guessed"}, "published.0.kind", "study.unknown-name"),
        ({"kind": "exact"}, "published.0.kind", "study.unknown-name"),
        ({"kind": "property", "value": "as many"}, "published.0.expect", "study.missing-key"),
        ({"kind": "property", "post_hoc": "the size"}, "published.0.post_hoc", "study.unknown-key"),
        ({"kind": "not_simulated"}, "published.0.note", "study.missing-key"),
        ({"given": ["g"]}, "published.0.given", "study.unknown-name"),
    ],
)
def test_each_mistake_has_a_code_and_a_place(changes: dict[str, Any], place: str, code: str) -> None:
    assert mistakes({**FIGURE, **changes})[place] == code


def test_a_contradiction_that_is_not_computed_needs_a_note() -> None:
    figure = {key: value for key, value in FIGURE.items() if key != "compute"}
    assert mistakes({**figure, "kind": "inconsistent"}) == {"published.0.note": "study.missing-note"}
    assert mistakes(figure) == {"published.0.compute": "study.missing-key"}


def test_names_are_unique_and_fitted_figures_exist() -> None:
    fitted = [{"parameter": "ios", "value": 49, "on": "ff"}]
    assert mistakes(FIGURE, FIGURE, fitted=fitted) == {
        "published.1.figure": "study.duplicate-name",
        "fitted.0.on": "study.unknown-name",
    }


def test_a_place_names_points_by_axes_of_the_study() -> None:
    assert mistakes(FIGURE, places={"on": {"array.disk": 4}, "off": {"array.disks": 5}}) == {
        "places.on.array.disk": "study.unknown-key",
        "places.on": "study.no-matching-point",
        "places.off": "study.no-matching-point",
        "published.0.at": "study.no-matching-point",
    }


def test_the_expressions_of_answers_must_bind() -> None:
    answer = [
        "On: {on.response_mean_us} us.",
        "{of.reads} reads.",
        {"say": "{four.reads}", "for_each": ["array.disks"]},
    ]
    assert mistakes(answer=answer) == {"answer.2.compute": "study.ambiguous-place"}
    assert mistakes(answer=answer[:2]) == {"answer.1.compute": "study.bad-sql"}


def test_a_place_may_be_called_on() -> None:
    text = yaml.safe_dump(
        {**STUDY, "published": [FIGURE], "places": {"which": {"array.disks": 4, "array.raid": "5"}}}
    )
    study = parse_study(text.replace("which:", "on:"))
    assert list(study.document["places"]) == ["on"]
