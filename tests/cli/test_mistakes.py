"""Each mistake is one red line that names place, value and what is allowed; nothing is written."""

from pathlib import Path
from typing import Any

import pytest

TRACE = """\
  7,0    1        1     0.000000000   100  Q   WS 2048 + 8 [pg]
  7,0    1        2     0.000100000   100  Q   WS oops + 8 [pg]
"""


def mistake(destage: Any, tmp_path: Path, *args: str) -> str:
    before = sorted(tmp_path.rglob("*"))
    done = destage(*args)
    assert done.code == 2, done
    assert done.out == ""
    assert sorted(tmp_path.rglob("*")) == before
    lines = done.err.splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("error: ")
    return lines[0]


@pytest.mark.parametrize("verb", ["run", "plan"])
def test_a_misspelt_key(destage: Any, study: Path, tmp_path: Path, verb: str) -> None:
    study.write_text(study.read_text().replace("controller: {use", "controler: {use"))
    line = mistake(destage, tmp_path, verb, str(study))
    assert "scenario.controler" in line
    assert "did you mean 'controller'?" in line


@pytest.mark.parametrize("verb", ["run", "plan"])
def test_a_misspelt_axis(destage: Any, study: Path, tmp_path: Path, verb: str) -> None:
    study.write_text(study.read_text().replace("controller.battery.state", "controller.batery.state"))
    line = mistake(destage, tmp_path, verb, str(study))
    assert str(study) in line
    assert "controller.batery.state" in line
    assert "did you mean 'battery'?" in line


@pytest.mark.parametrize("verb", ["run", "plan"])
def test_an_impossible_array(destage: Any, study: Path, tmp_path: Path, verb: str) -> None:
    study.write_text(study.read_text().replace('raid: "5", disks: 4', 'raid: "10", disks: 3'))
    line = mistake(destage, tmp_path, verb, str(study))
    assert "array.disks: 3: 3 disks" in line


def test_a_value_out_of_range(destage: Any, study: Path, tmp_path: Path) -> None:
    study.write_text(
        study.read_text().replace("smart_array_5i_plus}", "smart_array_5i_plus, cache: {write_fraction: 2}}")
    )
    line = mistake(destage, tmp_path, "run", str(study))
    assert "controller.cache.write_fraction: 2" in line


@pytest.mark.parametrize("verb", [("trace", "info"), ("run",), ("simulate",)])
def test_an_unreadable_trace_line(destage: Any, tmp_path: Path, verb: tuple[str, ...]) -> None:
    trace = tmp_path / "t.blk"
    trace.write_text(TRACE)
    spec = tmp_path / "replay.yaml"
    spec.write_text(
        "name: replay\nscenario:\n"
        "  workload: {streams: [{name: s, arrival: {kind: trace, file: t.blk, mode: dependent}}]}\n"
        "  controller: {use: smart_array_5i_plus}\n"
        '  array: {raid: "5", disks: 4, disk: {use: u320_10k_36gb}}\n'
    )
    line = mistake(destage, tmp_path, *verb, str(trace if verb[0] == "trace" else spec))
    assert "t.blk: line 2" in line
    assert "oops" in line


def test_not_yaml(destage: Any, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("name: x\nscenario: {workload: [\n")
    assert "x.yaml:3:1" in mistake(destage, tmp_path, "run", "x.yaml")


def test_two_mistakes_are_two_lines(destage: Any, study: Path) -> None:
    study.write_text(study.read_text().replace("replicates: 2", "replicates: 0\nseed: 1"))
    done = destage("run", str(study))
    assert done.code == 2
    assert len(done.err.splitlines()) == 2


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("run",), "SPEC"),
        (("run", "x.yaml", "--executor", "threads"), "'auto', 'ray', 'inline'"),
        (("run", "nowhere.yaml"), "call_center"),
        (("frobnicate",), "frobnicate"),
        (("study", "run", "nope"), "call_center"),
        (("catalog", "nope"), "controllers, disks, workloads"),
        (("catalog", "disks", "u320_10k_36g"), "u320_10k_36gb"),
        (("simulate", "nowhere.yaml"), "nowhere.yaml"),
        (("trace", "info", "nowhere.blk"), "nowhere.blk"),
    ],
)
def test_wrong_usage(destage: Any, tmp_path: Path, args: tuple[str, ...], told: str) -> None:
    assert told in mistake(destage, tmp_path, *args)


def test_a_sweep_that_is_not_there(destage: Any) -> None:
    done = destage("report", "nowhere")
    assert done.code == 1
    assert done.err == f"error: no sweep 'nowhere' in the store {Path.cwd() / 'store'}; there are: none yet\n"


def test_a_traceback_only_with_debug(destage: Any) -> None:
    assert "Traceback" not in destage("report", "nowhere").err
    assert "Traceback" in destage("--debug", "report", "nowhere").err


@pytest.mark.parametrize("verb", ["plan", "simulate"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xf5\x00\x91 no text", "byte 0: not a text in UTF-8"),
        (b"name: a\x00b", "the character '\\x00' at position 7 is not allowed"),
        (b"name: " + b"[" * 5000, "too deep to be read"),
        (b"name: &a\n  x: *a\n", "not YAML: found unconstructable recursive node"),
        (b"? [a, b]\n: c\n", "not YAML: found unhashable key"),
        (b"name: a\nname: b\n", ":2:1: not YAML: the key 'name' is written twice"),
    ],
)
def test_a_file_that_is_no_yaml(destage: Any, tmp_path: Path, verb: str, content: bytes, said: str) -> None:
    file = tmp_path / "odd.yaml"
    file.write_bytes(content)
    line = mistake(destage, tmp_path, verb, str(file))
    assert str(file) in line
    assert said in line


def test_a_long_value_is_cut(destage: Any, study: Path, tmp_path: Path) -> None:
    study.write_text(f"{study.read_text()}\nodd: {['x' * 40] * 50}\n")
    line = mistake(destage, tmp_path, "plan", str(study))
    assert "odd: ['xxx" in line
    assert "...: is not known here" in line
    assert len(line) < 400


def test_a_budget_of_nothing(destage: Any, study: Path, tmp_path: Path) -> None:
    study.write_text(f"{study.read_text()}\nbudget: {{wall: -2h}}\n")
    assert "budget.wall: '-2h': must be above 0s" in mistake(destage, tmp_path, "plan", str(study))
