"""fio import: sections, comments, variables and units of job files."""

import pytest
from fio_jobs import job, mistakes, read_job_file, stream


def test_any_section_name_with_prefix_global_is_global() -> None:
    imported = read_job_file("[global defaults]\nsize=1m\n[a]\n", "a.fio").workload
    assert [each["name"] for each in imported["streams"]] == ["a"]


def test_kb_base_swaps_binary_and_decimal_units() -> None:
    assert stream("filesize=4k", "bs=512")["address"]["footprint"] == "4KiB"
    assert stream("filesize=4ki", "bs=512")["address"]["footprint"] == "4kB"
    assert stream("kb_base=1000", "filesize=4k", "bs=512")["address"]["footprint"] == "4kB"
    assert stream("kb_base=1000", "filesize=4KiB", "bs=512")["address"]["footprint"] == "4KiB"
    assert stream("filesize=0x1000", "bs=512B")["address"]["footprint"] == "4KiB"
    assert stream("filesize=1T")["address"]["footprint"] == "1TiB"
    for time, read in (
        ("7", "7s"),
        ("2m", "2min"),
        ("1h", "1h"),
        ("3ms", "3ms"),
        ("5usec", "5us"),
        ("1d", "24h"),
    ):
        assert job(f"runtime={time}").run["window"] == {"duration": read}


def test_comments_and_later_global_sections() -> None:
    text = """
; a comment
# another
[global]
size=1m   ; and one behind a value
bs=8k
[first]
rw = randread
[global]
bs=16k
rwmixread=10   # not for the first
[second]
rw=randrw
size=2m
"""
    first, second = read_job_file(text, "a.fio").workload["streams"]
    assert first["operations"] == {"read_fraction": 1.0, "size": {"kind": "constant", "value": "8KiB"}}
    assert second["operations"] == {"read_fraction": 0.1, "size": {"kind": "constant", "value": "16KiB"}}
    assert (first["address"]["footprint"], second["address"]["footprint"]) == ("1MiB", "2MiB")


def test_variables_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "[a]\nsize=${SIZE}\nnumjobs=${JOBS}\n"
    monkeypatch.setenv("JOBS", "3")
    monkeypatch.setenv("SIZE", "64m")
    imported = read_job_file(text, "a.fio").workload
    assert imported["users"] == 3
    monkeypatch.delenv("SIZE")
    assert mistakes(text) == [("import.unknown-variable", "line 2, size")]
