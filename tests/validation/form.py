"""Which form of the proofs runs: the short one of every test run, or the long one, which writes the page."""

import os

REPORT_PATH = os.environ.get("DESTAGE_VALIDATION_REPORT")
"""Where the long form writes its page; without it, the short form runs."""

SHARE = 1 if REPORT_PATH else 4
"""The short form simulates this many times less, and may be off by the square root of it more."""
