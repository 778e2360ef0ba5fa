"""Checks of error codes for `pytest.raises`."""

from collections.abc import Callable
from typing import Any

from destage.errors import DestageError


def has_code(code: str, **data: Any) -> Callable[[DestageError], bool]:
    """Return a `check` for `pytest.raises` of the error's code and data."""
    return lambda error: error.code == code and data.items() <= error.data.items()
