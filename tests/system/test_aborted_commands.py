"""Ctrl-C ends a command that computes in one long call of the engine within a second, with exit code 130."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

SOON_S = 20.0
"""Bound on a busy machine [s]; the commands would take minutes."""
_TRACE = Path(__file__).parents[2] / "examples" / "backup.parquet"
_PROGRAM = "from destage.cli import app; print('ready', flush=True); app()"


def _mrc(_: Path) -> list[str]:
    sizes = ",".join(f"{number * 64}KiB" for number in range(1, 9_000))
    return ["trace", "mrc", str(_TRACE), "--policy", "arc", "--sizes", sizes]


def _synth(folder: Path) -> list[str]:
    return ["trace", "synth", str(_TRACE), "--out", str(folder / "out.parquet"), "--requests", "1000000000"]


def _validate(folder: Path) -> list[str]:
    trace = folder / "measured.trace"
    lines = [
        f"{'RW'[index % 5 == 0]} Hit {index * 7919 % 19_000} 8 {5000 + index % 977}.0 {20_000 + index}.0"
        for index in range(40_000)
    ]
    trace.write_text("\n".join(lines))
    return ["admin", "validate", "--trace", str(trace), "--disk", "u320_10k_36gb", "--phases", "64"]


@pytest.mark.parametrize("arguments", [_mrc, _synth, _validate])
def test_one_signal_aborts_a_long_call(tmp_path: Path, arguments: Callable[[Path], list[str]]) -> None:
    command = [sys.executable, "-c", _PROGRAM, *arguments(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(4)
        assert process.poll() is None, process.communicate()
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
        assert time.monotonic() - began < SOON_S
        assert (process.returncode, out, errors) == (130, "", "")
