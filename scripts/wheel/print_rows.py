"""Print the rows of canonical configurations with the engine of a wheel: `print_rows.py WHEEL < SCENARIOS`.

Only the standard library is used: another processor's Python, which may run in an emulator, has nothing else.
Configurations and rows are JSON objects by name; a floating-point number is printed in hexadecimal.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from train import load_engine


def exact(value: Any) -> Any:
    """Return a value that is equal only where the bits are."""
    if isinstance(value, list):
        return [exact(item) for item in value]
    return value.hex() if isinstance(value, float) else value


def main() -> None:
    """Run the configurations on stdin."""
    with tempfile.TemporaryDirectory() as folder:
        engine: Any = load_engine(Path(sys.argv[1]), Path(folder))
        found = {
            name: {column: exact(value) for column, value in engine.simulate(scenario, {}).items()}
            for name, scenario in json.load(sys.stdin).items()
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
