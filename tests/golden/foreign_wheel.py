"""The golden rows of a wheel for another processor: `python -m golden.foreign_wheel WHEEL INTERPRETER...`.

The interpreter may be an emulator with its arguments. Cases with a trace are left out: they need packages
beside the engine.
"""

import json
import subprocess
import sys

from golden.cases import CASES
from golden.rows import ROOT, find_differences, read_golden

from destage.engine import canonical_json

PROGRAM = ROOT / "scripts" / "wheel" / "print_rows.py"


def list_scenarios() -> dict[str, str]:
    """Return the canonical configuration of each case without a trace."""
    return {name: canonical_json(case) for name, case in CASES.items() if '"trace"' not in json.dumps(case)}


def compare(wheel: str, interpreter: list[str]) -> list[str]:
    """Return the cases whose row differs from the golden one."""
    scenarios, golden = list_scenarios(), read_golden()["rows"]
    done = subprocess.run(
        [*interpreter, str(PROGRAM), wheel],
        input=json.dumps(scenarios),
        capture_output=True,
        text=True,
        check=True,
    )
    rows = json.loads(done.stdout)
    return [name for name in scenarios if find_differences(golden[name], rows[name])]


def main() -> None:
    """Compare the rows and say how many are equal."""
    wheel, *interpreter = sys.argv[1:]
    different = compare(wheel, interpreter)
    if different:
        sys.exit(f"rows that differ: {', '.join(different)}")
    sys.stdout.write(f"{len(list_scenarios())} golden rows are equal bit for bit\n")


if __name__ == "__main__":
    main()
