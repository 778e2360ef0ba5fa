"""`--store` of every command that reads or writes one: the default store does not have the sweep."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[1] / "measured" / "data"
SIDES = ("--a", "battery_state = 'present'", "--b", "battery_state = 'absent'")
ELSEWHERE = ("--store", "elsewhere")


@pytest.fixture
def elsewhere(finished_store: Path, tmp_path: Path) -> None:
    shutil.copytree(finished_store, tmp_path / ELSEWHERE[1])


@pytest.mark.parametrize(
    "command",
    [
        ("query", "small", "SELECT 1 AS one"),
        ("query", "small", "design_space"),
        ("compare", "small", *SIDES),
        ("explain", "ranges", "small", "--where", "response_p95_us > 0"),
        ("explain", "point", "small"),
        ("explain", "axes", "small"),
        ("report", "small"),
        ("status", "small"),
        ("admin", "verify", "small"),
        ("admin", "compact", "small"),
    ],
)
@pytest.mark.usefixtures("elsewhere")
def test_a_command_reads_the_store_that_is_named(destage: Any, command: tuple[str, ...]) -> None:
    found = destage(*command, *ELSEWHERE)
    assert found.code == 0, found.err
    assert destage(*command).issues[0][0] == "store.unknown-sweep"


@pytest.mark.usefixtures("elsewhere")
def test_serve_reads_the_store_that_is_named(destage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[Path] = []
    monkeypatch.setattr("destage.server.serve_sweep", lambda path, *_: served.append(path))
    assert destage("report", "small", "--serve", *ELSEWHERE).code == 0
    assert [path.parents[1].name for path in served] == ["elsewhere"]
    assert destage("report", "small", "--serve").issues[0][0] == "store.unknown-sweep"


def test_calibrate_and_replay_write_to_the_store_that_is_named(
    destage: Any, calibration: Path, tmp_path: Path
) -> None:
    assert destage("calibrate", str(calibration), "--quiet", *ELSEWHERE).code == 0
    trace = tmp_path / "trace.spc"
    trace.write_text("".join(f"0,{at * 800},4096,{'RW'[at % 2]},{at / 50}\n" for at in range(100)))
    done = destage("trace", "replay", str(trace), "--on", "raid10x2", "--replicates", "1", *ELSEWHERE)
    assert done.code == 0, done.err
    assert len(list((tmp_path / "elsewhere" / "sweeps").iterdir())) == 2
    assert not (tmp_path / "store").exists()


def test_measured_sets_are_those_of_the_store_that_is_named(destage: Any) -> None:
    shutil.copy(DATA / "fio-3.33-grouped.json", "fio.json")
    done = destage("measured", "import", "fio.json", "--name", "lab", "--array", "a", *ELSEWHERE)
    assert done.code == 0, done.err
    assert json.loads(destage("measured", "list", "--json").out) == []
    assert [one["name"] for one in json.loads(destage("measured", "list", "--json", *ELSEWHERE).out)] == [
        "lab"
    ]
    assert destage("measured", "show", "lab").issues == [("store.unknown-measured-set", "lab")]
    assert destage("measured", "show", "lab", *ELSEWHERE).code == 0
    assert destage("measured", "delete", "lab").code != 0
    assert destage("measured", "delete", "lab", *ELSEWHERE).code == 0
    assert json.loads(destage("measured", "list", "--json", *ELSEWHERE).out) == []
