"""Errors are one line each, with code and place; with `--json` they are JSON as well."""

import json
from pathlib import Path
from typing import Any

import pytest

from destage import sweeps

TRACE = """\
  7,0    1        1     0.000000000   100  Q   WS 2048 + 8 [pg]
  7,0    1        2     0.000100000   100  Q   WS oops + 8 [pg]
"""


def find_error(destage: Any, tmp_path: Path, *args: str) -> tuple[str, str]:
    """Run a command that must fail with one line, and return the code and the place of the error."""
    before = sorted(tmp_path.rglob("*"))
    done = destage(*args)
    assert (done.code, done.out) == (2, ""), done
    assert sorted(tmp_path.rglob("*")) == before
    assert len(done.err.splitlines()) == 1, done.err
    (issue,) = done.issues
    return issue


@pytest.mark.parametrize("command", [("run",), ("run", "--plan")])
@pytest.mark.parametrize(
    ("text", "replacement", "issue"),
    [
        ("controller: {use", "controler: {use", ("scenario.unknown-key", "scenario.controler")),
        ("controller.battery", "controller.batery", ("study.unknown-key", "axes.controller.batery.state")),
        ('raid: "5", disks: 4', 'raid: "10", disks: 3', ("scenario.raid-disk-count", "scenario.array.disks")),
        (
            "smart_array_5i_plus}",
            "smart_array_5i_plus, cache: {write_fraction: 2}}",
            ("scenario.out-of-range", "scenario.controller.cache.write_fraction"),
        ),
        ("replicates: 2", "replicates: 2\nbudget: {wall: -2h}", ("study.out-of-range", "budget.wall")),
    ],
)
def test_a_mistake_in_a_study_has_code_and_place(
    destage: Any,
    study: Path,
    tmp_path: Path,
    command: tuple[str, ...],
    text: str,
    replacement: str,
    issue: tuple[str, str],
) -> None:
    study.write_text(study.read_text().replace(text, replacement))
    assert find_error(destage, tmp_path, *command, str(study)) == issue


@pytest.mark.parametrize("command", [("trace", "info"), ("run",), ("simulate",)])
def test_a_malformed_trace_record_is_located(destage: Any, tmp_path: Path, command: tuple[str, ...]) -> None:
    trace = tmp_path / "t.blk"
    trace.write_text(TRACE)
    spec = tmp_path / "replay.yaml"
    spec.write_text(
        "name: replay\nscenario:\n"
        "  workload: {streams: [{name: s, arrival: {kind: trace, file: t.blk, mode: dependent}}]}\n"
        "  controller: {use: smart_array_5i_plus}\n"
        '  array: {raid: "5", disks: 4, disk: {use: u320_10k_36gb}}\n'
    )
    done = destage(*command, str(trace if command[0] == "trace" else spec))
    assert (done.code, done.out) == (2, "")
    assert [code for code, _ in done.issues] == ["trace.bad-record"]
    assert "t.blk" in done.err
    assert "line 2" in done.err


def test_each_mistake_is_a_line_and_a_json_entry(destage: Any, study: Path) -> None:
    study.write_text(study.read_text().replace("replicates: 2", "replicates: 0\nsede: 1"))
    expected = [("study.out-of-range", "replicates"), ("study.unknown-key", "sede")]
    done = destage("run", str(study))
    assert (done.code, done.out, done.issues) == (2, "", expected)
    done = destage("run", str(study), "--json")
    assert (done.code, done.issues) == (2, expected)
    errors = json.loads(done.out)["errors"]
    assert [(each["code"], each["place"], each["value"]) for each in errors] == [
        ("study.out-of-range", "replicates", 0),
        ("study.unknown-key", "sede", 1),
    ]
    assert {each["source"] for each in errors} == {str(study)}
    assert all(
        each.keys() == {"code", "place", "message", "value", "data", "line", "column", "source"}
        for each in errors
    )


