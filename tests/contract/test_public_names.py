"""The names that a notebook completes after `destage.`."""

import destage
import destage.sweeps


def test_only_the_functions_and_the_version_are_listed() -> None:
    """Neither imports, such as `Any`, nor the packages that a session has loaded."""
    assert destage.sweeps is not None
    assert dir(destage) == sorted([*destage.__all__, "__version__"])


def test_each_listed_name_exists() -> None:
    assert [name for name in dir(destage) if not hasattr(destage, name)] == []
