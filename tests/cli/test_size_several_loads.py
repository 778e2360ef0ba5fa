"""`destage size --workload ... --add ...`: several loads on an array that is to be found."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import destage as package
from destage.cli.parameters.sizing_load import read_added
from destage.errors import ConfigError
from destage.queries import open_session
from destage.spec import quantities
from destage.sweeps.sizing.rate_load import make_rate_load
from destage.sweeps.sizing.shared_load import NamedLoad, join_loads

STREAM = """\
  - name: {name}
    arrival: {{kind: poisson, rate: {rate}/s{more}}}
    operations: {{read_fraction: {reads}, size: {{kind: constant, value: 8KiB}}}}
    address: {{kind: uniform{data}}}
"""
PARTS = ("--controllers", "megaraid_9540", "--disks", "exos_x18", "--raid", "10")
QUICK = ("--set", "run={warm_up: {requests: 200}, window: {requests: 1500}}", "--quiet", "--json")

Size = Callable[..., dict[str, Any]]


def write_load(file: Path, *streams: dict[str, Any], users: int = 1) -> str:
    """Write a workload of streams, each with its name, rate, share of reads and data."""
    text = "".join(STREAM.format(**{"more": "", "reads": 1.0, "data": ""} | one) for one in streams)
    file.write_text(f"workload:\n  users: {users}\n  streams:\n{text}")
    return str(file)


def place(size: str, offset: str = "0B") -> str:
    return f", footprint: {size}, placement: {{kind: contiguous, offset: {offset}}}"


@pytest.fixture
def size(destage: Any) -> Size:
    """Return a function that sizes loads, and returns the answer."""

    def ask(*args: str) -> dict[str, Any]:
        done = destage("size", *args, *PARTS, *QUICK)
        assert (done.code, done.issues) == (0, [])
        answer: dict[str, Any] = json.loads(done.out)
        return answer

    return ask


def read_sweep(answer: dict[str, Any], statement: str, part: str = "") -> list[dict[str, Any]]:
    """Return the rows of a statement on the sweep that has a part in its name; the first by default."""
    path = next(path for path in answer["sweeps"] if part in Path(path).name)
    with open_session(Path(path)) as session:
        rows: list[dict[str, Any]] = session.sql(statement).to_pylist()
    return rows


def test_two_loads_are_their_streams_one_after_the_other(size: Size, tmp_path: Path) -> None:
    """The same as one workload that has the second data behind the first ones, with the model's error too."""
    reads = {"name": "reads", "rate": 100}
    writes = {"name": "writes", "rate": 60, "reads": 0.0}
    first = write_load(tmp_path / "a.yaml", reads | {"data": place("1TB")})
    second = write_load(tmp_path / "b.yaml", writes | {"data": place("2TB")})
    both = size("--workload", first, "--add", second)
    whole = write_load(
        tmp_path / "whole.yaml",
        {"name": "reads", "rate": 1, "more": ", per_user: true", "data": place("1TB")},
        {
            "name": "writes",
            "rate": 0.6,
            "more": ", per_user: true",
            "reads": 0.0,
            "data": place("2TB", "1TB"),
        },
        users=100,
    )
    single = size("--workload", whole)
    assert both["candidates"] == single["candidates"]
    assert both["held"] == single["held"]
    assert both["held"]["own_bytes"] == 3 * 10**12
    assert both["assured"] == single["assured"]
    assert both["assured"]["load"] > 1
    (row,) = read_sweep(both, "SELECT avg(throughput_iops) AS rate FROM runs WHERE status = 'ok'")
    assert row["rate"] == pytest.approx(160, rel=0.1)


def test_a_name_has_its_users_after_a_colon(size: Size) -> None:
    """A desktop asks for nine I/Os a second."""
    relaxed = ("--response-p95", "10s", "--subject-to", "disk_busy_max <= 1")
    answer = size("--workload", "vdi", "--users", "3", "--add", "vdi:6", "--add", "vdi:2", *relaxed)
    (row,) = read_sweep(answer, "SELECT avg(throughput_iops) AS rate FROM runs")
    assert row["rate"] == pytest.approx(11 * 9, rel=0.1)
    assert sum("preset vdi" in line for line in answer["answer"]) == 1
    assert "vdi-3-and-vdi-6-and-vdi-2" in answer["sweeps"][0]


def test_the_amount_of_several_loads_is_a_percentage(destage: Any) -> None:
    """100 and 200 users run as users of one number, which is that of neither load at other loads."""
    loads = ("--workload", "vdi", "--users", "2", "--add", "vdi:4", "--count", "4")
    done = destage("size", *loads, *PARTS, *QUICK[:2], "--response-p95", "10s", "--explain", "--quiet")
    assert done.code == 0
    heading = next(line for line in done.out.splitlines() if "busiest disk" in line)
    assert heading.startswith("% of all loads")
    (asked,) = [line.split() for line in done.out.splitlines() if "requested load" in line]
    assert asked[0] == "100"
    missed = destage("size", *loads, *PARTS, *QUICK[:2], "--response-p95", "0.1ms", "--quiet").out
    assert "users" not in missed.partition("\n")[0]


def test_a_rate_takes_the_rest_of_the_capacity() -> None:
    """Of 5 TB, the other load has 1 TB, which lies behind it."""
    rate, other = make_rate_load(50, 0, "8KiB"), make_rate_load(10, 0, "8KiB")
    other["streams"][0]["address"]["footprint"] = "1TB"
    joined = join_loads([NamedLoad(rate, "rate"), NamedLoad(other, "other")], 5 * 10**12)
    addresses = [stream["address"] for stream in joined.workload["streams"]]
    sizes = [int(quantities.parse(address["footprint"], "bytes")) for address in addresses]
    assert sizes == [4 * 10**12, 10**12]
    assert int(quantities.parse(addresses[1]["placement"]["offset"], "bytes")) == 4 * 10**12


