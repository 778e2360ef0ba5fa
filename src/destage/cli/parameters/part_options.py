"""Options that build a study: names of the catalogue, lists, and quantities with their units."""

from dataclasses import replace
from typing import Any, Literal

from destage.errors import ConfigError, UsageError

Part = Literal["workload", "controller", "disk"]


def list_names(part: Part) -> list[str]:
    """Return the entries of the catalogue that an option of this name may give."""
    from destage.engine import catalog

    kind: Any = f"{part}s"
    return [entry.name for entry in catalog.entries(kind)]


def check_entry(part: Part, name: str) -> None:
    """Reject a name that is not in the catalogue."""
    from destage.spec.validation import suggest

    names = list_names(part)
    if name not in names:
        message = (
            f"no {part} is named {name!r}{suggest(name, names)}; `destage catalog list {part}s` lists all"
        )
        raise UsageError("usage.unknown-name", message, f"--{part}")


def split_list(text: str | None) -> list[str]:
    """Return the parts of an option with commas between them."""
    return [each.strip() for each in (text or "").split(",") if each.strip()]


def check_sizes(text: str, option: str) -> list[str]:
    """Return the sizes that an option gives; only 0 needs no unit."""
    sizes = split_list(text)
    for size in sizes:
        if size != "0":
            check_quantity(size, "bytes", option)
    return sizes


def check_quantity(text: str, unit: Any, option: str) -> None:
    """Reject a quantity without its unit, or of another kind."""
    from destage.spec import quantities

    try:
        quantities.parse(text, unit)
    except ConfigError as error:
        raise ConfigError([replace(issue, place=option) for issue in error.issues]) from None
    try:
        float(text)
    except ValueError:
        return
    message = f"{text}: needs a unit, as in {quantities.UNITS[unit].example}"
    raise UsageError("usage.bad-quantity", message, option)
