"""Each kind of study is recognised, explained and reported as what it is."""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from destage.queries import Session
from destage.queries.named.study_kinds import KINDS, find_kind
from destage.queries.pairs import explained_kinds
from destage.queries.report import reported_kinds
from destage.queries.report.reported_kinds import (
    ReportedCalibration,
    ReportedFront,
    ReportedLargest,
    ReportedStudy,
    find_reported,
)


def replay(mode: str) -> Mapping[str, Any]:
    return {"workload": {"streams": [{"arrival": {"kind": "trace", "file": "t.parquet", "mode": mode}}]}}


@pytest.mark.parametrize(
    ("metric", "config", "name"),
    [
        ("users_supported", {}, "seek"),
        ("disks_needed", {}, "minimum"),
        (None, replay("asap"), "replay"),
        (None, replay("open"), "fixed"),
        (None, {}, "fixed"),
        ("users_supported", replay("asap"), "seek"),
    ],
)
def test_a_study_is_of_one_kind(metric: str | None, config: Mapping[str, Any], name: str) -> None:
    assert find_kind(metric, config) is KINDS[name]


def test_every_kind_has_what_explains_and_reports_it() -> None:
    assert {*KINDS} == {*explained_kinds.KINDS} == {*reported_kinds.KINDS}


@pytest.mark.parametrize(
    ("spec", "analyses", "kind"),
    [
        ({}, {}, ReportedLargest),
        ({"search": {}}, {"trials"}, ReportedFront),
        ({"calibrate": {}}, {"predictive"}, ReportedCalibration),
        ({"search": {}}, {}, ReportedLargest),
        ({}, {"predictive"}, ReportedLargest),
    ],
)
def test_an_analysis_reports_once_its_table_is_there(
    spec: Mapping[str, Any], analyses: Any, kind: type[ReportedStudy]
) -> None:
    session: Any = SimpleNamespace(spec=spec, analyses=analyses, kind=KINDS["seek"])
    found = find_reported(session)
    assert type(found) is kind
    assert found.remarks == ReportedLargest.remarks


def test_a_study_without_a_sought_parameter_has_no_probe(make_session: Callable[..., Session]) -> None:
    session = make_session([{"point_id": "p", "replicate": 0, "run_id": "r"}], axes={})
    assert (session.probed, session.probe, session.result) == ((), "NULL", "response_p95_us")
