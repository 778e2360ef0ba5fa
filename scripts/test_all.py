"""`make test-all`: run every suite, go on after a failure, and end with one table.

A suite is a target of the Makefile, which sets up what it needs. Those that keep all processors busy run one
by one; then the others, which have one process or wait most of the time, in two lanes beside each other.
`FROM=SUITE` begins there and keeps the results of the suites before it, if they are of the same commit. The
logs are in `.test-all/`. A skipped test is a failure unless `REASONS` has the reason.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".test-all"
ONE_BY_ONE = (
    *("lint", "types", "layers", "docs-check", "test-rust", "test-python", "chart-test", "browser-test"),
    "test-long",
)
"""Suites that run alone, those that find most in the least time first."""
LANES = (("workloads-test", "validation", "chaos"), ("objects-test", "image-test", "cluster-test"))
"""Suites of two lanes that run beside each other, after those that run alone."""
SUITES = (*ONE_BY_ONE, *LANES[0], *LANES[1])
SETUPS = ("browser", "fio")
"""What several suites use if it is there, and `scripts/setup.sh` installs for root on Debian."""
REASONS: Mapping[str, str] = {
    r"make validation builds the engine with mutations": "run by `make validation`",
    r"valgrind is not installed": "counts instructions; `make bench` reports them where valgrind is",
    r"Google's client reads in parts": "a law of the other clients",
    r"accepts any signature": "the emulator checks no signature",
    r"`make cluster-test` has built no image": "`image-test` builds the same image itself",
}
"""Why a test may be skipped, by what its skip says."""
_COUNTS = re.compile(r"(\d+) (passed|failed|skipped|errors?|ignored)\b")
_PYTEST = re.compile(r"\b(?:passed|failed|skipped|errors?)\b.* in [\d.]+s\b")
_CARGO = re.compile(r"^test result: ")
_SKIPPED = re.compile(r"^SKIPPED \[(\d+)\] (?P<place>\S+?):? (?P<reason>.+)$", re.MULTILINE)
_WHOLE = re.compile(r"^skipped: (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Result:
    """What a suite has done.

    Attributes:
        unexplained: The skips that `REASONS` does not have.
        reasons: Why tests were skipped.
    """

    suite: str
    code: int
    passed: int
    failed: int
    skipped: int
    minutes: float
    unexplained: Sequence[str] = ()
    reasons: Sequence[str] = ()

    @property
    def is_good(self) -> bool:
        """Whether all tests ran and passed, or were skipped for a reason."""
        return self.code == 0 and not self.failed and not self.unexplained


def read_result(suite: str, code: int, log: str, seconds: float) -> Result:
    """Return the result of a suite from what it printed: the summaries of pytest and cargo, and the skips."""
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for line in log.splitlines():
        if _CARGO.search(line) or _PYTEST.search(line):
            for number, word in _COUNTS.findall(line):
                key = {"ignored": "skipped", "error": "failed", "errors": "failed"}.get(word, word)
                counts[key] += int(number)
    told = [(int(found[1]), found["reason"]) for found in _SKIPPED.finditer(log)]
    whole = _WHOLE.findall(log)
    reasons, unexplained = [], list(whole)
    for _, text in told:
        known = next((why for pattern, why in REASONS.items() if re.search(pattern, text)), None)
        (unexplained if known is None else reasons).append(text if known is None else known)
    if counts["skipped"] > sum(number for number, _ in told):
        unexplained.append(
            f"{counts['skipped'] - sum(number for number, _ in told)} skipped without a reason"
        )
    counts["skipped"] += len(whole)
    return Result(
        suite,
        code,
        **counts,
        minutes=seconds / 60,
        unexplained=list(dict.fromkeys(unexplained)),
        reasons=list(dict.fromkeys(reasons)),
    )


def run_suite(suite: str, make: Sequence[str]) -> Result:
    """Run a suite; its output goes to a log, and with the suite before each line to the terminal."""
    started = time.monotonic()
    log = FOLDER / f"{suite}.log"
    # `-rs` lists each skip with its reason.
    environment = os.environ | {"PYTEST_ADDOPTS": f"{os.environ.get('PYTEST_ADDOPTS', '')} -rs".strip()}
    with (
        log.open("w", encoding="utf-8") as file,
        subprocess.Popen(
            [*make, suite],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process,
    ):
        for line in process.stdout or ():
            sys.stderr.write(f"{suite}: {line}")
            file.write(line)
    return read_result(suite, process.returncode, log.read_text("utf-8"), time.monotonic() - started)


def format_table(results: Sequence[Result], commit: str, minutes: float) -> str:
    """Return the results as a Markdown table, with the reasons of skips, and below it the minutes in all."""
    lines = [
        f"commit {commit}",
        "",
        "| suite | passed | failed | skipped | minutes | |",
        "|---|--:|--:|--:|--:|---|",
    ]
    for one in results:
        remarks = [*one.reasons, *(f"**{each}**" for each in one.unexplained)]
        if one.code and not one.failed:
            remarks.insert(0, f"**exit code {one.code}**")
        cells = (one.suite, one.passed, one.failed, one.skipped, f"{one.minutes:.1f}", "; ".join(remarks))
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    bad = [one.suite for one in results if not one.is_good]
    missing = [suite for suite in SUITES if suite not in {one.suite for one in results}]
    state = f"not green: {', '.join([*bad, *(f'{suite} (not run)' for suite in missing)])}"
    lines += ["", f"{minutes:.0f} minutes; {state if bad or missing else 'every suite is green'}"]
    return "\n".join(lines) + "\n"


def find_commit() -> str:
    """Return the commit that is checked out; with a mark if files differ from it."""
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


def read_earlier(commit: str, before: Sequence[str]) -> list[Result]:
    """Return the stored results of some suites, if they are of a commit."""
    file = FOLDER / "results.json"
    stored = json.loads(file.read_text("utf-8")) if file.is_file() else {"commit": None, "results": []}
    if stored["commit"] != commit:
        return []
    return [Result(**each) for each in stored["results"] if each["suite"] in before]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the suites and return the exit code: 1 unless all are green."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from", dest="first", choices=SUITES, default=SUITES[0], help="suite to begin with")
    parser.add_argument("--make", default="make", help="program that runs a suite (for tests)")
    given = parser.parse_args(arguments)
    FOLDER.mkdir(exist_ok=True)
    commit = find_commit()
    started = time.monotonic()
    start = SUITES.index(given.first)
    results = {one.suite: one for one in read_earlier(commit, SUITES[:start])}
    make = given.make.split()
    if make == ["make"]:
        for setup in SETUPS:
            subprocess.run(["scripts/setup.sh", setup], cwd=ROOT, check=False)
    is_stored = threading.Lock()

    def run(suites: Sequence[str]) -> None:
        for suite in suites:
            result = run_suite(suite, make)
            with is_stored:
                results[suite] = result
                state = {"commit": commit, "results": [asdict(one) for one in results.values()]}
                (FOLDER / "results.json").write_text(json.dumps(state, indent=1) + "\n", encoding="utf-8")

    due = SUITES[start:]
    run([suite for suite in ONE_BY_ONE if suite in due])
    with ThreadPoolExecutor() as lanes:
        list(lanes.map(run, [[suite for suite in lane if suite in due] for lane in LANES]))
    in_order = [results[suite] for suite in SUITES if suite in results]
    table = format_table(in_order, commit, (time.monotonic() - started) / 60)
    (FOLDER / "table.md").write_text(table, encoding="utf-8")
    print(f"\n{table}", end="")
    return 0 if len(results) == len(SUITES) and all(one.is_good for one in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
