"""Names of axes: the words of tables and of SQL."""

import pytest

from destage.spec.axis_names import name_axes, name_axis


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("array.raid", "raid"),
        ("array.disk.use", "disk"),
        ("workload.users", "users"),
        ("controller.cache.capacity", "cache_capacity"),
        ("workload.streams.0.arrival.think_time.mean", "think_time_mean"),
        ("workload.streams.0.steps.1.order", "steps_1_order"),
    ],
)
def test_a_name_says_what_the_axis_is(path: str, name: str) -> None:
    assert name_axis(path) == name


def test_equal_names_become_longer() -> None:
    paths = ["workload.streams.0.operations.size.value", "workload.streams.1.operations.size.value"]
    assert list(name_axes(paths).values()) == [
        "streams_0_operations_size_value",
        "streams_1_operations_size_value",
    ]


def test_a_taken_name_becomes_longer() -> None:
    assert name_axes(["array.raid", "run.writes"], {"writes"}) == {
        "array.raid": "raid",
        "run.writes": "run_writes",
    }


def test_a_name_without_more_segments_stays() -> None:
    assert name_axes(["raid"], {"raid"}) == {"raid": "raid"}
