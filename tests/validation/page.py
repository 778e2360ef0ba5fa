"""The page of verdicts, docs/validation.md."""

import platform
from itertools import groupby

from validation.replicates import FAMILY, REPLICATES, SEED, Case, Ledger, Verdict

_HEAD = """# Validation

Written by `make validation`; do not edit. Every line went through `simulate()`, on the path of every run,
with the engine that users run. Formula and source stand above each table; what the test does exactly, in the
file that is named there.

{summary}

* **exact** is a closed form, a count, or a recursion that shares no code with the engine.
* **±** is half of a t-interval over {replicates} replicates of root seed {seed} (or as many as the test
  says), at the level at which all {family} intervals that there may be hold together with 99 % (Bonferroni).
  *covers*: the exact value lies in it, and it is below 1 % of the value. A few models leave out a term on
  purpose; the test says which, and how much (`rounding`).
* A line without an interval compares a value that has no randomness left; *within* gives the tolerance.
* **must fail** is what a wrong model gives: the engine with one parameter changed, or the engine built with
  the mistake that is named in it, whose rows are otherwise those of the installed one, bit for bit
  (`test_mutations.py`). *rejected*: the check tells it from the right one. Every interval has one.

Seeds are fixed, so everybody gets these figures, on any machine. Machine of this page: {machine}.
"""


def _number(value: float) -> str:
    return f"{value:.6g}"


def _line(verdict: Verdict) -> str:
    half = verdict.half_width
    share = "" if half is None or verdict.exact == 0 else f" ({half / abs(verdict.exact):.2%})"
    width = "" if half is None else f"{half:.2g}{share}"
    mutants = "; ".join(
        f"{mutant.change}: {_number(mutant.ours)}, {'rejected' if mutant.is_rejected else 'NOT FOUND'}"
        for mutant in verdict.mutants
    )
    values = f"{_number(verdict.exact)} | {_number(verdict.ours)} | {width}"
    return f"| {verdict.title} | {verdict.unit} | {values} | {verdict.text} | {mutants} |"


def _table(case: Case, verdicts: list[Verdict]) -> str:
    says = " ".join(case.says.split("\n\n")[0].split()) or case.name.removeprefix("test_").replace("_", " ")
    head = f"{says} <sub>`{case.name}`</sub>\n\n" if says else ""
    columns = "| what | unit | exact | ours | ± | verdict | must fail |\n|---|---|---:|---:|---:|---|---|\n"
    return head + columns + "\n".join(map(_line, verdicts)) + "\n"


def _summary(verdicts: list[Verdict]) -> str:
    intervals = [verdict for verdict in verdicts if verdict.half_width is not None]
    failed = sum(verdict.text in {"MISSES", "DIFFERS"} for verdict in verdicts)
    mutants = [mutant for verdict in verdicts for mutant in verdict.mutants]
    missed = sum(not mutant.is_rejected for mutant in mutants)
    return (
        f"**{len(verdicts)} checks, {len(intervals)} of them intervals: {failed} failed. "
        f"{len(mutants)} wrong models: {missed} passed.**"
    )


def page(ledger: Ledger) -> str:
    """The page as Markdown: a section for each file of tests, a table for each test."""
    head = _HEAD.format(
        summary=_summary(ledger.lines()),
        replicates=REPLICATES,
        seed=SEED,
        family=FAMILY,
        machine=f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}",
    )
    sections = []
    cases = sorted(ledger.verdicts.items(), key=lambda item: item[0].path)
    for (path, subject), group in groupby(cases, key=lambda item: (item[0].path, item[0].subject)):
        title = subject.split("\n\n")[0].removesuffix(".")
        tables = "\n".join(_table(case, list(verdicts.values())) for case, verdicts in group)
        sections.append(f"## {title}\n\n`{path}`\n\n{tables}")
    return head + "\n" + "\n".join(sections)
