"""Commands of fio: their jobs are those of a job file with the same options."""

import pytest

from destage.errors import ConfigError
from destage.tools.fio import load as fio
from destage.tools.imported_workload import ImportedWorkload, ImportOptions
from destage.tools.load import read_tests
from destage.tools.registry import detect, find_tool, is_command

COMMAND = (
    "fio --name=a --ioengine=libaio --direct=1 --rw=randread --bs=4k --iodepth=16 --size=1g --runtime=60"
    " --time_based"
)


def read(text: str) -> list[ImportedWorkload]:
    return read_tests(text, "run.sh", ImportOptions())


def test_a_command_is_the_job_file_of_its_options() -> None:
    (test,) = read(COMMAND)
    options = "\n".join(word.removeprefix("--") for word in COMMAND.split()[2:])
    (job,) = fio.read_tests(f"[a]\n{options}\n", "a.fio")
    assert (test.workload, test.run) == (job.workload, job.run)
    assert is_command(COMMAND)
    assert detect(COMMAND, "load") == (find_tool("fio"), fio)


def test_options_before_the_first_name_are_those_of_all_jobs() -> None:
    text = "fio --output=x.json --rw randread --bs 8k --size=1g --name=a --name=b --bs=4k --offset=1g\n"
    (test,) = read(text)
    sizes = [stream["operations"]["size"]["value"] for stream in test.workload["streams"]]
    assert ([stream["name"] for stream in test.workload["streams"]], sizes) == (["a", "b"], ["8KiB", "4KiB"])


def test_each_command_of_a_script_is_a_test() -> None:
    text = f"#!/bin/sh\n# fio --name=old\nfor depth in 1 4; do\n{COMMAND.replace('=16', '=$depth')}\ndone\n"
    depths = [test.workload["streams"][0]["arrival"]["depth"] for test in read(text)]
    assert depths == [1, 4]


@pytest.mark.parametrize(
    ("more", "code", "place"),
    [
        ("--nope=1", "import.unsupported-option", "line 1, nope"),
        ("--bs=x", "import.bad-value", "line 1, bs"),
        ("--group_reporting=1 jobs.fio", "import.bad-syntax", "line 1, command"),
    ],
)
def test_mistakes_have_their_line(more: str, code: str, place: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(f"{COMMAND} {more}")
    (issue,) = caught.value.issues
    assert (issue.code, issue.place) == (code, place)


def test_a_job_file_that_quotes_its_command_is_a_job_file() -> None:
    text = "; fio --name=a --bs=4k\n[b]\nrw=read\nbs=64k\nsize=1g\n"
    (test,) = read(text)
    assert [stream["name"] for stream in test.workload["streams"]] == ["b"]
