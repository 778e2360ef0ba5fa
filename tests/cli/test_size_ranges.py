"""`destage size` for a load in ranges: odds, regret and the recommended array, and mistakes."""

import json
from pathlib import Path
from typing import Any

import pytest

from destage.cli.parameters.sizing_load import range_parser

SHORT = ("--set", "run.warm_up={requests: 200}", "--set", "run.window={requests: 1000}", "--quiet")
"""Short runs: the laws hold whatever they measure."""
ONE = ("--disks", "exos_x18,dc600m_960gb", "--controllers", "megaraid_9540", "--raid", "10")
SSD = (
    *("--disks", "dc600m_960gb", "--controllers", "megaraid_9540", "--raid", "10", "--count", "2-4"),
    # Without old data, a run takes a tenth of the processor time.
    *("--set", "array.disk.precondition=empty"),
)
VDI = ("size", "--workload", "vdi", *SHORT, "--json")
DATA = ("--size", "8KiB", "--capacity", "900GB")


def test_users_in_a_range_have_odds_and_regret(destage: Any) -> None:
    """Odds are the share of the range that a candidate carries; the cheapest of each load is one of them."""
    done = destage(*VDI, *ONE, "--users", "4..16", "--count", "2-12")
    answer = json.loads(done.out)
    assert done.code == 0
    assert answer["ranges"] == {"users": [4, 16]}
    # What a dead battery costs is no part of this answer.
    assert not any("-battery" in Path(sweep).name for sweep in answer["sweeps"])
    assert [sized["load"]["users"] for sized in answer["sized"]] == [4, 16, 10]
    candidates = answer["candidates"]
    assert [one["price"] for one in candidates] == sorted(one["price"] for one in candidates)
    assert all(0 <= one["odds"] <= 1 and one["mean_regret"] >= 0 for one in candidates)
    least = min(candidates, key=lambda one: (one["mean_regret"], one["price"]))
    assert answer["recommended"] == least
    assert answer["sure"] == next(
        (one for one in candidates if round(one["odds_with_error"], 2) >= 0.95), None
    )
    for one in candidates:
        (carried,) = one["carried"]
        share = min(max((carried - 4) / 12, 0), 1)
        assert one["odds"] == pytest.approx(share, abs=0.011)
        # The odds of one that carries far more differ from 1 by less than a rounding.
        assert 0 < one["odds_with_error"] <= 1
        assert one["odds_with_error"] < 1 or carried > 32
    cheapest = {sized["load"]["users"]: sized["carrying"][0] for sized in answer["sized"]}
    for users, found in cheapest.items():
        (same,) = [
            one
            for one in candidates
            if (one["parts"], one["disks"]) == (found["parts"], found["disks"]) and one["carried"][0] >= users
        ]
        assert same["price"] == found["price"]


def test_disks_between_those_found_are_candidates(destage: Any) -> None:
    answer = json.loads(
        destage(
            *VDI,
            "--users",
            "2..10",
            "--count",
            "2-12",
            "--disks",
            "exos_x18",
            *("--controllers", "megaraid_9540", "--raid", "10"),
        ).out
    )
    counts = [one["disks"] for one in answer["candidates"]]
    found = [sized["carrying"][0]["disks"] for sized in answer["sized"] if sized["carrying"]]
    assert set(range(min(found), max(found) + 1, 2)) <= set(counts)


def test_a_range_of_no_width_is_one_load(destage: Any) -> None:
    alike = [destage(*VDI, *SSD, "--users", users).out for users in ("50", "50..50")]
    first, second = (json.loads(text) for text in alike)
    assert first == second


def test_a_share_of_reads_may_be_a_range(destage: Any) -> None:
    answer = json.loads(destage(*VDI, *SSD, "--users", "50", "--read-share", "0.6..0.8").out)
    assert answer["ranges"] == {"read_share": [0.6, 0.8]}
    assert answer["shares"] == pytest.approx([0.6, 0.7, 0.8])
    assert all(len(one["carried"]) == 3 for one in answer["candidates"])


def test_a_share_of_reads_is_that_of_the_runs(destage: Any) -> None:
    """Reads and writes of an SSD differ in their response, so that other shares have other results."""
    answers = [
        json.loads(destage(*VDI, *SSD, "--users", "50", "--read-share", share).out) for share in ("0.2", "1")
    ]
    preset = json.loads(destage(*VDI, *SSD, "--users", "50").out)
    results = [answer["carrying"][0]["measured"][0]["mean"] for answer in (*answers, preset)]
    assert results[0] == results[2] != results[1]


@pytest.mark.parametrize("option", ["--read-iops", "--write-iops"])
def test_a_rate_may_be_a_range(destage: Any, option: str) -> None:
    other = "--write-iops" if option == "--read-iops" else "--read-iops"
    answer = json.loads(destage("size", *DATA, *SSD, *SHORT, "--json", option, "100..300", other, "100").out)
    name = option[2:].replace("-", "_")
    assert (answer["ranges"], answer["unit"]) == ({name: [100, 300]}, "IO/s")
    ends = [0.5, 0.75] if option == "--read-iops" else [0.25, 0.5]
    assert answer["shares"] == pytest.approx([ends[0], sum(ends) / 2, ends[1]])
    assert answer["recommended"]["odds"] == 1
    assert all(min(one["carried"]) > 300 for one in answer["candidates"])


