//! Copies of a trace: as many requests of each, shifted in time and address, or sharing addresses.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::config::Scenario;
use crate::error::RunError;
use crate::interruption::Uninterrupted;
use crate::simulation::{record, simulate};
use crate::trace::{Columns, Record};

const EXTENT: u64 = 2048;

/// Two hundred records of two processes, one every millisecond, each in an extent of its own, every tenth a flush.
fn trace() -> Trace {
    let flushes = |index: u64| index % 10 == 9;
    let indices = || 0..200_u64;
    Trace::from_columns(Columns {
        time_ns: indices().map(|index| index * 1_000_000).collect(),
        process: indices().map(|index| (index / 10 % 2) as u32).collect(),
        lba: indices().map(|index| if flushes(index) { 0 } else { index * EXTENT + index }).collect(),
        sectors: indices().map(|index| if flushes(index) { 0 } else { 8 }).collect(),
        op: indices().map(|index| if flushes(index) { 2 } else { (index % 3 == 0).into() }).collect(),
        flags: vec![0; 200],
        ..Columns::default()
    })
    .unwrap()
}

fn scenario(mode: &str, users: u32, copies: &Value, capacity_mib: u64, map: &str) -> Scenario {
    let text = json!({
        "workload": {"users": users, "streams": [{"name": "t", "arrival": {"kind": "trace", "file": "t",
            "mode": mode, "depth": 3, "map": map, "copies": copies}}]},
        "array": {"raid": "0", "disks": 1, "stripe_unit": 1 << 20, "disk": {"kind": "server", "servers": 100,
            "capacity": capacity_mib << 20, "service": {"kind": "constant", "value": 100_000}}},
    });
    Scenario::from_json(&text.to_string()).unwrap()
}

fn traces() -> BTreeMap<String, Arc<Trace>> {
    BTreeMap::from([("t".to_owned(), Arc::new(trace()))])
}

fn requests(mode: &str, users: u32, copies: &Value) -> Vec<Record> {
    record(scenario(mode, users, copies, 4000, "error"), &traces(), &Uninterrupted)
        .unwrap()
        .records()
        .collect()
}

/// What a request is, but for when and by whom.
fn content(record: &Record) -> (u64, u64, u8) {
    (record.lba.0, record.sectors.0, record.op as u8)
}

#[test]
fn one_copy_without_a_shift_is_the_trace() {
    for mode in ["open", "asap", "dependent"] {
        let plain = requests(mode, 1, &Value::Null);
        assert_eq!(requests(mode, 1, &json!({"shift": "none"})), plain, "{mode}");
        // Without copies the number of users does not matter; without shift each of two does what one does.
        assert_eq!(requests(mode, 2, &Value::Null), plain, "{mode}");
        let first: Vec<_> = requests(mode, 2, &json!({"shift": "none"}))
            .into_iter()
            .filter(|record| record.process < plain.iter().map(|record| record.process).max().unwrap() + 1)
            .collect();
        if mode != "asap" {
            assert_eq!(first, plain, "{mode}");
        }
    }
}

#[test]
fn each_copy_issues_every_record_once_in_a_region_of_its_own() {
    for mode in ["open", "asap", "dependent"] {
        for shift in ["none", "random"] {
            let seen = requests(mode, 3, &json!({"shift": shift}));
            assert_eq!(seen.len(), 600, "{mode}, {shift}");
            let mut expected: Vec<_> = (0..3_u64)
                .flat_map(|copy| trace().records().map(move |record| (copy, record)).collect::<Vec<_>>())
                .map(|(copy, record)| {
                    let (lba, sectors, op) = content(&record);
                    // The last read or write is in the 199th extent.
                    (if sectors == 0 { 0 } else { lba + copy * 199 * EXTENT }, sectors, op)
                })
                .collect();
            let mut seen: Vec<_> = seen.iter().map(content).collect();
            expected.sort_unstable();
            seen.sort_unstable();
            assert_eq!(seen, expected, "{mode}, {shift}");
        }
    }
}

#[test]
fn a_copy_begins_at_its_shift_and_goes_on_at_the_start() {
    let seen = requests("open", 4, &json!({}));
    let mut shifts = BTreeSet::new();
    for copy in 0..4 {
        let own: Vec<_> = seen.iter().filter(|record| record.process == copy).collect();
        // The extent identifies the first of the 200 records, except flushes.
        let place = own.iter().position(|record| record.sectors.0 > 0).unwrap();
        let index = (own[place].lba.0 / EXTENT - u64::from(copy) * 199 + 200 - place as u64) % 200;
        shifts.insert(index);
        for (position, record) in own.iter().enumerate() {
            let recorded = trace().record((index as usize + position) % 200);
            assert_eq!(record.sectors, recorded.sectors);
            assert_eq!(record.time, own[0].time + SimDuration(1_000_000) * position as u64);
        }
    }
    assert_eq!(shifts.len(), 4, "{shifts:?}");
}

#[test]
fn further_copies_change_none_of_the_others() {
    let of_first = |users: u32| -> Vec<_> {
        let seen = requests("open", users, &json!({"shared_fraction": 0.4}));
        seen.iter()
            .filter(|record| record.process < 2)
            .map(|record| (record.process, content(record)))
            .collect()
    };
    assert_eq!(of_first(2), of_first(5));
}

#[test]
fn copies_share_the_stated_part_of_their_extents() {
    for (share, map, capacity) in
        [(0.0, "error", 4000), (0.25, "error", 4000), (1.0, "error", 4000), (0.25, "compact", 750)]
    {
        let copies = json!({"shift": "none", "shared_fraction": share});
        let seen = record(scenario("open", 4, &copies, capacity, map), &traces(), &Uninterrupted).unwrap();
        let extents = |copy: u32| -> BTreeSet<u64> {
            let own = seen.records().filter(|record| record.process == copy && record.sectors.0 > 0);
            own.map(|record| record.lba.0 / EXTENT).collect()
        };
        let first = extents(0);
        assert_eq!(first.len(), 180);
        for copy in 1..4 {
            let both = first.intersection(&extents(copy)).count() as f64;
            // Exact over the extents of the whole span, of which 180 of 199 are touched.
            let (touched, untouched) = if map == "compact" { (180.0, 0.0) } else { (199.0, 19.0) };
            let shared = touched * share;
            assert!((shared - untouched - 0.5..=shared + 0.5).contains(&both), "{both} of {shared}, {map}");
        }
    }
}

#[test]
fn copies_beyond_the_array_are_refused_or_moved_together() {
    // One needs 199 MiB, three need 597; 180 extents are touched.
    let run = |users: u32, capacity: u64, map: &str| {
        simulate(scenario("open", users, &json!({}), capacity, map), &traces())
    };
    assert!(run(3, 600, "error").is_ok());
    let error = run(3, 560, "error").unwrap_err();
    assert!(matches!(error, RunError::TraceBeyondArray { .. }), "{error}");
    assert!(run(3, 560, "compact").is_ok());
    assert!(run(3, 560, "wrap").is_ok());
    let error = run(4, 560, "compact").unwrap_err();
    assert!(matches!(error, RunError::TraceBeyondArray { .. }), "{error}");
}

#[test]
fn dependent_copies_wait_each_for_itself() {
    // Each process has its own copies; a flush of one holds no other back.
    let seen = requests("dependent", 5, &json!({}));
    let processes: BTreeSet<u32> = seen.iter().map(|record| record.process).collect();
    assert_eq!(processes.len(), 10);
    for process in processes {
        assert_eq!(seen.iter().filter(|record| record.process == process).count(), 100);
    }
}
