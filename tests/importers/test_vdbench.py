"""Vdbench import: definitions, loops, hits, rates, mistakes with their places."""

from typing import Any

import pytest

from destage.engine import workload_profile
from destage.errors import ConfigError
from destage.tools.imported_workload import ImportedWorkload, ImportOptions
from destage.tools.vdbench import load as vdbench

SD = "sd=sd1,lun=/dev/sdb,size=10g,openflags=o_direct\n"
CONTIGUOUS = {"kind": "contiguous", "offset": "0B"}


def tests(text: str, **how: Any) -> list[ImportedWorkload]:
    """Return the tests of a file that begins with one storage of 10 GiB."""
    imported = vdbench.read_tests(SD + text, "a.vdb", **how)
    for one in imported:
        workload_profile.check_workload(one.workload)
    return imported


tests.__test__ = False  # type: ignore[attr-defined]


def stream(workload: str, run: str = "") -> dict[str, Any]:
    """Return the one stream of a workload on one storage."""
    (only,) = tests(f"wd=wd1,sd=sd1{workload}\nrd=run1,wd=wd1,elapsed=60{run}\n")
    (one,) = only.workload["streams"]
    return dict(one)


def mistakes(text: str, **how: Any) -> list[tuple[str, str, int | None, int | None]]:
    """Return code, place, line and column of each mistake."""
    with pytest.raises(ConfigError) as caught:
        vdbench.read_tests(SD + text, "a.vdb", **how)
    return [(issue.code, issue.place, issue.line, issue.column) for issue in caught.value.issues]


def test_defaults_are_those_of_vdbench() -> None:
    only = stream("")
    assert only["arrival"] == {"kind": "fixed_outstanding", "depth": 8}
    assert only["operations"] == {"read_fraction": 1.0, "size": {"kind": "constant", "value": "4KiB"}}
    assert only["address"] == {"kind": "uniform", "footprint": "10GiB", "placement": CONTIGUOUS}
    (bare,) = tests("rd=run1,sd=*\n")
    assert bare.workload["streams"][0]["operations"] == only["operations"]
    assert bare.run == {"window": {"duration": "30s"}}


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("seekpct=100", {"kind": "uniform"}),
        ("seekpct=random", {"kind": "uniform"}),
        ("seekpct=0", {"kind": "sequential"}),
        ("seekpct=seq", {"kind": "sequential"}),
        ("seekpct=eof", {"kind": "sequential"}),
        ("seek=30", {"kind": "sequential", "jump_fraction": 0.3}),
        ("stride=(1m,1m)", {"kind": "strided_zones", "zone": "4KiB", "skip": "1MiB"}),
        ("seekpct=0,stride=(1m,1m)", {"kind": "sequential"}),
    ],
)
def test_address_kinds(written: str, address: dict[str, Any]) -> None:
    expected = {**address, "footprint": "10GiB", "placement": CONTIGUOUS}
    assert stream(f",{written}")["address"] == expected


@pytest.mark.parametrize(
    ("written", "sizes"),
    [
        ("xfersize=8k", {"kind": "constant", "value": "8KiB"}),
        ("xf=(4k,100)", {"kind": "constant", "value": "4KiB"}),
        (
            "xfersize=(4k,60,8k,40)",
            {
                "kind": "choice",
                "options": [{"value": "4KiB", "weight": 60.0}, {"value": "8KiB", "weight": 40.0}],
            },
        ),
        (
            "xfersize=(4k,8k,2k)",
            {
                "kind": "choice",
                "options": [{"value": f"{size}KiB", "weight": 33.333333333} for size in (4, 6, 8)],
            },
        ),
    ],
)
def test_request_sizes(written: str, sizes: dict[str, Any]) -> None:
    assert stream(f",{written}")["operations"]["size"] == sizes


@pytest.mark.parametrize(
    ("run", "arrival"),
    [
        (",iorate=max,threads=16", {"kind": "fixed_outstanding", "depth": 16}),
        (",iorate=500", {"kind": "poisson", "rate": "500/s"}),
        (",iorate=500,distribution=deterministic", {"kind": "constant", "rate": "500/s"}),
    ],
)
def test_arrival(run: str, arrival: dict[str, Any]) -> None:
    assert stream("", run)["arrival"] == arrival


def test_hits_go_to_the_hit_area() -> None:
    """Of 80 % reads, half hit; of 20 % writes, a quarter: 45 hits of 100, 40 of them reads."""
    mix = stream(",rdpct=80,rhpct=50,whpct=25,xfersize=8k", ",hitarea=2m")["mix"]
    assert [part["weight"] for part in mix] == [45.0, 55.0]
    assert [part["operations"]["read_fraction"] for part in mix] == pytest.approx([40 / 45, 40 / 55])
    assert [part["address"]["footprint"] for part in mix] == ["2MiB", "10238MiB"]
    assert mix[1]["address"]["placement"]["offset"] == "2MiB"


