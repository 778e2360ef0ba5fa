"""Pods read traces on the results volume, or in a bucket if the results go to one."""

from typing import Any

import pytest

from destage.cluster.resources.storage import find_trace_issues
from destage.cluster.setup.cluster_settings import Settings
from destage.cluster.setup.helm_values import read_settings

S3 = "s3://bucket/p?region=eu-west-1"
MINIO = "s3://bucket/p?scheme=http&endpoint_override=minio.storage:9000"


def settings(url: str = "", **more: Any) -> Settings:
    return read_settings({"sweep": {"study": "call_center"}, "store": {"url": url}, **more})


def make_replay_study(*traces: str) -> dict[str, Any]:
    streams = [{"arrival": {"kind": "trace", "file": trace}} for trace in traces]
    return {"name": "x", "scenario": {"workload": {"streams": streams}}}


@pytest.mark.parametrize(
    ("url", "traces"),
    [
        ("", ["/results/traces/a.parquet"]),
        (S3, ["s3://bucket/a.parquet", "s3://other/b.parquet?region=us-east-1"]),
        (S3, ["gs://bucket/a.parquet", "abfs://c@account.dfs.core.windows.net/a.parquet"]),
        (MINIO, ["s3://bucket/a.parquet?scheme=http&endpoint_override=minio.storage:9000"]),
        (S3, []),
    ],
)
def test_traces_beside_the_results_are_accepted(url: str, traces: list[str]) -> None:
    assert find_trace_issues(make_replay_study(*traces), settings(url)) == []


@pytest.mark.parametrize(
    ("url", "trace", "code", "data"),
    [
        ("", "/home/me/a.parquet", "trace-not-on-volume", {"target": "/results/traces/a.parquet"}),
        ("", "s3://bucket/a.parquet", "trace-without-credentials", {}),
        (
            S3,
            "/results/traces/a.parquet",
            "trace-not-in-bucket",
            {"target": "s3://bucket/p/traces/a.parquet?region=eu-west-1"},
        ),
        (S3, "s3://b/a?endpoint_override=minio:9000", "trace-port-blocked", {"ports": [9000]}),
    ],
)
def test_other_traces_are_rejected(url: str, trace: str, code: str, data: dict[str, Any]) -> None:
    """Traces in the scenario as well as on an axis."""
    accepted = "/results/traces/a" if not url else "s3://bucket/a"
    axis = {"axes": {"workload.streams.0.arrival.file": [accepted, trace]}}
    for study in (make_replay_study(accepted, trace), make_replay_study(accepted) | axis):
        (issue,) = find_trace_issues(study, settings(url))
        assert (issue.code, issue.place, issue.data) == (f"cluster.{code}", trace, data)


def test_a_trace_at_an_open_port_is_accepted() -> None:
    elsewhere = make_replay_study("s3://b/a?endpoint_override=minio:9000")
    assert find_trace_issues(elsewhere, settings(S3, networkPolicy={"egressPorts": [9000]})) == []
    assert find_trace_issues(elsewhere, settings(S3, networkPolicy={"enabled": False})) == []
