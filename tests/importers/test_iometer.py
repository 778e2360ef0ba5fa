"""Iometer import: each column worked by hand, each mistake with code and place."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from destage.engine import workload_profile
from destage.errors import ConfigError
from destage.spec.documents import parse_document
from destage.tools.imported_workload import ImportedWorkload, ImportOptions
from destage.tools.iometer.load import read_tests

HEADER = "'size,% of size,% reads,% random,delay,burst,align,reply"
SETUP = """Version 1.1.0
'TEST SETUP ====================================================================
'Test Description
\tnightly
'Run Time
'\thours      minutes    seconds
\t0          10         30
'Ramp Up Time (s)
\t15
'Test Type
\tNORMAL
'END test setup
"""
WORKER = """'MANAGER LIST ==================================================================
'Manager ID, manager name
\t1,HOST
'Manager network address
\t
'Worker
\tWorker 1
'Worker type
\tDISK
'Default target settings for worker
'Number of outstanding IOs,test connection rate,transactions per connection
\t16,DISABLED,1
'Disk maximum size,starting sector
\t2097152,2048
'End default target settings for worker
'Assigned access specs
\tmine
'End assigned access specs
'Target assignments
'Target
\tC: ""
'Target type
\tDISK
'End target
'End target assignments
'End worker
'End manager
'END manager list
Version 1.1.0
"""


def configuration(*lines: str, name: str = "mine", worker: str = WORKER) -> str:
    """A configuration with one access specification."""
    head = "'ACCESS SPECIFICATIONS =========================================================\n"
    rows = "".join(f"\t{line}\n" for line in lines)
    entry = f"'Access specification name,default assignment\n\t{name},NONE\n{HEADER}\n{rows}"
    return f"{SETUP}{head}{entry}'END access specifications\n{worker}"


def read_one(text: str, name: str | None = None) -> ImportedWorkload:
    (imported,) = read_tests(text, "a.icf", ImportOptions(test=name))
    return imported


def read(*lines: str, **how: Any) -> ImportedWorkload:
    return read_one(configuration(*lines, **how))


def stream(*lines: str) -> dict[str, Any]:
    (only,) = read(*lines).workload["streams"]
    return dict(only)


def mistakes(text: str, **how: Any) -> list[tuple[str, str]]:
    with pytest.raises(ConfigError) as caught:
        read_one(text, **how)
    return [(issue.code, issue.place) for issue in caught.value.issues]


PLACE = {"footprint": "1GiB", "placement": {"kind": "contiguous", "offset": "1MiB"}}


def test_one_line() -> None:
    imported = stream("4096,100,67,100,0,1,4096,0")
    assert imported == {
        "name": "Worker 1",
        "arrival": {"kind": "fixed_outstanding", "depth": 16},
        "operations": {
            "read_fraction": 0.67,
            "size": {"kind": "constant", "value": "4KiB"},
            "alignment": "4KiB",
        },
        "address": {"kind": "uniform", **PLACE},
    }
    assert read("4096,100,67,100,0,1,0,0").run == {
        "warm_up": {"duration": "15s"},
        "window": {"duration": "630s"},
    }


@pytest.mark.parametrize(
    ("random", "address"),
    [
        (100, {"kind": "uniform", **PLACE}),
        (0, {"kind": "sequential", **PLACE}),
        (30, {"kind": "sequential", "jump_fraction": 0.3, **PLACE}),
    ],
)
def test_percentage_of_random(random: int, address: dict[str, Any]) -> None:
    imported = stream(f"8192,100,50,{random},0,1,0,0")
    assert imported["address"] == address
    # Without alignment, a request begins at any sector.
    assert imported["operations"]["alignment"] == "512B"


def test_the_lines_are_the_same_mixture_by_direction() -> None:
    """10 % of 512 B, all read; 60 % of 4 KiB, half read; 30 % of 64 KiB, written: 40 % reads."""
    operations = stream("512,10,100,100,0,1,0,0", "4096,60,50,100,0,1,0,0", "65536,30,0,100,0,1,0,0")[
        "operations"
    ]
    assert operations["read_fraction"] == 0.4
    assert operations["size"]["options"] == [
        {"value": "512B", "weight": 25.0},
        {"value": "4KiB", "weight": 75.0},
    ]
    assert operations["write_size"]["options"] == [
        {"value": "4KiB", "weight": 50.0},
        {"value": "64KiB", "weight": 50.0},
    ]


def test_random_and_sequential_lines_make_a_mixture() -> None:
    imported = read("4096,80,100,100,0,1,0,0", "65536,20,0,0,0,1,0,0")
    (only,) = imported.workload["streams"]
    assert [part["weight"] for part in only["mix"]] == [80, 20]
    assert [part["address"]["kind"] for part in only["mix"]] == ["uniform", "sequential"]
    assert "Approximated" in imported.to_yaml()


@pytest.mark.parametrize(
    ("burst", "arrival"),
    [
        (1, {"ios": 1}),
        (8, {"ios": 8, "order": "parallel"}),
        (64, {"ios": 64, "order": "parallel", "depth": 16}),
    ],
)
def test_bursts_with_a_delay_are_interactions(burst: int, arrival: dict[str, Any]) -> None:
    think = {"kind": "closed", "think_time": {"kind": "constant", "value": "20ms"}}
    assert stream(f"4096,100,100,100,20,{burst},0,0")["arrival"] == {**think, **arrival}


def test_workers_of_the_same_name_are_numbered() -> None:
    imported = read("4096,100,100,100,0,1,0,0", worker=WORKER + WORKER).workload
    assert [each["name"] for each in imported["streams"]] == ["Worker 1 (1)", "Worker 1 (2)"]


def test_depth_1_is_assumed_without_a_worker() -> None:
    imported = read("4096,100,100,100,0,1,0,0", worker="")
    (only,) = imported.workload["streams"]
    assert only["arrival"]["depth"] == 1
    assert [(warning.code, warning.value) for warning in imported.warnings] == [("iometer.no-worker", "mine")]


def test_a_series_of_tests_is_a_warning() -> None:
    text = configuration("4096,100,100,100,0,1,0,0").replace("NORMAL", "CYCLE_OUTSTANDING_IOS")
    (warning,) = read_one(text).warnings
    assert (warning.code, warning.value) == ("iometer.test-series", "CYCLE_OUTSTANDING_IOS")


def test_several_specifications_need_a_name() -> None:
    several = configuration("4096,100,100,100,0,1,0,0") + configuration(
        "512,100,0,0,0,1,0,0", name="8K; 50% read, x"
    )
    assert mistakes(several) == [("iometer.ambiguous-specification", "")]
    assert mistakes(several, name="mime") == [("iometer.unknown-specification", "")]
    imported = read_one(several, name="8K; 50% read, x").workload["streams"][0]
    assert imported["operations"]["size"]["value"] == "512B"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("4096,90,67,100,0,1,0,0", ("import.bad-value", "line 15")),
        ("4096,100,167,100,0,1,0,0", ("import.bad-value", "line 17, % reads")),
        (
            "4096,100,67,100,0,1,0",
            ("import.bad-value", "line 17, size,% of size,% reads,% random,delay,burst,align,reply"),
        ),
        (
            "4K,100,67,100,0,1,0,0",
            ("import.bad-value", "line 17, size,% of size,% reads,% random,delay,burst,align,reply"),
        ),
        ("1000,100,67,100,0,1,0,0", ("iometer.unsupported-value", "line 17, size")),
        ("4096,100,67,100,0,1,100,0", ("iometer.unsupported-value", "line 17, align")),
        ("4096,100,67,100,0,1,0,512", ("iometer.unsupported-value", "line 17, reply")),
    ],
)
def test_mistake_has_code_and_place(line: str, expected: tuple[str, str]) -> None:
    assert mistakes(configuration(line)) == [expected]


def test_unsupported_configuration_is_rejected() -> None:
    network = configuration(
        "4096,100,67,100,0,1,0,0", worker=WORKER.replace("type\n\tDISK", "type\n\tNETWORK", 1)
    )
    assert mistakes(network) == [("iometer.unsupported-worker", "worker 'Worker 1'")]
    bursts = configuration("4096,50,67,100,0,1,0,0", "512,50,67,100,5,1,0,0")
    assert mistakes(bursts) == [("iometer.unsupported-value", "line 18, delay,burst")]
    empty = "'ACCESS SPECIFICATIONS\n'END access specifications\n"
    assert mistakes(empty) == [("iometer.no-specification", "")]


@given(
    st.lists(
        st.one_of(
            st.text(max_size=30),
            st.sampled_from([line for line in configuration("4096,100,67,30,0,1,0,0").splitlines() if line]),
            st.lists(st.integers(0, 120), min_size=8, max_size=8).map(lambda row: ",".join(map(str, row))),
        ),
        max_size=40,
    )
)
def test_any_text_makes_a_workload_or_a_clear_error(lines: list[str]) -> None:
    result = ""
    try:
        imported = read_one("\n".join(lines))
        workload_profile.check_workload(imported.workload)
        document = parse_document(imported.to_yaml(), "a.yaml")
        result = str(document)
        assert document == {"workload": imported.workload} | ({"run": imported.run} if imported.run else {})
    except ConfigError as error:
        result = str(error)
    assert result