def test_skew_is_the_weight_of_a_workload() -> None:
    (only,) = tests("wd=a,skew=70,rdpct=0\nwd=b,seekpct=0\nwd=c,rdpct=50\nrd=r,wd=*,iorate=900\n")
    (one,) = only.workload["streams"]
    assert [part["weight"] for part in one["mix"]] == [70.0, 15.0, 15.0]


def test_a_rate_of_a_workload_is_a_stream_of_its_own() -> None:
    (only,) = tests("wd=a,iorate=100\nwd=b,rdpct=0\nrd=r,wd=(a,b),iorate=max\n")
    names = {one["name"]: one["arrival"]["kind"] for one in only.workload["streams"]}
    assert names == {"workload": "fixed_outstanding", "a": "poisson"}


def test_equal_neighbours_are_one_footprint() -> None:
    text = "sd=sd2,lun=/dev/sdc,size=10g,threads=4\nwd=w,sd=(sd1-sd2)\nrd=r,wd=w\n"
    (only,) = tests(text)
    (one,) = only.workload["streams"]
    assert one["arrival"]["depth"] == 12
    assert one["address"] == {"kind": "uniform", "footprint": "20GiB", "placement": CONTIGUOUS}


def test_storages_of_sequences_stay_apart() -> None:
    (only,) = tests("sd=sd2,lun=/dev/sdc,size=10g\nwd=w,sd=sd*,seekpct=0\nrd=r,wd=w\n")
    offsets = [part["address"]["placement"]["offset"] for part in only.workload["streams"][0]["mix"]]
    assert offsets == ["0B", "10GiB"]


def test_range_is_a_part_of_the_storage() -> None:
    address = stream(",range=(40,60)")["address"]
    assert (address["footprint"], address["placement"]["offset"]) == ("2GiB", "4GiB")
    address = stream(",range=(1g,3g)")["address"]
    assert (address["footprint"], address["placement"]["offset"]) == ("2GiB", "1GiB")


def test_range_of_a_workload_overrides_that_of_its_storage() -> None:
    (only,) = vdbench.read_tests(
        "sd=s,lun=/dev/sdb,size=10g,range=(50,100)\nwd=w,sd=s,range=(2.5,5)\nrd=r,wd=w\n", "a.vdb"
    )
    address = only.workload["streams"][0]["address"]
    assert (address["footprint"], address["placement"]["offset"]) == ("256MiB", "256MiB")


def test_random_requests_lie_on_multiples_of_their_size_or_of_align() -> None:
    """As Vdbench draws them: a block number of the request's own size, or of `align`."""
    assert "alignment" not in stream(",xfersize=(4k,50,64k,50)")["operations"]
    (aligned,) = vdbench.read_tests("sd=s,lun=/dev/sdb,align=512\nwd=w,sd=s,xf=8k\nrd=r,wd=w\n", "a.vdb")
    assert aligned.workload["streams"][0]["operations"]["alignment"] == "512B"


def test_range_of_a_whole_disk_is_a_zone() -> None:
    (only,) = vdbench.read_tests("sd=s,lun=/dev/sdb,range=(10,30)\nwd=w,sd=s\nrd=r,wd=w\n", "a.vdb")
    zones = only.workload["streams"][0]["address"]["zones"]
    assert zones == [{"accesses": a, "size": s} for a, s in ((0, 10), (100, 20), (0, 70))]


def test_defaults_apply_to_the_definitions_below() -> None:
    (only,) = tests("wd=default,xfersize=8k,rdpct=0\nwd=w,rdpct=30\nrd=default,elapsed=5m\nrd=r,wd=w\n")
    operations = only.workload["streams"][0]["operations"]
    assert (operations["read_fraction"], operations["size"]["value"]) == (0.3, "8KiB")
    assert only.run["window"] == {"duration": "5min"}


def test_loops_are_tests_in_order() -> None:
    imported = tests("wd=w\nrd=r,wd=w,forxfersize=(4k,8k),forthreads=(1-4,d),forrdpct=50\n")
    assert [one.name for one in imported] == [
        f"r forxfersize={size} forthreads={threads}".replace("for", "")
        for size in ("4k", "8k")
        for threads in (1, 2, 4)
    ]
    depths = [one.workload["streams"][0]["arrival"]["depth"] for one in imported]
    assert depths == [1, 2, 4] * 2


