"""The notebook of the examples runs from its first cell to its last."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def run_cell(source: str, names: dict[str, Any]) -> object:
    """Run a cell and return the value of its last expression, as a notebook shows it."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)  # noqa: S102 - the notebook of the repository
    return None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307


def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pgbench.parquet").symlink_to(EXAMPLES / "pgbench.parquet")
    cells = json.loads((EXAMPLES / "notebook.ipynb").read_text())["cells"]
    names: dict[str, Any] = {}
    shown = [run_cell("".join(cell["source"]), names) for cell in cells if cell["cell_type"] == "code"]
    pictures = [one for one in shown if hasattr(one, "_repr_html_") or hasattr(one, "_repr_svg_")]
    assert len(pictures) == 5  # the sweep, its rows, its figure, the curve and the answer
    assert names["answer"].best.disks == 2
    assert all(cell.get("outputs", []) == [] for cell in cells)
