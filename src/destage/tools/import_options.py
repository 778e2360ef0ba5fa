"""How the tests of a file are read."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How a file is read.

    Attributes:
        tool: The name of its tool; `auto` detects it.
        test: The name of the test to read; None for all.
        is_study: Whether groups of jobs that run one after another are tests of their own.
        ignore_unknown: Whether options that cannot be simulated are skipped with a warning.
    """

    tool: str = "auto"
    test: str | None = None
    is_study: bool = False
    ignore_unknown: bool = False


DEFAULTS = ImportOptions()
