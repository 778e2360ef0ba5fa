"""A part made from the figures of a data sheet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from destage.spec import quantities


@dataclass(frozen=True, slots=True)
class MadePart:
    """A part of a configuration, with what the sheet does not say.

    Attributes:
        config: The part, with units.
        assumed: The fields of `config` that the sheet does not give, by dotted path, with the reason of each.
        sheet: The figures of the sheet that the part is compared with.
    """

    config: Mapping[str, Any]
    assumed: Mapping[str, str]
    sheet: Mapping[str, float] = field(default_factory=dict)


def show(value: float, unit: str) -> str:
    """Return a value [base unit] with its unit: a size exactly, everything else in four digits."""
    return quantities.render(int(value if unit == "bytes" else float(f"{value:.4g}")), unit)


def list_assumed(assumed: Mapping[str, str], given: Sequence[str]) -> dict[str, str]:
    """Return the assumptions without those of the figures that the sheet gives."""
    return {path: reason for path, reason in assumed.items() if path not in given}
