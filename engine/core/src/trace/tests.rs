use serde_json::json;

use super::*;
use crate::units::{Lba, Sectors, SimDuration};

fn columns() -> Columns {
    Columns {
        time_ns: vec![5_000, 5_000, 7_500, 9_000],
        process: vec![7, 9, 7, 7],
        lba: vec![100, 8, 0, 40],
        sectors: vec![8, 16, 0, 4],
        op: vec![0, 1, 2, 1],
        flags: vec![Flags::READ_AHEAD.bits(), 3, 1, 0b1_0111],
        ..Columns::default()
    }
}

fn error(change: impl Fn(&mut Columns)) -> TraceError {
    let mut columns = columns();
    change(&mut columns);
    Trace::from_columns(columns).unwrap_err()
}

#[test]
fn times_are_counted_from_the_first_record() {
    let trace = Trace::from_columns(columns()).unwrap();
    assert_eq!(trace.columns().time_ns, [0, 0, 2_500, 4_000]);
    assert_eq!(trace.duration(), SimDuration(4_000));
    let expected = Record {
        time: SimDuration(4_000),
        process: 7,
        volume: 0,
        lba: Lba(40),
        sectors: Sectors(4),
        op: Op::Write,
        flags: Flags::SYNC.with(Flags::FUA).with(Flags::META).with(Flags::PREFLUSH),
        response: None,
    };
    assert_eq!(trace.record(3), expected);
    assert_eq!(trace.records().len(), 4);
    assert!(!trace.is_empty());
    assert_eq!(trace.end(), Lba(108));
}

#[test]
fn bad_columns_are_reported_with_record_and_column() {
    let value = |change: fn(&mut Columns)| {
        let error = error(change);
        assert_eq!(error.code(), "trace.bad-value");
        (error.place(), error.data()["column"].as_str().unwrap().to_owned())
    };
    let at = |record: u32, column: &str| (format!("record {record}"), column.to_owned());
    assert_eq!(value(|columns| columns.time_ns[2] = 4_999), at(3, "time_ns"));
    assert_eq!(value(|columns| columns.op[1] = 3), at(2, "op"));
    assert_eq!(value(|columns| columns.flags[0] = 32), at(1, "flags"));
    assert_eq!(value(|columns| columns.sectors[2] = 1), at(3, "sectors"));
    assert_eq!(value(|columns| columns.sectors[0] = 0), at(1, "sectors"));
    assert_eq!(value(|columns| columns.lba[0] = 1 << 63), at(1, "lba"));
    let time = error(|columns| columns.time_ns[2] = 4_999).data();
    assert_eq!((&time["record"], &time["value"]), (&json!(3), &json!(4_999)));
    let short = error(|columns| columns.flags.truncate(3));
    assert_eq!(short.code(), "trace.bad-column");
    assert_eq!(short.data(), json!({"column": "flags", "length": 3, "expected": 4}));
    assert_eq!(Trace::from_columns(Columns::default()).unwrap_err().code(), "trace.empty");
}

#[test]
fn codes_and_bits_are_read_back() {
    for op in [Op::Read, Op::Write, Op::Flush] {
        assert_eq!(Op::from_code(op as u8), Some(op));
    }
    assert_eq!(Op::from_code(3), None);
    assert_eq!(Flags::from_bits(31).map(Flags::bits), Some(31));
    assert_eq!(Flags::from_bits(32), None);
    assert!(Flags::SYNC.with(Flags::FUA).contains(Flags::FUA));
    assert!(!Flags::SYNC.contains(Flags::FUA));
}

#[test]
fn volumes_follow_by_number_at_multiples_of_1_mib() {
    let volume = vec![5, 2, 5, 2];
    let trace = Trace::from_columns(Columns { volume: volume.clone(), ..columns() }).unwrap();
    // Volume 2 ends at sector 44 and volume 5 at sector 108, and the flush has no address.
    assert_eq!(trace.columns().lba, [2048 + 100, 8, 0, 40]);
    assert_eq!(trace.end(), Lba(2048 + 108));
    assert_eq!(trace.recorded_addresses(), columns().lba);
    assert_eq!(trace.record(0).volume, 5);
    let one = Trace::from_columns(Columns { volume: vec![5; 4], ..columns() }).unwrap();
    assert_eq!(one, Trace::from_columns(columns()).unwrap());
}

#[test]
fn volumes_that_are_too_large_together_are_an_error() {
    let error = error(|columns| {
        columns.lba[0] = (1 << 63) - 1;
        columns.volume = vec![0, 1, 1, 1];
    });
    assert_eq!((error.code(), error.data()), ("trace.too-large", json!({"volumes": 2})));
}

#[test]
fn response_times_are_kept_if_one_is_known() {
    let response = vec![None, Some(SimDuration(7)), None, None];
    let trace = Trace::from_columns(Columns { response: response.clone(), ..columns() }).unwrap();
    assert_eq!(trace.record(1).response, Some(SimDuration(7)));
    assert_eq!(trace.columns().response, response);
    let without = Trace::from_columns(Columns { response: vec![None; 4], ..columns() }).unwrap();
    assert_eq!(without.columns().response, []);
    assert_eq!(error(|columns| columns.response = vec![None; 3]).code(), "trace.bad-column");
}

#[test]
fn optional_columns_start_at_their_first_value() {
    let trace = Trace::from_columns(columns()).unwrap();
    let mut grown = Columns::default();
    for (index, record) in trace.records().enumerate() {
        let response = (index == 2).then_some(SimDuration(9));
        grown.push(Record { volume: u32::from(index == 1), response, ..record });
    }
    assert_eq!(grown.volume, [0, 1, 0, 0]);
    assert_eq!(grown.response, [None, None, Some(SimDuration(9)), None]);
}
