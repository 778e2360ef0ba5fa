"""Which traces the pods of a sweep see: files on its volume, or objects where its results are in a bucket."""

from typing import Any

import pytest

from destage.cluster.settings import Settings
from destage.cluster.trace_addresses import find_trace_issue
from destage.cluster.values import read_settings

S3 = "s3://bucket/p?region=eu-west-1"
MINIO = "s3://bucket/p?scheme=http&endpoint_override=minio.storage:9000"


def settings(url: str = "", **more: Any) -> Settings:
    return read_settings({"sweep": {"study": "call_center"}, "store": {"url": url}, **more})


def replaying(*traces: str) -> dict[str, Any]:
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
def test_traces_beside_the_results_are_seen(url: str, traces: list[str]) -> None:
    assert find_trace_issue(replaying(*traces), settings(url)) == ""


@pytest.mark.parametrize(
    ("url", "trace", "told"),
    [
        ("", "/home/me/a.parquet", "put the trace on the volume, as /results/traces/a.parquet"),
        ("", "s3://bucket/a.parquet", "a trace in a bucket goes with results in one, store.url"),
        (S3, "/results/traces/a.parquet", "as s3://bucket/p/traces/a.parquet?region=eu-west-1"),
        (S3, "s3://b/a?endpoint_override=minio:9000", "networkPolicy.egressPorts must name 9000"),
    ],
)
def test_other_traces_are_refused_with_what_mends_it(url: str, trace: str, told: str) -> None:
    seen = "/results/traces/seen" if not url else "s3://bucket/seen"
    assert told in find_trace_issue(replaying(seen, trace), settings(url))
    axis = {"axes": {"workload.streams.0.arrival.file": [seen, trace]}}
    assert told in find_trace_issue(replaying(seen) | axis, settings(url))


def test_a_port_that_is_open_is_no_mistake() -> None:
    elsewhere = replaying("s3://b/a?endpoint_override=minio:9000")
    assert find_trace_issue(elsewhere, settings(S3, networkPolicy={"egressPorts": [9000]})) == ""
    assert find_trace_issue(elsewhere, settings(S3, networkPolicy={"enabled": False})) == ""
