"""Options of the commands that print rows: file, formulas, limits of time and memory."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from cli.conftest import AXES, finish_sweep
from small_studies import small_study

DATA = Path(__file__).parents[1] / "measured" / "data"
SIDES = ("--a", "battery_state = 'present'", "--b", "battery_state = 'absent'")
FORMULA = "=1+1"


@pytest.fixture(scope="module")
def finished_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with a sweep of which a point has a label that a spreadsheet would run as a formula."""
    point = {"label": FORMULA, "workload.users": 7, "controller.battery.state": "absent"}
    axes = (AXES[0], "workload.users: [5, 10, 15, 20, 25, 30]")
    text = f"{small_study('small', *axes)}\npoints: {json.dumps([point])}\n"
    return finish_sweep(tmp_path_factory.mktemp("formula"), text)


@pytest.mark.parametrize(
    "command",
    [
        ("query", "small", "SELECT DISTINCT label FROM points"),
        ("query", "small", "design_space"),
        ("compare", "small", "--a", f"label = '{FORMULA}'", "--b", "users = 5 AND battery_state = 'absent'"),
    ],
)
@pytest.mark.usefixtures("sweep")
def test_a_spreadsheet_runs_no_label(destage: Any, command: tuple[str, ...]) -> None:
    def read(*options: str) -> set[str]:
        done = destage(*command, "--format", "csv", *options)
        assert done.code == 0, done.err
        return {cell for row in csv.DictReader(io.StringIO(done.out)) for cell in row.values()}

    assert any(cell.startswith(FORMULA) for cell in read())
    cells = read("--escape-formulas")
    assert not any(cell.startswith(FORMULA) for cell in cells)
    assert any(cell.startswith(f"'{FORMULA}") for cell in cells)


def test_a_spreadsheet_runs_no_name_of_a_job(destage: Any) -> None:
    text = (DATA / "fio-3.33-grouped.json").read_text().replace('"seqread"', json.dumps(FORMULA))
    Path("fio.json").write_text(text)
    assert destage("measured", "import", "fio.json", "--name", "lab", "--array", "a").code == 0
    shown = ("measured", "show", "lab", "--format", "csv")
    assert f',"{FORMULA}",' in destage(*shown).out
    assert f',"\'{FORMULA}",' in destage(*shown, "--escape-formulas").out


@pytest.mark.parametrize(
    "command",
    [
        ("compare", "small", *SIDES),
        ("explain", "axes", "small"),
        ("query", "small", "design_space"),
        ("query", "small", "SELECT * FROM points"),
    ],
)
@pytest.mark.usefixtures("sweep")
def test_rows_go_to_a_file_in_each_format(destage: Any, command: tuple[str, ...]) -> None:
    done = destage(*command, "--format", "parquet", "--out", "rows.parquet")
    assert (done.code, done.out) == (0, ""), done.err
    rows = pq.read_table("rows.parquet")
    listed = list(csv.DictReader(io.StringIO(destage(*command, "--format", "csv").out)))
    assert rows.num_rows == len(listed) > 0
    assert rows.column_names == list(listed[0])


@pytest.mark.parametrize(
    "command", [("query", "small", "SELECT * FROM points"), ("query", "small", "design_space")]
)
@pytest.mark.parametrize(
    ("option", "value", "code"),
    [
        ("--timeout", "0s", "usage.out-of-range"),
        ("--timeout", "soon", "usage.bad-quantity"),
        ("--memory", "1KiB", "usage.out-of-range"),
        ("--memory", "much", "usage.bad-quantity"),
        ("--max-rows", "1", "query.too-many-rows"),
    ],
)
@pytest.mark.usefixtures("sweep")
def test_limits_hold(destage: Any, command: tuple[str, ...], option: str, value: str, code: str) -> None:
    assert destage(*command, option, value).issues[0][0] == code


@pytest.mark.usefixtures("sweep")
def test_a_statement_ends_after_its_time(destage: Any) -> None:
    endless = "SELECT count(*) AS n FROM range(100000) a, range(100000) b, range(100000) c"
    assert destage("query", "small", endless, "--timeout", "200ms").issues == [("query.timeout", "")]