@pytest.mark.parametrize(
    ("written", "values"),
    [("(1-8,d)", [1, 2, 4, 8]), ("(8-1,d)", [8, 4, 2, 1]), ("(10-30,10)", [10, 20, 30]), ("(3,5)", [3, 5])],
)
def test_ranges_of_values(written: str, values: list[int]) -> None:
    imported = tests(f"wd=w\nrd=r,wd=w,forthreads={written}\n")
    assert [one.workload["streams"][0]["arrival"]["depth"] for one in imported] == values


def test_comments_continuations_and_end() -> None:
    text = "* comment\n/ comment\nwd=w,rdpct=30, xfersize=8k\nxfersize=2k ignored\nrd=r,wd=w\neof\nnonsense\n"
    (only,) = tests(text)
    assert only.workload["streams"][0]["operations"]["size"]["value"] == "2KiB"
    assert "vdbench.comment" in {issue.code for issue in only.warnings}


def test_warnings_name_what_differs() -> None:
    text = "sd=s,lun=/data/file\nwd=w,sd=s\nrd=r,wd=w,iorate=curve,curve=(10,50)\n"
    (only,) = vdbench.read_tests(text, "a.vdb")
    codes = [issue.code for issue in only.warnings]
    assert codes == ["import.page-cache", "import.unknown-size", "vdbench.curve"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("wd=w,xfersize=1000\nrd=r,wd=w\n", ("import.bad-value", "xfersize", 2, 15)),
        ("wd=w,xfersize=(4k,50,8k,20)\nrd=r,wd=w\n", ("import.bad-value", "xfersize", 2, 16)),
        ("wd=w,rdpct=120\nrd=r,wd=w\n", ("import.bad-value", "rdpct", 2, 12)),
        ("wd=w,seekpct=poisson\nrd=r,wd=w\n", ("import.bad-value", "seekpct", 2, 14)),
        ("wd=w,stride=(1m,2m)\nrd=r,wd=w\n", ("import.bad-value", "stride", 2, 14)),
        ("wd=w,stride=(1m,1m),seekpct=30\nrd=r,wd=w\n", ("import.bad-value", "stride", 2, 14)),
        ("wd=w,range=(90,110)\nrd=r,wd=w\n", ("import.bad-value", "range", 2, 13)),
        ("wd=w,range=(60,40)\nrd=r,wd=w\n", ("import.bad-value", "range", 2, 13)),
        ("wd=w,openflags=o_nope\nrd=r,wd=w\n", ("import.bad-value", "openflags", 2, 16)),
        ("wd=w,skew=80\nwd=v,skew=60\nrd=r,wd=*\n", ("import.bad-value", "skew", 2, 11)),
        ("wd=w\nrd=r,wd=w,iorate=(50%)\n", ("import.bad-value", "iorate", 3, 19)),
        ("wd=w\nrd=r,wd=w,forthreads=(4,x)\n", ("import.bad-value", "forthreads", 3, 23)),
        ("wd=w\nrd=r,wd=v\n", ("vdbench.unknown-name", "wd", 3, 9)),
        ("wd=w,sd=sd7\nrd=r,wd=w\n", ("vdbench.unknown-name", "sd", 2, 9)),
        ("wd=w,hotband=(1,2)\nrd=r,wd=w\n", ("import.unsupported-option", "hotband", 2, 15)),
        ("wd=w,nope=1\nrd=r,wd=w\n", ("import.unsupported-option", "nope", 2, 11)),
        ("include=other\nwd=w\nrd=r,wd=w\n", ("import.include", "include", 2, 9)),
        ("fsd=f,anchor=/x\n", ("vdbench.file-system", "fsd", 2, 1)),
        ("wd=w\nrd=r,wd=w,fwdrate=max\n", ("vdbench.file-system", "fwdrate", 3, 19)),
        ("nonsense\nwd=w\nrd=r,wd=w\n", ("import.bad-syntax", "", 2, 1)),
        ("wd=w\n", ("import.no-test", "", None, None)),
        ("wd=w\nrd=r,wd=w,forthreads=(1-999,1),forrdpct=(1-99,1)\n", ("import.too-many-tests", "rd", 3, 1)),
    ],
)
def test_mistake_has_code_and_place(text: str, expected: tuple[str, str, int | None, int | None]) -> None:
    assert mistakes(text)[0] == expected


def test_unknown_parameters_can_be_skipped() -> None:
    (only,) = tests("wd=w,hotband=(1,2)\nrd=r,wd=w\n", options=ImportOptions(ignore_unknown=True))
    assert [issue.code for issue in only.warnings] == ["import.option-skipped"]
