"""Which configurations to run, and getting them all run: studies, plans, executors, seeks."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from destage.store.progress import Status, status
    from destage.sweeps.api import plan, resume, run, sweep_path
    from destage.sweeps.outcomes import Outcome, Preview, Progress
    from destage.sweeps.studies import load_fields, load_study
    from destage.sweeps.study import Study, parse_study
    from destage.sweeps.verification import Verification, verify

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
    "destage.store.progress": ("Status", "status"),
    "destage.sweeps.api": ("plan", "resume", "run", "sweep_path"),
    "destage.sweeps.outcomes": ("Outcome", "Preview", "Progress"),
    "destage.sweeps.studies": ("load_fields", "load_study"),
    "destage.sweeps.study": ("Study", "parse_study"),
    "destage.sweeps.verification": ("Verification", "verify"),
}


def __getattr__(name: str) -> Any:
    """Import what plans and runs sweeps on first use: a single simulation needs only `parameters`."""
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
