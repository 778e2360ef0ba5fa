"""Studies of imported tests: axes where the tests are a grid, points otherwise, and what a study plans."""

from typing import Any

import pytest

from destage.errors import ConfigError
from destage.spec.documents import parse_document
from destage.sweeps.reading.expansion import expand
from destage.sweeps.reading.parsing import parse_study
from destage.tools.crystaldiskmark import load as crystaldiskmark
from destage.tools.diskspd import load as diskspd
from destage.tools.fio import load as fio
from destage.tools.imported_study import ImportedStudy
from destage.tools.imported_workload import ImportedWorkload, ImportOptions
from destage.tools.load import read_tests as read_any
from destage.tools.registry import detect, find_tool
from destage.tools.vdbench import load as vdbench

HARDWARE = {
    "controller": {"use": "megaraid_9560_8i"},
    "array": {"raid": "5", "disks": 8, "disk": {"use": "exos_x18"}},
}
VDBENCH = """sd=sd1,lun=/dev/sdb,size=10g,openflags=o_direct
wd=wd1,sd=sd1,rdpct=70
rd=run1,wd=wd1,iorate={rate},elapsed=60,forxfersize=(4k,64k),forthreads=(1-4,d)
"""
FIO = """[global]
ioengine=libaio
direct=1
size=1g
runtime=60
[a]
rw=randread
bs=4k
[b]
stonewall
rw=write
bs=64k
[c]
rw=randwrite
bs=8k
"""


def study(tests: list[ImportedWorkload], hardware: dict[str, Any] | None = None) -> ImportedStudy:
    """Return the study of tests, on the array of these tests by default."""
    return ImportedStudy("imported", tests, HARDWARE if hardware is None else hardware)