def test_a_rate_and_its_share_may_be_ranges(destage: Any) -> None:
    load = ("--iops", "200..400", "--read-share", "0.5..0.7")
    answer = json.loads(destage("size", *DATA, *SSD, *SHORT, "--json", *load).out)
    assert (answer["ranges"], answer["unit"]) == ({"iops": [200, 400], "read_share": [0.5, 0.7]}, "IO/s")
    assert answer["shares"] == pytest.approx([0.5, 0.6, 0.7])
    assert answer["recommended"]["odds"] == 1
    assert "200 to 400 IO/s" in " ".join(answer["answer"])


def test_the_answer_states_odds_regret_and_the_rule(destage: Any) -> None:
    done = destage("size", "--workload", "vdi", *SSD, *SHORT[:4], "--users", "40..60")
    lines = done.out.splitlines()
    assert lines[0] == "2 x Kingston DC600M 960 GB SATA, RAID 1+0, Broadcom MegaRAID 9540 (no cache): EUR 980"
    facts = dict(line.strip().split("  ", 1) for line in lines[2:6])
    assert list(facts) == ["ranges", "odds", "regret", "to be sure"]
    assert "40 to 60 users" in facts["ranges"]
    assert "with the error of the model" in facts["odds"]
    assert any(line.endswith("  configuration") for line in lines)
    assert any(line.startswith("Regret: ") for line in lines)
    assert "about 4 times as long" in done.err
    assert "--users 40..60" in done.err


def test_what_no_array_carries_even_at_the_low_end_is_named(destage: Any) -> None:
    done = destage("size", "--workload", "vdi", *SSD, *SHORT, "--users", "40..60", "--response-p95", "0.02ms")
    assert done.code == 1
    assert done.out.splitlines()[0] == "Even at the low ends (40 users):"


@pytest.mark.parametrize(
    ("args", "issue"),
    [
        (("--users", "350..250"), ("usage.bad-value", "--users")),
        (("--users", "250.."), ("usage.bad-value", "--users")),
        (("--users", "2.5..9"), ("usage.bad-value", "--users")),
        (("--users", "many"), ("usage.bad-value", "--users")),
        (("--users", "0..9"), ("usage.out-of-range", "--users")),
        (("--users", "1..2000000"), ("usage.out-of-range", "--users")),
        (("--read-share", "0.6..1.2"), ("usage.out-of-range", "--read-share")),
        (("--read-share", "0.8..0.6"), ("usage.bad-value", "--read-share")),
        (("--read-share", "nan"), ("usage.bad-value", "--read-share")),
        (("--read-share", "70"), ("usage.out-of-range", "--read-share")),
        (("--read-share", "60%..170%"), ("usage.out-of-range", "--read-share")),
        (("--read-share", "%"), ("usage.bad-value", "--read-share")),
        (("--users", "2..9", "--explain"), ("usage.conflicting-options", "--explain")),
        (
            ("--read-share", "0.5", "--set", "workload.streams.0.operations.read_fraction=0.1"),
            ("usage.conflicting-options", "--set"),
        ),
    ],
)
def test_mistakes_in_ranges_are_named(destage: Any, args: tuple[str, ...], issue: tuple[str, str]) -> None:
    done = destage("size", "--workload", "vdi", *args)
    assert (done.code, done.issues, done.out) == (2, [issue], "")


def test_a_mix_written_as_two_shares_has_an_example(destage: Any) -> None:
    assert "70%" in destage("size", "--workload", "vdi", "--read-share", "70/30").err


@pytest.mark.parametrize("text", ["0.6..0.7", "60%..70%", "0.6..70%"])
def test_a_share_may_be_a_percentage(text: str) -> None:
    share = range_parser("read_share")(text)
    assert (share.low, share.high) == (0.6, 0.7)


@pytest.mark.parametrize(
    ("args", "issue"),
    [
        (("--read-iops", "9..5"), ("usage.bad-value", "--read-iops")),
        (("--write-iops", "-9"), ("usage.out-of-range", "--write-iops")),
        (("--read-iops", "5..9", "--read-share", "0.5"), ("usage.conflicting-options", "--read-share")),
        (("--read-iops", "0..9"), ("usage.out-of-range", "--read-iops")),
        (("--iops", "0..9", "--read-share", "0.5"), ("usage.out-of-range", "--iops")),
        (("--iops", "9..5", "--read-share", "0.5"), ("usage.bad-value", "--iops")),
        (("--iops", "5..9"), ("usage.missing-argument", "--read-share")),
    ],
)
def test_mistakes_in_rates_are_named(destage: Any, args: tuple[str, ...], issue: tuple[str, str]) -> None:
    done = destage("size", *DATA, *args)
    assert (done.code, done.issues, done.out) == (2, [issue], "")


def test_a_load_that_users_do_not_change_has_no_ranges(destage: Any) -> None:
    done = destage("size", "--workload", "iometer_oltp", "--read-share", "0.5..0.7")
    assert (done.code, done.issues) == (2, [("study.no-effect", "--users")])


def test_a_share_needs_a_workload_of_one_stream(destage: Any) -> None:
    done = destage("size", "--workload", "exchange_2003", "--read-share", "0.5..0.7")
    assert (done.code, done.issues) == (2, [("usage.conflicting-options", "--read-share")])


@pytest.mark.parametrize(
    ("option", "text"), [("--users", "2..5"), ("--read-share", "0.5"), ("--read-iops", "2..5")]
)
def test_an_array_that_is_there_takes_no_ranges(destage: Any, option: str, text: str) -> None:
    done = destage("size", "--have", "mine.yaml", "--add", "vdi", option, text)
    assert (done.code, done.issues) == (2, [("usage.conflicting-options", option)])
