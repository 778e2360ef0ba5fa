"""The objectives of `destage size`: those given, and the usual ones for columns without a bound."""

import pytest

from destage.errors import ConfigError
from destage.sweeps.sizing.request import BUSIEST, RESPONSE, list_objectives


@pytest.mark.parametrize(
    ("response_p95", "subject_to", "expected"),
    [
        (None, [], [RESPONSE, BUSIEST]),
        ("5ms", [], ["response_p95 <= 5ms", BUSIEST]),
        (None, ["response_p95 <= 50ms"], ["response_p95 <= 50ms", BUSIEST]),
        (None, ["response_p99 <= 50ms"], [RESPONSE, "response_p99 <= 50ms", BUSIEST]),
        (None, ["disk_busy_max <= 0.5"], [RESPONSE, "disk_busy_max <= 0.5"]),
        ("5ms", ["response_p95 <= 4ms"], ["response_p95 <= 5ms", "response_p95 <= 4ms", BUSIEST]),
    ],
)
def test_a_bound_that_is_given_replaces_the_usual_one(
    response_p95: str | None, subject_to: list[str], expected: list[str]
) -> None:
    assert list_objectives(response_p95, subject_to) == expected


@pytest.mark.parametrize(
    ("response_p95", "subject_to", "place"),
    [("0ms", [], "response_p95"), (None, ["response_p95 < slow"], "seek.subject_to.0")],
)
def test_a_wrong_bound_has_its_place(response_p95: str | None, subject_to: list[str], place: str) -> None:
    with pytest.raises(ConfigError) as caught:
        list_objectives(response_p95, subject_to)
    assert [issue.place for issue in caught.value.issues] == [place]
