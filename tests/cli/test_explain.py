"""`destage explain point` on small sweeps."""

import json
from pathlib import Path
from typing import Any

import pytest
from small_studies import small_seek, small_study


@pytest.mark.usefixtures("sweep")
def test_explain_a_point_and_a_run(destage: Any) -> None:
    done = destage("explain", "point", "small", "--where", "battery_state = 'present' AND users = 5")
    assert done.code == 0
    assert done.out.startswith("Point battery state present, 5 users\n")
    assert "2 runs in 1 round: 2 ok." in done.out
    run = done.out.splitlines()[-1].split()[1]
    explained = destage("explain", "point", "small", run)
    assert "one of 2 replicates that the study asks for" in explained.out
    assert destage("explain", "point", run).out == explained.out
    (found,) = json.loads(destage("explain", "point", "small", run, "--json").out)
    assert found["status"] == "ok"
    assert found["uses"]["disk"] > 0


def test_explain_a_seek(destage: Any, tmp_path: Path) -> None:
    file = tmp_path / "seek.yaml"
    file.write_text(small_seek("seek", [1, 2], 200))
    destage("run", str(file), "--quiet")
    done = destage("explain", "point", "seek", "--where", "disks = 1")
    assert done.code == 0
    assert "The binding objective is response_p95 <= 60ms." in done.out
    assert "Limited by the disks." in done.out


@pytest.mark.usefixtures("sweep")
def test_mistakes_of_explain_have_codes(destage: Any) -> None:
    assert destage("explain", "point", "small", "zzzz").issues == [("query.no-such-run", "RUN")]
    assert destage("explain", "point", "abcdef012345").issues == [("query.no-such-run", "SWEEP|RUN")]
    assert destage("explain", "point", "nothing").issues == [("store.unknown-sweep", "nothing")]
    assert destage("explain", "point", "small", "--where", "users = 6").issues == [
        ("query.no-such-point", "--where")
    ]


def test_labels_are_texts_also_if_they_look_like_numbers(destage: Any, tmp_path: Path) -> None:
    labels = ("007", "true", "a b")
    points = "\n".join(f"- {{label: '{label}', array.disks: {4 + at}}}" for at, label in enumerate(labels))
    text = small_study("labels", "PLACE").replace("axes:\n  PLACE", f"points:\n{points}")
    (tmp_path / "labels.yaml").write_text(text)
    assert destage("run", str(tmp_path / "labels.yaml"), "--quiet").code == 0
    for label in labels:
        assert destage("explain", "point", "labels", "--where", f"label = '{label}'").out.startswith(
            f"Point {label}"
        )
    assert "007, true, a b" in destage("explain", "point", "labels", "--where", "label = '8'").err


@pytest.mark.usefixtures("sweep")
def test_a_run_or_points_are_explained_not_both(destage: Any) -> None:
    assert destage("explain", "point", "small", "abcdef", "--where", "users = 5").issues == [
        ("usage.conflicting-options", "--where")
    ]


@pytest.mark.usefixtures("sweep")
def test_a_damaged_sweep_does_not_hide_others(destage: Any, tmp_path: Path) -> None:
    done = destage("explain", "point", "small", "--where", "battery_state = 'present' AND users = 5")
    run = done.out.splitlines()[-1].split()[1]
    (tmp_path / "other.yaml").write_text(small_study("other", "array.disks: [4, 5]"))
    destage("run", str(tmp_path / "other.yaml"), "--quiet")
    (place,) = (folder for folder in (tmp_path / "store").rglob("other-*") if folder.is_dir())
    for file in (*place.rglob("*.parquet"), *place.rglob("*.progress")):
        file.write_bytes(b"damaged")
    listed = destage("status")
    assert listed.code == 0
    assert "finished: 8 of 8 runs" in listed.out
    assert "store.damaged" in listed.out
    explained = destage("explain", "point", run)
    assert explained.out.startswith("Run ")
    assert "store.damaged" in explained.err
    assert destage("status", "other").code != 0
