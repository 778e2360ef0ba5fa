//! When a run that replays a trace ends.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::config::Scenario;
use crate::error::RunError;
use crate::simulation::{Outcome, simulate};
use crate::trace::Columns;

/// Runs a trace of writes of `sectors` each, one every millisecond, with `streams` beside it.
fn replay(count: u64, sectors: u32, streams: &str, rest: &str) -> Result<Outcome, RunError> {
    replay_as("asap", count, sectors, streams, rest)
}

fn replay_as(mode: &str, count: u64, sectors: u32, streams: &str, rest: &str) -> Result<Outcome, RunError> {
    let records = count as usize;
    let trace = Trace::from_columns(Columns {
        time_ns: (0..count).map(|i| i * 1_000_000).collect(),
        process: vec![1; records],
        lba: (0..count).map(|i| i * u64::from(sectors)).collect(),
        sectors: vec![sectors; records],
        op: vec![1; records],
        flags: vec![0; records],
        ..Columns::default()
    })
    .unwrap();
    let text = format!(
        r#"{{"workload": {{"streams": [{{"name": "t", "arrival":
                {{"kind": "trace", "file": "t", "mode": "{mode}", "map": "wrap", "depth": 100}}}}{streams}]}},
            "array": {{"raid": "0", "disks": 1, "disk": {{"kind": "server", "capacity": 1048576,
                "service": {{"kind": "constant", "value": 1000000}}}}}}, {rest}}}"#
    );
    let traces = BTreeMap::from([("t".to_owned(), Arc::new(trace))]);
    simulate(Scenario::from_json(&text).unwrap(), &traces)
}

/// A stream beside the trace that never ends.
const ENDLESS: &str = r#", {"name": "s", "arrival": {"kind": "fixed_outstanding", "depth": 2},
    "operations": {"read_fraction": 1.0, "size": {"kind": "constant", "value": 4096}},
    "address": {"kind": "uniform"}}"#;

#[test]
fn a_stream_after_an_open_trace_does_not_overload_it() {
    let outcome = replay_as("open", 10, 8, ENDLESS, r#""run": {"window": {"requests": 5000}}"#).unwrap();
    assert!(outcome.number("window_s").unwrap() > 4.0);
    assert_eq!(outcome.text("status"), Some("ok"));
}

#[test]
fn a_whole_trace_ends_beside_an_endless_stream() {
    let outcome = replay(10, 8, ENDLESS, r#""run": {"window": "whole"}"#).unwrap();
    assert_eq!(outcome.number("writes"), Some(10.0));
    assert!(outcome.number("window_s").unwrap() < 0.1);
}

#[test]
fn a_window_longer_than_the_trace_ends_with_the_trace() {
    // The battery will be ready in four hours: nothing that the window should wait for.
    let rest = r#""controller": {"cache": {"capacity": 1048576, "write_fraction": 1.0},
        "battery": {"state": "charging", "charge": 0.0, "threshold": 1.0}}, "run": {"window": {"requests": 1000}}"#;
    let outcome = replay(10, 8, "", rest).unwrap();
    assert_eq!(outcome.number("requests"), Some(10.0));
    assert!(outcome.number("window_s").unwrap() < 0.1);
}

#[test]
fn more_depth_than_records_issues_each_record_once() {
    assert_eq!(replay(3, 8, "", r#""run": {}"#).unwrap().number("writes"), Some(3.0));
}

#[test]
fn a_request_larger_than_the_array_cannot_be_wrapped() {
    let error = replay(1, 4096, "", r#""run": {}"#).unwrap_err();
    assert!(matches!(error, RunError::TraceBeyondArray { .. }), "{error}");
}