def test_a_file_without_users_is_sized_for_the_error_of_the_model(size: Size, tmp_path: Path) -> None:
    """Its requests are shared by users, so that they can be more."""
    file = write_load(tmp_path / "a.yaml", {"name": "reads", "rate": 150, "data": place("1TB")})
    answer = size("--workload", file)
    sure = answer["assured"]
    statement = 'SELECT "array.disks" AS disks, avg(throughput_iops) AS rate FROM runs GROUP BY ALL'
    rates = {row["disks"]: row["rate"] for row in read_sweep(answer, statement, "-sure")}
    assert sure["load"] > 1
    assert rates[sure["disks"]] == pytest.approx(150 * sure["load"], rel=0.1)


def test_the_array_to_be_sure_of_carries_more_of_each_load(size: Size, tmp_path: Path) -> None:
    """One load has users, the other none; the whole of both grows alike."""
    file = write_load(tmp_path / "a.yaml", {"name": "reads", "rate": 100, "data": place("1TB")})
    answer = size("--workload", "vdi", "--users", "10", "--add", file)
    grown = answer["assured"]["load"]
    statement = 'SELECT "array.disks" AS disks, avg(throughput_iops) AS rate FROM runs GROUP BY ALL'
    rates = {row["disks"]: row["rate"] for row in read_sweep(answer, statement, "-sure")}
    assert grown > 1
    assert rates[answer["assured"]["disks"]] == pytest.approx((100 + 10 * 9) * grown, rel=0.1)


def test_a_command_that_ends_like_users_is_a_command() -> None:
    command = "fio --rw=randread --bs=8k --size=1g --direct=1 --iodepth=2 --ioengine=libaio --name=run:1"
    added = read_added(command)
    (stream,) = added.workload["streams"]
    assert (added.workload["users"], stream["arrival"]["depth"]) == (1, 2)


def test_python_gives_the_answer_of_the_command(size: Size) -> None:
    rate = ("--read-iops", "50", "--write-iops", "10", "--size", "8KiB", "--capacity", "5TB")
    printed = size(*rate, "--add", "vdi:2", "--add", "vdi")
    settings = {"controllers": ["megaraid_9540"], "disks": ["exos_x18"], "raid": ["10"]}
    answer = package.size(
        read_iops=50, write_iops=10, size="8KiB", capacity="5TB", add=["vdi:2", {"use": "vdi"}], **settings
    )
    assert answer.fits
    assert answer.sweep is not None
    found = [candidate.disks for candidate in answer.sized.carrying]
    assert found == [candidate["disks"] for candidate in printed["candidates"]]
    statement = "SELECT avg(throughput_iops) AS rate FROM runs"
    with open_session(answer.sweep.path) as session:
        ((rate,),) = [row.values() for row in session.sql(statement).to_pylist()]
    # The command has a shorter window.
    assert rate == pytest.approx(read_sweep(printed, statement)[0]["rate"], rel=0.1)
    assert "rate-60-and-vdi-2-and-load-1" in str(answer.sweep.path)
    assert "rate-60-and-vdi-2-and-vdi-1" in printed["sweeps"][0]


@pytest.mark.parametrize(
    ("args", "issue"),
    [
        (("--add", "vdi"), ("usage.conflicting-options", "--workload")),
        (("--workload", "vdi", "--add", "vdi:0"), ("study.out-of-range", "--add")),
        (("--workload", "vdi", "--add", "vdx"), ("catalog.unknown-entry", "--add")),
        (("--workload", "vdx", "--add", "vdi"), ("catalog.unknown-entry", "--workload")),
        (("--workload", "vdi", "--users", "2..3", "--add", "vdi"), ("usage.conflicting-options", "--add")),
        (("--trace", "x.spc", "--add", "vdi"), ("usage.conflicting-options", "--add")),
        (("--workload", "vdi", "--add", "whole.yaml"), ("study.loads-conflict", "--add")),
        (("--workload", "whole.yaml", "--add", "vdi"), ("study.loads-conflict", "--workload")),
        (
            ("--workload", "vdi_logon_storm", "--add", "vdi_logon_storm"),
            ("study.loads-conflict", "--add"),
        ),
        (
            ("--iops", "9", "--read-share", "1", "--size", "8KiB", "--capacity", "1GB", "--add", "vdi"),
            ("study.out-of-range", "--capacity"),
        ),
    ],
)
def test_mistakes_are_named(
    destage: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    args: tuple[str, ...],
    issue: tuple[str, str],
) -> None:
    monkeypatch.chdir(tmp_path)
    write_load(tmp_path / "whole.yaml", {"name": "reads", "rate": 10})
    done = destage("size", *args, *PARTS, "--quiet")
    assert (done.code, done.issues) == (2, [issue])


def test_python_refuses_a_range_beside_another_load() -> None:
    with pytest.raises(ConfigError) as caught:
        package.size((2, 3), "vdi", add=["vdi"])
    assert [(issue.code, issue.place) for issue in caught.value.issues] == [("study.no-effect", "add")]


@pytest.mark.parametrize(("add", "place"), [((), "workload"), (("vdi",), "workload"), (("vd",), "add")])
def test_python_places_an_unknown_load_at_its_argument(add: tuple[str, ...], place: str) -> None:
    workload = "vdi" if place == "add" else "vd"
    with pytest.raises(ConfigError) as caught:
        package.size(2, workload, add=add)
    assert [(issue.code, issue.place) for issue in caught.value.issues] == [("catalog.unknown-entry", place)]
