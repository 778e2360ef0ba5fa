"""The golden rows computed in a container: the command that prints them, and the comparison."""

import json

from golden.cases import CASES
from golden.rows import find_differences, read_golden

_PROGRAM = """\
import json, sys, tempfile
from pathlib import Path
from destage import sweeps
from destage.engine import simulate

def exact(value):
    if isinstance(value, list):
        return [exact(item) for item in value]
    return value.hex() if isinstance(value, float) else value

folder = Path(tempfile.mkdtemp())
(folder / "examples").symlink_to(Path(sweeps.__file__).parent / "studies")
rows = {
    name: {column: exact(value) for column, value in simulate(case, folder=folder).items()}
    for name, case in json.loads(sys.argv[1]).items()
}
print(json.dumps(rows))
"""


def build_command() -> list[str]:
    """Return the command that prints the row of every case; it needs a writable /tmp."""
    return ["python", "-c", _PROGRAM, json.dumps(CASES)]


def assert_golden(printed: str) -> None:
    """Assert that the printed rows equal the golden rows bit for bit."""
    rows, expected = json.loads(printed), read_golden()["rows"]
    assert sorted(rows) == sorted(expected)
    for name, row in expected.items():
        assert not find_differences(row, rows[name]), name
