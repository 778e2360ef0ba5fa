"""`destage size`: the cheapest configuration, its margins, what was ruled out, and mistakes."""

import json
import math
import shlex
import signal
from pathlib import Path
from typing import Any

import pytest

import destage as package
from destage import sizing, sweeps
from destage.engine import catalog
from destage.queries import open_session
from destage.sizing import draw_loads
from destage.sweeps.execution.sweep_session import SweepWriter

QUICK = (
    *("--set", "run.warm_up={requests: 500}"),
    *("--set", "run.window={requests: 3000}"),
    "--quiet",
)
"""Short runs: enough where no result is near its bound."""
FRESH = ("--set", "array.disk.precondition=empty")
"""SSDs without old data, which take a tenth of the processor time; where no result depends on it."""
SMALL_CACHE = ("--set", "controller.cache.capacity=512MiB")
"""A cache that is soon full, with the same."""
SSD = ("--disks", "dc600m_960gb", *FRESH)
SMALL = (
    *("--users", "100", "--workload", "vdi", "--disks", "exos_x18,dc600m_960gb"),
    *SMALL_CACHE,
    *QUICK,
)

RATE = ("--read-iops", "700", "--size", "8KiB")
SHARED = ("--iops", "700", "--read-share", "0.7", "--size", "8KiB")


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


