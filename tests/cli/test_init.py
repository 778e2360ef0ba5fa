"""`destage init`: the study runs as written, and existing files stay."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from terminals import Terminal

from destage.engine import catalog
from destage.sweeps import parse_study
from destage.sweeps.reading.expansion import expand
from destage.sweeps.reading.new_study import NewStudy, write_study
from destage.sweeps.sizing.request import depends_on_users

SMALL = ("--workload", "call_center", "--controller", "smart_array_5i_plus", "--disk", "u320_10k_36gb")


def test_a_new_study_runs_as_written(destage: Any, tmp_path: Path) -> None:
    done = destage("init", *SMALL, "--users", "5,10", "--cache", "0,32MiB", "--raid", "raid5x4", "--no-input")
    assert done.code == 0
    text = (tmp_path / "call_center.yaml").read_text()
    assert text.startswith("# yaml-language-server: $schema=destage-study.schema.json\n")
    schema = json.loads((tmp_path / "destage-study.schema.json").read_text())
    Draft202012Validator(schema).validate(yaml.safe_load(text))
    quick = text.replace("requests: 20000", "requests: 300").replace("requests: 5000", "requests: 10")
    (tmp_path / "call_center.yaml").write_text(quick)
    assert destage("run", "call_center.yaml", "--quiet").code == 0


@pytest.mark.parametrize("workload", [entry.name for entry in catalog.entries("workloads")])
def test_every_workload_makes_a_valid_study(workload: str) -> None:
    has_users = depends_on_users({"use": workload})
    for limit in (None, "20ms") if has_users else (None,):
        users = [10] if has_users else []
        new = NewStudy("new", workload, "megaraid_9560_8i", "exos_x18", ["5", "10"], 8, users, ["0"], limit)
        assert expand(parse_study(write_study(new, "new.yaml"))).count == 2


def test_users_are_refused_where_they_change_nothing(destage: Any, tmp_path: Path) -> None:
    for option in (["--seek"], ["--users", "10,20"]):
        done = destage("init", "--no-input", "--workload", "iometer_oltp", *option)
        assert done.issues == [("study.no-effect", option[0])]
    assert destage("init", "--no-input", "--workload", "iometer_oltp").code == 0
    assert "users" not in (tmp_path / "iometer_oltp.yaml").read_text().partition("scenario:")[2]


def test_a_seek_has_its_limit_and_start(destage: Any, tmp_path: Path) -> None:
    done = destage(
        "init", *SMALL, "--response-p95", "20ms", "--users", "30", "--out", "new/seek.yaml", "--json"
    )
    assert done.code == 0
    assert json.loads(done.out) == {"study": "new/seek.yaml", "schema": "new/destage-study.schema.json"}
    study = parse_study((tmp_path / "new/seek.yaml").read_text())
    assert study.seek is not None
    assert (study.seek.start, study.seek.objectives[0].bound) == (30, 20_000)
    assert study.name == "seek"


def test_nothing_is_overwritten_without_force(destage: Any, tmp_path: Path) -> None:
    (tmp_path / "vdi.yaml").write_text("mine")
    (tmp_path / "destage-study.schema.json").write_text("{}")
    assert destage("init", "--no-input").issues == [("usage.file-exists", "--out")]
    assert (tmp_path / "vdi.yaml").read_text() == "mine"
    assert "was kept" in destage("init", "--no-input", "--out", "other.yaml").err
    assert (tmp_path / "destage-study.schema.json").read_text() == "{}"
    assert destage("init", "--no-input", "--force").code == 0
    assert "name: vdi" in (tmp_path / "vdi.yaml").read_text()
    assert (tmp_path / "destage-study.schema.json").read_text() != "{}"


@pytest.mark.parametrize(
    ("arguments", "issue"),
    [
        (("--workload", "vdj"), ("usage.unknown-name", "--workload")),
        (("--raid", "raid7x4"), ("usage.bad-array", "--raid")),
        (("--raid", "raid5x4,raid10x8"), ("usage.bad-array", "--raid")),
        (("--raid", "raid5x2"), ("scenario.raid-disk-count", "--raid")),
        (("--users", "many"), ("usage.bad-value", "--users")),
        (("--cache", "64"), ("usage.bad-quantity", "--cache")),
        (("--seek", "--response-p95", "fast"), ("usage.bad-quantity", "--response-p95")),
        (("--no-seek", "--response-p95", "1ms"), ("usage.conflicting-options", "--response-p95")),
        (("--out", "study.txt"), ("usage.bad-file-type", "--out")),
    ],
)
def test_mistakes_name_their_option(
    destage: Any, tmp_path: Path, arguments: tuple[str, ...], issue: tuple[str, str]
) -> None:
    done = destage("init", "--no-input", *arguments)
    assert (done.code, done.issues) == (2, [issue])
    assert list(tmp_path.iterdir()) == []


def test_on_a_terminal_it_asks_for_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Terminal("init", *SMALL, environment={}) as terminal:
        for question, answer in (
            ("(no): ", ""),
            ("disks: ", "\x15raid9x1\r\x15raid10x4"),
            ("tried: ", "\x1540"),
            ("built):", "0, 64MiB"),
            ("within: ", ""),
            ("file: ", "\x15asked.yaml"),
        ):
            terminal.read_until(question)
            terminal.type(f"{answer}\r")
        terminal.read_until("next: destage run asked.yaml")
        assert terminal.wait() == 0
    study = parse_study((tmp_path / "asked.yaml").read_text())
    assert study.seek is not None
    assert study.seek.start == 40
    assert study.scenario["array"]["raid"] == "10"
    assert study.axes["controller.cache.capacity"] == (0, 64 * 2**20)


def test_control_c_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Terminal("init", environment={}) as terminal:
        terminal.read_until("(no): ")
        terminal.type("\x03")
        assert terminal.wait() == 130
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "issue"),
    [
        (("--out", "file/x.yaml"), ("usage.bad-value", "--out")),
        (("--out", "file/x.yaml", "--force"), ("usage.bad-value", "--out")),
        (("--seek", "--response-p95", "-5ms"), ("usage.out-of-range", "--response-p95")),
        (("--seek", "--users", "100,200"), ("usage.bad-value", "--users")),
        (("--seek", "--users", "500000"), ("usage.bad-value", "--users")),
    ],
)
def test_odd_choices_are_refused_and_nothing_is_written(
    destage: Any, tmp_path: Path, arguments: tuple[str, ...], issue: tuple[str, str]
) -> None:
    (tmp_path / "file").write_text("mine")
    assert destage("init", "--no-input", *arguments).issues == [issue]
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".yaml"] == []


def test_a_schema_that_is_no_text_is_kept(destage: Any, tmp_path: Path) -> None:
    (tmp_path / "destage-study.schema.json").write_bytes(b"\xff\xfe")
    assert destage("init", "--no-input", "--out", "a b.yaml").code == 0
    assert "next: destage run 'a b.yaml'" in destage("init", "--no-input", "--out", "a b.yaml", "--force").err
