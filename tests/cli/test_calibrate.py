"""`destage calibrate`: an unknown learned from one figure, its draws, and a calibration on measured tests."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from small_studies import RATE, SERVICE, small_calibration

from destage.cli.commands import calibrate as command

DATA = Path(__file__).parents[1] / "measured" / "data"


def test_it_says_what_was_learned_in_every_form(destage: Any, calibration: Path) -> None:
    done = destage("calibrate", str(calibration), "--report", "learned.html", "--quiet")
    assert done.code == 0, done.err
    assert SERVICE.rpartition(".")[0].rpartition(".")[2] in done.out.replace(" ", "_")
    assert "<html" in Path("learned.html").read_text()
    again = json.loads(destage("calibrate", str(calibration), "--quiet", "--json").out)
    assert again["outcome"]["executed"] == 0


def test_a_missed_figure_is_in_the_json(destage: Any) -> None:
    at = {"set": {RATE: "20/s"}, "of": "response_mean", "tolerance": "5%"}
    values = {"first": "5.3ms", "second": "5.3ms", "odd": "90ms"}
    figures = {name: at | {"value": value} for name, value in values.items()}
    Path("odd.yaml").write_text(small_calibration("odd", {}, figures, {"points": 8, "most": 2}))
    done = destage("calibrate", "odd.yaml", "--quiet", "--json")
    assert done.code == 0, done.err
    printed = json.loads(done.out)
    (missed,) = printed["missed_figures"]
    assert (missed["figure"], missed["measured"]) == ("odd", 90_000)
    assert any("2 of 3 figures are explained" in sentence for sentence in printed["answer"])


def test_draws_are_a_study_of_their_own(destage: Any, calibration: Path) -> None:
    """Each point has a value of the unknown; with --figure, the rate of that figure's configuration."""
    drawn = ("calibrate", str(calibration), "--quiet", "--draws", "5")
    assert destage(*drawn, "--out", "draws.yaml").code == 0
    points = yaml.safe_load(Path("draws.yaml").read_text())["points"]
    # A draw that was chosen several times is one point.
    assert sum(int(point["label"].partition(", ")[2].partition(" of 5")[0]) for point in points) == 5
    assert all(SERVICE in point and RATE not in point for point in points)
    assert destage(*drawn, "--figure", "idle", "--out", "idle.yaml").code == 0
    idle = yaml.safe_load(Path("idle.yaml").read_text())
    assert "20" in json.dumps(idle["scenario"]["workload"]) + json.dumps(idle["points"])
    assert {fit["parameter"] for fit in idle["fitted"]} == {SERVICE}
    assert f"({SERVICE})" in "".join(destage("run", "idle.yaml").out.split("fitted on")[1:])


@pytest.mark.parametrize(
    ("options", "issue"),
    [
        (("--draws", "5"), ("usage.missing-value", "--out")),
        (("--out", "x.yaml"), ("usage.missing-value", "--out")),
        (("--draws", "0", "--out", "x.yaml"), ("usage.bad-value", "--draws")),
        (("--draws", "5", "--fit", "nothing", "--out", "x.yaml"), ("query.unknown-fit", "nothing")),
        (("--draws", "5", "--figure", "nothing", "--out", "x.yaml"), ("query.unknown-figure", "nothing")),
        (("--measured", "lab", "--out", "x.yaml"), ("usage.missing-value", "--unknown")),
        (("--executor", "cloud"), ("usage.bad-value", "--executor")),
        (("--workers", "0"), ("usage.bad-value", "--workers")),
    ],
)
def test_wrong_uses_name_their_option(
    destage: Any, calibration: Path, options: tuple[str, ...], issue: tuple[str, str]
) -> None:
    done = destage("calibrate", str(calibration), "--quiet", *options)
    assert done.issues == [issue]
    assert not Path("x.yaml").exists()


