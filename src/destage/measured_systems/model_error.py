"""The error of the model: how far measured systems were from what is simulated for them, by class of load.

`make truth` estimates it from the bank and stores it (see `estimation`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from functools import cache

from destage.measured_systems.bank import read_rows
from destage.measured_systems.load_class import LoadClass

MODEL_ERRORS = "model_errors.csv"
CONFIDENCE = 0.9
"""The share of rates of other systems that an interval has."""
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class ModelError:
    """The speeds of systems of a class, as multiples of the simulated speed.

    Attributes:
        load: The class, or the narrowest one around it that has enough systems.
        systems: The systems measured in it.
        low: The lower end of the interval.
        middle: Its middle: below 1, systems are slower than simulated.
        high: The upper end.
    """

    load: LoadClass
    systems: int
    low: float
    middle: float
    high: float


def find_error(load: LoadClass) -> ModelError | None:
    """Return the model error in a class of load; None if there are too few measured systems."""
    stored = _stored()
    return next((stored[wider] for wider in load.widen() if wider in stored), None)


def format_errors(errors: Iterable[ModelError]) -> str:
    """Return the text of model_errors.csv."""
    lines = ["class,systems,low,middle,high"]
    for error in errors:
        _, systems, *ends = astuple(error)
        lines.append(f'"{error.load}",{systems},' + ",".join(f"{end:.{_DIGITS}g}" for end in ends))
    return "\n".join([*lines, ""])


@cache
def _stored() -> Mapping[LoadClass, ModelError]:
    found = {}
    for row in read_rows(MODEL_ERRORS):
        load = LoadClass.parse(row["class"])
        ends = (float(row[name]) for name in ("low", "middle", "high"))
        found[load] = ModelError(load, int(row["systems"]), *ends)
    return found
