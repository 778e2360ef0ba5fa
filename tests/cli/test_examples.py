"""`destage catalog copy`: copies that run as they are."""

from pathlib import Path
from typing import Any

import yaml


def test_copied_examples_can_be_planned(destage: Any, tmp_path: Path) -> None:
    done = destage("catalog", "copy", "mine")
    assert done.code == 0
    copied = tmp_path / "mine"
    studies = [file for file in copied.glob("*.yaml") if "scenario" in yaml.safe_load(file.read_text())]
    assert len(studies) >= 7
    for study in studies:
        planned = destage("run", "--plan", str(study), "--no-estimate", "--json")
        assert planned.code == 0, (study, planned.err)
    assert (copied / "notebook.ipynb").exists()


def test_every_example_is_listed_with_what_it_is(destage: Any) -> None:
    listed = destage("catalog", "list", "examples").out.splitlines()
    assert len(listed) >= 9
    assert all(len(line.split("  ", 1)[1].strip()) > 20 for line in listed)


def test_files_are_replaced_only_by_force(destage: Any, tmp_path: Path) -> None:
    assert destage("catalog", "copy").code == 0
    mine = tmp_path / "examples" / "first-sweep.yaml"
    mine.write_text("mine")
    refused = destage("catalog", "copy")
    assert refused.code == 2
    assert refused.issues == [("usage.file-exists", "FOLDER")]
    assert mine.read_text() == "mine"
    assert destage("catalog", "copy", "--force").code == 0
    assert mine.read_text() != "mine"
