"""Options of the commands that read traces: blocks, seeds, volumes, separators, records to skip."""

import json
from pathlib import Path
from typing import Any

import pytest

COMMANDS = [("trace", "info"), ("trace", "mrc"), ("trace", "synth"), ("trace", "convert")]
SYNTH = ("--requests", "50", "--out", "out.parquet")


def ask(destage: Any, command: tuple[str, ...], file: str, *options: str) -> Any:
    """Return what a command prints as JSON; one that writes a trace writes it anew."""
    Path("out.parquet").unlink(missing_ok=True)
    extra = {"synth": SYNTH, "convert": ("--out", "out.parquet")}.get(command[1], ())
    if command[1] == "convert":
        done = destage(*command, file, "out.parquet", *options, "--json")
    else:
        done = destage(*command, file, *extra, *options, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


@pytest.fixture
def spc(tmp_path: Path) -> str:
    """Write 200 requests of two volumes, of which one has large requests, and one bad line."""
    rows = [
        f"{at % 2},{(at * 37 % 50) * 64},{4096 << (at % 2 * 3)},{'RW'[at % 3 == 0]},{at / 50}"
        for at in range(200)
    ]
    (tmp_path / "good.spc").write_text("".join(f"{row}\n" for row in rows))
    rows.insert(100, "0,what,4096,R,2.0")
    (tmp_path / "bad.spc").write_text("".join(f"{row}\n" for row in rows))
    return "good.spc"


@pytest.mark.parametrize("command", COMMANDS)
def test_bad_records_are_skipped_up_to_a_number(destage: Any, spc: str, command: tuple[str, ...]) -> None:
    assert spc
    assert ask(destage, command, "bad.spc", "--skip-bad", "1")
    Path("out.parquet").unlink(missing_ok=True)
    arguments = {"synth": SYNTH, "convert": ("out.parquet",)}.get(command[1], ())
    done = destage(*command, "bad.spc", *arguments, "--skip-bad", "0")
    assert done.code != 0
    assert done.issues[0][0].startswith("trace.")


@pytest.mark.parametrize("command", [("trace", "info"), ("trace", "mrc"), ("trace", "synth")])
def test_one_volume_is_read(destage: Any, spc: str, command: tuple[str, ...]) -> None:
    both, one = (json.dumps(ask(destage, command, spc, *options)) for options in ((), ("--volume", "1")))
    assert both != one
    arguments = SYNTH if command[1] == "synth" else ()
    Path("out.parquet").unlink(missing_ok=True)
    assert destage(*command, spc, *arguments, "--volume", "7").code != 0


@pytest.mark.parametrize("command", COMMANDS)
def test_a_separator_is_that_of_the_columns(destage: Any, tmp_path: Path, command: tuple[str, ...]) -> None:
    """A comma within the last column would be taken for the separator."""
    text = "".join(f"{at / 10};W;{at * 4096};4096;a,b,c,d,e,f,g\n" for at in range(100))
    (tmp_path / "columns.txt").write_text(text)
    columns = ("--columns", "time,op,offset,size,-", "--separator")
    assert ask(destage, command, "columns.txt", *columns, "semicolon")
    Path("out.parquet").unlink(missing_ok=True)
    arguments = {"synth": SYNTH, "convert": ("out.parquet",)}.get(command[1], ())
    assert destage(*command, "columns.txt", *arguments, *columns, "comma").code != 0


def test_a_block_is_that_of_the_cache(destage: Any, spc: str) -> None:
    """A request of 32 KiB accesses eight blocks of 4 KiB, or one or two of 32 KiB."""
    small, large = (ask(destage, ("trace", "mrc"), spc, "--block", block) for block in ("4KiB", "32KiB"))
    assert small != large
    fine, coarse = (ask(destage, ("trace", "synth"), spc, "--block", block) for block in ("4KiB", "32KiB"))
    assert fine != coarse


def test_a_seed_draws_another_sample(destage: Any, spc: str) -> None:
    """An exact curve has no sample; the same seed gives the same one."""
    sample = ("--sample", "shards:0.3", "--sizes", "1MiB")
    first, again, other = (
        ask(destage, ("trace", "mrc"), spc, *sample, "--seed", seed) for seed in ("1", "1", "2")
    )
    assert first == again != other
    traces = []
    for seed in ("1", "1", "2"):
        ask(destage, ("trace", "synth"), spc, "--seed", seed)
        traces.append(Path("out.parquet").read_bytes())
    assert traces[0] == traces[1] != traces[2]
