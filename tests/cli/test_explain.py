"""`destage explain` on small sweeps."""

import json
from pathlib import Path
from typing import Any

from small_studies import small_seek


def test_explain_a_point_and_a_run(destage: Any, study: Path) -> None:
    destage("run", str(study), "--quiet")
    done = destage("explain", "small", "battery_state=present,users=5")
    assert done.code == 0
    assert done.out.startswith("Point battery state present, 5 users\n")
    assert "2 runs in 1 round: 2 ok." in done.out
    run = done.out.splitlines()[-1].split()[1]
    explained = destage("explain", "small", run)
    assert "one of 2 replicates that the study asks for" in explained.out
    assert destage("explain", run).out == explained.out
    (found,) = json.loads(destage("explain", "small", run, "--json").out)
    assert found["status"] == "ok"
    assert found["uses"]["disk"] > 0


def test_explain_a_seek(destage: Any, tmp_path: Path) -> None:
    file = tmp_path / "seek.yaml"
    file.write_text(small_seek("seek", [1, 2], 200))
    destage("run", str(file), "--quiet")
    done = destage("explain", "seek", "disks=1")
    assert done.code == 0
    assert "The binding objective is response_p95 <= 60ms." in done.out
    assert "Limited by the disks." in done.out


def test_mistakes_of_explain_have_codes(destage: Any, study: Path) -> None:
    destage("run", str(study), "--quiet")
    assert destage("explain", "small", "zzzz").issues == [("query.no-such-run", "RUN")]
    assert destage("explain", "abcdef012345").issues == [("query.no-such-run", "SWEEP|RUN")]
    assert destage("explain", "nothing").issues == [("store.unknown-sweep", "nothing")]
    assert destage("explain", "small", "users=6").issues == [("query.no-such-point", "CONDITIONS")]
