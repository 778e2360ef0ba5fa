"""`destage measured` and its table in SQL."""

import csv
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[1] / "measured" / "data"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Return a file of fio's results in the current directory."""
    return Path(shutil.copy(DATA / "fio-3.33-grouped.json", tmp_path / "fio.json"))


def test_an_imported_set_is_listed_shown_and_deleted(destage: Any, results: Path) -> None:
    shutil.copy(DATA / "iostat-12.6.1.txt", results.with_name("iostat.txt"))
    done = destage("measured", "import", "fio.json", "iostat.txt", "--name", "lab", "--array", "our SSD")
    assert done.code == 0
    assert "fio.json: fio, 2 lines" in done.out
    assert "iostat.txt: the first report covers the time since the machine was started" in done.err
    assert json.loads(destage("measured", "list", "--json").out) == [
        {"name": "lab", "lines": 3, "array": "our SSD", "tools": "fio, iostat"}
    ]
    assert "64 KiB" in destage("measured", "show", "lab").out
    rows = list(csv.DictReader(io.StringIO(destage("measured", "show", "lab", "--format", "csv").out)))
    assert [row["workload"] for row in rows] == ["seqread", "mix", "vda"]
    assert {row["array_label"] for row in rows} == {"our SSD"}
    assert destage("measured", "delete", "lab").code == 0
    assert destage("measured", "show", "lab").issues == [("store.unknown-measured-set", "lab")]


def test_one_bad_file_among_several_writes_nothing(destage: Any, results: Path) -> None:
    results.with_name("bad.json").write_text(results.read_text()[:-100])
    done = destage("measured", "import", "fio.json", "bad.json", "--name", "lab", "--array", "a")
    assert done.code == 2
    assert done.issues == [("measured.bad-syntax", "")]
    assert "bad.json:14" in done.err
    assert not (results.parent / "store").exists()
    assert destage("measured", "import", "fio.json", "none.json", "--name", "lab", "--array", "a").code == 2
    assert not (results.parent / "store").exists()


def test_a_name_is_taken_once(destage: Any, results: Path) -> None:
    command = ("measured", "import", str(results), "--name", "lab", "--array", "a")
    assert destage(*command).code == 0
    assert destage(*command).issues == [("store.measured-set-exists", "lab")]
    assert destage(*command, "--replace").code == 0


def test_measured_is_a_table_beside_runs(destage: Any, results: Path, study: Path) -> None:
    destage("measured", "import", str(results), "--name", "lab", "--array", "a")
    destage("run", str(study), "--quiet")
    statement = (
        "SELECT workload, m.throughput_iops AS measured, max(r.throughput_iops) AS simulated "
        "FROM measured AS m, runs AS r GROUP BY ALL ORDER BY line"
    )
    rows = json.loads(destage("sql", "small", statement.replace("ORDER BY line", ""), "--json").out)
    assert {row["workload"]: row["measured"] for row in rows}["seqread"] == pytest.approx(8417.582418)
    described = json.loads(destage("sql", "small", "DESCRIBE measured", "--json").out)
    meanings = {row["column_name"]: (row["unit"], row["meaning"]) for row in described}
    assert all(meaning for _, meaning in meanings.values())
    assert meanings["response_p95_us"] == ("us", "95th percentile of the response time of reads and writes")
    of_runs = json.loads(destage("sql", "small", "DESCRIBE SELECT response_p95_us FROM runs", "--json").out)
    assert (of_runs[0]["unit"], of_runs[0]["meaning"]) == meanings["response_p95_us"]
    assert "measured" in destage("sql", "small", "SHOW TABLES").out
    assert "8 KiB" in destage("sql", "small", "SELECT request_bytes FROM measured").out


def test_without_sets_the_table_is_empty(destage: Any, study: Path) -> None:
    destage("run", str(study), "--quiet")
    assert json.loads(destage("sql", "small", "FROM measured", "--json").out) == []
