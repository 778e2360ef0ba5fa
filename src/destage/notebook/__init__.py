"""Destage in Python and in notebooks: studies, simulations and curves as objects that notebooks display.

The package `destage` has these functions under their names; nothing here is imported before they are called.
"""

from destage.notebook.curves import MissRatioCurve, compute_curve
from destage.notebook.html import Figure
from destage.notebook.measured import Measured, open_measured
from destage.notebook.result import Result, run_once
from destage.notebook.shown_sweep import Sweep, open_sweep, run_study
from destage.notebook.sized_answer import SizingAnswer, find_configuration

__all__ = [
    "Figure",
    "Measured",
    "MissRatioCurve",
    "Result",
    "SizingAnswer",
    "Sweep",
    "compute_curve",
    "find_configuration",
    "open_measured",
    "open_sweep",
    "run_once",
    "run_study",
]
