"""The form of the validation: short in every test run, long when it writes the page."""

import os

REPORT_PATH = os.environ.get("DESTAGE_VALIDATION_REPORT")
"""Path of the page of the long form; None for the short form."""

SHARE = 1 if REPORT_PATH else 4
"""The short form simulates this factor less, and its tolerance is wider by the square root of the factor."""
