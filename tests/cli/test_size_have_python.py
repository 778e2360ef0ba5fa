"""`destage.size` with `have` and `add`: the answer of `destage size --have`, and mistakes."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import destage as package
from destage.cli.printed_results.sizing_answer import fit_as_json
from destage.errors import ConfigError
from destage.queries.findings.fit_text import Fit

ARRAY = """\
workload:
  users: 2
  streams:
  - name: files
    arrival: {kind: poisson, rate: 30/s, per_user: true}
    operations: {read_fraction: 0.5, size: {kind: constant, value: 8KiB}}
    address: {kind: uniform, footprint: 1TB}
controller: {use: megaraid_9540}
array: {raid: "10", disks: 4, disk: {use: exos_x18}}
run: {warm_up: {requests: 100}, window: {requests: 800}}
"""
PARTS = {"controllers": ["megaraid_9540"], "disks": ["exos_x18"], "raid": ["10"]}
OPTIONS = ("--controllers", "megaraid_9540", "--disks", "exos_x18", "--raid", "10", "--quiet", "--json")


@pytest.fixture
def array(tmp_path: Path) -> Path:
    file = tmp_path / "array.yaml"
    file.write_text(ARRAY)
    return file


def check_same(answer: Any, printed: dict[str, Any]) -> None:
    """Check that an answer is the one that the command has printed, of the same sweeps."""
    assert isinstance(answer.sized, Fit)
    assert (answer.best, answer.fits) == (None, printed["fits"])
    assert str(answer) == "\n".join(printed["answer"])
    assert str(answer.sweep.path) == printed["sweeps"][1]
    given = json.loads(json.dumps(fit_as_json(answer.sized, []), default=str))
    assert given | {"sweeps": printed["sweeps"]} == printed


def test_python_gives_the_answer_of_the_command(destage: Any, array: Path, tmp_path: Path) -> None:
    """Prices order the changes; the rate, its data, what is kept and the most disks are those of both."""
    prices = tmp_path / "prices.yaml"
    prices.write_text(
        "currency: USD\ndate: 2026-11-01\ncontrollers: {megaraid_9540: 100}\ndisks: {exos_x18: 100}\n"
    )
    rate = ("--read-iops", "500", "--write-iops", "100", "--size", "8KiB", "--capacity", "1TB")
    more = ("--keep", "2TB", "--count", "4-8", "--prices", str(prices), "--response-p95", "20ms")
    state = ("--during-rebuild", "response_p95 <= 60ms")
    done = destage("size", "--have", str(array), *rate, *more, *state, *OPTIONS)
    answer = package.size(
        have=array,
        read_iops=500,
        write_iops=100,
        size="8KiB",
        capacity="1TB",
        keep="2TB",
        most=8,
        prices=prices,
        response_p95="20ms",
        during_rebuild=["response_p95 <= 60ms"],
        **PARTS,
    )
    printed = json.loads(done.out)
    assert (printed["kept_bytes"], printed["currency"]) == (2 * 10**12, "USD")
    assert [change["kind"] for change in printed["changes"]] == ["disks"]
    check_same(answer, printed)


def test_an_array_and_its_loads_are_fields_too(destage: Any, array: Path) -> None:
    done = destage("size", "--have", str(array), "--add", "vdi", "--users", "2", *OPTIONS)
    fields = yaml.safe_load(ARRAY)
    check_same(package.size(2, have=fields, add=["vdi"], **PARTS), json.loads(done.out))
    study = {"name": "mine", "question": "Mine?", "scenario": fields}
    answer = package.size(have=study, add=[{"use": "vdi", "users": 2}], **PARTS)
    assert answer.sized.added.measured[0].mean == pytest.approx(
        json.loads(done.out)["with_addition"]["measured"][0]["mean"]
    )


@pytest.mark.parametrize(
    ("options", "issues"),
    [
        ({"add": ["vdi"]}, [("study.one-of", "workload")]),
        ({"workload": "vdi", "keep": "1TB"}, [("study.no-effect", "keep")]),
        ({"have": ARRAY}, [("study.one-of", "add")]),
        (
            {"have": ARRAY, "workload": "vdi", "budget": 9.0},
            [("study.no-effect", "workload"), ("study.no-effect", "budget")],
        ),
        ({"have": ARRAY, "add": ["vdi"], "iops": 9.0}, [("study.one-of", "add")]),
        ({"have": ARRAY, "add": ["vdi"], "users": (2, 3)}, [("study.no-effect", "users")]),
        ({"have": ARRAY, "add": ["vdi", "vdi"], "users": 2}, [("study.no-effect", "users")]),
        ({"have": ARRAY, "add": ["vdi", "vdi"], "capacity": "1TB"}, [("study.no-effect", "capacity")]),
        ({"have": ARRAY, "add": "vdi"}, [("study.wrong-type", "add")]),
        ({"have": ARRAY, "add": {"use": "vdi"}}, [("study.wrong-type", "add")]),
        ({"have": ARRAY, "add": ["vdx"]}, [("catalog.unknown-entry", "add")]),
        ({"have": ARRAY, "add": ["vdi"], "keep": "90TB"}, [("study.out-of-range", "keep")]),
        ({"have": ARRAY, "add": ["vdi"], "most": 3}, [("study.out-of-range", "most")]),
        ({"have": ARRAY, "add": ["vdi"], "disks": ["exos_x19"]}, [("catalog.unknown-entry", "disks")]),
        (
            {"have": ARRAY.replace("8KiB", "8"), "add": ["vdi"]},
            [("scenario.bad-quantity", "workload.streams.0.operations.size.value")],
        ),
        (
            {"have": f"axes: {{}}\nscenario: {yaml.safe_load(ARRAY)}", "add": ["vdi"]},
            [("study.unknown-key", "axes")],
        ),
    ],
)
def test_mistakes_have_a_code_and_a_place(
    array: Path, options: dict[str, Any], issues: list[tuple[str, str]]
) -> None:
    if "have" in options:
        array.write_text(options["have"])
        options = options | {"have": array}
    with pytest.raises(ConfigError) as caught:
        package.size(**options)
    assert [(issue.code, issue.place) for issue in caught.value.issues] == issues
