"""A file of another kind is refused in a few lines, whatever it holds."""

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

LINES = 5_000
CONTENTS: dict[str, bytes] = {
    "binary": random.Random(1).randbytes(300_000),  # noqa: S311 - any bytes
    "text in no line": b"a" * 300_000,
    "log": b"".join(b"%d ERROR something: failed: because\n" % at for at in range(LINES)),
    "keys": b"".join(b"k%d: ERROR\n" % at for at in range(LINES)),
    "numbered keys": b"".join(b"%d: ERROR\n" % at for at in range(LINES)),
    "one long key": b"k" * 300_000 + b": 1\n",
    "study with keys": b"name: a\nscenario: {}\n" + b"".join(b"k%d: 1\n" % at for at in range(3_000)),
    "scenario with keys": b"name: a\nscenario:\n" + b"".join(b"  k%d: 1\n" % at for at in range(3_000)),
    "list": b"- 1\n" * LINES,
    "csv": b"1,2,3,4,x\n" * LINES,
    "empty": b"",
}
COMMANDS = (
    ("run", "--plan"),
    ("simulate",),
    ("trace", "info"),
    ("trace", "info", "--columns", "time,op,offset,size"),
    ("workload", "import"),
    ("catalog", "show"),
)


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_wrong_file_is_a_few_lines(
    destage: Any, tmp_path: Path, command: tuple[str, ...], content: str
) -> None:
    suffix = ".yaml" if command[0] in {"run", "simulate", "workload", "catalog"} else ".csv"
    file = tmp_path / f"wrong{suffix}"
    file.write_bytes(CONTENTS[content])
    done = destage(*command, str(file))
    assert done.code == 2, done.err[:500]
    lines = done.err.splitlines()
    assert 1 <= len(lines) <= 26
    assert max(map(len, lines)) < 2_200
    assert "Traceback" not in done.err


def test_many_mistakes_are_counted(destage: Any, tmp_path: Path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_bytes(CONTENTS["study with keys"])
    done = destage("run", "--plan", str(file))
    assert len(done.issues) == 25
    assert done.err.splitlines()[-1] == "2,976 more mistakes; is this the right file?"
    found = json.loads(destage("run", "--plan", str(file), "--json").out)
    assert (len(found["errors"]), found["left_out"]) == (500, 2_501)


def test_a_document_beyond_any_study_is_not_parsed(destage: Any, tmp_path: Path) -> None:
    file = tmp_path / "huge.yaml"
    file.write_bytes(b"name: a\n" + b"#" * (9 << 20))
    done = destage("run", "--plan", str(file))
    assert (done.code, done.issues) == (2, [("study.too-large", "")])


def test_a_pipe_is_no_study(destage: Any, tmp_path: Path) -> None:
    """A study is read several times; nobody writes to this pipe, so that reading it would not end."""
    os.mkfifo(tmp_path / "pipe")
    for command in (("run",), ("run", "--plan"), ("cluster", "submit", "--dry-run")):
        done = destage(*command, str(tmp_path / "pipe"))
        assert (done.code, done.issues) == (2, [("study.unreadable", str(tmp_path / "pipe"))])
