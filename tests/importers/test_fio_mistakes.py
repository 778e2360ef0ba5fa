"""fio import: each mistake with code and place, warnings, any text accepted or rejected."""

import pytest
from fio_jobs import JOB, job, mistakes, read_job_file
from hypothesis import given
from hypothesis import strategies as st

from destage.engine import normalise, workload_profile
from destage.errors import ConfigError, Issue
from destage.spec.documents import parse_document
from destage.tools.fio.options import OPTIONS
from destage.tools.imported_workload import ImportedWorkload


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["rw=trim"], [("import.bad-value", "line 5, rw")]),
        (["rw=randtrimwrite"], [("import.bad-value", "line 5, rw")]),
        (["rw=randred"], [("import.bad-value", "line 5, rw")]),
        (["iodepht=4"], [("import.unsupported-option", "line 5, iodepht")]),
        (["verify=crc32c"], [("import.unsupported-option", "line 5, verify")]),
        (["bsrange=4k"], [("import.bad-value", "line 5, bsrange")]),
        (["bsrange=8k-4k"], [("import.bad-value", "line 5, bsrange")]),
        (["zonemode=zbd"], [("import.bad-value", "line 5, zonemode")]),
        (["zonemode=strided"], [("import.bad-value", "line 5, zonemode")]),
        (["zonemode=none", "zonesize=1m"], [("import.bad-value", "line 6, zonesize")]),
        (["zonesize=1m", "zoneskip=100"], [("import.bad-value", "line 6, zoneskip")]),
        (["rw=randread", "random_generator=mersenne"], [("import.bad-value", "line 6, random_generator")]),
        (["rw=randread:4", "zonesize=1m"], [("import.conflicting-options", "line 1, [job]")]),
        (["bs=1000"], [("import.bad-value", "line 5, bs")]),
        (["bs=0"], [("import.bad-value", "line 5, bs")]),
        (["bs=4x"], [("import.bad-value", "line 5, bs")]),
        (["bs=4k,4k,4k,4k"], [("import.bad-value", "line 5, bs")]),
        (["size=20%"], [("import.bad-value", "line 5, size")]),
        (["size=8*$mb_memory"], [("import.unknown-variable", "line 5, size")]),
        (["size=(2*3)"], [("import.bad-value", "line 5, size")]),
        (["bssplit=4k/60:8k/50"], [("import.bad-value", "line 5, bssplit")]),
        (["bssplit=4k/60:8k/20"], [("import.bad-value", "line 5, bssplit")]),
        (["rwmixread=140"], [("import.bad-value", "line 5, rwmixread")]),
        (["iodepth=many"], [("import.bad-value", "line 5, iodepth")]),
        (["iodepth"], [("import.bad-value", "line 5, iodepth")]),
        (["ioengine=libaoi"], [("import.bad-value", "line 5, ioengine")]),
        (["ioengine=mmap"], [("import.bad-value", "line 5, ioengine")]),
        (["nrfiles=4"], [("import.bad-value", "line 5, nrfiles")]),
        (["filename=/dev/sda:/dev/sdb"], [("import.bad-value", "line 5, filename")]),
        (["random_distribution=normal:100"], [("import.bad-value", "line 5, random_distribution")]),
        (["random_distribution=zipf:1"], [("import.bad-value", "line 5, random_distribution")]),
        (["random_distribution=zipf:1.2:1.5"], [("import.bad-value", "line 5, random_distribution")]),
        (["random_distribution=pareto:2"], [("import.bad-value", "line 5, random_distribution")]),
        (["random_distribution=zoned:50/5:30/15"], [("import.bad-value", "line 5, random_distribution")]),
        (["random_distribution=zoned:50/5:50/15"], [("import.bad-value", "line 5, random_distribution")]),
        (["rate_iops=100", "thinktime=5"], [("import.conflicting-options", "line 1, [job]")]),
        (["rw=randrw", "rate_iops=100,"], [("import.bad-value", "line 6, rate_iops")]),
        (["rw=randrw", "rate=1m,"], [("import.bad-value", "line 6, rate")]),
        (["rate=1m", "rate_iops=100"], [("import.conflicting-options", "line 1, [job]")]),
        (["runtime=5fortnights"], [("import.bad-value", "line 5, runtime")]),
        (["kb_base=1023"], [("import.bad-value", "line 5, kb_base")]),
        (
            ["direct=2", "time_based=x"],
            [("import.bad-value", "line 5, direct"), ("import.bad-value", "line 6, time_based")],
        ),
        (["offset=100"], [("import.conflicting-options", "line 1, [job]")]),
        (["filesize=1m", "offset=1m"], [("import.conflicting-options", "line 1, [job]")]),
        (["include other.fio"], [("import.include", "line 5, include")]),
        (["rw=randread:8", "bs=4k,8k"], [("import.conflicting-options", "line 1, [job]")]),
        (["numjobs=2000"], [("fio.too-many-jobs", "numjobs")]),
        (["rw_sequencer=identical", "rw=randread:4"], [("import.bad-value", "line 5, rw_sequencer")]),
    ],
)
def test_mistake_has_code_and_place(lines: list[str], expected: list[tuple[str, str]]) -> None:
    assert mistakes(JOB + "\n".join(lines)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [("import.no-test", "")]),
        ("size=1m\n", [("import.bad-syntax", "line 1, option")]),
        ("[global]\nsize=1m\n", [("import.no-test", "")]),
        ("[a\nsize=1m\n", [("import.bad-syntax", "line 1, section")]),
        ("[a]\nrw=read\n", [("import.missing-size", "line 1, [a]")]),
        ("[a]\nfilename=/dev/sda\n[b]\nfilename=/dev/sdb\n", [("import.missing-size", "filename")]),
        ("[a]\nsize=1m\n[b]\nsize=1m\nstonewall\nruntime=4\n", [("fio.bad-stonewall", "line 1, [a]")]),
        (
            "[a]\nread_iolog=x\nruntime=4\n[b]\nsize=1m\nstonewall\nruntime=4\n",
            [("fio.bad-stonewall", "line 1, [a]")],
        ),
    ],
)
def test_invalid_file_is_rejected(text: str, expected: list[tuple[str, str]]) -> None:
    assert mistakes(text) == expected


