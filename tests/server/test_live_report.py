"""The report and the progress follow what other processes write to the sweep."""

from pathlib import Path

import pytest
from served_sweep import Served, run_users, serve
from small_stores import publish

from destage.cli import app
from destage.store.files.layout import SweepLayout
from destage.store.fragment_files.merging import compact


def _count(served: Served) -> int:
    (result,) = served.sql("SELECT count(*) AS n FROM runs").json["results"]
    return int(result["rows"][0][0])


def test_an_unchanged_report_is_sent_once(tmp_path: Path) -> None:
    with serve(run_users(tmp_path, 5)) as served:
        served.await_state(lambda state: state["report"])
        first = served.ask("/report")
        assert first.status == 200
        assert served.ask("/report").body == first.body
        again = served.ask("/report", If_None_Match=first.headers["etag"])
        assert (again.status, again.body) == (304, b"")
        assert served.ask("/report", If_None_Match='"other"').status == 200


def test_rows_of_a_later_session_appear(tmp_path: Path) -> None:
    """The study grows by an axis value, which a later generation of the same sweep plans and runs."""
    path = run_users(tmp_path, 5)
    with serve(path) as served:
        state = served.await_state(lambda state: state["report"])
        assert (state["counts"]["present"], state["counts"]["planned"]) == (2, 2)
        assert state["counts"]["finished"]
        assert "2 distinct runs" in served.ask("/report").text
        assert _count(served) == 2
        assert run_users(tmp_path, 5, 10, 20) == path
        state = served.await_state(lambda state: state["counts"]["present"] == 6)
        assert state["error"] is None
        report = served.await_report("6 distinct runs")
        assert "3 points" in report
        assert _count(served) == 6


def test_a_sweep_is_served_while_it_is_compacted(tmp_path: Path) -> None:
    for users in (5, 10, 20):
        path = run_users(tmp_path, *range(5, users + 1, 5))
    with serve(path) as served:
        served.await_report("distinct runs")
        before = _count(served)
        layout = SweepLayout(path)
        fragments = set(layout.fragments.iterdir())
        compact(layout)
        assert not fragments & set(layout.fragments.iterdir())
        assert _count(served) == before
        number = served.ask("/state").json["report"]
        run_users(tmp_path, 30)
        state = served.await_state(lambda state: state["report"] > number)
        assert state["error"] is None
        served.await_report("2 distinct runs")


def test_a_sweep_without_rows_has_a_page(tmp_path: Path) -> None:
    layout = SweepLayout(tmp_path / "sweeps" / "study-00000000")
    publish(layout, study="name: study\nscenario: {}\n")
    with serve(Path(str(layout.root))) as served:
        state = served.await_state(lambda state: state["report"])
        assert state["counts"]["planned"] == 0
        assert state["error"] is None
        assert "No answer yet" in served.ask("/report").text
        assert served.ask("/").status == 200


def test_a_damaged_fragment_is_one_line_until_it_is_mended(tmp_path: Path) -> None:
    path = run_users(tmp_path, 5)
    with serve(path) as served:
        served.await_state(lambda state: state["report"])
        whole = served.ask("/report").text
        fragment = min(SweepLayout(path).fragments.glob("*.parquet"))
        content = fragment.read_bytes()
        fragment.write_bytes(content[:-100])
        state = served.await_state(lambda state: state["error"])
        assert state["error"].startswith("store.damaged-fragment at ")
        assert fragment.name in state["error"]
        assert "\n" not in state["error"]
        assert served.ask("/report").text == whole
        answer = served.sql("SELECT count(response_p95_us) FROM runs")
        assert (answer.status, answer.json["error"].partition(" ")[0]) == (400, "store.damaged-fragment")
        fragment.write_bytes(content)
        served.await_state(lambda state: state["error"] is None)
        assert _count(served) == 2


def test_a_sweep_that_is_deleted_is_one_line(tmp_path: Path) -> None:
    path = run_users(tmp_path, 5)
    with serve(path) as served:
        served.await_state(lambda state: state["report"])
        path.rename(tmp_path / "elsewhere")
        state = served.await_state(lambda state: state["error"])
        assert state["error"].startswith("store.not-a-sweep")
        (tmp_path / "elsewhere").rename(path)
        served.await_state(lambda state: state["error"] is None)


@pytest.mark.parametrize("kind", ["address", "port"])
def test_an_address_that_cannot_be_used_is_an_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], kind: str
) -> None:
    path = run_users(tmp_path, 5)
    with serve(path) as served:
        port = served.place.rpartition(":")[2]
        options = {"address": ["--address", "192.0.2.1"], "port": ["--port", port]}[kind]
        with pytest.raises(SystemExit) as exit_:
            app(["report", str(path), "--serve", *options])
    assert exit_.value.code == 2
    assert "error: usage.address-unavailable at --port: " in capfd.readouterr().err


def test_results_carry_the_warning_that_rows_are_missing(tmp_path: Path) -> None:
    path = run_users(tmp_path, 5)
    with serve(path) as served:
        assert served.sql("SELECT 1").json["warnings"] == []
    for fragment in (path / "fragments").glob("*.parquet"):
        fragment.unlink()
    with serve(path) as served:
        (warning,) = served.sql("SELECT count(*) AS n FROM runs").json["warnings"]
        assert warning.startswith("sweep.unfinished at ")
