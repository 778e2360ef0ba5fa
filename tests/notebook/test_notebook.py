"""The functions of the package return typed results that notebooks display, and name missing extras."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from measured_loads import line
from small_studies import small_study

import destage
from destage.errors import ConfigError, QueryError, UsageError
from destage.measured.sets import write_set
from destage.notebook import Sweep
from destage.queries.findings.ranged_text import RangedSizing
from destage.sweeps.sizing.request import list_objectives

TRACE = Path(__file__).parents[2] / "examples/pgbench.parquet"
STUDY = small_study("small", "controller.battery.state: [present, absent]", "workload.users: [5, 10]")


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    """Return a finished sweep of four points."""
    return destage.run(yaml.safe_load(STUDY), store=tmp_path_factory.mktemp("store"))


def test_the_version_is_that_of_the_package() -> None:
    assert destage.__version__ == version("destage")
    with pytest.raises(AttributeError):
        _ = destage.nothing


def test_importing_the_package_loads_no_room() -> None:
    code = "import sys, destage; print(sorted(name for name in sys.modules if name.startswith('destage')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['destage']"


def test_a_study_is_a_dict_a_file_or_a_name(sweep: Sweep, tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(STUDY)
    again = destage.run(tmp_path / "small.yaml", store=sweep.path.parent.parent)
    assert again.path == sweep.path
    assert again.outcome is not None
    assert again.outcome.executed == 0
    with pytest.raises(ConfigError):
        destage.run("no_such_study", store=tmp_path)


def test_a_sweep_has_frames_and_sql(sweep: Sweep) -> None:
    assert isinstance(sweep.points(), pl.LazyFrame)
    assert sweep.points().collect().height == 4
    found = sweep.sql(
        "SELECT battery_state, users, response_p95_us FROM points ORDER BY users, battery_state"
    )
    assert found.columns == ["battery_state", "users", "response_p95_us"]
    assert found["users"].to_list() == [5, 5, 10, 10]
    assert sweep.query("marginals").height == 4
    assert sweep.arrow("SELECT count(*) AS n FROM runs")["n"][0].as_py() == sweep.runs().collect().height
    with pytest.raises(QueryError):
        sweep.sql("DROP TABLE points")
    with pytest.raises(QueryError) as caught:
        sweep.sql("SELECT 1; SELECT 2")
    assert caught.value.code == "query.not-one-statement"


def test_a_measured_set_is_typed_lines(sweep: Sweep) -> None:
    lines = (line(8), line(2, workload="log <1>"))
    store = sweep.path.parent.parent
    write_set(store, "lab", lines, replace=True)
    measured = destage.open_measured("lab", store)
    assert tuple(measured) == tuple(sweep.measured("lab")) == lines
    assert measured[1].outstanding == 2
    assert measured.frame()["line"].to_list() == [1, 2]
    assert "log &lt;1&gt;" in measured._repr_html_()
    assert "8 KiB" in measured._repr_html_()
    assert sweep.plot(measured="lab").svg.startswith("<svg")
    assert 'id="measured"' in sweep.report(measured="lab").read_text()


def test_a_sweep_shows_its_answer_its_points_and_its_figures(sweep: Sweep, tmp_path: Path) -> None:
    html = sweep._repr_html_()
    assert sweep.answer
    assert sweep.answer[0].split()[0] in html
    assert html.count("<tr>") == 5
    assert sweep.name in repr(sweep)
    picture = sweep.plot()
    assert picture._repr_svg_().startswith("<svg")
    assert picture.save(tmp_path / "one.svg").read_text() == picture.svg
    for other in ("one.png", "one"):
        with pytest.raises(UsageError, match="SVG") as caught:
            picture.save(tmp_path / other)
        assert (caught.value.code, caught.value.place) == ("usage.bad-file-type", "file")
        assert not (tmp_path / other).exists()
    assert set(sweep.plots) >= {sweep.plots[0]}
    report = sweep.report(tmp_path / "report.html")
    assert report.read_text().startswith("<!doctype html>")


def test_a_closed_sweep_opens_again(sweep: Sweep) -> None:
    with destage.open(sweep.path) as opened:
        first = opened.session
        assert opened.session is first
    assert opened.session is not first
    opened.close()


def test_a_simulation_has_its_columns_as_attributes() -> None:
    scenario = yaml.safe_load(STUDY)["scenario"]
    result = destage.simulate(scenario)
    assert result["status"] == result.status == "ok"
    assert result.response_p95_us > 0
    assert "response_p95_us" in dir(result)
    assert dict(result) == {name: result[name] for name in result}
    assert "95th percentile" in result._repr_html_()
    with pytest.raises(AttributeError, match="no result column 'nothing'"):
        _ = result.nothing


def test_a_simulation_takes_a_file(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_text(STUDY)
    scenario = yaml.safe_load(STUDY)["scenario"]
    assert (
        dict(destage.simulate(str(study)))
        == dict(destage.simulate(study))
        == dict(destage.simulate(scenario))
    )
    study.write_text(STUDY.replace("disks: 4", "diks: 4"))
    with pytest.raises(ConfigError) as caught:
        destage.simulate(study)
    assert caught.value.source == str(study)
    assert caught.value.issues[0].line
    with pytest.raises(FileNotFoundError):
        destage.simulate("nowhere.yaml")
    with pytest.raises(ConfigError, match="JSON"):
        destage.simulate("{")


def test_a_miss_ratio_curve_is_read_at_sizes() -> None:
    curve = destage.miss_ratio_curve(TRACE)
    assert curve.at("1KiB") == 1.0
    values = [curve.at(size, "writes") for size in ("64KiB", "1MiB", "16MiB", "1GiB")]
    assert values == sorted(values, reverse=True)
    assert curve.frame().height == curve.table.num_rows
    assert curve._repr_html_().startswith("<svg")
    assert "lru" in repr(curve)


def test_the_cheapest_configuration_is_found(tmp_path: Path) -> None:
    answer = destage.size(
        1, "iometer_oltp", disks=["dc600m_960gb"], controllers=["megaraid_9540"], store=tmp_path
    )
    assert answer.best is not None
    assert (answer.best.disks, answer.best.price) == (2, 980.0)
    assert answer.runner_up is not None
    assert str(answer).startswith("2 x Kingston")
    assert "Kingston" in answer._repr_html_()
    assert answer.sweep.answers().collect().height == 3


def test_a_range_of_users_has_the_least_regret(tmp_path: Path) -> None:
    parts = {"disks": ["dc600m_960gb"], "controllers": ["megaraid_9540"], "raid": ["10"], "most": 4}
    answer = destage.size((40, 60), "vdi", **parts, store=tmp_path)
    assert isinstance(answer.sized, RangedSizing)
    assert (answer.best.disks, answer.best.price) == (2, 980.0)
    assert answer.best.mean_regret == min(one.mean_regret for one in answer.sized.candidates)
    assert str(answer).startswith("2 x Kingston")
    assert "users_supported" in answer.sweep.answers().collect().columns


def test_a_rate_takes_the_place_of_a_workload(tmp_path: Path) -> None:
    """A rate with a share of reads is the same load as the rates of reads and of writes: the same sweep."""
    parts = {"disks": ["dc600m_960gb"], "controllers": ["megaraid_9540"], "raid": ["10"], "most": 4}
    data = {"size": "8KiB", "capacity": "900GB", **parts, "store": tmp_path}
    together = destage.size(iops=1000, read_share=0.7, **data)
    apart = destage.size(read_iops=700, write_iops=300, **data)
    assert together.sweep.path == apart.sweep.path
    assert (together.best.disks, together.sized.held.stated_bytes) == (2, 900 * 10**9)


RANDOM = {
    "name": "random",
    "arrival": {"kind": "poisson", "rate": "100/s"},
    "operations": {"read_fraction": 0.5, "size": {"kind": "constant", "value": "8KiB"}},
}
"""A stream without addresses."""


@pytest.mark.parametrize(
    ("options", "issues"),
    [
        ({}, [("study.one-of", "workload")]),
        ({"workload": "vdi", "iops": 9}, [("study.one-of", "workload")]),
        ({"iops": 9, "read_share": 1, "read_iops": 9}, [("study.one-of", "read_iops")]),
        ({"iops": 9, "size": "8KiB", "capacity": "1TB"}, [("study.missing-key", "read_share")]),
        (
            {"read_iops": 9, "users": 9, "read_share": 0.5},
            [
                *(("study.missing-key", place) for place in ("size", "capacity")),
                *(("study.no-effect", place) for place in ("read_share", "users")),
            ],
        ),
        ({"workload": "vdi", "size": "8KiB"}, [("study.no-effect", "size")]),
        ({"iops": (5, 9), "read_share": 1.2}, [("study.out-of-range", "read_share")]),
        ({"write_iops": 0, "size": "8KiB", "capacity": "1TB"}, [("study.out-of-range", "iops")]),
        ({"workload": {"use": "vdi", "streams": 3}}, [("scenario.wrong-type", "workload.streams")]),
        (
            {"workload": {"streams": [{"name": "a"}]}},
            [("scenario.missing-key", "workload.streams.0.arrival")],
        ),
        # No array that is considered has room for it; another one may.
        (
            {"workload": {"streams": [RANDOM | {"address": {"kind": "uniform", "footprint": "900TB"}}]}},
            [("study.nothing-possible", "workload.streams.0.address.footprint")],
        ),
    ],
)
def test_mistakes_of_a_load_are_named(options: dict[str, Any], issues: list[tuple[str, str]]) -> None:
    with pytest.raises(ConfigError) as caught:
        destage.size(**options)
    assert [(issue.code, issue.place) for issue in caught.value.issues] == issues


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("users", wrong) for wrong in ("300", "20..30", 20.5, (20, "30"), (20, 30, 40), True)]
    + [("iops", "1000"), ("read_share", (0.1, None))],
)
def test_a_number_of_a_wrong_type_is_named(name: str, wrong: object) -> None:
    with pytest.raises(ConfigError, match="number") as caught:
        destage.size(workload="vdi", **{name: wrong})
    assert [(issue.code, issue.place) for issue in caught.value.issues] == [("study.wrong-type", name)]


def test_a_reversed_range_of_users_is_named() -> None:
    with pytest.raises(ConfigError) as caught:
        destage.size((350, 250), "vdi")
    assert [(issue.code, issue.place) for issue in caught.value.issues] == [
        ("study.bounds-reversed", "users")
    ]


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"fewest": 5, "most": 2}, "seek.min"),
        ({"prices": {"currency": "EUR"}}, "controllers"),
        ({"response_p95": "-3ms"}, "response_p95"),
        ({"raid": "10"}, "raid"),
        ({"raid": ["7"]}, "raid"),
        ({"subject_to": "response_p99 <= 80ms"}, "subject_to"),
    ],
)
def test_mistakes_of_a_sizing_are_named(options: dict[str, Any], place: str) -> None:
    with pytest.raises(ConfigError) as caught:
        destage.size(20, "vdi", **options)
    assert place in [issue.place for issue in caught.value.issues]


def test_objectives_are_those_of_the_command() -> None:
    """The bound of the busiest disk is added to others, and replaced by one of the same column."""
    others = list_objectives("30ms", ["response_p99 <= 80ms"])
    assert others == ["response_p95 <= 30ms", "response_p99 <= 80ms", "disk_busy_max <= 0.9"]
    assert list_objectives("30ms", ["disk_busy_max<=0.99"]) == ["response_p95 <= 30ms", "disk_busy_max<=0.99"]


@pytest.mark.parametrize(
    ("module", "extra", "use"),
    [
        ("polars", "notebook", lambda sweep: sweep.sql("SELECT 1")),
        ("ray", "ray", lambda _: destage.run(yaml.safe_load(STUDY) | {"name": "other"}, executor="ray")),
    ],
)
def test_a_missing_extra_is_named(
    module: str,
    extra: str,
    use: object,
    sweep: Sweep,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UsageError) as caught:
        use(sweep)  # type: ignore[operator]
    assert caught.value.code == "usage.missing-extra"
    assert f"destage[{extra}]" in caught.value.message


def test_missing_rows_are_said_wherever_results_are_shown(tmp_path: Path) -> None:
    done = destage.run(yaml.safe_load(STUDY), store=tmp_path)
    assert done.session.warnings == ()
    done.close()
    (fragment, *_) = Path(str(done.path), "fragments").glob("*.parquet")
    fragment.unlink()
    found = destage.open(str(done.path))
    with pytest.warns(UserWarning, match=r"sweep\.unfinished at small-.*: \d of 8 planned runs are missing"):
        (rows,) = found.sql("SELECT count(*) AS n FROM runs")["n"].to_list()
    assert 0 < found.session.missing_runs == 8 - rows
    assert [issue.code for issue in found.session.warnings] == ["sweep.unfinished"]
    assert any("missing" in sentence for sentence in found.answer)
    assert "Warning: sweep.unfinished" in found._repr_html_()
    found.close()
