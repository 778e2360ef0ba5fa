"""One thing that `destage cluster doctor` looked at."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        what: What it is.
        told: What was seen.
        mend: What to do; empty where nothing is wrong.
    """

    what: str
    told: str
    mend: str = ""

    @property
    def is_well(self) -> bool:
        """Whether nothing is to be done."""
        return not self.mend
