"""The error tree: one root, and each error survives the way from a worker to its driver."""

import pickle

import pytest

from destage import errors
from destage.errors import ConfigError, DestageError, Issue


@pytest.mark.parametrize(
    "kind",
    [
        "ConfigError",
        "TraceError",
        "SimulationError",
        "SweepError",
        "StoreError",
        "UnreachableError",
        "QueryError",
        "ClusterError",
    ],
)
def test_each_error_is_picklable_and_below_the_root(kind: str) -> None:
    error = getattr(errors, kind)("what, where, what is allowed")
    assert isinstance(error, DestageError)
    back = pickle.loads(pickle.dumps(error))  # noqa: S301 -- our own bytes
    assert type(back) is type(error)
    assert str(back) == str(error)


def test_a_configuration_error_keeps_its_issues() -> None:
    issue = Issue("controller.cache.capacity", "12 parsecs", "a size such as 64MiB")
    back = pickle.loads(pickle.dumps(ConfigError("spec.yaml cannot be run", (issue,))))  # noqa: S301 -- our own bytes
    assert back.issues == (issue,)
    assert "controller.cache.capacity" in str(back)
    assert "12 parsecs" in str(back)


def test_a_missing_field_shows_no_value() -> None:
    assert str(Issue("workload", None, "is missing; it is needed")) == "workload: is missing; it is needed"
