"""The growth of costs: its fit, its measurement at a small size, and the page that shows it."""

import dataclasses
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import script_modules

GROWTH = script_modules.load_script("benchmarks/growth.py")
PAGE = script_modules.load_script("benchmarks/growth_page.py")


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0])
def test_a_power_law_has_its_exponent(exponent: float) -> None:
    sizes = [10, 100, 1_000, 10_000]
    slope, half = GROWTH.fit_exponent(sizes, [3e-6 * size**exponent for size in sizes])
    assert slope == pytest.approx(exponent)
    assert half == pytest.approx(0.0, abs=1e-6)


def test_the_interval_of_a_slope_is_that_of_regression() -> None:
    """Worked by hand: logarithms 0, 1, 2, 3 of sizes; 0, 1.1, 1.9, 3 of costs; base e."""
    e = 2.718281828459045
    slope, half = GROWTH.fit_exponent([e**x for x in (0, 1, 2, 3)], [e**y for y in (0, 1.1, 1.9, 3)])
    # Slope 0.98; residuals -0.03, 0.09, -0.09, 0.03; error sqrt(0.018 / 2 / 5); Student's t 4.30 for 2.
    assert slope == pytest.approx(0.98)
    assert half == pytest.approx(4.302653 * (0.018 / 2 / 5) ** 0.5, rel=1e-5)


def test_a_fixed_cost_does_not_change_the_exponent() -> None:
    sizes = [10, 100, 1_000, 10_000]
    measured = {"sizes": sizes, "seconds": [[5 + 2e-3 * size] for size in sizes]}
    added, costs = GROWTH.list_costs(measured)
    assert added == [90, 990, 9_990]
    assert GROWTH.fit_exponent(added, costs)[0] == pytest.approx(1.0)


def test_a_slope_needs_three_sizes() -> None:
    with pytest.raises(ValueError, match="2 sizes"):
        GROWTH.fit_exponent([1, 2], [1.0, 2.0])


@pytest.mark.parametrize("name", GROWTH.QUANTITIES)
def test_each_quantity_is_measured_without_its_first_run(name: str) -> None:
    """At the smallest size; a simulation or query that fails ends the benchmark."""
    quantity = GROWTH.QUANTITIES[name]
    calls = 0

    def prepare(size: int, folder: Path) -> Callable[[], object]:
        act = quantity.prepare(size, folder)

        def count() -> None:
            nonlocal calls
            calls += 1
            act()

        return count

    counted = dataclasses.replace(quantity, prepare=prepare)
    assert len(GROWTH.time_size(counted, quantity.sizes[0], 1)) == 1
    assert calls == 2


def test_the_page_has_the_stored_results() -> None:
    stored = json.loads(GROWTH.RESULT.read_text())
    assert set(stored["quantities"]) == set(GROWTH.QUANTITIES)
    page = PAGE.PAGE.read_text()
    assert dict(PAGE.build(page))[PAGE.PAGE] == page
    assert dict(PAGE.build(page))[PAGE.PICTURE] == PAGE.PICTURE.read_text()


@pytest.mark.parametrize("has_peer", [True, False])
def test_a_comparison_without_the_peer_has_empty_cells(*, has_peer: bool) -> None:
    stored = json.loads(PAGE.REPLACEMENT.read_text())
    if not has_peer:
        for row in stored["results"]:
            row |= {name: None for name in row if name == "ratio" or name.startswith("peer_")}
            row["verdict"] = ""
    lines = PAGE.format_replacement(stored)
    assert all(line.count("|") == 8 for line in lines if line.startswith("|"))
    assert ("libCacheSim 0.3.5. " in lines[-1]) == has_peer
    assert ("not run" in "".join(lines)) != has_peer


def test_a_part_of_the_quantities_replaces_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a file for the output, the result names its part in the command."""
    result, other = tmp_path / "growth.json", tmp_path / "other.json"
    monkeypatch.setattr(GROWTH, "RESULT", result)
    power = {"title": "", "unit": "", "sizes": [1, 10, 100, 1000], "seconds": [[0.1], [1.0], [10.0], [99.0]]}
    monkeypatch.setattr(GROWTH, "measure", lambda *_: power)
    monkeypatch.setattr(sys, "argv", ["growth.py", "--only", "points"])
    GROWTH.main()
    assert not result.exists()
    monkeypatch.setattr(sys, "argv", ["growth.py", "--only", "points", "--output", str(other)])
    GROWTH.main()
    stored = json.loads(other.read_text())
    assert set(stored["quantities"]) == {"points"}
    assert stored["command"].endswith(" --only points")
    monkeypatch.setattr(sys, "argv", ["growth.py"])
    GROWTH.main()
    assert set(json.loads(result.read_text())["quantities"]) == set(GROWTH.QUANTITIES)


def test_filling_a_page_keeps_the_text_around_its_parts() -> None:
    page = "before\n\n<!-- a: begin, x -->\nold\n<!-- a: end -->\n\nafter\n"
    filled = PAGE.fill(page, {"a": ["new"]})
    assert filled == "before\n\n<!-- a: begin, x -->\n\nnew\n\n<!-- a: end -->\n\nafter\n"
    assert PAGE.fill(filled, {"a": ["new"]}) == filled
    with pytest.raises(ValueError, match="no part b"):
        PAGE.fill(page, {"b": []})


def test_no_result_names_a_folder_of_the_machine() -> None:
    for result in Path(GROWTH.RESULT).parent.glob("*.json"):
        stored = json.loads(result.read_text())
        assert {"date", "machine", "build", "command"} <= set(stored)
        assert "/" not in stored["command"].replace("benchmarks/", "")
