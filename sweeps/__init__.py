"""Which configurations to run, and getting them all run: studies, plans, executors, seeks."""

from destage.store.progress import Status, status
from destage.sweeps.api import plan, resume, run, sweep_path
from destage.sweeps.outcomes import Outcome, Preview, Progress
from destage.sweeps.studies import load_fields, load_study
from destage.sweeps.study import Study, parse_study
from destage.sweeps.study_schema import study_schema
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
    "study_schema",
    "sweep_path",
    "verify",
]