def test_all_mistakes_at_once() -> None:
    assert len(mistakes(JOB + "rw=trim\nbs=1\nnope=1\niodepth=x\n")) == 1
    assert len(mistakes(JOB + "rw=trim\nbs=1\niodepth=x\n")) == 3


def test_ignore_unknown_skips_options_with_a_warning() -> None:
    text = JOB + "verify=crc32c\nnope=1\nrw=randwrite\n"
    assert len(mistakes(text)) == 2
    imported = read_job_file(text, "a.fio", ignore_unknown=True)
    assert [(warning.code, warning.place, warning.value) for warning in imported.warnings] == [
        ("import.option-skipped", "line 5, verify", "crc32c"),
        ("import.option-skipped", "line 6, nope", "1"),
    ]
    assert "# Warning: import.option-skipped at line 5, verify: 'crc32c'" in imported.to_yaml()


def test_every_option_is_in_the_comments() -> None:
    """The comments have every option, with its translation or with the reason why it has no effect."""
    values = {
        "rw": "randrw",
        "bssplit": "4k/100",
        "ioengine": "libaio",
        "rate_process": "poisson",
        "random_distribution": "zipf:1.1",
        "filename": "/dev/sda",
        "sync": "dsync",
        "rw_sequencer": "sequential",
        "kb_base": "1024",
        "offset": "4k",
        "offset_increment": "4k",
        "numjobs": "1",
        "nrfiles": "1",
        "bs": "4k",
        "blockalign": "4k",
        "percentage_random": "100",
        "rwmixread": "50",
        "rwmixwrite": "50",
        "bsrange": "4k-8k",
        "random_generator": "lfsr",
    }
    zoned = {"zonemode", "zonesize", "zonerange", "zoneskip"}
    alone = zoned | {"thinktime", "thinktime_blocks", "read_iolog", "replay_no_stall", "replay_time_scale"}
    alone |= {"rate"}  # excludes rate_iops
    names = sorted(set(OPTIONS.settings) - alone) + sorted(OPTIONS.ignored)
    lines = [f"{name}={values.get(name, '8192')}" for name in names]
    lines = [
        line.replace("=8192", "=1")
        if line.split("=")[0] in {"direct", "buffered", "time_based", "stonewall", "norandommap"}
        else line
        for line in lines
    ]
    texts = [
        "[a]\n" + "\n".join(lines),
        JOB + "thinktime=5\nthinktime_blocks=2\n",
        JOB + "rate=1m\n",
        JOB + "zonemode=strided\nzonesize=1m\nzonerange=1m\nzoneskip=1m\n",
        JOB + "read_iolog=x\nreplay_no_stall=0\nreplay_time_scale=50\n",
    ]
    for text in texts:
        imported = read_job_file(text, "a.fio").to_yaml()
        comments = " ".join(line for line in imported.splitlines() if line.lstrip().startswith("#"))
        for line in text.splitlines():
            if "=" in line:
                assert line in comments, line


