"""The calibrated call centre with few draws and short runs: what 39 users tell about other figures."""

from pathlib import Path

import pytest
import yaml

from destage import sweeps
from destage.store import open_sweep
from destage.sweeps import parse_study, studies


@pytest.mark.long
def test_39_users_leave_96_open(tmp_path: Path) -> None:
    """One figure of an unknown system does not tell whether 256 MB carry 96 users."""
    document = yaml.safe_load(studies.text("call_center_calibrated"))
    document["calibrate"]["waves"] |= {"points": 64, "most": 2}
    document["scenario"]["run"] = {"warm_up": "auto", "window": {"requests": 2000}}
    study = parse_study(yaml.safe_dump(document, sort_keys=False))
    outcome = sweeps.run(study, tmp_path, executor="inline", workers=2)
    tables = open_sweep(outcome.path).analyses()
    fit = {row["fit"]: row for row in tables["calibration"].to_pylist()}["39"]
    assert not fit["is_ruled_out"]
    assert fit["not_ruled_out"] >= 5
    odds = {(row["fit"], row["figure"]): row for row in tables["odds"].to_pylist()}["39", "256 MB"]
    assert 0.05 < odds["probability"] < 0.999
    predicted = {row["figure"]: row for row in tables["predictive"].to_pylist() if row["fit"] == "39"}
    for figure in ("64 MB", "256 MB"):
        assert predicted[figure]["low_90"] > 20
        assert predicted[figure]["high_90"] < 200
    assert predicted["no write cache"]["inside_50"]
