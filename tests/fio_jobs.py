"""fio job files of one job of 1 GiB, and what their import gives."""

from typing import Any

import pytest

from destage.errors import ConfigError
from destage.tools.fio.load import read_tests
from destage.tools.imported_workload import ImportedWorkload, ImportOptions

JOB = "[job]\nioengine=libaio\ndirect=1\nsize=1g\n"


def read_job_file(text: str, file: str, *, ignore_unknown: bool = False) -> ImportedWorkload:
    """Return an import of all jobs of a file as one test."""
    (only,) = read_tests(text, file, ImportOptions(ignore_unknown=ignore_unknown))
    return only


def job(*lines: str) -> ImportedWorkload:
    """Return an import of a job of 1 GiB with further options."""
    return read_job_file(JOB + "\n".join(lines), "a.fio")


def stream(*lines: str) -> dict[str, Any]:
    """Return the one stream of a job of 1 GiB."""
    (only,) = job(*lines).workload["streams"]
    return dict(only)


def mistakes(text: str) -> list[tuple[str, str]]:
    """Return the code and place of each mistake of a job file."""
    with pytest.raises(ConfigError) as caught:
        read_job_file(text, "a.fio")
    assert caught.value.source == "a.fio"
    return sorted((issue.code, issue.place) for issue in caught.value.issues)