def test_options_with_unexpected_effects_are_warnings() -> None:
    def warnings(imported: ImportedWorkload) -> list[tuple[str, str]]:
        return [(warning.code, warning.place) for warning in imported.warnings]

    assert warnings(job("iodepth=16", "ioengine=psync")) == [("fio.depth-without-effect", "line 5, iodepth")]
    buffered = read_job_file("[a]\nsize=1m\n", "a.fio")
    assert warnings(buffered) == [("import.page-cache", "direct")]
    assert buffered.warnings[0].data == {"jobs": ["a"]}
    assert warnings(job("iodepth=16")) == []
    delayed = "[global]\ndirect=1\nsize=1m\n[a]\n[b]\nstartdelay=5\n"
    assert warnings(read_job_file(delayed, "a.fio")) == [("fio.missing-window", "run.window")]
    groups = "[global]\ndirect=1\nsize=1m\nruntime=9\n[a]\n[b]\nstonewall\n"
    assert warnings(read_job_file(groups, "a.fio")) == [("fio.last-group-measured", "run.window")]


def test_fios_jesd219_example_equals_the_preset() -> None:
    """A job file with the options of fio's example, and the catalogue's entry, are the same load."""
    text = """[JESD219]
ioengine=libaio
direct=1
rw=randrw
norandommap
randrepeat=0
rwmixread=40
rwmixwrite=60
iodepth=256
numjobs=4
bssplit=512/4:1024/1:1536/1:2048/1:2560/1:3072/1:3584/1:4k/67:8k/10:16k/7:32k/3:64k/3
blockalign=4k
random_distribution=zoned:50/5:30/15:20/80
filename=/dev/nvme0n1
group_reporting=1
"""
    imported = read_job_file(text, "jesd219.fio").workload
    preset = normalise(workload_profile.build_reference_scenario({"use": "jesd219"}))["workload"]
    translated = normalise(workload_profile.build_reference_scenario(imported))["workload"]
    preset["streams"][0]["name"] = translated["streams"][0]["name"]
    assert translated == preset


def survives_yaml(imported: ImportedWorkload) -> bool:
    """Return whether the YAML has the same workload, whatever its comments contain."""
    document = parse_document(imported.to_yaml(), "a.yaml")
    run = {"run": imported.run} if imported.run else {}
    return bool(document == {"workload": imported.workload, **run})


LINES = st.sampled_from(
    [
        *(f"{name}=" for name in sorted(OPTIONS.settings)),
        *sorted(OPTIONS.settings),
        "[a]",
        "[a\x07\u2028b]",
        "description=",
        "[global]",
        "include x",
        "rw=randrw:8",
        "size=1m",
        "filename=/dev/sda",
        "bssplit=4k/50:8k/",
        "random_distribution=zoned:50/50:50/50",
        "thinktime=5",
        "rate_iops=5,6",
        "runtime=3",
        "stonewall",
        "startdelay=1-2",
        "read_iolog=x",
        "numjobs=3",
    ]
)
VALUES = st.one_of(
    st.just(""),
    st.integers(-3, 70_000).map(str),
    st.text(max_size=6),
    st.sampled_from(["4k", "1g", "0x10", "50%"]),
)


@given(st.lists(st.tuples(LINES, VALUES).map("".join), max_size=12))
def test_any_lines_make_a_workload_or_a_clear_error(lines: list[str]) -> None:
    text = "[first]\nsize=64k\n" + "\n".join(lines)
    issues: tuple[Issue, ...] = ()
    is_valid = False
    try:
        imported = read_job_file(text, "a.fio")
        workload_profile.check_workload(imported.workload)
        is_valid = survives_yaml(imported)
    except ConfigError as error:
        issues = error.issues
    assert bool(issues) != is_valid
    assert all("\n" not in str(issue) for issue in issues)


@given(st.text(max_size=200))
def test_any_text_makes_a_workload_or_a_clear_error(text: str) -> None:
    issues: tuple[Issue, ...] = ()
    try:
        imported = read_job_file(text, "a.fio")
    except ConfigError as error:
        issues = error.issues
    else:
        assert survives_yaml(imported)
    assert issues or imported
