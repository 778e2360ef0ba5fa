"""Which configurations to run, and getting them all run: studies, plans, executors, seeks."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from destage.store.opened.recorded_progress import Status, status
    from destage.sweeps.execution.api import plan, resume, run, sweep_path
    from destage.sweeps.execution.outcomes import Outcome, Preview, Progress
    from destage.sweeps.execution.verification import Verification, verify
    from destage.sweeps.reading.parsing import parse_study
    from destage.sweeps.studies import load_fields, load_study
    from destage.sweeps.study.valid_study import Study

__all__ = [
    "Outcome",
    "Preview",
    "Progress",
    "Status",
    "Study",
    "Verification",
    "load_fields",
    "load_study",
    "parse_study",
    "plan",
    "resume",
    "run",
    "status",
    "sweep_path",
    "verify",
]

_MODULES = {
    "destage.store.opened.recorded_progress": ("Status", "status"),
    "destage.sweeps.execution.api": ("plan", "resume", "run", "sweep_path"),
    "destage.sweeps.execution.outcomes": ("Outcome", "Preview", "Progress"),
    "destage.sweeps.execution.verification": ("Verification", "verify"),
    "destage.sweeps.reading.parsing": ("parse_study",),
    "destage.sweeps.studies": ("load_fields", "load_study"),
    "destage.sweeps.study.valid_study": ("Study",),
}


def __getattr__(name: str) -> Any:
    """Import what plans and runs sweeps on first use: a single simulation needs only `space.parameters`."""
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