@pytest.fixture
def _in_shared_store(shared_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the store of the tests that size for the same load: the first one executes its runs.

    It comes after `destage`, which sets a store for each test.
    """
    monkeypatch.setenv("DESTAGE_STORE", str(shared_store))


def in_shared_store(test: Any) -> Any:
    """Run a test in the shared store, and in the process of the others."""
    return pytest.mark.xdist_group("size of SMALL")(
        pytest.mark.usefixtures("destage", "_in_shared_store")(test)
    )


@pytest.fixture
def prices(tmp_path: Path) -> Path:
    """Return a price table in which two nearline disks cost less than two SSDs."""
    file = tmp_path / "prices.yaml"
    file.write_text(
        "currency: USD\ndate: 2026-11-01\n"
        "controllers: {megaraid_9540: 100, megaraid_9560_8i: 400}\n"
        "disks: {exos_x18: 100, dc600m_960gb: 150}\n"
    )
    return file


@in_shared_store
def test_the_answer_names_products_margins_and_the_runner_up(destage: Any) -> None:
    done = destage("size", *SMALL)
    assert done.code == 0
    lines = done.out.splitlines()
    # 350 and two of 190, with the first eight bays for 250.
    assert lines[0] == "2 x Kingston DC600M 960 GB SATA, RAID 1+0, Broadcom MegaRAID 9540 (no cache): EUR 980"
    facts = dict(line.strip().split("  ", 1) for line in lines[2:10])
    assert facts["response p95"].strip().endswith(" below")
    assert "at most 90 %" in facts["disk busy max"]
    assert facts["probability"].strip().startswith("more than 99.9 % that all are met")
    assert "no write cache" in facts["dead battery"]
    (runner_up,) = [line for line in lines if line.startswith("Runner-up: ")]
    assert runner_up.endswith("It meets the objectives and costs EUR 190 more.")
    assert lines[-1] == "Rests on an assumed locality: Zipf 0.9 over 20 GB (preset vdi)."
    stage = " ".join(lines[lines.index("", lines.index(runner_up) + 1) : -1]).rpartition("Estimated")[2]
    assert "measured systems of this class (flash, not cached, writes, 1 to 4 outstanding)" in stage
    assert "not quotes" in done.err
    again = next(line for line in done.err.splitlines() if line.startswith("again: "))
    assert shlex.split(again)[1:] == ["destage", "size", *SMALL]


def test_the_models_error_asks_for_more_disks(destage: Any) -> None:
    """As slow as the slowest systems of its class, the array carries the load if it carries more than it."""
    parts = ("--disks", "exos_x18", "--controllers", "megaraid_9560_8i", "--raid", "10", *SMALL_CACHE)
    one = ("--workload", "vdi", *parts)
    answer = json.loads(destage("size", "--users", "100", *one, *QUICK, "--json").out)
    (best,), assured = answer["carrying"], answer["assured"]
    assert assured["load"] == pytest.approx(max(1, 1 / assured["error"]["low"]))
    assert assured["error"]["load"]["medium"] == "spinning"
    more = str(round(100 * assured["load"] + 0.5))
    again = json.loads(destage("size", "--users", more, *one, *QUICK, "--json").out)
    assert assured["disks"] == next((each["disks"] for each in again["carrying"]), None)
    assert assured["disks"] is None or assured["disks"] >= best["disks"]


def test_the_models_error_may_ask_for_other_parts(destage: Any, prices: Path) -> None:
    """The array to be sure of is the cheapest of all that are considered for the load of a slow system."""
    parts = ("--disks", "exos_x18", "--controllers", "megaraid_9560_8i", "--raid", "10,5", *SMALL_CACHE)
    one = ("--workload", "vdi", *parts, "--prices", str(prices), *QUICK, "--json")
    answer = json.loads(destage("size", "--users", "55", *one).out)
    (best, *_), assured = answer["carrying"], answer["assured"]
    assert assured["parts"] != best["parts"]
    more = str(math.ceil(55 * assured["load"]))
    (again, *_) = json.loads(destage("size", "--users", more, *one).out)["carrying"]
    assert {name: again[name] for name in ("parts", "disks", "price")}.items() <= assured.items()


def test_parts_of_the_same_hardware_have_prices_of_their_own(destage: Any, tmp_path: Path) -> None:
    """They share their runs, whichever is first in the price table."""
    prices = tmp_path / "twins.yaml"
    prices.write_text(
        "currency: EUR\ndate: 2026-11-01\n"
        "controllers: {megaraid_9560_16i: 400, perc_h755: 300}\ndisks: {exos_x18: 100}\n"
    )
    one = ("--users", "20", "--workload", "vdi", "--raid", "10", "--prices", str(prices), *SMALL_CACHE)
    answer = json.loads(destage("size", *one, *QUICK, "--json").out)
    found = [(each["parts"]["controller.use"], each["disks"], each["price"]) for each in answer["carrying"]]
    assert found == [("perc_h755", 2, 500), ("megaraid_9560_16i", 2, 600)]
    assert answer["carrying"][0]["measured"] == answer["carrying"][1]["measured"]


def test_a_protected_cache_has_a_case_without_its_battery(destage: Any, prices: Path) -> None:
    one = ("--controllers", "megaraid_9560_8i", "--disks", "exos_x18", "--raid", "5", "--count", "8")
    done = destage("size", *SMALL[:4], *one, *SMALL_CACHE, "--prices", str(prices), *QUICK, "--json")
    answer = json.loads(done.out)
    assert done.code == 0
    (carrying,) = answer["carrying"]
    assert (carrying["disks"], carrying["price"]) == (8, 400 + 8 * 100)
    battery = answer["battery"]
    assert battery["exposed_bytes"] > 0
    before, after = (battery[key]["response_p95_us"] for key in ("columns", "without"))
    assert after > 2 * before
    assert {depth: set(results) for depth, results in answer["by_destages"].items()} == {
        depth: set(battery["columns"]) for depth in ("1", "16")
    }


def test_a_number_of_destages_that_is_set_is_known(destage: Any, prices: Path) -> None:
    one = ("--controllers", "megaraid_9560_8i", "--disks", "exos_x18", "--raid", "5", "--count", "8")
    depth = ("--set", "controller.cache.write.destage_depth=8")
    done = destage("size", *SMALL[:4], *one, *SMALL_CACHE, *depth, "--prices", str(prices), *QUICK, "--json")
    answer = json.loads(done.out)
    assert answer["carrying"]
    assert answer["by_destages"] == {}


def test_a_battery_that_is_set_absent_has_no_case_of_failing(destage: Any, prices: Path) -> None:
    """Nothing is left to fail: the cache writes through from the start."""
    one = ("--controllers", "megaraid_9560_8i", "--disks", "dc600m_960gb", "--raid", "5", "--count", "8")
    one += FRESH
    absent = ("--set", "controller.battery.state=absent", "--json")
    done = destage("size", *SMALL[:4], *one, "--prices", str(prices), *QUICK, *absent)
    answer = json.loads(done.out)
    assert (answer["battery"], answer["by_destages"]) == (None, {})
    (line,) = [line for line in answer["answer"] if "battery" in line]
    assert line.split()[:2] == ["battery", "absent,"]


def test_what_one_user_misses_is_said_without_a_search(destage: Any) -> None:
    """A read of an SSD takes more than 0.1 ms, however many there are; a rotation takes 8 ms."""
    fast = ("--response-p95", "0.02ms", *QUICK, "--json")
    done = destage("size", *SMALL[:4], "--disks", "dc600m_960gb,exos_x18", *fast)
    answer = json.loads(done.out)
    assert (done.code, answer["sweeps"], answer["candidates"]) == (1, [], [])
    assert "even one user" in answer["answer"][0]


def test_a_capacity_asks_for_the_disks_that_hold_it(destage: Any) -> None:
    """With a growth of 20 %, 6 TB: of eight SSDs of 960 GB, seven hold 6.72 TB. No run has fewer."""
    one = (*SSD, "--controllers", "megaraid_9540", "--raid", "5", "--json")
    stated = json.loads(destage("size", *SMALL[:4], *one, *QUICK, "--capacity", "5TB", "--growth", "20%").out)
    (best,) = stated["carrying"]
    assert (best["disks"], best["failing"]) == (8, None)
    assert stated["held"]["stated_bytes"] == 6 * 10**12
    assert stated["held"]["own_bytes"] == 20 * 10**9
    assert stated["held"]["usable_bytes"] == pytest.approx(7 * 960e9, rel=1e-4)

    own = json.loads(destage("size", *SMALL[:4], *one, *QUICK).out)
    assert (own["carrying"][0]["disks"], own["held"]["stated_bytes"]) == (3, None)
    assert any("--capacity states yours" in line for line in own["answer"])


def test_the_label_of_a_disk_is_a_capacity_that_it_holds(destage: Any) -> None:
    """Whole stripes of a mirrored pair of 960 GB hold 0.4 MB less."""
    one = (*SSD, "--controllers", "megaraid_9540", "--raid", "10", "--json")
    answer = json.loads(destage("size", *SMALL[:4], *one, *QUICK, "--capacity", "960GB").out)
    assert answer["carrying"][0]["disks"] == 2


def test_a_capacity_that_nothing_holds_ends_without_a_search(destage: Any) -> None:
    """Four disks of 18 TB in RAID 5 hold 54 TB, in RAID 10 36 TB."""
    disks = ("--disks", "exos_x18,dc600m_960gb", "--count", "2-4", "--json")
    done = destage("size", *SMALL[:4], *disks, "--capacity", "55TB")
    answer = json.loads(done.out)
    assert (done.code, answer["sweeps"]) == (1, [])
    assert "holds 54 TB (4 x Seagate Exos X18" in answer["answer"][0]
    assert "--count" in answer["answer"][0]


def test_parts_too_small_for_the_data_are_not_taken_for_slow_ones(destage: Any) -> None:
    """Four disks of 18 TB hold 40 TB and are slow; the SSDs are fast, and four do not hold it."""
    disks = ("--disks", "exos_x18,dc600m_960gb", "--controllers", "megaraid_9540", "--raid", "5")
    load = ("--iops", "100", "--read-share", "0.7", "--size", "8KiB", "--capacity", "40TB")
    done = destage("size", *load, *disks, "--count", "3-4", "--response-p95", "1ms", "--json")
    assert done.code == 1
    assert "1 other combination does not hold the data" in json.loads(done.out)["answer"][0]


def test_hot_spares_have_a_price_and_a_slot_and_no_data(destage: Any, prices: Path) -> None:
    """Three SSDs at 150 and two spares need a second shelf of four."""
    prices.write_text(prices.read_text() + "shelf: {disks: 4, price: 50}\n")
    one = (*SSD, "--controllers", "megaraid_9540", "--raid", "5", "--count", "3")
    answers = []
    for spares in ("0", "2"):
        done = destage(
            "size", *SMALL[:4], *one, *QUICK, "--prices", str(prices), "--spares", spares, "--json"
        )
        answers.append(json.loads(done.out))
    assert [one["carrying"][0]["price"] for one in answers] == [100 + 450 + 50, 100 + 750 + 100]
    assert answers[0]["held"] == answers[1]["held"]
    assert "RAID 5, 2 hot spares, " in answers[1]["answer"][0]
    measured = [answer["carrying"][0]["measured"] for answer in answers]
    assert measured[0] == measured[1]


def test_a_rate_with_a_share_is_that_of_reads_and_of_writes(destage: Any) -> None:
    """70 % of 1,000 are reads: the same sweep, so that the second call executes nothing."""
    one = (*SSD, "--controllers", "megaraid_9540", "--raid", "10", "--count", "4")
    parts = ("--size", "8KiB", "--capacity", "1.9TB", *one, *QUICK)
    apart = destage("size", "--read-iops", "700", "--write-iops", "300", *parts)
    together = destage("size", "--iops", "1000", "--read-share", "70%", *parts)
    assert (together.code, together.out) == (0, apart.out)
    assert all(" 0 executed" in line for line in together.err.splitlines() if " runs, " in line)


@pytest.mark.parametrize("text", ["8", "64"])
def test_a_size_without_a_unit_names_the_likely_one(destage: Any, text: str) -> None:
    done = destage("size", "--iops", "100", "--read-share", "0.5", "--size", text, "--capacity", "1TB")
    assert done.issues == [("usage.bad-quantity", "--size")]
    assert f"'{text}KiB'" in done.err


def test_a_rate_is_a_load_over_the_capacity(destage: Any) -> None:
    one = (*SSD, "--controllers", "megaraid_9540", "--raid", "10", "--count", "4")
    load = ("--read-iops", "700", "--write-iops", "300", "--size", "8KiB", "--capacity", "1.9TB")
    answer = json.loads(destage("size", *load, *one, *QUICK, "--explain", "--json").out)
    assert answer["carrying"][0]["disks"] == 4
    assert [load["users"] for load in answer["curve"]] == [25, 50, 75, 100, 125, 150, 200, 300, 400]
    with open_session(Path(answer["sweeps"][0])) as session:
        (row,) = session.sql("SELECT avg(throughput_iops) AS iops FROM runs").to_pylist()
    assert row["iops"] == pytest.approx(1000, rel=0.05)
    assert any("uniformly random addresses" in line for line in answer["answer"])
    drawn = destage("size", *load, *one, *QUICK, "--explain").out
    assert "% of the load" in drawn
    assert "1.9 TB of data, of 1.92 TB usable\n" in drawn


def test_what_one_per_cent_of_a_rate_misses_is_named(destage: Any) -> None:
    load = ("--read-iops", "100", "--size", "8KiB", "--capacity", "10TB", "--disks", "exos_x18")
    done = destage("size", *load, "--response-p95", "0.1ms", "--quiet")
    assert done.code == 1
    assert "even 1 % of the load misses response_p95 <= 0.1ms with every array" in done.out


def test_a_rate_that_no_array_carries_ends_without_a_search(destage: Any) -> None:
    load = ("--read-iops", "90000", "--size", "8KiB", "--capacity", "10TB", "--disks", "exos_x18")
    done = destage("size", *load, "--controllers", "megaraid_9540", "--quiet", "--json")
    answer = json.loads(done.out)
    assert (done.code, answer["sweeps"], answer["outclassed"]) == (1, [], 3)
    assert "all 3 combinations" in answer["answer"][0]


FIO = "[global]\nrw=randwrite\nbs=4k\nsize=10g\nthinktime=2ms\n[web]\nnumjobs=3\n"


@pytest.mark.parametrize("kind", ["workload", "configuration", "study", "fio"])
def test_a_file_is_a_workload(destage: Any, tmp_path: Path, kind: str) -> None:
    """The same load, from each kind of file that holds one."""
    job, file = tmp_path / "web.fio", tmp_path / "web.yaml"
    job.write_text(FIO)
    if kind != "fio":
        assert destage("workload", "import", str(job), "--out", str(file)).code == 0
        text = file.read_text()
        if kind == "workload":
            text = "\n".join(line[2:] for line in text.splitlines() if line.startswith("  "))
        if kind == "study":
            text = "scenario:\n" + "\n".join(f"  {line}" for line in text.splitlines())
        file.write_text(text)
    one = (*SSD, "--controllers", "megaraid_9540", "--raid", "10", "--count", "2")
    given = str(job if kind == "fio" else file)
    answer = json.loads(destage("size", "--workload", given, *one, *QUICK, "--json").out)
    assert answer["held"]["own_bytes"] >= 10 * 2**30
    (best,) = answer["carrying"]
    assert best["measured"][0]["mean"] < 1000
    assert "web" in Path(answer["sweeps"][0]).name


def test_a_test_of_several_is_chosen(destage: Any, tmp_path: Path) -> None:
    file = tmp_path / "steps.parm"
    disk = "sd=sd1,lun=/dev/sda,size=20g\nwd=wd1,sd=sd1,xfersize=4k,rdpct=100\n"
    tests = [f"rd={name},wd=wd1,iorate={rate},elapsed=60\n" for name, rate in (("one", 90), ("two", 400))]
    file.write_text(disk + "".join(tests))
    asked = ("size", "--workload", str(file))
    one = (*SSD, "--controllers", "megaraid_9540", "--raid", "10", "--count", "2")
    refused = destage(*asked)
    assert refused.issues == [("usage.missing-argument", "--test")]
    assert "'two'" in refused.err
    answer = json.loads(destage(*asked, *one, "--test", "two", *QUICK, "--json").out)
    with open_session(Path(answer["sweeps"][0])) as session:
        (row,) = session.sql("SELECT avg(throughput_iops) AS iops FROM runs").to_pylist()
    assert row["iops"] == pytest.approx(400, rel=0.05)


def test_a_field_of_a_stream_of_a_preset_can_be_set(destage: Any) -> None:
    """A desktop that asks for less keeps the disks less busy."""
    busy = {}
    for rate in ("9/s", "1/s"):
        fewer = ("--set", f"workload.streams.0.arrival.rate={rate}")
        one = (*SSD, "--controllers", "megaraid_9540", "--raid", "10", "--count", "2")
        answer = json.loads(destage("size", *SMALL[:4], *one, *QUICK, *fewer, "--json").out)
        columns = {each["objective"]["column"]: each["mean"] for each in answer["carrying"][0]["measured"]}
        busy[rate] = columns["disk_busy_max_fraction"]
    assert busy["9/s"] > 5 * busy["1/s"]


def test_an_unknown_part_in_the_price_table_has_its_place_there(destage: Any, prices: Path) -> None:
    prices.write_text(prices.read_text().replace("exos_x18", "exos_x19"))
    done = destage("size", *SMALL[:4], "--prices", str(prices))
    assert (done.code, done.issues) == (2, [("catalog.unknown-entry", "disks.exos_x19")])
    assert f"{prices}:4:" in done.err  # the line of `disks` in the table
    prices.write_text(prices.read_text().replace("currency", "money"))
    every = destage("size", *SMALL[:4], "--prices", str(prices)).issues
    assert ("catalog.unknown-entry", "disks.exos_x19") in every
    assert ("study.unknown-key", "money") in every
    assert "catalog new" in done.err
    assert "--catalog" in done.err


@pytest.mark.parametrize("text", ["", "disk;price\nexos_x18;330\n"])
def test_a_file_that_is_no_price_table_names_the_example(destage: Any, prices: Path, text: str) -> None:
    prices.write_text(text)
    done = destage("size", *SMALL[:4], "--prices", str(prices))
    assert (done.code, done.issues) == (2, [("study.wrong-type", "")])
    assert "--example-prices" in done.err


def test_a_price_table_has_parts(destage: Any, prices: Path) -> None:
    prices.write_text("currency: EUR\ndate: 2026-11-01\ncontrollers: {}\ndisks: {}\n")
    done = destage("size", *SMALL[:4], "--prices", str(prices))
    assert (done.code, done.issues) == (2, [("study.too-few", "controllers"), ("study.too-few", "disks")])


@pytest.mark.parametrize("date", ["yesterday", "2026-02-30", "01.11.2026"])
def test_the_date_of_a_price_table_is_one(destage: Any, prices: Path, date: str) -> None:
    prices.write_text(prices.read_text().replace("2026-11-01", date))
    done = destage("size", *SMALL[:4], "--prices", str(prices))
    assert (done.code, done.issues) == (2, [("study.bad-form", "date")])
    assert f"{prices}:2:" in done.err


def test_all_parts_without_a_price_are_named(destage: Any, prices: Path) -> None:
    parts = ("--controllers", "smart_array_p420_1gb", "--disks", "savvio_10k4")
    done = destage("size", *SMALL[:4], *parts, "--prices", str(prices))
    assert done.issues == [("study.no-price", "--controllers"), ("study.no-price", "--disks")]


def test_parts_without_a_price_are_counted_and_named(destage: Any, prices: Path) -> None:
    """A price table with all controllers but two leaves these out; disks that are named leave none out."""
    parts = {kind: [part.name for part in catalog.entries(kind)] for kind in ("controllers", "disks")}
    assert len(parts["controllers"]) > 5
    *priced, dell, hpe = sorted(parts["controllers"], key=lambda name: name in ("perc_h755", "mr416i_p"))
    table = f"{{{', '.join(f'{name}: 100' for name in priced)}}}"
    written = prices.read_text()
    some, most = prices.with_name("some.yaml"), prices.with_name("most.yaml")
    some.write_text(written)
    most.write_text(written.replace("{megaraid_9540: 100, megaraid_9560_8i: 400}", table))
    # One user alone misses 0.02 ms, so that nothing is searched.
    small = ("--raid", "10", "--count", "2-4", *SMALL_CACHE, *QUICK)
    asked = ("size", *SMALL[:4], "--response-p95", "0.02ms", *small)

    answer = json.loads(destage(*asked, "--prices", str(some), "--json").out)
    left = {
        "controllers": {*parts["controllers"]} - {"megaraid_9540", "megaraid_9560_8i"},
        "disks": {*parts["disks"]} - {"exos_x18", "dc600m_960gb"},
    }
    assert {kind: {*names} for kind, names in answer["unpriced"].items()} == left
    counts = f"{len(left['controllers'])} controllers and {len(left['disks'])} disks."
    assert answer["answer"][1].endswith(counts)
    explained = destage(*asked, "--prices", str(some), "--explain").out
    assert {*explained.replace(",", " ").split()} >= left["controllers"] | left["disks"]

    named = ("--prices", str(most), *SSD, "--json")
    answer = json.loads(destage(*asked, *named).out)
    assert {kind: {*names} for kind, names in answer["unpriced"].items()} == {"controllers": {dell, hpe}}
    assert answer["answer"][1].endswith(f"2 controllers ({', '.join(answer['unpriced']['controllers'])}).")


def test_a_budget_and_the_number_of_disks_are_kept(destage: Any, prices: Path) -> None:
    """Two or four nearline disks miss 2 ms by far; the SSDs cost 100 + 2 x 150."""
    limits = ("--response-p95", "2ms", "--prices", str(prices), "--json")
    asked = ("size", *SMALL, "--controllers", "megaraid_9540", "--raid", "10,5", "--count", "2-4", *limits)
    allowed = json.loads(destage(*asked, "--budget", "400").out)
    assert [(one["disks"], one["price"]) for one in allowed["carrying"]] == [(2, 400.0)]
    done = destage(*asked, "--budget", "399")
    assert done.code == 1
    none = json.loads(done.out)
    assert none["carrying"] == []
    assert (none["beyond_budget"]["disks"], none["beyond_budget"]["price"]) == (2, 400.0)
    assert none["answer"][1].endswith(": USD 400.")
    assert any(line.startswith("Estimated from data sheets: ") for line in none["answer"])


def test_none_is_said_with_the_reasons(destage: Any) -> None:
    done = destage(
        "size", *SMALL[:4], "--disks", "exos_x18", "--count", "2-4", "--response-p95", "1ms", *QUICK
    )
    assert done.code == 1
    assert done.out.startswith("No configuration meets the objectives: ")
    assert "\nEstimated from data sheets, with an unknown error: " in done.out


def test_explain_draws_the_response_and_lists_all_candidates(destage: Any) -> None:
    one = (*SSD, "--controllers", "megaraid_9540")
    out = destage("size", *SMALL[:4], *one, *QUICK, "--explain").out
    curve = [line for line in out.splitlines() if "▏" in line or "█" in line or "overloaded" in line]
    assert [int(line.split()[0]) for line in curve] == [25, 50, 75, 100, 125, 150, 200, 300, 400]
    assert sum("requested load" in line for line in curve) == 1
    # At 4 times the load, users per response time still rises.
    assert sum("knee" in line for line in curve) == 0
    listed = [line for line in out.splitlines() if "Kingston" in line and "RAID 6" in line]
    assert listed


def test_a_trace_is_sized_and_its_curve_has_copies(destage: Any, tmp_path: Path) -> None:
    """A curve from one copy has the same results at the same loads as one from two copies."""
    trace = tmp_path / "trace.spc"
    trace.write_text("".join(f"0,{at * 800},4096,{'RW'[at % 2]},{at / 50}\n" for at in range(100)))
    one = (*SSD, "--controllers", "megaraid_9540", "--raid", "10", "--count", "2")
    curves = []
    for users in ("1", "2"):
        done = destage(
            "size", "--trace", str(trace), "--users", users, *one, "--quiet", "--json", "--explain"
        )
        answer = json.loads(done.out)
        assert [one["disks"] for one in answer["carrying"]] == [2]
        curves.append({load["users"]: load["disk_busy_max_fraction"] for load in answer["curve"]})
    common = sorted(curves[0].keys() & curves[1].keys())
    assert common == [1, 2, 3, 4]
    for users in common:
        assert curves[0][users] == pytest.approx(curves[1][users], rel=1e-9)
    assert curves[0][4] > 1.2 * curves[0][1]


def load(users: int, response_us: float, busy: float = 0.5) -> dict[str, float]:
    """Return the means at a load."""
    means = {"response_p95_us": response_us, "response_mean_us": response_us, "n_overloaded": 0}
    return {"users": users, "disk_busy_max_fraction": busy, **means}


@pytest.mark.parametrize(
    ("rows", "knees"),
    [
        # Users per response time: 0.1, 0.167, 0.075.
        ([load(10, 100), load(20, 120), load(30, 400)], [20]),
        # It still rises at the largest load, or falls from the smallest one.
        ([load(10, 100), load(20, 100), load(30, 100)], []),
        ([load(10, 100), load(20, 300), load(30, 900)], []),
        # The largest load is not carried; two loads are equal.
        ([load(10, 100), load(20, 100), load(30, 100, busy=0.99)], [20]),
        ([load(10, 200), load(20, 200), load(40, 400), load(80, 1000)], [20]),
        ([load(1, 100)], []),
    ],
)
def test_a_knee_is_inside_the_range_of_loads(rows: list[dict[str, float]], knees: list[int]) -> None:
    assert [one.users for one in draw_loads(rows) if one.is_knee] == knees


def test_users_that_change_nothing_are_refused(destage: Any) -> None:
    """Its 32 outstanding I/Os are those of all users together."""
    one = (*SSD, "--controllers", "megaraid_9540", "--raid", "10", "--count", "2")
    oltp = ("size", "--workload", "iometer_oltp", *one)
    assert destage(*oltp, "--users", "10").issues == [("study.no-effect", "--users")]
    done = destage(*oltp, *QUICK, "--explain")
    assert done.code == 0
    assert "no response curve" in done.err
    assert "requested load" not in done.out
    assert "\nEstimated from data sheets: 10 measured systems of this class (flash) ran at " in done.out


def test_an_objective_that_nothing_measures_is_named(destage: Any) -> None:
    """Without it, two SSDs carry the load with a response of 1.1 ms."""
    one = (*SSD, "--controllers", "megaraid_9540", "--raid", "10")
    oltp = ("size", "--workload", "iometer_oltp", *one, *QUICK)
    done = destage(*oltp, "--subject-to", "commit_p95 <= 10ms")
    assert (done.code, done.issues) == (2, [("study.not-measured", "--subject-to")])
    assert "commit_p95 <= 10ms" in done.err


def test_a_bound_of_the_busiest_disk_replaces_the_default(destage: Any) -> None:
    one = (*SSD, "--controllers", "megaraid_9540", "--raid", "10,5")
    for text in ("disk_busy_max<=0.99", "disk_busy_max <= 0.99"):
        out = destage("size", *SMALL[:4], *one, *QUICK, "--subject-to", text).out
        (line,) = [line for line in out.splitlines() if line.startswith("  disk busy max")]
        assert "at most 99 %" in line


def test_a_load_that_varies_is_measured_in_one_phase(destage: Any) -> None:
    """Ten minutes of logons and ten of work; a window of some thousand requests would miss both."""
    one = (*SSD, "--controllers", "megaraid_9540", "--raid", "10", "--quiet", "--json")
    storm = ("size", "--users", "4", "--workload", "vdi_logon_storm", *one)
    windows = {}
    for phase in ("logons", "work"):
        answer = json.loads(destage(*storm, *([] if phase == "logons" else ["--phase", phase])).out)
        with open_session(Path(answer["sweeps"][0])) as session:
            windows[phase] = session.sql("SELECT min(window_s) AS s FROM runs")["s"][0].as_py()
    assert windows == pytest.approx({"logons": 600.0, "work": 600.0})
    refused = destage(*storm[:5], "--phase", "logins")
    assert refused.issues == [("usage.bad-value", "--phase")]


@in_shared_store
def test_the_example_prices_are_a_price_table(destage: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(destage("size", "--example-prices").out)
    assert destage("size", *SMALL, "--prices", "mine.yaml").code == 0


def test_a_second_call_executes_nothing(destage: Any) -> None:
    one = (*SSD, "--controllers", "megaraid_9540", "--raid", "10,5")
    first, second = (destage("size", *SMALL[:4], *one, *QUICK) for _ in range(2))
    assert second.out == first.out
    assert all(" 0 executed" in line for line in second.err.splitlines() if " runs, " in line)


def test_a_text_in_place_of_a_number_says_what_to_write(destage: Any) -> None:
    for option, text in (("--growth", "more"), ("--budget", "5000EUR"), ("--spares", "two")):
        done = destage("size", *SMALL, option, text)
        assert done.issues == [("usage.bad-value", option)]
        assert f"{text!r}: must be a" in done.err


@pytest.mark.parametrize(
    ("args", "issue"),
    [
        ((), ("usage.conflicting-options", "--workload")),
        (("--workload", "none.fio"), ("usage.unreadable-file", "--workload")),
        (("--workload", "vdi", "--add", "none.fio"), ("usage.unreadable-file", "--add")),
        (("--workload", "vdi", "--growth", "2000%"), ("usage.bad-value", "--growth")),
        (("--workload", "vdi", "--trace", "x.parquet"), ("usage.conflicting-options", "--workload")),
        (("--workload", "vdi", "--count", "9-2"), ("usage.bad-value", "--count")),
        (("--workload", "vdi", "--count", "many"), ("usage.bad-value", "--count")),
        (("--workload", "vdx"), ("catalog.unknown-entry", "--workload")),
        (("--workload", "vdi", "--disks", "exos_x19"), ("catalog.unknown-entry", "--disks")),
        (("--workload", "vdi", "--disks", "savvio_10k4"), ("study.no-price", "--disks")),
        (("--workload", "vdi", "--controllers", "none"), ("catalog.unknown-entry", "--controllers")),
        (("--workload", "vdi", "--prices", "none.yaml"), ("usage.unreadable-file", "--prices")),
        (("--workload", "vdi", "--prices", "."), ("usage.unreadable-file", "--prices")),
        (("--workload", "vdi", "--response-p95", "30"), ("study.bad-quantity", "--response-p95")),
        (
            ("--workload", "vdi", "--subject-to", "response_p95 <= soon"),
            ("study.bad-quantity", "--subject-to"),
        ),
        (("--workload", "vdi", "--response-p95", "soon"), ("study.bad-quantity", "--response-p95")),
        (("--workload", "vdi", "--response-p95", "-3ms"), ("study.out-of-range", "--response-p95")),
        (("--workload", "vdi", "--subject-to", "speed > 3"), ("study.unknown-name", "--subject-to")),
        (("--workload", "vdi", "--budget", "inf"), ("study.wrong-type", "--budget")),
        (("--workload", "vdi", "--raid", "7"), ("study.unknown-name", "--raid")),
        (("--workload", "vdi", "--set", "x.y=1"), ("study.unknown-key", "--set x.y")),
        (("--workload", "vdi", "--set", "seek.max=9"), ("study.unknown-key", "--set seek.max")),
        (("--workload", "vdi", "--set", "run.seed=-1"), ("scenario.out-of-range", "--set run.seed")),
        (
            ("--workload", "vdi", "--users", "3..9", "--set", "controller.cache=3"),
            ("scenario.wrong-type", "--set controller.cache"),
        ),
        (("--workload", "vdi", "--set", "workload.users=5"), ("usage.conflicting-options", "--set")),
        (("--workload", "vdi", "--set", "array.raid=5"), ("usage.conflicting-options", "--set")),
        (("--workload", "vdi", "--set", "array={disks: 9}"), ("usage.conflicting-options", "--set")),
        ((*RATE, "--workload", "vdi"), ("usage.conflicting-options", "--workload")),
        ((*SHARED, "--workload", "vdi"), ("usage.conflicting-options", "--workload")),
        ((*SHARED, "--read-iops", "9"), ("usage.conflicting-options", "--read-iops")),
        ((*SHARED, "--write-iops", "9"), ("usage.conflicting-options", "--write-iops")),
        ((*SHARED[:2], "--size", "8KiB"), ("usage.missing-argument", "--read-share")),
        (("--iops", "0", *SHARED[2:]), ("usage.out-of-range", "--iops")),
        ((*RATE, "--capacity", "1TB", "--users", "9"), ("usage.conflicting-options", "--users")),
        (RATE, ("usage.missing-argument", "--capacity")),
        ((*RATE, "--capacity", "1TB..2TB"), ("usage.bad-value", "--capacity")),
        ((*RATE[:2], "--capacity", "1TB"), ("usage.missing-argument", "--size")),
        (("--write-iops", "0", "--size", "8KiB"), ("usage.out-of-range", "--read-iops")),
        (("--workload", "vdi", "--size", "8KiB"), ("usage.conflicting-options", "--size")),
        (("--trace", "x.parquet", "--test", "one"), ("usage.conflicting-options", "--test")),
        (("--workload", "vdi", "--growth", "20"), ("usage.conflicting-options", "--growth")),
        (("--workload", "vdi", "--capacity", "0TB"), ("usage.out-of-range", "--capacity")),
        (
            ("--workload", "vdi", "--add", "exchange_2003", "--capacity", "1kB"),
            ("scenario.smaller-than-request", "--capacity"),
        ),
        (("--iops", "1e12", *SHARED[2:]), ("usage.out-of-range", "--iops")),
        ((*SHARED[:4], "--size", "3B", "--capacity", "1TB"), ("scenario.not-whole-sectors", "--size")),
        (
            (
                *("--workload", "vdi", "--capacity", "9TB"),
                "--set",
                "workload.streams.0.address.footprint=1GB",
            ),
            ("usage.conflicting-options", "--set"),
        ),
        (("--workload", "vdi", "--set", "controller.use=nope"), ("usage.conflicting-options", "--set")),
        (
            ("--workload", "vdi", "--disks", "pm9a3_7680gb", "--controllers", "perc_h755"),
            ("study.nothing-possible", "--controllers"),
        ),
    ],
)
def test_mistakes_are_named(destage: Any, args: tuple[str, ...], issue: tuple[str, str]) -> None:
    done = destage("size", *args)
    assert done.code == 2
    assert done.issues == [issue]
    assert done.out == ""


@in_shared_store
def test_every_combination_is_accounted_for(destage: Any) -> None:
    """Those that are more expensive even with the fewest disks have no run, and are counted all the same."""
    answer = json.loads(destage("size", *SMALL, "--json").out)
    assert len(answer["candidates"]) + answer["impossible"] == 30
    assert sum(one["censored"] == "more_expensive" for one in answer["candidates"]) > 15


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_between_two_sweeps_has_a_warning(
    destage: Any, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    before = signal.getsignal(number)
    monkeypatch.setattr(sizing, "find_candidates", lambda *_: signal.raise_signal(number))
    done = destage("size", *SMALL)
    assert (done.code, done.out) == (130, "")
    assert done.err.startswith("warning: sweep.interrupted at size: ")
    assert signal.getsignal(number) is before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_the_last_run_of_a_sweep_ends_the_sizing(
    destage: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, number: signal.Signals
) -> None:
    """The sweep is finished, so that its own outcome is no interrupt."""
    finish = SweepWriter.finish

    def signal_and_finish(writer: Any, planner: Any) -> None:
        signal.raise_signal(number)
        finish(writer, planner)

    monkeypatch.setattr(SweepWriter, "finish", signal_and_finish)
    one = (*SSD, "--controllers", "megaraid_9540", "--raid", "10", "--count", "2")
    done = destage("size", "--users", "2", "--workload", "vdi", *one, *QUICK)
    assert (done.code, done.out) == (130, "")
    assert done.err.startswith("warning: sweep.interrupted at size: ")
    parts = {"disks": ["exos_x18"], "controllers": ["megaraid_9540"], "raid": ["10"], "most": 2}
    with pytest.raises(KeyboardInterrupt):
        package.size(1, "vdi", **parts, store=str(tmp_path))


def test_an_abort_of_a_sweep_has_one_warning(destage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def abort(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sweeps, "run", abort)
    done = destage("size", *SMALL)
    assert (done.code, done.out) == (130, "")
    assert [line.split()[1] for line in done.err.splitlines()] == ["sweep.aborted"]