@pytest.mark.parametrize(
    ("args", "issue"),
    [
        (("run",), ("usage.missing-argument", "TARGET")),
        (("trace", "synth", "x.blk"), ("usage.missing-argument", "--out")),
        (("run", "a.yaml", "b.yaml"), ("usage.extra-argument", "")),
        (("run", "x.yaml", "--executor", "threads"), ("usage.bad-value", "--executor")),
        (("run", "x.yaml", "--workers", "0"), ("usage.bad-value", "--workers")),
        (("run", "x.yaml", "--stor", "y"), ("usage.unknown-option", "--stor")),
        (("run", "x.yaml", "--store"), ("usage.missing-value", "--store")),
        (("frobnicate",), ("usage.unknown-command", "")),
        (("cluster", "frobnicate"), ("usage.unknown-command", "")),
        (("admin", "verify", "x", "--sample", "0%"), ("usage.out-of-range", "--sample")),
        (("query", "x", "--param", "idle"), ("usage.bad-assignment", "--param")),
        (("catalog", "list", "nope"), ("usage.bad-value", "KIND")),
        (("catalog", "show", "u320_10k_36g"), ("usage.unknown-name", "NAME")),
        (("catalog", "show", "call_center"), ("usage.unknown-name", "NAME")),
        (("catalog", "show", "vdi", "--kind", "tape"), ("usage.bad-value", "--kind")),
        (("catalog", "show", "exos_x18", "--test", "a"), ("usage.conflicting-options", "--test")),
        (("simulate", "nowhere.yaml"), ("usage.unreadable-file", "FILE")),
        (("run", "nowhere.yaml"), ("study.not-found", "nowhere.yaml")),
        (("run", "nope"), ("study.not-found", "nope")),
        (("trace", "info", "nowhere.blk"), ("trace.unreadable", "{}/nowhere.blk")),
    ],
)
def test_wrong_usage_has_a_code(
    destage: Any, tmp_path: Path, args: tuple[str, ...], issue: tuple[str, str]
) -> None:
    code, place = issue
    assert find_error(destage, tmp_path, *args) == (code, place.format(tmp_path))


def test_an_interrupt_has_its_exit_code(destage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sweeps, "load_study", interrupt)
    assert destage("run", "--plan", "x.yaml").code == 130


def test_an_option_after_a_double_dash_is_no_option(destage: Any) -> None:
    """`--json` is only an option where the command reads it as one."""
    assert destage("query", "nowhere", "--", "--json").out == ""
    assert json.loads(destage("query", "nowhere", "--json", "--", "SELECT 1").out)["errors"]


def test_a_missing_sweep_is_an_error(destage: Any) -> None:
    done = destage("report", "nowhere")
    assert (done.code, done.issues) == (1, [("store.unknown-sweep", "nowhere")])


def test_a_traceback_needs_debug(destage: Any) -> None:
    assert "Traceback" not in destage("report", "nowhere").err
    assert "Traceback" in destage("--debug", "report", "nowhere").err


@pytest.mark.parametrize(
    ("error", "issue", "code"),
    [
        (OSError(28, "No space left on device", "/x"), ("system.disk-full", "/x"), 4),
        (PermissionError(13, "Permission denied", "/x"), ("system.permission-denied", "/x"), 4),
        (FileNotFoundError(2, "No such file or directory", "/x"), ("system.file-not-found", "/x"), 1),
        (OSError("odd"), ("system.io-error", ""), 1),
        (ZeroDivisionError("two\nlines"), ("system.internal-error", ""), 1),
    ],
)
def test_failures_of_the_system_have_codes(
    destage: Any,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    issue: tuple[str, str],
    code: int,
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(sweeps, "load_study", fail)
    done = destage("run", "--plan", "x.yaml")
    assert (done.code, done.issues, done.err.count("\n")) == (code, [issue], 1)


@pytest.mark.parametrize(("command", "namespace"), [("run", "study"), ("simulate", "scenario")])
@pytest.mark.parametrize(
    ("content", "kind", "place"),
    [
        (b"name: x\nscenario: {workload: [\n", "bad-syntax", "3:1"),
        (b"\xf5\x00\x91 no text", "bad-syntax", "byte 0"),
        (b"name: a\x00b", "bad-syntax", "position 7"),
        (b"name: " + b"[" * 5000, "bad-syntax", ""),
        (b"name: &a\n  x: *a\n", "bad-syntax", "1:7"),
        (b"? [a, b]\n: c\n", "bad-syntax", "1:3"),
        (b"name: a\nname: b\n", "duplicate-key", "2:1"),
    ],
)
def test_invalid_yaml_is_located(
    destage: Any, tmp_path: Path, command: str, namespace: str, content: bytes, kind: str, place: str
) -> None:
    file = tmp_path / "odd.yaml"
    file.write_bytes(content)
    line = place if ":" in place else ""
    assert find_error(destage, tmp_path, command, str(file)) == (f"{namespace}.{kind}", "" if line else place)
    located = ":".join(["odd.yaml", line] if line else ["odd.yaml"])
    assert f"{located}: {namespace}.{kind}" in destage(command, str(file)).err


def test_a_long_value_is_shortened(destage: Any, study: Path) -> None:
    study.write_text(f"{study.read_text()}\nodd: {['x' * 40] * 50}\n")
    done = destage("run", "--plan", str(study))
    assert done.issues == [("study.unknown-key", "odd")]
    assert "odd: ['xxx" in done.err
    assert len(done.err) < 600
