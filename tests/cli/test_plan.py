"""`destage run --plan`: the forms of the axes, the runs that are shared, and pictures of the design."""

import json
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml
from cli.conftest import Destage
from small_studies import small_study

from destage.queries.report.drawing.design_plot import PlottedAxis, draw_design, draw_text

DISKS, USERS, CAPACITY = "array.disks", "workload.users", "controller.cache.capacity"
AXES = {DISKS: {"integer": [2, 9]}, CAPACITY: {"log_uniform": ["32MiB", "1GiB"]}}


@pytest.fixture
def study(tmp_path: Path) -> str:
    """Return the file of a study with two sampled axes, a grid, a condition and a derived parameter."""
    document = {
        "name": "sampled",
        "scenario": yaml.safe_load(small_study("sampled", "array.disks: [4]"))["scenario"],
        "replicates": 1,
        "axes": {**AXES, "array.raid": ["0", "10"], "array.stripe_unit": {"log2": ["16KiB", "32KiB"]}},
        "zip": [{"run.seed": [1, 2], "run.window.requests": [500, 600]}],
        "when": {"array.stripe_unit": "raid = '0'"},
        "derived": {USERS: "disks * 2"},
        "where": "raid = '0' OR disks % 2 = 0",
        "design": {"points": 8},
    }
    file = tmp_path / "sampled.yaml"
    file.write_text(yaml.safe_dump(document, sort_keys=False))
    return str(file)


def test_a_plan_states_the_form_of_each_axis(destage: Destage, study: str) -> None:
    done = destage("run", "--plan", study, "--no-estimate")
    assert done.code == 0, done.err
    for line in (
        f"{DISKS}          integer [2, 9]",
        "array.raid           2 values: 0, 10",
        "array.stripe_unit    2 values: log2 [16KiB, 32KiB], where raid = '0'",
        "run.seed             2 values: 1, 2, together with run.window.requests",
        f"{USERS}       = disks * 2",
        "design               sobol, 8 points, 2 axes, seed 1",
    ):
        assert " ".join(line.split()) in [" ".join(each.split()) for each in done.out.splitlines()]
    # Eight points, four of them with an even number of disks, which RAID 10 requires; each with two seeds.
    assert json.loads(destage("run", "--plan", study, "--no-estimate", "--json").out)["points"] == 2 * (
        8 * 2 + 4
    )


def test_a_plan_lists_the_runs_that_it_counts(destage: Destage, tmp_path: Path) -> None:
    """Without a cache, the write fraction has no effect: one point of two, as in the view `points`."""
    file = tmp_path / "inert.yaml"
    fraction = "controller.cache.write_fraction"
    file.write_text(small_study("inert", f"{CAPACITY}: [0, 64MiB]", f"{fraction}: [0.25, 0.5]"))
    planned = json.loads(destage("run", "--plan", str(file), "--no-estimate", "--json").out)
    rows = planned["rows"]
    assert len(rows) == len({row["run_id"] for row in rows}) == planned["runs"]
    assert len({row["point_id"] for row in rows}) == planned["points"] == 3
    sweep = json.loads(destage("run", str(file), "--quiet", "--json").out)["outcome"]["path"]
    names = ("point_id", "cache_capacity", "write_fraction")
    statement = f"SELECT {', '.join(names)} FROM points"  # noqa: S608
    points = json.loads(destage("query", sweep, statement, "--json").out)
    keys = ("point_id", CAPACITY, fraction)
    assert {tuple(row[key] for key in keys) for row in rows} == {
        tuple(row[name] for name in names) for row in points
    }


@pytest.mark.parametrize("has_prices", [True, False])
def test_what_has_a_price_of_its_own_is_a_point_of_its_own(
    destage: Destage, tmp_path: Path, *, has_prices: bool
) -> None:
    """A hot spare changes the price, but no run; the time to charge the battery changes neither."""
    document = {
        "name": "spares",
        "scenario": {
            "workload": {"use": "call_center", "users": 20},
            "controller": {"use": "megaraid_9560_16i"},
            "array": {"raid": "10", "disks": 2, "disk": {"use": "exos_x18"}},
            "run": {"warm_up": "none", "window": {"requests": 300}},
        },
        "axes": {"array.hot_spares": [0, 1], "controller.battery.charge_time": ["1h", "2h"]},
        "seek": {"minimize": DISKS, "subject_to": ["response_p95 <= 1s"], "min": 2, "max": 4},
        "replicates": {"min": 2, "max": 2},
    }
    if has_prices:
        of_parts = {"controllers": {"megaraid_9560_16i": 400}, "disks": {"exos_x18": 100}}
        document["prices"] = {"currency": "EUR", "date": "2026-11-01", **of_parts}
    file = tmp_path / "spares.yaml"
    file.write_text(yaml.safe_dump(document))
    planned = json.loads(destage("run", "--plan", str(file), "--no-estimate", "--json").out)
    points = {row["point_id"] for row in planned["rows"]}
    assert len(points) == planned["points"] == 1 + has_prices
    assert planned["runs"] == 2
    sweep = json.loads(destage("run", str(file), "--quiet", "--json").out)["outcome"]["path"]
    statement = "SELECT price, hot_spares, charge_time FROM answers ORDER BY price"
    found = json.loads(destage("query", sweep, statement, "--json").out)
    assert [tuple(row.values()) for row in found] == (
        [(600, 0, None), (700, 1, None)] if has_prices else [(None, None, None)]
    )


