"""Processor instructions per request of fixed cases, counted by valgrind's callgrind.

The count hardly depends on other load or on the machine's speed, so that it shows changes of a few per cent.
Each case runs twice in a process of its own, with a short and a long window; the difference, divided by the
additional requests, leaves out start-up. Each run drains its cache.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from environment import print_heading
from request_list import CASES, load_case

from destage.engine import _engine, canonical_json

SHORT, LONG = 1_000, 21_000
"""Requests of the two runs."""
# Without the package destage, whose imports would take most of the time under valgrind.
_SCRIPT = """
import importlib.util, sys
found = importlib.util.spec_from_file_location("destage.engine._engine", sys.argv[1])
engine = importlib.util.module_from_spec(found)
found.loader.exec_module(engine)
engine.simulate_batch([open(sys.argv[2], encoding="utf-8").read()], {})
"""
# The order of sets in Python, and with it the count, depends on the seed of its hashes.
_ENVIRONMENT = {"PYTHONHASHSEED": "0", "PATH": os.environ.get("PATH", "")}
_COUNT = re.compile(r"Collected : (\d+)")


def count_instructions(case: dict[str, Any], lengths: tuple[int, int] = (SHORT, LONG)) -> float:
    """Return the instructions per additional request between two lengths of a case."""
    short, long = (_count(case["scenario"], length) for length in lengths)
    return (long - short) / (lengths[1] - lengths[0])


def _count(scenario: dict[str, Any], requests: int) -> int:
    text = canonical_json({**scenario, "run": {**scenario["run"], "window": {"requests": requests}}})
    with tempfile.TemporaryDirectory() as folder:
        configuration = Path(folder, "scenario.json")
        configuration.write_text(text, encoding="utf-8")
        python = [sys.executable, "-S", "-P", "-c", _SCRIPT, str(_engine.__file__), str(configuration)]
        output = f"--callgrind-out-file={folder}/callgrind.out"
        done = subprocess.run(  # noqa: S603 - fixed arguments
            [_valgrind(), "--tool=callgrind", output, *python],
            check=True,
            capture_output=True,
            text=True,
            env=_ENVIRONMENT,
        )
    found = _COUNT.search(done.stderr)
    if found is None:
        raise SystemExit(f"callgrind printed no count: {done.stderr[-500:]}")
    return int(found[1])


def _valgrind() -> str:
    found = shutil.which("valgrind")
    if found is None:
        raise SystemExit("valgrind is not installed")
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, or that valgrind is not installed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only cases whose file name contains this")
    options = parser.parse_args(arguments)
    if shutil.which("valgrind") is None:
        print("\nInstructions per request: not counted, because valgrind is not installed")
        return
    print_heading(
        "Instructions per request",
        f"callgrind; the difference between {LONG:,} and {SHORT:,} requests, per request",
    )
    print(f"{'case':<62} {'instructions':>12}")
    for path in sorted(CASES.glob("*.json")):
        case = load_case(path.stem)
        if "scenario" in case and options.only in path.stem:
            print(f"{case['title']:<62} {count_instructions(case):>12,.0f}", flush=True)


if __name__ == "__main__":
    main()
