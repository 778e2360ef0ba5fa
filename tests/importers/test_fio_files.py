"""fio import: the files of jobs and their clones, and where they lie on the array."""

from fio_jobs import job, read_job_file, stream

CONTIGUOUS = {"placement": {"kind": "contiguous", "offset": "0B"}}
SEQUENTIAL = {"kind": "sequential", "footprint": "1GiB", **CONTIGUOUS}
MAPPED = {"kind": "uniform", "sampling": "without_replacement", "footprint": "1GiB", **CONTIGUOUS}


def test_clones_are_users_each_with_a_file() -> None:
    imported = job("numjobs=4", "rw=randread", "iodepth=2").workload
    assert imported["users"] == 4
    (only,) = imported["streams"]
    assert only["arrival"] == {"kind": "fixed_outstanding", "depth": 2, "per_user": True}
    assert only["address"] == {**MAPPED, "per_user": True}


def test_clones_of_one_file_share_it() -> None:
    (only,) = job("numjobs=4", "rw=randread", "filename=/tmp/f").workload["streams"]
    assert "per_user" not in only["address"]
    assert only["arrival"]["per_user"]


def test_sequential_clones_of_one_file_start_together() -> None:
    imported = job("numjobs=2", "rw=read", "filename=/tmp/f").workload
    assert imported["users"] == 1
    assert [each["name"] for each in imported["streams"]] == ["job.0", "job.1"]
    assert [each["address"] for each in imported["streams"]] == [SEQUENTIAL, SEQUENTIAL]


def test_clones_lie_one_offset_increment_apart() -> None:
    imported = job("numjobs=3", "rw=read", "filename=/dev/sda", "offset=1m", "offset_increment=2g").workload
    offsets = [each["address"]["placement"]["offset"] for each in imported["streams"]]
    assert offsets == ["1MiB", "2049MiB", "4097MiB"]


def test_jobs_with_different_numjobs_are_separate_streams() -> None:
    text = "[global]\nsize=1m\ndirect=1\n[a]\nnumjobs=2\nrw=randread\n[b]\nrw=randread\n"
    imported = read_job_file(text, "a.fio").workload
    assert [each["name"] for each in imported["streams"]] == ["a.0", "a.1", "b"]
    assert [each["address"]["placement"]["offset"] for each in imported["streams"]] == ["0B", "1MiB", "2MiB"]


def test_offset_and_sizes_place_the_file() -> None:
    assert stream("filename=/dev/sdb", "offset=4k")["address"]["footprint"] == "1GiB"
    assert stream("filename=/dev/sdb", "offset=4k")["address"]["placement"]["offset"] == "4KiB"
    # With filesize, size only limits the amount of I/O.
    sized = stream("filesize=10m", "offset=2m")["address"]
    assert (sized["footprint"], sized["placement"]["offset"]) == ("8MiB", "2MiB")
    whole = read_job_file("[a]\nfilename=/dev/sdb\nrw=randread\ndirect=1\n", "a.fio").workload["streams"][0]
    assert whole["address"] == {"kind": "uniform", "sampling": "without_replacement", **CONTIGUOUS}


def test_files_are_contiguous_and_shared_by_name() -> None:
    text = "[global]\nsize=3m\n[a]\nfilename=x\n[b]\n[c]\nfilename=x\nsize=5m\n[d]\n"
    imported = read_job_file(text, "a.fio").workload
    offsets = [each["address"]["placement"]["offset"] for each in imported["streams"]]
    assert offsets == ["0B", "5MiB", "0B", "8MiB"]
