"""Where a figure comes from: measured by the tool, derived from measured figures, or unknown for a reason."""

from typing import Any

ZERO = "the file has 0, which is no response time: not measured, or below the tool's resolution"


class Figures:
    """The columns of a line while a reader collects them, each with its basis."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._derived: set[str] = set()
        self._unknown: dict[str, str] = {}

    def measure(self, **values: Any) -> None:
        """Add what the file states, in place of what is known so far; None adds nothing."""
        self._add(values)
        self._derived -= {name for name, value in values.items() if value is not None}

    def derive(self, **values: Any) -> None:
        """Add what follows from what the file states; None adds nothing."""
        self._add(values)
        self._derived |= {name for name, value in values.items() if value is not None}

    def reject(self, reason: str, *names: str) -> None:
        """State why columns are unknown, and remove their values."""
        for name in names:
            self._values.pop(name, None)
            self._derived.discard(name)
            self._unknown[name] = reason

    def get(self, name: str) -> Any:
        """Return a value; None if it is unknown."""
        return self._values.get(name)

    def columns(self) -> dict[str, Any]:
        """Return the columns of the line, among them the derived ones and the reasons of the unknown ones."""
        return {
            **self._values,
            "derived_figures": tuple(sorted(self._derived & self._values.keys())),
            "unknown_figures": dict(sorted(self._unknown.items())),
        }

    def _add(self, values: dict[str, Any]) -> None:
        for name, value in values.items():
            if value is None:
                continue
            if value == 0 and _is_response(name):
                self.reject(ZERO, name)
            else:
                self._values[name] = value
                self._unknown.pop(name, None)


def _is_response(name: str) -> bool:
    return "response_" in name and name.endswith("_us") and "stddev" not in name
