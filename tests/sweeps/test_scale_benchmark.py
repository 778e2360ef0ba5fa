"""The benchmark of a million runs, with few: the kill, the resume and the stored figures."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import script_modules

SCALE = script_modules.load_script("benchmarks/scale.py")


@pytest.mark.long
def test_a_session_is_killed_at_a_tenth_of_the_runs(tmp_path: Path) -> None:
    """Stored runs count; the rest is executed after the kill, and nothing when it is run again."""
    place = tmp_path / "scale.json"
    command = [sys.executable, SCALE.__file__, "--runs", "40000", "--json", str(place), "--note", "busy"]
    subprocess.run(command, check=True, timeout=300)
    result = json.loads(place.read_text())
    assert set(result["steps"]) == set(SCALE.STEPS)
    assert result["command"] == "python benchmarks/scale.py --runs 40000"
    assert result["note"] == "busy"
    counts = {name: step["count"] for name, step in result["steps"].items()}
    planned = counts["plan"]
    assert 0.1 * planned <= counts["kill"] < 0.5 * planned
    assert counts["resume"] == planned - counts["kill"]
    assert counts["check"] == counts["compact"] == planned
    assert counts["run again"] == 0
    assert counts["ask"] == counts["ask again"] == planned / SCALE.REPLICATES
    for name, step in result["steps"].items():
        assert ("processor_s" in step) == (name != "kill")


def test_a_figure_above_its_bound_fails() -> None:
    most_s = SCALE.STEPS["plan"].seconds
    for seconds, is_within in ((most_s, True), (most_s + 4, False)):
        assert SCALE.is_within("plan", 1_000_000, {"processor_s": seconds, "peak_mib": 1.0}) == is_within
    assert not SCALE.is_within("plan", 1_000_000, {"processor_s": 1.0, "peak_mib": 1e5})
