"""The error classes: one root, and each can be sent from a worker to the driver."""

import pickle

import pytest

from destage import errors
from destage.errors import ConfigError, DestageError, Issue


@pytest.mark.parametrize(
    "kind",
    [
        "TraceError",
        "SimulationError",
        "SweepError",
        "StoreError",
        "UnreachableError",
        "QueryError",
        "ClusterError",
        "UsageError",
    ],
)
def test_each_error_is_picklable_and_below_the_root(kind: str) -> None:
    error = getattr(errors, kind)("room.code", "what is allowed", "place", {"fact": 1})
    assert isinstance(error, DestageError)
    back = pickle.loads(pickle.dumps(error))  # noqa: S301 -- our own bytes
    assert type(back) is type(error)
    assert str(back) == str(error) == "room.code at place: what is allowed"
    assert back.issues == error.issues


def test_config_error_keeps_issues_and_source() -> None:
    issue = Issue("study.bad-quantity", "controller.cache.capacity", "a size such as 64MiB", "12 parsecs")
    back = pickle.loads(pickle.dumps(ConfigError([issue], "study.yaml")))  # noqa: S301 -- our own bytes
    assert (back.issues, back.source) == ((issue,), "study.yaml")
    line = "study.bad-quantity at controller.cache.capacity: '12 parsecs': a size such as 64MiB"
    assert str(back) == f"study.yaml: {line}"


def test_missing_field_shows_no_value() -> None:
    assert str(Issue("study.missing-key", "workload", "missing")) == "study.missing-key at workload: missing"
