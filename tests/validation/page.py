"""The page of verdicts, docs/validation.md."""

from validation.replicates import FAMILY, REPLICATES, Ledger, Verdict

_HEAD = f"""# Validation

Written by `make validation`; do not edit. Every line went through `simulate()`, on the path of every run.

An interval is a t-interval over {REPLICATES} replicates (or as many as the test says), its level such
that all intervals together hold with 99 % (Bonferroni over {FAMILY}). *covers*: the exact value lies in
it. A line without an interval compares a value that has no randomness left. *rejected*: the engine or
the truth was changed on purpose, and the check found it.

| what | unit | exact | ours | ± | verdict |
|---|---|---:|---:|---:|---|
"""


def _line(verdict: Verdict) -> str:
    width = "" if verdict.half_width is None else f"{verdict.half_width:.2g}"
    values = f"{verdict.exact:.6g} | {verdict.ours:.6g} | {width}"
    return f"| {verdict.title} | {verdict.unit} | {values} | {verdict.text} |"


def page(ledger: Ledger) -> str:
    """The page as Markdown: closed forms first, then the mutations that must be found."""
    verdicts = sorted(ledger.verdicts.values(), key=lambda verdict: verdict.unit == "mutation")
    return _HEAD + "\n".join(map(_line, verdicts)) + "\n"