def point_workloads(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the assignments of each point without its label."""
    return [{path: value for path, value in point.items() if path != "label"} for point in document["points"]]


def test_loops_are_axes() -> None:
    document = study(vdbench.read_tests(VDBENCH.format(rate="max"), "a.vdb")).to_document()
    assert document["axes"] == {
        "workload.streams.0.arrival.depth": [1, 2, 4],
        "workload.streams.0.operations.size.value": ["4KiB", "64KiB"],
    }
    assert "points" not in document


def test_tests_that_are_no_grid_are_points() -> None:
    text = "diskspd -b4K -r -c1G -Su x\ndiskspd -b64K -c1G -Su x\ndiskspd -b64K -rs50 -c1G -Su x\n"
    document = study(diskspd.read_tests(text, "a.cmd")).to_document()
    assert [point["label"] for point in document["points"]] == ["-b4K -r", "-b64K", "-b64K -rs50"]
    path = "workload.streams.0.address"
    assert [point[path]["kind"] for point in point_workloads(document)] == [
        "uniform",
        "sequential",
        "sequential",
    ]


def test_different_streams_are_replaced_as_a_whole() -> None:
    text = "diskspd -r -c1G -Su x\ndiskspd -t2 -c1G -Su x\n"
    document = study(diskspd.read_tests(text, "a.cmd")).to_document()
    assert [len(point["workload.streams"]) for point in point_workloads(document)] == [1, 2]


@pytest.mark.parametrize(
    ("tests", "points"),
    [
        (vdbench.read_tests(VDBENCH.format(rate="max"), "a.vdb"), 6),
        (vdbench.read_tests(VDBENCH.format(rate="(100,curve)"), "a.vdb"), 8),
        (crystaldiskmark.read_tests("SEQ1M Q8T1", "command"), 2),
        (diskspd.read_tests("diskspd -r -c1G x\ndiskspd -t2 -c1G x\ndiskspd -g5i -r -c1G x\n", "a"), 3),
        (fio.read_tests(FIO, "a.fio", ImportOptions(is_study=True)), 2),
        (diskspd.read_tests("diskspd -r -c1G x", "command"), 1),
    ],
    ids=["axes", "rates", "crystaldiskmark", "diskspd", "fio", "one"],
)
def test_the_written_study_is_planned(tests: list[ImportedWorkload], points: int) -> None:
    """The YAML has the same document, and its plan the points of the file."""
    different = {repr((one.workload, one.run)): one for one in tests}
    imported = study(list(different.values()))
    text = imported.to_yaml()
    assert parse_document(text, "a.yaml") == imported.to_document()
    assert expand(parse_study(text)).count == points == len(different)


def test_a_study_without_array_says_so() -> None:
    imported = study(crystaldiskmark.read_tests("SEQ1M Q8T1", "command"), {})
    assert "# array: missing" in imported.to_yaml()
    with pytest.raises(ConfigError) as caught:
        expand(parse_study(imported.to_yaml()))
    assert "scenario.missing-key" in {issue.code for issue in caught.value.issues}


def test_groups_of_fio_jobs_are_tests() -> None:
    groups = fio.read_tests(FIO, "a.fio", ImportOptions(is_study=True))
    assert [one.name for one in groups] == ["a", "b + c"]
    assert [[stream["name"] for stream in one.workload["streams"]] for one in groups] == [["a"], ["b", "c"]]
    # The files lie where they do in the whole file.
    (whole,) = fio.read_tests(FIO, "a.fio")
    assert [stream["address"] for one in groups for stream in one.workload["streams"]] == [
        stream["address"] for stream in whole.workload["streams"]
    ]
    assert not any("phases" in one.workload for one in groups)
    assert all(one.run == {"window": {"duration": "60s"}} for one in groups)


def test_jobs_that_are_a_grid_keep_their_names() -> None:
    """Measured figures belong to the name of a job."""
    text = "[global]\nsize=1g\nbs=8k\nrw=randread\nstonewall\n" + "".join(
        f"[d{depth}]\niodepth={depth}\n" for depth in (1, 4, 16)
    )
    document = study(fio.read_tests(text, "a.fio", ImportOptions(is_study=True))).to_document()
    assert [point["label"] for point in document["points"]] == ["d1", "d4", "d16"]
    assert "axes" not in document


def test_access_specifications_are_tests() -> None:
    line = "'size,% of size,% reads,% random,delay,burst,align,reply\n4096,100,{reads},100,0,1,0,0\n"
    parts = [f"'Access specification name,default assignment\n{name},NONE\n{line}" for name in ("a", "b")]
    text = "'ACCESS SPECIFICATIONS ===\n" + "".join(
        part.format(reads=reads) for part, reads in zip(parts, (100, 0), strict=True)
    )
    tests = read_any(text, "a.icf", ImportOptions(is_study=True))
    assert [one.name for one in tests] == ["a", "b"]
    assert study(tests).find_axes() == {"workload.streams.0.operations.read_fraction": [1.0, 0.0]}


def test_repeated_tests_are_one() -> None:
    text = "for i in 1 2 3; do diskspd -r -c1G -Su x; done\ndiskspd -b4K -r -c1G -Su x\n"
    tests = read_any(text, "a.sh", ImportOptions())
    assert len(tests) == 2
    assert "Of the 4 tests of the file, 2 differ here" in tests[0].remarks[0]


def test_a_test_is_chosen_by_name() -> None:
    (only,) = read_any("SEQ1M Q8T1", "command", ImportOptions(test="SEQ1M Q8T1 write"))
    assert only.name == "SEQ1M Q8T1 write"
    with pytest.raises(ConfigError) as caught:
        read_any("SEQ1M Q8T1", "command", ImportOptions(test="SEQ1M Q8T1 writ"))
    assert [issue.code for issue in caught.value.issues] == ["usage.unknown-name"]


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        (FIO, "fio"),
        ("", "fio"),
        (VDBENCH, "vdbench"),
        ("diskspd -r x", "diskspd"),
        ("<Profile><TimeSpans><TimeSpan/></TimeSpans></Profile>", "diskspd"),
        ("sysbench fileio --file-test-mode=rndrd run", "sysbench"),
        ("RND4K Q32T1", "crystaldiskmark"),
        ("'ACCESS SPECIFICATIONS =", "iometer"),
    ],
)
def test_the_tool_is_recognized(text: str, tool: str) -> None:
    found = detect(text, "load")
    assert found is not None
    assert found[0] == find_tool(tool)
