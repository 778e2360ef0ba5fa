"""`destage size --have`: whether an array carries more, which change makes it, and mistakes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from destage.measured_systems.model_error import LoadClass, ModelError
from destage.queries import open_session

ARRAY = """\
workload:
  users: 2
  streams:
  - name: files
    arrival: {kind: poisson, rate: 30/s, per_user: true}
    operations: {read_fraction: 1.0, size: {kind: constant, value: 8KiB}}
    address: {kind: uniform, footprint: 1TB}
controller: {use: megaraid_9540}
array: {raid: "10", disks: 4, disk: {use: exos_x18}}
run: {warm_up: {requests: 200}, window: {requests: 1500}}
"""
"""Sixty random reads a second on four nearline disks, each of which does some 200 of waiting ones."""
RATE = ("--size", "8KiB", "--capacity", "1TB")
LEAST = ("--controllers", "megaraid_9540", "--disks", "exos_x18", "--raid", "10")
"""What the array has, so that further disks are the only change."""
QUIET = ("--quiet", "--json")
PRICES = (
    "currency: USD\ndate: 2026-11-01\ncontrollers: {megaraid_9540: 100}\n"
    "disks: {exos_x18: 100, dc600m_960gb: 150}\nshelf: {disks: 4, price: 30}\n"
)

Check = Callable[..., dict[str, Any]]


@pytest.fixture
def array(tmp_path: Path) -> Path:
    file = tmp_path / "array.yaml"
    file.write_text(ARRAY)
    return file


@pytest.fixture
def check(destage: Any, array: Path) -> Check:
    """Return a function that asks whether a load fits on the array, and returns the answer."""

    def ask(*args: str) -> dict[str, Any]:
        done = destage("size", "--have", str(array), *args, *QUIET)
        assert done.issues == []
        answer: dict[str, Any] = json.loads(done.out)
        assert done.code == (0 if answer["fits"] else 1)
        return answer

    return ask


def write_load(file: Path, rate: str) -> str:
    file.write_text(
        "streams:\n- name: more\n"
        f"  arrival: {{kind: poisson, rate: {rate}}}\n"
        "  operations: {read_fraction: 1.0, size: {kind: constant, value: 8KiB}}\n"
        "  address: {kind: uniform, footprint: 1TB}\n"
    )
    return str(file)


def read_rate(answer: dict[str, Any], sweep: int) -> float:
    """Return the rate of the requests of a sweep [1/s]."""
    with open_session(Path(answer["sweeps"][sweep])) as session:
        rate: float = session.sql("SELECT avg(throughput_iops) AS iops FROM runs")["iops"][0].as_py()
    return rate


def test_an_addition_of_nothing_is_as_today(check: Check, tmp_path: Path) -> None:
    """The first request of the addition would come in ten days."""
    answer = check("--add", write_load(tmp_path / "none.yaml", "0.000001/s"))
    assert answer["fits"]
    assert answer["changes"] == []
    assert answer["today"] == answer["with_addition"]
    assert answer["answer"][0].startswith("It fits with high confidence (")


def test_more_of_a_rate_never_fits_better(check: Check) -> None:
    answers = [check("--read-iops", rate, *RATE, *LEAST) for rate in ("20", "120", "1500")]
    fits = [answer["fits"] for answer in answers]
    assert fits == sorted(fits, reverse=True)
    assert (fits[0], fits[-1]) == (True, False)
    p95 = [answer["with_addition"]["measured"][0]["mean"] for answer in answers[:2]]
    assert p95[0] < p95[1]
    assert len({json.dumps(answer["today"]) for answer in answers}) == 1
    assert read_rate(answers[0], 1) == pytest.approx(80, rel=0.1)


def test_the_odds_of_a_fit_are_those_of_what_it_carries(check: Check) -> None:
    """The most that the array carries is the same, whatever share of it is asked for."""
    reliances = [check("--read-iops", rate, *RATE, *LEAST)["reliance"] for rate in ("20", "300")]
    assert 80 * reliances[0]["carried"] == pytest.approx(360 * reliances[1]["carried"], rel=0.1)
    for reliance in reliances:
        error = ModelError(**{**reliance["error"], "load": LoadClass(**reliance["error"]["load"])})
        expected = error.share_above(1 / reliance["carried"])
        assert reliance["odds_with_error"] == pytest.approx(expected)
        assert reliance["is_sure"] == (round(expected, 2) >= 0.95)
    assert reliances[0]["is_sure"]
    assert reliances[1]["odds_with_error"] < reliances[0]["odds_with_error"]


def test_the_recommended_disks_fit_and_fewer_do_not(check: Check) -> None:
    more = ("--read-iops", "1700", *RATE, *LEAST)
    answer = check(*more)
    (change,) = answer["changes"]
    disks, failing = change["array"]["disks"], change["array"]["failing"]
    # RAID 1+0 has pairs.
    assert (change["kind"], failing, disks % 2) == ("disks", disks - 2, 0)
    assert f"{disks - 4} more disks, {disks} in all" in "\n".join(answer["answer"])
    enough = check(*more, "--set", f"array.disks={disks}")
    assert enough["fits"]
    for odds in ("odds", "odds_with_error"):
        assert change["reliance"][odds] == pytest.approx(enough["reliance"][odds])
    assert not check(*more, "--set", f"array.disks={failing}")["fits"]


def test_a_change_fits_as_the_changed_array_does(check: Check, array: Path) -> None:
    more = ("--read-iops", "900", *RATE, "--controllers", "megaraid_9540", "--raid", "10,5", "--count", "4")
    answer = check(*more, "--disks", "exos_x18,dc600m_960gb")
    kinds = {change["kind"]: change for change in answer["changes"]}
    # SSDs of 960 GB do not hold 2 TB in RAID 1+0, and the controller is the present one. No fifth disk.
    assert kinds.keys() == {"raid"}
    assert answer["impossible"] == 2
    array.write_text(ARRAY.replace('"10"', '"5"'))
    changed = check(*more, "--disks", "exos_x18")
    assert changed["fits"] == kinds["raid"]["array"]["is_met"]
    assert changed["with_addition"]["measured"] == kinds["raid"]["array"]["measured"]


def test_a_change_keeps_the_room_of_the_array(check: Check, array: Path) -> None:
    """RAID 1+0 has half of the disks, RAID 5 three of four; an SSD of 960 GB is no disk of 18 TB."""
    array.write_text(ARRAY.replace('"10"', '"5"').replace("1TB", "100GB"))
    more = ("--read-iops", "1500", "--size", "8KiB", "--capacity", "100GB", "--count", "4", *LEAST[:2])
    asked = (*more, "--disks", "dc600m_960gb,exos_x20", "--raid", "10", "--response-p95", "10s")
    usable = 3 * 18 * 10**12
    kept = check(*asked)
    assert [change["value"] for change in kept["changes"]] == ["exos_x20"]
    assert kept["changes"][0]["usable_bytes"] == pytest.approx(usable * 20 / 18, rel=1e-3)
    assert (kept["too_small"], kept["impossible"]) == (2, 1)
    assert (kept["kept_bytes"], kept["data_bytes"]) == pytest.approx((usable, 2 * 10**11), rel=1e-3)
    assert any("2 changes not simulated" in line and "54 TB" in line for line in kept["answer"])
    half = check(*asked, "--keep", "30TB")
    assert {change["value"]: change["usable_bytes"] for change in half["changes"]} == {
        "10": pytest.approx(usable * 2 / 3, rel=1e-3),
        "exos_x20": kept["changes"][0]["usable_bytes"],
    }
    data = check(*asked, "--keep", "200GB")
    assert {change["value"] for change in data["changes"]} == {"10", "exos_x20", "dc600m_960gb"}
    assert data["too_small"] == 0


def test_changes_are_in_the_order_of_their_price(
    destage: Any, check: Check, tmp_path: Path, array: Path
) -> None:
    """Four SSDs cost 4 x 150; further disks 100 each, with a shelf for each four."""
    prices = tmp_path / "prices.yaml"
    prices.write_text(PRICES)
    array.write_text(ARRAY.replace("1TB", "100GB"))
    more = (
        "--read-iops",
        "900",
        "--size",
        "8KiB",
        "--capacity",
        "100GB",
        "--raid",
        "10,5",
        "--keep",
        "200GB",
    )
    answer = check(*more, "--prices", str(prices))
    priced = [(change["kind"], change["price"]) for change in answer["changes"]]
    disks = next(change["array"]["disks"] for change in answer["changes"] if change["kind"] == "disks")
    assert {*priced} == {
        ("raid", 0.0),
        ("disks", 100.0 * (disks - 4) + 30 * (-(-disks // 4) - 1)),
        ("disk", 600.0),
    }
    assert [price for _, price in priced] == sorted(price for _, price in priced)
    assert any(line.strip().startswith("USD 600 ") for line in answer["answer"])
    # Without prices, what changes least is first; RAID 5 writes nothing here, and reads no faster.
    done = destage("size", "--have", str(array), *more, "--disks", "exos_x18", "--explain", "--quiet")
    assert done.code == 1
    listed = done.out.partition("the smallest first:\n")[2].splitlines()
    assert f"{disks} in all" in listed[0]
    assert "RAID 5" in done.out.partition("Not enough:\n")[2]


def test_the_nearest_miss_is_named(check: Check) -> None:
    answer = check("--read-iops", "1700", *RATE, *LEAST[:4], "--raid", "10,5", "--count", "2-6")
    assert not any(change["array"]["is_met"] for change in answer["changes"])
    (line,) = [line for line in answer["answer"] if line.startswith("No single change makes it fit.")]
    assert "2 more disks, 6 in all" in line


def test_added_loads_are_files_presets_and_their_users(check: Check, tmp_path: Path) -> None:
    """A desktop asks for nine I/Os a second; the file for 20."""
    relaxed = ("--response-p95", "10s", "--subject-to", "disk_busy_max <= 1")
    alone = check("--add", "vdi", "--users", "5", *relaxed)
    assert read_rate(alone, 1) == pytest.approx(60 + 45, rel=0.1)
    assert any("preset vdi" in line for line in alone["answer"])
    assert read_rate(check("--add", "vdi:5", *relaxed), 1) == read_rate(alone, 1)
    both = check("--add", "vdi:1", "--add", write_load(tmp_path / "more.yaml", "20/s"), *relaxed)
    assert read_rate(both, 1) == pytest.approx(60 + 9 + 20, rel=0.1)


def test_a_test_of_an_added_file_is_chosen(check: Check, tmp_path: Path) -> None:
    file = tmp_path / "steps.parm"
    disk = "sd=sd1,lun=/dev/sda,size=20g\nwd=wd1,sd=sd1,xfersize=4k,rdpct=100\n"
    tests = [f"rd={name},wd=wd1,iorate={rate},elapsed=60\n" for name, rate in (("one", 900), ("two", 40))]
    file.write_text(disk + "".join(tests))
    answer = check("--add", str(file), "--test", "two")
    assert read_rate(answer, 1) == pytest.approx(60 + 40, rel=0.1)


def test_growth_needs_room(destage: Any, array: Path) -> None:
    """Four disks of 18 TB hold 36 TB mirrored: 1 TB and 30 TB, but not 1 TB and 36 TB."""
    asked = (
        "size",
        "--have",
        str(array),
        "--read-iops",
        "5",
        "--size",
        "8KiB",
        "--capacity",
        "30TB",
        "--quiet",
    )
    assert destage(*asked).code == 0
    refused = destage(*asked, "--growth", "20")
    assert (refused.code, refused.issues) == (2, [("scenario.beyond-array", "--add")])
    assert "35996GB of added data after 1TB of present data" in refused.err
    assert "35999GB" in refused.err


def test_a_phase_of_the_added_load_is_measured(destage: Any, array: Path) -> None:
    array.write_text(ARRAY.rpartition("run:")[0])
    asked = ("size", "--have", str(array), "--add", "vdi_logon_storm", *QUIET)
    refused = destage(*asked, "--phase", "logins")
    assert refused.issues == [("usage.bad-value", "--phase")]
    answer = json.loads(destage(*asked, "--phase", "work").out)
    with open_session(Path(answer["sweeps"][1])) as session:
        (row,) = session.sql("SELECT min(window_s) AS s, avg(throughput_iops) AS iops FROM runs").to_pylist()
    assert row["s"] == pytest.approx(600)
    assert row["iops"] == pytest.approx(60 + 9, rel=0.1)


def test_a_study_of_one_configuration_has_an_array(check: Check, destage: Any, array: Path) -> None:
    direct = check("--iops", "20", "--read-share", "1", *RATE)
    body = "".join(f"  {line}\n" for line in ARRAY.splitlines())
    array.write_text(f"name: mine\nquestion: Mine?\nscenario:\n{body}")
    assert check("--read-iops", "20", *RATE)["with_addition"] == direct["with_addition"]
    array.write_text(f"{array.read_text()}axes: {{workload.users: [2, 3]}}\n")
    done = destage("size", "--have", str(array), "--read-iops", "20", *RATE)
    assert (done.code, done.issues) == (2, [("study.unknown-key", "axes")])


def test_the_trace_of_an_array_is_beside_its_file(destage: Any, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "trace.spc").write_text("".join(f"0,{at * 800},4096,R,{at / 20}\n" for at in range(100)))
    (folder / "array.yaml").write_text(
        "workload: {streams: [{name: t, arrival: {kind: trace, file: trace.spc, mode: open}}]}\n"
        + ARRAY.partition("\n")[2][ARRAY.partition("\n")[2].index("controller") :].rpartition("run:")[0]
    )
    done = destage("size", "--have", "mine/array.yaml", "--read-iops", "20", *RATE, *QUIET)
    assert (done.code, done.issues) == (0, [])
    assert read_rate(json.loads(done.out), 1) == pytest.approx(20 + 20, rel=0.2)


def test_mistakes_in_the_array_have_their_line(destage: Any, array: Path) -> None:
    array.write_text(ARRAY.replace("exos_x18", "exos_x19"))
    done = destage("size", "--have", str(array), "--add", "vdi")
    assert (done.code, done.issues) == (2, [("catalog.unknown-entry", "array.disk.use")])
    assert f"{array}:9" in done.err


HAVE = ("--have", "array.yaml")


@pytest.mark.parametrize(
    ("args", "issue"),
    [
        (("--keep", "1TB"), ("usage.conflicting-options", "--keep")),
        ((*HAVE, "--add", "vdi:3", "--users", "9"), ("usage.conflicting-options", "--users")),
        (HAVE, ("usage.missing-argument", "--add")),
        ((*HAVE, "--users", "9"), ("usage.missing-argument", "--add")),
        ((*HAVE, "--add", "vdi", "--workload", "vdi"), ("usage.conflicting-options", "--workload")),
        ((*HAVE, "--add", "vdi", "--trace", "x.spc"), ("usage.conflicting-options", "--trace")),
        ((*HAVE, "--add", "vdi", "--spares", "1"), ("usage.conflicting-options", "--spares")),
        ((*HAVE, "--add", "vdi", "--budget", "9"), ("usage.conflicting-options", "--budget")),
        ((*HAVE, "--add", "vdi", "--add", "vdi", "--users", "9"), ("usage.conflicting-options", "--users")),
        ((*HAVE, "--add", "vdi", "--read-iops", "9"), ("usage.conflicting-options", "--read-iops")),
        (
            (*HAVE, "--add", "vdi", "--iops", "9", "--read-share", "0.5"),
            ("usage.conflicting-options", "--iops"),
        ),
        ((*HAVE, "--add", "vdi", "--size", "8KiB"), ("usage.conflicting-options", "--size")),
        ((*HAVE, "--write-iops", "9", "--size", "8KiB"), ("usage.missing-argument", "--capacity")),
        (("--keep", "9TB"), ("usage.conflicting-options", "--keep")),
        ((*HAVE, "--add", "vdi", "--keep", "40TB"), ("study.out-of-range", "--keep")),
        ((*HAVE, "--add", "vdi", "--keep", "9"), ("usage.bad-quantity", "--keep")),
        ((*HAVE, "--add", "vdx"), ("catalog.unknown-entry", "--add")),
        ((*HAVE, "--add", "iometer_oltp", "--count", "2-3"), ("study.out-of-range", "--count")),
        ((*HAVE, "--add", "vdi", "--raid", "7"), ("study.unknown-name", "--raid")),
        ((*HAVE, "--add", "vdi", "--disks", "exos_x19"), ("catalog.unknown-entry", "--disks")),
        ((*HAVE, "--add", "vdi", "--controllers", "none"), ("catalog.unknown-entry", "--controllers")),
        ((*HAVE, "--add", "vdi", "--response-p95", "30"), ("study.bad-quantity", "--response-p95")),
        ((*HAVE, "--add", "vdi", "--set", "array.disks"), ("usage.bad-assignment", "--set")),
        (("--have", "none.yaml", "--add", "vdi"), ("usage.unreadable-file", "--have")),
        (
            (*HAVE, "--add", "vdi", "--set", "controller.battery.state=dead"),
            ("scenario.unknown-name", "--set controller.battery.state"),
        ),
        ((*HAVE, "--add", "vdi", "--subject-to", "speed > 3"), ("study.unknown-name", "--subject-to")),
        (
            (*HAVE, "--read-iops", "9", "--size", "3B", "--capacity", "1GB"),
            ("scenario.not-whole-sectors", "--size"),
        ),
        ((*HAVE, "--add", "vdi", "--capacity", "1kB"), ("scenario.smaller-than-request", "--capacity")),
    ],
)
def test_contradictions_are_named(
    destage: Any, array: Path, args: tuple[str, ...], issue: tuple[str, str]
) -> None:
    assert array.exists()
    done = destage("size", *args)
    assert (done.code, done.issues, done.out) == (2, [issue], "")


def test_an_array_whose_data_have_no_end_has_no_room(destage: Any, array: Path) -> None:
    array.write_text(ARRAY.replace(", footprint: 1TB", ""))
    done = destage("size", "--have", str(array), "--add", "vdi")
    assert (done.code, done.issues) == (2, [("scenario.beyond-array", "--have")])


def test_what_no_run_measures_is_named(destage: Any, array: Path) -> None:
    asked = ("size", "--have", str(array), "--add", "vdi", "--subject-to", "commit_p95 <= 10ms", "--quiet")
    done = destage(*asked)
    assert (done.code, done.issues, done.out) == (2, [("study.not-measured", "--subject-to")], "")


def test_several_arrays_are_refused(destage: Any, array: Path) -> None:
    one = '{raid: "10", disks: 4, disk: {use: exos_x18}}'
    array.write_text(ARRAY.replace(f"array: {one}", f"arrays: [{{name: a, {one[1:]}, {{name: b, {one[1:]}]"))
    done = destage("size", "--have", str(array), "--add", "vdi")
    assert (done.code, done.issues) == (2, [("scenario.several-arrays", "arrays")])


def test_a_write_cache_that_is_not_steady_is_named(destage: Any, tmp_path: Path) -> None:
    """All that is written in a window of 500 requests stays in a cache of gigabytes."""
    written = ARRAY.replace("read_fraction: 1.0", "read_fraction: 0.0").replace("9540", "9560_8i")
    (tmp_path / "array.yaml").write_text(written.replace("requests: 1500", "requests: 500"))
    write_load(tmp_path / "load.yaml", "1/s")
    done = destage("size", "--have", "array.yaml", "--add", "load.yaml", *QUIET)
    lines = json.loads(done.out)["answer"]
    assert [line.partition(":")[0] for line in lines if "Not sustained" in line] == [
        "Present load",
        "With the addition",
    ]