def test_products_of_the_same_hardware_have_a_row_each(destage: Destage, tmp_path: Path) -> None:
    file = tmp_path / "twins.yaml"
    twins = {"megaraid_9560_16i", "perc_h755"}
    file.write_text(small_study("twins", f"controller.use: [{', '.join(twins)}]", "run.seed: [1, 2]"))
    planned = json.loads(destage("run", "--plan", str(file), "--no-estimate", "--json").out)
    assert len({row["point_id"] for row in planned["rows"]}) == planned["points"] == 4
    assert planned["runs"] * 2 == len(planned["rows"])
    sweep = json.loads(destage("run", str(file), "--quiet", "--json").out)["outcome"]["path"]
    statement = "SELECT controller, seed, response_mean_us FROM points ORDER BY seed, controller"
    found = json.loads(destage("query", sweep, statement, "--json").out)
    assert [(row["controller"], row["seed"]) for row in found] == [
        (name, seed) for seed in (1, 2) for name in sorted(twins)
    ]
    times = [row["response_mean_us"] for row in found]
    assert times[0] == times[1] != times[2] == times[3]


def test_a_sweep_has_the_plan_of_its_study(destage: Destage, study: str) -> None:
    of_study = json.loads(destage("run", study, "--plan", "--no-estimate", "--json").out)
    assert of_study["present"] == 0
    assert destage("run", study, "--quiet").code == 0
    name = Path(of_study["sweep"]).name
    for target in (name, of_study["sweep"]):
        of_sweep = json.loads(destage("run", target, "--plan", "--no-estimate", "--json").out)
        assert of_sweep == of_study | {"present": of_study["runs"]}


def test_a_plan_counts_the_runs_of_other_sweeps(destage: Destage, study: str) -> None:
    other = study.replace("sampled.yaml", "other.yaml")
    text = Path(study).read_text(encoding="utf-8")
    Path(other).write_text(text.replace("name: sampled", "name: other").replace("points: 8", "points: 4"))
    # The first four of the eight points.
    runs = json.loads(destage("run", other, "--quiet", "--json").out)["outcome"]["executed"]
    assert 0 < runs < 40
    planned = json.loads(destage("run", "--plan", study, "--no-estimate", "--json").out)
    assert (planned["runs"], planned["present"], planned["shared"]) == (40, 0, runs)
    assert (
        f"0 already in the store, {runs} in other sweeps of this store"
        in destage("run", "--plan", study, "--no-estimate").out
    )
    done = destage("run", study, "--quiet", "--json")
    outcome = json.loads(done.out)["outcome"]
    assert (outcome["executed"], outcome["reused"], outcome["shared"]) == (40 - runs, runs, runs)


def test_a_plot_shows_the_points_over_two_axes(destage: Destage, study: str, tmp_path: Path) -> None:
    plot = tmp_path / "design.svg"
    done = destage("run", "--plan", study, "--no-estimate", "--plot", str(plot))
    assert done.code == 0, done.err
    root = ET.fromstring(plot.read_text())  # noqa: S314 - our own file
    texts = ["".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"sampled", "disks", "cache_capacity", "64 MiB", "512 MiB"} <= set(texts)
    symbols = [
        each for each in root.iter("{http://www.w3.org/2000/svg}path") if "mark" in each.get("class", "")
    ]
    assert len(symbols) == 8
    named = destage("run", "--plan", study, "--no-estimate", "--axes", "capacity,raid").out.splitlines()
    assert {"raid", "10", "0"} <= {line.partition(" │")[0].strip() for line in named}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--plot", "design.png"), ".svg"),
        (("--axes", "disks"), "does not name two axes"),
        (("--axes", "disks,capacty"), "did you mean 'capacity'"),
    ],
)
def test_a_plot_that_cannot_be_drawn(
    destage: Destage, study: str, options: tuple[str, ...], message: str
) -> None:
    failed = destage("run", "--plan", study, "--no-estimate", *options)
    assert failed.code == 2
    assert message in failed.err


def test_a_sampled_axis_without_scipy_names_the_extra(
    destage: Destage, study: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats.qmc", None)
    failed = destage("run", "--plan", study, "--no-estimate")
    assert failed.code == 2
    assert "scipy is not installed; install it with: pip install 'destage[scipy]'" in failed.err


def test_a_text_plot_worked_by_hand() -> None:
    x = PlottedAxis("x", None, [0, 0, 4, 4.0, 2], is_log=False)
    y = PlottedAxis("size", "bytes", [1024, 1024, 4096, 4095, 2048], is_log=True)
    assert draw_text(x, y, width=5, height=3) == [
        "size",
        "4 KiB │    ∘",
        "      │  ·",
        "1 KiB │·",
        "      └─────",
        "       0 x 4",
    ]


def test_a_picture_of_many_points_is_no_larger() -> None:
    values = [float(number * 7919 % 100_003) for number in range(100_000)]
    other = [float(number) for number in range(100_000)]
    svg = draw_design(
        "many", "", PlottedAxis("x", None, values, is_log=False), PlottedAxis("y", None, other, is_log=False)
    )
    assert len(svg) < 2_000_000
