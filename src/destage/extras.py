"""Optional dependencies: which extra of the package brings each, and the error where it is missing."""

from importlib import import_module
from typing import Any

from destage.errors import UsageError

EXTRAS = {"ray": "ray", "kubernetes": "cluster", "polars": "notebook", "scipy": "fit"}
"""The extra that brings each optional package."""
_BROUGHT = {"urllib3": "kubernetes"}
"""Packages that are only installed with another one."""


def require(module: str) -> Any:
    """Import a module of an optional dependency.

    Raises:
        UsageError: It is not installed; with the extra that brings it.
    """
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise
        raise missing_extra(package) from None


def explain_missing(error: Exception) -> Exception:
    """Return the error of an optional dependency for a failed import of it; other errors as they are."""
    package = ((error.name or "") if isinstance(error, ModuleNotFoundError) else "").partition(".")[0]
    return missing_extra(package) if package in {*EXTRAS, *_BROUGHT} else error


def missing_extra(package: str) -> UsageError:
    """Return the error of an optional dependency that is not installed."""
    package = _BROUGHT.get(package, package)
    extra = EXTRAS[package]
    message = f"{package} is not installed; install it with: pip install 'destage[{extra}]'"
    return UsageError("usage.missing-extra", message, data={"package": package, "extra": extra})
