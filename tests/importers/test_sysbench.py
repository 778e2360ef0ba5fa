"""sysbench import: options of the fileio test, mistakes with their places, commands that are no test."""

from typing import Any

import pytest

from destage.engine import workload_profile
from destage.errors import ConfigError
from destage.tools.imported_workload import ImportedWorkload, ImportOptions
from destage.tools.sysbench import load as sysbench


def read(options: str) -> ImportedWorkload:
    """Return the import of a command."""
    (only,) = sysbench.read_tests(f"sysbench fileio {options} run", "command")
    workload_profile.check_workload(only.workload)
    return only


def operations(options: str) -> dict[str, Any]:
    """Return the operations of a command."""
    return dict(read(options).workload["streams"][0]["operations"])


def test_defaults_are_those_of_sysbench() -> None:
    imported = read("--file-test-mode=rndrw")
    (only,) = imported.workload["streams"]
    assert only["arrival"] == {"kind": "fixed_outstanding", "depth": 1}
    # 1.5 reads for each write; 40 of 100 requests between flushes are writes.
    size = {"kind": "constant", "value": "16KiB"}
    assert only["operations"] == {"read_fraction": 0.6, "flush_every": 40, "size": size}
    assert (only["address"]["kind"], only["address"]["footprint"]) == ("uniform", "2GiB")
    assert imported.run == {"window": {"duration": "10s"}}
    assert [issue.code for issue in imported.warnings] == ["import.page-cache"]


@pytest.mark.parametrize(
    ("mode", "kind", "reads"),
    [
        ("seqwr", "sequential", 0.0),
        ("seqrewr", "sequential", 0.0),
        ("seqrd", "sequential", 1.0),
        ("rndrd", "uniform", 1.0),
        ("rndwr", "uniform", 0.0),
    ],
)
def test_modes(mode: str, kind: str, reads: float) -> None:
    (only,) = read(f"--file-test-mode={mode}").workload["streams"]
    assert (only["address"]["kind"], only["operations"]["read_fraction"]) == (kind, reads)


def test_durability() -> None:
    write = "--file-test-mode=rndwr"
    assert operations(write)["flush_every"] == 100
    assert operations(f"{write} --file-fsync-all")["flush_every"] == 1
    assert "flush_every" not in operations(f"{write} --file-fsync-freq=0")
    assert operations(f"{write} --file-extra-flags=direct,dsync")["fua_fraction"] == 1.0
    assert operations("--file-test-mode=rndrd") == {
        "read_fraction": 1.0,
        "size": {"kind": "constant", "value": "16KiB"},
    }


@pytest.mark.parametrize(
    ("options", "arrival"),
    [
        ("--threads=16", {"kind": "fixed_outstanding", "depth": 16}),
        ("--num-threads=4", {"kind": "fixed_outstanding", "depth": 4}),
        ("--threads=2 --file-io-mode=async", {"kind": "fixed_outstanding", "depth": 256}),
        (
            "--file-io-mode=async --file-async-backlog=32",
            {"kind": "fixed_outstanding", "depth": 32},
        ),
        ("--rate=500", {"kind": "poisson", "rate": "500/s"}),
    ],
)
def test_arrival(options: str, arrival: dict[str, Any]) -> None:
    assert read(f"--file-test-mode=rndrd {options}").workload["streams"][0]["arrival"] == arrival


def test_files_are_equal_parts() -> None:
    (only,) = read("--file-test-mode=rndrd --file-total-size=1G --file-num=3").workload["streams"]
    assert only["address"]["footprint"] == "1048575KiB"


def test_only_runs_of_the_file_test_are_read() -> None:
    text = """sysbench cpu run --threads=4
sysbench --test=fileio --file-total-size=1G prepare
for m in rndrd rndwr; do sysbench --test=fileio --file-test-mode=$m --max-time=60 run; done
sysbench fileio --file-total-size=1G cleanup
"""
    imported = sysbench.read_tests(text, "a.sh")
    assert [one.name for one in imported] == ["--file-test-mode=rndrd", "--file-test-mode=rndwr"]
    assert imported[0].run == {"window": {"duration": "60s"}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sysbench fileio --file-test-mode=rndrx run", ("import.bad-value", "--file-test-mode", 34)),
        (
            "sysbench fileio --file-test-mode=rndrd --file-io-mode=mmap run",
            ("import.bad-value", "--file-io-mode", 55),
        ),
        (
            "sysbench fileio --file-test-mode=rndrd --file-block-size=1000 run",
            ("import.bad-value", "--file-block-size", 58),
        ),
        (
            "sysbench fileio --file-test-mode=rndrd --nope=1 run",
            ("import.unsupported-option", "--nope", 40),
        ),
        ("sysbench fileio --file-test-mode=$MODE run", ("import.unknown-variable", "--file-test-mode", 34)),
        ("sysbench fileio --threads=4 run", ("sysbench.missing-mode", "--file-test-mode", 10)),
        (
            "sysbench fileio --file-test-mode=rndrd --file-total-size=1K run",
            ("import.bad-value", "--file-total-size", 10),
        ),
        ("sysbench fileio --file-total-size=1G prepare", ("import.no-test", "", 1)),
        ("sysbench cpu --threads=4 run", ("import.no-test", "", 1)),
    ],
)
def test_mistake_has_code_and_place(text: str, expected: tuple[str, str, int]) -> None:
    with pytest.raises(ConfigError) as caught:
        sysbench.read_tests(text, "command")
    first = caught.value.issues[0]
    assert (first.code, first.place, first.column) == expected


def test_unknown_options_can_be_skipped() -> None:
    text = "sysbench fileio --file-test-mode=rndrd --nope=1 --file-extra-flags=direct run"
    (only,) = sysbench.read_tests(text, "command", options=ImportOptions(ignore_unknown=True))
    assert [issue.code for issue in only.warnings] == ["import.option-skipped"]