@pytest.mark.usefixtures("sweep")
def test_serve_passes_its_limits_on(destage: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []
    monkeypatch.setattr("destage.server.serve_sweep", lambda *arguments: given.append(arguments[-1]))
    limits = ("--max-rows", "7", "--memory", "80MiB", "--timeout", "9s")
    assert destage("report", "small", "--serve", *limits).code == 0
    assert [(one.rows, one.memory_bytes, one.seconds) for one in given] == [(7, 80 << 20, 9.0)]


@pytest.mark.parametrize(
    ("options", "place"),
    [
        (("--serve", "--plot", "knee"), "--plot"),
        (("--serve", "--measured", "lab"), "--measured"),
        (("--serve", "--out", "report.html"), "--out"),
        (("--port", "0"), "--port"),
        (("--address", "::1"), "--address"),
        (("--max-rows", "7"), "--max-rows"),
    ],
)
@pytest.mark.usefixtures("sweep")
def test_a_report_is_written_or_served(destage: Any, options: tuple[str, ...], place: str) -> None:
    done = destage("report", "small", *options)
    assert (done.code, done.issues) == (2, [("usage.conflicting-options", place)])


ROWS = [
    ("query", "small", "SELECT users FROM points"),
    ("compare", "small", *SIDES),
    ("explain", "axes", "small"),
    ("explain", "ranges", "small", "--where", "users < 20"),
]
"""Commands that write rows."""


@pytest.mark.parametrize("command", ROWS)
@pytest.mark.usefixtures("sweep")
def test_json_is_one_option_and_is_written_to_files(destage: Any, command: tuple[str, ...]) -> None:
    assert destage(*command, "--format", "json").issues == [("usage.bad-value", "--format")]
    done = destage(*command, "--json", "--out", "answer.json")
    assert (done.code, done.out) == (0, ""), done.err
    assert json.loads(Path("answer.json").read_text()) == json.loads(destage(*command, "--json").out)


@pytest.mark.parametrize("command", ROWS)
@pytest.mark.usefixtures("sweep")
def test_the_ending_of_a_file_chooses_its_format(destage: Any, command: tuple[str, ...]) -> None:
    for ending, form in ((".csv", "csv"), (".parquet", "parquet"), (".md", "markdown")):
        for file, options in ((f"chosen{ending}", ()), ("given.xlsx", ("--format", form))):
            done = destage(*command, "--out", file, *options)
            assert (done.code, done.out) == (0, ""), done.err
        assert Path(f"chosen{ending}").read_bytes() == Path("given.xlsx").read_bytes()
    for other in ("rows.xlsx", "rows", "rows.json"):
        assert destage(*command, "--out", other).issues == [("usage.bad-file-type", "--out")]
        assert not Path(other).exists()


def test_every_command_with_rows_checks_the_ending(destage: Any) -> None:
    for command in (
        ("measured", "show", "lab"),
        ("cluster", "query", "demo", "SELECT 1"),
        ("trace", "replay", "t.csv", "--on", "raid10x2"),
    ):
        assert destage(*command, "--out", "rows.xlsx").issues == [("usage.bad-file-type", "--out")]


def test_a_replay_writes_its_rows(destage: Any, tmp_path: Path) -> None:
    trace = tmp_path / "trace.spc"
    trace.write_text("".join(f"0,{at * 800},4096,{'RW'[at % 2]},{at / 50}\n" for at in range(100)))
    replay = ("trace", "replay", str(trace), "--on", "raid10x2", "--replicates", "1", "--quiet")
    done = destage(*replay, "--workers", "1", "--out", "rows.csv")
    assert (done.code, done.out) == (0, ""), done.err
    assert Path("rows.csv").read_text() == destage(*replay, "--format", "csv").out
    assert destage(*replay, "--workers", "0").issues == [("usage.bad-value", "--workers")]


def test_formulas_are_escaped_in_csv_only(destage: Any, sweep: str) -> None:
    statement = "SELECT DISTINCT label FROM points WHERE label IS NOT NULL"
    done = destage("query", sweep, statement, "--json", "--escape-formulas")
    assert json.loads(done.out) == [{"label": FORMULA}]
