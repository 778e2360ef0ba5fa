"""Optional dependencies: the extra that installs each, and the error if it is missing."""

from importlib import import_module
from typing import Any

from destage.errors import UsageError

EXTRAS = {"ray": "ray", "kubernetes": "cluster", "polars": "notebook", "scipy": "scipy", "optuna": "search"}
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
    """Return a usage error for a failed import of an optional dependency; other errors unchanged."""
    package = ((error.name or "") if isinstance(error, ModuleNotFoundError) else "").partition(".")[0]
    return missing_extra(package) if package in {*EXTRAS, *_BROUGHT} else error


def missing_extra(package: str) -> UsageError:
    """Return the error of an optional dependency that is not installed."""
    package = _BROUGHT.get(package, package)
    extra = EXTRAS[package]
    message = f"{package} is not installed; install it with: pip install 'destage[{extra}]'"
    return UsageError("usage.missing-extra", message, data={"package": package, "extra": extra})
