"""Mistakes in a study's published figures are told before anything runs, each where it stands."""

from typing import Any

import pytest
import yaml

from destage.errors import ConfigError
from destage.sweeps import parse_study
from destage.sweeps.points import expand

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
    """Return the message of each mistake by its path."""
    study = {**STUDY, "published": list(figures), **more}
    with pytest.raises(ConfigError) as caught:
        expand(parse_study(yaml.safe_dump(study)))
    return {issue.path: issue.message for issue in caught.value.issues}


def test_a_sound_study_passes() -> None:
    figures = [
        FIGURE,
        {**FIGURE, "figure": "g", "compute": "four.response_mean_us", "for_each": ["array.raid"]},
        {**FIGURE, "figure": "h", "compute": "sqrt(9.0)", "kind": "exact"},
        {**FIGURE, "figure": "i", "compute": "four.response_mean_us", "at": {"array.raid": "6"}},
    ]
    expand(parse_study(yaml.safe_dump({**STUDY, "published": figures})))


@pytest.mark.parametrize(
    ("changes", "path", "message"),
    [
        ({"compute": "on.respnse_mean_us"}, "published.0.compute", "respnse_mean_us"),
        ({"compute": "of.response_mean_us"}, "published.0.compute", "of"),
        ({"compute": "four.response_mean_us"}, "published.0.compute", "names 2 points"),
        ({"compute": "four.reads", "for_each": ["array.disks"]}, "published.0.compute", "names 2 points"),
        ({"at": {"array.raid": "6"}}, "published.0.at", "leaves the place on no point"),
        ({"at": {"array.rai": "6"}}, "published.0.at.array.rai", "array.raid"),
        ({"compute": "on.response_mean_us; SELECT 1"}, "published.0.compute", "syntax error"),
        ({"kind": "ordering"}, "published.0.expect", "is needed by an ordering"),
        ({"value": "fast"}, "published.0.value", "must be a number"),
        ({"kind": "guessed"}, "published.0.kind", "predicted"),
        ({"given": ["g"]}, "published.0.given", "no figure that something was fitted on"),
        ({"point": {"array.disks": 4}, "metric": "response_p95"}, "published.0.compute", "short form"),
    ],
)
def test_each_mistake_is_told(changes: dict[str, Any], path: str, message: str) -> None:
    found = mistakes({**FIGURE, **changes})
    assert message in found[path]


def test_names_are_unique_and_fitted_figures_exist() -> None:
    fitted = [{"parameter": "ios", "value": 49, "on": "ff"}]
    found = mistakes(FIGURE, FIGURE, fitted=fitted)
    assert "another figure" in found["published.1.figure"]
    assert "'f'" in found["fitted.0.on"]


def test_a_place_names_points_by_axes_of_the_study() -> None:
    found = mistakes(FIGURE, places={"on": {"array.disk": 4}, "off": {"array.disks": 5}})
    assert "array.disks" in found["places.on.array.disk"]
    assert found["places.off"] == "names no point of this study"


def test_what_an_answer_computes_must_bind_too() -> None:
    answer = [
        "On: {on.response_mean_us} us.",
        "{of.reads} reads.",
        {"say": "{four.reads}", "for_each": ["array.disks"]},
    ]
    found = mistakes(answer=answer)
    assert set(found) == {"answer.2.compute"}
    assert "names 2 points" in found["answer.2.compute"]
    assert "answer.1.compute" in mistakes(answer=answer[:2])


def test_on_and_off_are_names_like_others() -> None:
    text = yaml.safe_dump(
        {**STUDY, "published": [FIGURE], "places": {"which": {"array.disks": 4, "array.raid": "5"}}}
    )
    study = parse_study(text.replace("which:", "on:"))
    assert list(study.document["places"]) == ["on"]
