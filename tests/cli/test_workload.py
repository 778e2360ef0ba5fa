"""`destage workload`."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import yaml

RESULTS = Path(__file__).parents[1] / "measured" / "data"
JOB = """[global]
ioengine=libaio
direct=1
group_reporting
[oltp]
rw=randrw
rwmixread=70
bs=8k
iodepth=16
size=1g
runtime=30
time_based
"""
ICF = """Version 1.1.0
'ACCESS SPECIFICATIONS =========================================================
'Access specification name,default assignment
\tmine,NONE
'size,% of size,% reads,% random,delay,burst,align,reply
\t4096,100,67,100,0,1,0,0
'END access specifications
"""


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """Return a fio job file."""
    path = tmp_path / "oltp.fio"
    path.write_text(JOB)
    return path


def test_bundled_workloads_are_listed(destage: Any) -> None:
    listed = destage("catalog", "list", "workloads", "--json").out
    assert json.loads(listed)["workloads"]["jesd219"].startswith("JESD219")
    assert "call_center" in destage("catalog", "list", "workloads").out


def test_a_bundled_workload_is_shown_with_its_sources(destage: Any) -> None:
    shown = destage("catalog", "show", "call_center", "--kind", "workloads").out
    for part in (
        "call_center: Call-centre terminal users",
        "source    HP 4AA0-8805ENW",
        "assumed   (not published) streams",
        "39 users, each thinks 10s (exponential), then 49 I/Os",
        "0.5 reads, 4KiB:50% 8KiB:50%",
        "Zipf 0.9 over 8GB, scattered in extents of 1MiB",
        "may depend on the array",
        "rate ",
        "mix ",
        "4 KiB",
        "address ",
        "touched",
    ):
        assert part in shown, part


def test_an_open_workload_does_not_depend_on_an_array(destage: Any) -> None:
    drawn = json.loads(destage("catalog", "show", "vdi", "--json").out)["drawn"]
    assert not drawn["depends_on_the_array"]
    assert drawn["rate_per_s"] == pytest.approx(450, rel=0.03)
    assert sum(drawn["sizes"]["reads"].values()) == pytest.approx(0.2 * drawn["requests"], rel=0.05)
    assert sum(drawn["over_time"]["reads_per_s"]) > 0
    assert "may depend on the array" not in destage("catalog", "show", "vdi").out


def test_a_plot_is_self_contained_svg(destage: Any, tmp_path: Path) -> None:
    done = destage("catalog", "show", "iometer_file_server", "--plot", "a.svg")
    assert done.code == 0
    picture = ET.fromstring((tmp_path / "a.svg").read_text())  # noqa: S314 - our own
    texts = [node.text for node in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert "Iometer file server: mixed sizes, 80 % reads, random" in texts
    assert {"512 B", "64 KiB", "reads", "writes"} <= set(texts)
    assert "http" not in (tmp_path / "a.svg").read_text().replace("http://www.w3.org/2000/svg", "")


def test_the_duration_can_be_given(destage: Any) -> None:
    drawn = json.loads(destage("catalog", "show", "vdi", "--duration", "10s", "--json").out)["drawn"]
    assert drawn["seconds"] == 10
    assert drawn["requests"] == pytest.approx(4500, rel=0.1)


def test_phases_are_shown_over_time(destage: Any) -> None:
    done = destage("catalog", "show", "vdi_logon_storm", "--json")
    drawn = json.loads(done.out)["drawn"]
    assert drawn["seconds"] == 1200
    reads = drawn["over_time"]["reads_per_s"]
    assert sum(reads[:30]) > 3 * sum(reads[30:])
    assert "phase 'logons': 10min" in destage("catalog", "show", "vdi_logon_storm").out


def test_an_imported_workload_can_be_simulated(destage: Any, job: Path, tmp_path: Path) -> None:
    done = destage("workload", "import", str(job), "--out", "mine.yaml")
    assert (done.code, done.out) == (0, "")
    text = (tmp_path / "mine.yaml").read_text()
    assert "# rw=randrw, rwmixread=70: 70 % reads, uniformly random" in text
    assert "group_reporting: it affects fio's output only" in text
    document = yaml.safe_load(text)
    (stream,) = document["workload"]["streams"]
    assert stream["arrival"] == {"kind": "fixed_outstanding", "depth": 16}
    assert document["run"] == {"window": {"duration": "30s"}}
    document["array"] = {"raid": "5", "disks": 4, "disk": {"use": "u320_10k_36gb"}}
    document["run"] = {"window": {"requests": 500}, "warm_up": "none"}
    (tmp_path / "whole.yaml").write_text(yaml.safe_dump(document))
    assert json.loads(destage("simulate", "whole.yaml", "--json").out)["status"] == "ok"
    shown = destage("catalog", "show", "mine.yaml").out
    assert "16 always outstanding" in shown
    # A job file is shown as it would be imported.
    assert "16 always outstanding" in destage("catalog", "show", str(job)).out


def test_an_access_specification_is_imported(destage: Any, tmp_path: Path) -> None:
    (tmp_path / "a.icf").write_bytes(ICF.replace("\n", "\r\n").encode("latin-1"))
    done = destage("workload", "import", "a.icf")
    assert yaml.safe_load(done.out)["workload"]["streams"][0]["operations"]["read_fraction"] == 0.67
    assert done.issues == [("iometer.no-worker", "line 4")]
    done = destage("workload", "import", "a.icf", "--spec", "other")
    assert (done.code, done.issues) == (2, [("iometer.unknown-specification", "")])


def test_mistakes_of_a_job_file_have_line_and_option(destage: Any, job: Path) -> None:
    job.write_text(JOB + "verify=md5\nrw=trim\n")
    done = destage("workload", "import", str(job))
    assert (done.code, done.out) == (2, "")
    assert done.issues[0] == ("import.unsupported-option", "line 13, verify")
    done = destage("workload", "import", str(job), "--ignore-unknown")
    assert done.issues == [("import.bad-value", "line 14, rw")]
    job.write_text(JOB + "verify=md5\n")
    done = destage("workload", "import", str(job), "--ignore-unknown")
    assert done.code == 0
    assert done.issues == [("import.option-skipped", "line 13, verify")]


@pytest.mark.parametrize(
    ("args", "issue"),
    [
        (("catalog", "show", "call_centre"), ("usage.unknown-name", "NAME")),
        (("catalog", "show", "empty.yaml"), ("scenario.missing-key", "workload")),
        (("catalog", "show", "vdi", "--duration", "0s"), ("usage.out-of-range", "--duration")),
        (("catalog", "show", "vdi", "--duration", "soon"), ("usage.bad-quantity", "--duration")),
        (("workload", "import", "none.fio"), ("usage.unreadable-file", "FILE")),
        (("workload", "import", "empty.yaml"), ("import.no-test", "")),
    ],
)
def test_wrong_arguments_are_rejected(
    destage: Any, tmp_path: Path, args: tuple[str, ...], issue: tuple[str, str]
) -> None:
    (tmp_path / "empty.yaml").write_text("")
    done = destage(*args)
    assert (done.code, done.issues) == (2, [issue])


@pytest.mark.parametrize("command", [("workload", "import"), ("catalog", "show")])
def test_results_are_named_in_place_of_each_line(destage: Any, command: tuple[str, ...]) -> None:
    done = destage(*command, str(RESULTS / "fio-gtod-reduce-no-latency.json"))
    assert (done.code, done.issues) == (2, [("import.no-test", "")])
    assert "measured import" in done.err


VDBENCH = """sd=sd1,lun=/dev/sdb,size=10g,openflags=o_direct
wd=wd1,sd=sd1,seekpct=100,rdpct=70
rd=run1,wd=wd1,iorate=max,elapsed=60,forthreads=(1,8),forxfersize=(4k,64k)
"""


def test_a_command_is_imported(destage: Any) -> None:
    done = destage("workload", "import", "diskspd -b8K -o32 -t4 -r -w30 -d60 D:\\x.dat", "--json")
    shown = json.loads(done.out)
    assert shown["workload"]["streams"][0]["arrival"] == {"kind": "fixed_outstanding", "depth": 128}
    assert shown["run"]["window"] == {"duration": "60s"}
    codes = [issue["code"] for issue in shown["warnings"]]
    assert codes == ["import.page-cache", "import.unknown-size"]
    done = destage("workload", "import", "diskspd -b8Z D:\\x.dat")
    assert (done.code, done.issues) == (2, [("import.bad-value", "-b")])
    assert "command:1:9" in done.err


def test_several_tests_are_imported_as_a_study(destage: Any, tmp_path: Path) -> None:
    (tmp_path / "loops.vdb").write_text(VDBENCH)
    done = destage("workload", "import", "loops.vdb", "--on", "raid5x8", "--out", "study.yaml")
    assert (done.code, done.err) == (0, "study of 4 tests written to study.yaml\n")
    study = yaml.safe_load((tmp_path / "study.yaml").read_text())
    assert study["name"] == "loops"
    assert study["axes"] == {
        "workload.streams.0.arrival.depth": [1, 8],
        "workload.streams.0.operations.size.value": ["4KiB", "64KiB"],
    }
    planned = json.loads(destage("run", "--plan", "study.yaml", "--no-estimate", "--json").out)
    assert planned["points"] == 4


def test_a_study_without_array_names_it_at_once(destage: Any, tmp_path: Path) -> None:
    (tmp_path / "loops.vdb").write_text(VDBENCH)
    done = destage("workload", "import", "loops.vdb", "--out", "study.yaml")
    assert "the study has no array" in done.err
    done = destage("run", "--plan", "study.yaml", "--no-estimate")
    assert done.code == 2
    assert ("scenario.missing-key", "scenario.arrays") in done.issues


def test_one_test_of_several_is_shown_and_imported(destage: Any, tmp_path: Path) -> None:
    (tmp_path / "loops.vdb").write_text(VDBENCH)
    assert "the first of 4 tests" in destage("catalog", "show", "loops.vdb").out
    name = "run1 threads=8 xfersize=64k"
    assert "64KiB" in destage("catalog", "show", "loops.vdb", "--test", name).out
    done = destage("workload", "import", "loops.vdb", "--test", name)
    assert yaml.safe_load(done.out)["workload"]["streams"][0]["arrival"]["depth"] == 8
    done = destage("workload", "import", "loops.vdb", "--test", "run2")
    assert (done.code, done.issues) == (2, [("usage.unknown-name", "--test")])


def test_a_file_of_windows_is_read(destage: Any, tmp_path: Path) -> None:
    (tmp_path / "a.cmd").write_bytes("diskspd -r -c1G -Su x.dat\r\n".encode("utf-16"))
    done = destage("workload", "import", "a.cmd")
    assert (done.code, done.err) == (0, "")
    assert yaml.safe_load(done.out)["workload"]["streams"][0]["address"]["kind"] == "uniform"


def test_a_preset_is_exported(destage: Any) -> None:
    done = destage("workload", "export", "crystaldiskmark_seq_q8", "--to", "diskspd", "--duration", "30s")
    command = done.out.splitlines()[-1]
    assert command == "diskspd -b1024K -w100 -Su -t1 -o8 -c1048576K -s -W5 -d30 -L destage.dat"
    done = destage("workload", "export", "iometer_oltp", "--to", "fio")
    assert (done.code, done.issues) == (2, [("export.missing-size", "workload.streams.0.address.footprint")])
    done = destage("workload", "export", "iometer_oltp", "--to", "fio", "--size", "8GiB", "--out", "oltp.fio")
    assert done.code == 0
    again = yaml.safe_load(destage("workload", "import", "oltp.fio").out)["workload"]["streams"][0]
    assert (again["arrival"]["depth"], again["operations"]["read_fraction"]) == (32, 0.7)
    done = destage("workload", "export", "vdi", "--to", "diskspd")
    assert done.issues == [("export.unsupported", "workload.streams.0.address.kind")]
