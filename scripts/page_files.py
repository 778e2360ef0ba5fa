"""Generated files: written, or compared with what they should be."""

import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def write_files(files: Mapping[Path, str], command: str, *, is_check: bool) -> int:
    """Write files, or print which are out of date and what writes them; return the exit code."""
    stale = [path for path, text in files.items() if not path.is_file() or path.read_text("utf-8") != text]
    for path in stale:
        if is_check:
            print(f"{path.relative_to(ROOT)} is out of date; run {command}", file=sys.stderr)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(files[path], encoding="utf-8")
    return 1 if is_check and stale else 0