def test_the_options_of_execution_reach_the_sweep(
    destage: Any, calibration: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # --ray-address sets it for the worker processes.
    monkeypatch.setenv("RAY_ADDRESS", "")
    monkeypatch.delenv("RAY_ADDRESS")
    given: list[Any] = []
    monkeypatch.setattr(command, "run_study", lambda *arguments, **_: given.append(arguments[2:4]))
    assert destage("calibrate", str(calibration), "--executor", "inline", "--workers", "3").code == 0
    assert destage("calibrate", str(calibration), "--ray-address", "head:6379").code == 0
    assert given == [("inline", 3), ("ray", None)]


def test_a_calibration_is_written_on_a_measured_set(destage: Any, tmp_path: Path) -> None:
    shutil.copy(DATA / "fio-3.33-grouped.json", tmp_path / "fio.json")
    assert destage("measured", "import", "fio.json", "--name", "lab", "--array", "our SSD").code == 0
    job = tmp_path / "jobs.fio"
    job.write_text(
        "[global]\nsize=1g\nruntime=10\ntime_based\nioengine=libaio\ndirect=1\nstonewall\n"
        "[seqread]\nrw=read\nbs=64k\n[mix]\nrw=randrw\nbs=8k\niodepth=4\n"
    )
    done = destage("workload", "import", str(job), "--study", "--on", "raid5x4", "--out", "tests.yaml")
    assert done.code == 0, done.err
    written = destage(
        "calibrate",
        "tests.yaml",
        "--measured",
        "lab",
        "--unknown",
        "array.disks=integer:4,8",
        "--out",
        "c.yaml",
    )
    assert written.code == 0, written.err
    found = yaml.safe_load(Path("c.yaml").read_text())["calibrate"]
    assert found["unknowns"] == {"array.disks": {"integer": [4, 8]}}
    assert any("value" in figure for figure in found["figures"].values())


@pytest.fixture
def old(destage: Any) -> str:
    """Import the results of the documents as a measured set."""
    shutil.copy(DATA / "fio-3.33-grouped.json", "results.json")
    assert destage("measured", "import", "results.json", "--name", "old", "--array", "old").code == 0
    return "old"


_SHORT = ("--known", "array.disk.write_cache", "--known", "array.disk.program_time", "--quiet")


def test_a_measured_set_is_calibrated_on_the_array_that_was_measured(destage: Any, old: str) -> None:
    jobs = "[global]\nrw=randread\nbs=8k\nsize=1g\ndirect=1\nstonewall\n[shallow]\n[deep]\niodepth=64\n"
    Path("jobs.fio").write_text(jobs)
    on = ("--on", "raid0x1", "--disk", "pm963_960gb", "--controller", "ahci_sata_6gb")
    chosen = ("--where", "workload = 'mix'", "--predict", "jobs.fio", "--test", "deep")
    # An SSD filled at random takes ten times the processor time.
    filled = ("--unknown", "array.disk.precondition=choice:sequential,empty")
    unknown = ("--unknown", "array.disk.read_time=log_uniform:20us,200us", *filled)
    command = ("calibrate", old, *on, *chosen, *unknown, *_SHORT)
    done = destage(*command, "--out", "ours.yaml")
    assert (done.code, done.out) == (0, ""), done.err
    written = yaml.safe_load(Path("ours.yaml").read_text())
    assert written["scenario"]["array"]["disk"] == {"use": "pm963_960gb"}
    calibrated = written["calibrate"]
    assert calibrated["fits"] == {"given": ["mix"]}
    assert calibrated["unknowns"]["array.disk.read_time"] == {"log_uniform": ["20us", "200us"]}
    assert calibrated["unknowns"]["array.disk.precondition"] == {"choice": ["sequential", "empty"]}
    assert "array.disk.write_cache" not in calibrated["unknowns"]
    assert "value" not in calibrated["figures"]["deep"]
    assert "shallow" not in calibrated["figures"]
    assert "array.disk.read_time: log-uniform, 20 to 200 us" in done.err
    assert "array: raid0x1, disk pm963_960gb, controller ahci_sata_6gb" in done.err
    asked = destage(*command)
    assert "deep" in asked.out
    # fio's default engine waits for each I/O.
    assert "fio.depth-without-effect" in asked.err
    again = json.loads(destage("calibrate", "ours.yaml", "--quiet", "--json").out)
    assert again["outcome"]["executed"] == 0
    first = again["next_measurements"][0]
    assert (first["rank"], first["figure"]) == (1, "deep")
    assert first["measurement"] in calibrated["candidates"]
    assert any("measure" in sentence and first["measurement"] in sentence for sentence in again["answer"])


def test_a_measured_set_is_predicted_after_a_change_of_the_array(destage: Any, old: str) -> None:
    on = ("--on", "raid0x1", "--disk", "pm963_960gb", "--controller", "ahci_sata_6gb")
    changed = ("--predict-with", "array.disk.write_cache=false", "--predict-with", "array.disks=2")
    done = destage("calibrate", old, *on, "--where", "workload = 'mix'", *changed, "--out", "after.yaml")
    assert done.code == 0, done.err
    figures = yaml.safe_load(Path("after.yaml").read_text())["calibrate"]["figures"]
    after = figures["mix with array.disk.write_cache=false, array.disks=2"]["set"]
    assert (after["array.disk.write_cache"], after["array.disks"]) == (False, 2)
    assert after.items() >= figures["mix"]["set"].items()
    assert len(figures) % 2 == 0


def test_only_the_tests_asked_for_are_predicted_after_a_change(destage: Any, old: str) -> None:
    Path("jobs.fio").write_text("[deep]\nrw=randread\nbs=8k\nsize=1g\ndirect=1\niodepth=64\n")
    on = ("--on", "raid0x1", "--disk", "pm963_960gb", "--controller", "ahci_sata_6gb")
    asked = ("--predict", "jobs.fio", "--predict-with", "array.disks=2", "--out", "after.yaml")
    done = destage("calibrate", old, *on, "--where", "workload = 'mix'", *asked)
    assert done.code == 0, done.err
    figures = yaml.safe_load(Path("after.yaml").read_text())["calibrate"]["figures"]
    assert [name for name in figures if "array.disks=2" in name] == ["deep with array.disks=2"]


def test_the_array_that_was_measured_is_that_of_a_file(destage: Any, old: str) -> None:
    array = {"raid": "0", "disks": 1, "disk": {"use": "pm963_960gb"}}
    Path("array.yaml").write_text(yaml.safe_dump({"array": array}))
    done = destage(
        "calibrate", old, "--on", "array.yaml", "--where", "outstanding = 16", *_SHORT, "--out", "a.yaml"
    )
    assert done.code == 0, done.err
    assert yaml.safe_load(Path("a.yaml").read_text())["scenario"]["array"] == array


def test_a_figure_is_held_by_the_name_that_the_answer_gives_it(destage: Any) -> None:
    """Three lines of one name: each has its own."""
    rows = [("randread", 1, "0.09ms"), ("randread", 8, "0.2ms"), ("randread", 32, "0.6ms")]
    lines = [f"{name},random,{depth},4KiB,1,{response}" for name, depth, response in rows]
    heading = "workload,access,outstanding,request_bytes,read_fraction,response_mean_us"
    Path("figures.csv").write_text("\n".join([heading, *lines]) + "\n")
    assert destage("measured", "import", "figures.csv", "--name", "csv", "--array", "ours").code == 0
    condition = ("--where", "figure <> 'randread #2'")
    done = destage(
        "calibrate", "csv", "--on", "raid0x1", "--disk", "pm963_960gb", *condition, "--out", "a.yaml"
    )
    assert done.code == 0, done.err
    calibrated = yaml.safe_load(Path("a.yaml").read_text())["calibrate"]
    depths = {
        name: figure["set"]["workload.streams.0"]["arrival"]["depth"]
        for name, figure in calibrated["figures"].items()
    }
    assert calibrated["fits"] == {"given": ["randread", "randread #3"]}
    assert depths == {"randread": 1, "randread #3": 32, "randread #2": 8}


@pytest.mark.parametrize(
    ("options", "issue"),
    [
        (("--disk", "exos_x18"), ("usage.conflicting-options", "--disk")),
        (("--controller", "perc_h755"), ("usage.conflicting-options", "--controller")),
        (("--where", "outstanding = 1"), ("usage.conflicting-options", "--where")),
        (("--predict", "jobs.fio"), ("usage.conflicting-options", "--predict")),
        (("--known", "array.disks"), ("usage.conflicting-options", "--known")),
        (("--on", "raid0x1", "--test", "deep"), ("usage.conflicting-options", "--test")),
        (("--predict-with", "array.disks=2"), ("usage.conflicting-options", "--predict-with")),
        (("--on", "raid0x1", "--predict-with", "array.diskz=2"), ("usage.bad-assignment", "--predict-with")),
        (("--on", "raid0x1", "--predict-with", "array.disk"), ("usage.bad-assignment", "--predict-with")),
        (
            ("--on", "raid0x1", "--predict-with", "controller.cache.capacity=1"),
            ("usage.bad-quantity", "--predict-with"),
        ),
        (
            ("--on", "raid0x1", "--predict-with", "array.disk=16"),
            ("scenario.wrong-type", "--predict-with array.disk"),
        ),
        (("--on", "raid0x1", "--predict", "none.fio"), ("usage.unreadable-file", "--predict")),
        (("--on", "raid0x1", "--where", "outstanding = 1000"), ("usage.bad-value", "--where")),
        (("--on", "raid0x1", "--draws", "2", "--out", "x.yaml"), ("usage.conflicting-options", "--on")),
        (("--on", "raid0"), ("usage.bad-array", "--on")),
        ((), ("usage.missing-argument", "--on")),
        (("--on", "raid0x1", "--where", "nothing = 1"), ("query.unknown-name", "--where")),
        (("--on", "raid0x1", "--known", "array.disks"), ("study.unknown-name", "--known")),
        (("--on", "raid0x1", "--controller", "m1015"), ("usage.unknown-name", "--controller")),
    ],
)
def test_wrong_uses_of_a_measured_set_name_their_option(
    destage: Any, old: str, options: tuple[str, ...], issue: tuple[str, str]
) -> None:
    assert destage("calibrate", old, "--quiet", *options).issues == [issue]


def test_an_existing_file_hides_no_other_mistake(destage: Any, old: str) -> None:
    Path("there.yaml").write_text("kept")
    asked = ("calibrate", old, "--on", "raid0x1", "--out", "there.yaml")
    assert destage(*asked, "--known", "array.disks").issues == [("study.unknown-name", "--known")]
    assert destage(*asked).issues == [("usage.file-exists", "--out")]
    assert Path("there.yaml").read_text() == "kept"


def test_a_part_is_found_by_a_word_of_its_name(destage: Any, old: str) -> None:
    done = destage("calibrate", old, "--on", "raid0x1", "--controller", "m1015")
    assert "'serveraid_m1015'" in done.err


@pytest.mark.parametrize(
    "option", [("--unknown", "array.disk.seek=uniform:1,2"), ("--predict-with", "array.disk=exos_x16")]
)
def test_a_study_that_cannot_run_is_not_written(destage: Any, old: str, option: tuple[str, str]) -> None:
    """A table of fields is neither a number nor a name."""
    done = destage("calibrate", old, "--on", "raid5x8", *option, "--out", "wrong.yaml")
    assert done.code == 2
    assert done.issues
    assert not Path("wrong.yaml").exists()
