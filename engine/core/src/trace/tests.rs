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

fn bad(change: impl Fn(&mut Columns)) -> String {
    let mut columns = columns();
    change(&mut columns);
    Trace::from_columns(columns).unwrap_err().to_string()
}

#[test]
fn records_come_back_with_times_from_the_first() {
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
}

#[test]
fn statistics_count_what_is_there() {
    let trace = Trace::from_columns(columns()).unwrap();
    assert_eq!(trace.end(), Lba(108));
    let expected = Statistics {
        reads: 1,
        writes: 2,
        flushes: 1,
        preflushes: 1,
        fua_writes: 2,
        sync_writes: 2,
        read_sectors: Sectors(8),
        written_sectors: Sectors(20),
        processes: 2,
    };
    assert_eq!(trace.statistics(), expected);
}

#[test]
fn columns_that_make_no_trace_are_refused_with_the_record() {
    assert_eq!(
        bad(|columns| columns.time_ns[2] = 4_999),
        "record 2: time_ns is 4999; expected at least 5000, the time of the record before"
    );
    assert_eq!(bad(|columns| columns.op[1] = 3), "record 1: op is 3; expected 0 read, 1 write or 2 flush");
    assert_eq!(bad(|columns| columns.flags[0] = 32), "record 0: flags is 32; expected 0 to 31");
    assert_eq!(bad(|columns| columns.sectors[2] = 1), "record 2: sectors is 1; expected 0 for a flush");
    assert_eq!(
        bad(|columns| columns.sectors[0] = 0),
        "record 0: sectors is 0; expected 1 or more for a read or write"
    );
    assert!(bad(|columns| columns.lba[0] = 1 << 63).starts_with("record 0: lba is 9223372036854775808"));
    assert_eq!(
        bad(|columns| columns.flags.truncate(3)),
        "column flags has 3 values; expected 4, as many as there are times"
    );
    assert!(matches!(Trace::from_columns(Columns::default()), Err(TraceError::Empty { .. })));
}

#[test]
fn codes_and_bits_read_back() {
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
fn volumes_lie_end_to_end_by_number_each_from_a_multiple_of_1_mib() {
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
fn volumes_that_are_too_large_together_are_refused() {
    let refused = bad(|columns| {
        columns.lba[0] = (1 << 63) - 1;
        columns.volume = vec![0, 1, 1, 1];
    });
    assert_eq!(refused, "the 2 volumes laid end to end reach beyond sector 2^63; replay one of them");
}

#[test]
fn response_times_are_kept_where_one_is_known() {
    let response = vec![None, Some(SimDuration(7)), None, None];
    let trace = Trace::from_columns(Columns { response: response.clone(), ..columns() }).unwrap();
    assert_eq!(trace.record(1).response, Some(SimDuration(7)));
    assert_eq!(trace.columns().response, response);
    let without = Trace::from_columns(Columns { response: vec![None; 4], ..columns() }).unwrap();
    assert_eq!(without.columns().response, []);
    assert_eq!(
        bad(|columns| columns.response = vec![None; 3]),
        "column response has 3 values; expected 4, as many as there are times"
    );
}

#[test]
fn columns_grow_by_a_volume_or_a_response_when_one_comes_up() {
    let trace = Trace::from_columns(columns()).unwrap();
    let mut grown = Columns::default();
    for (index, record) in trace.records().enumerate() {
        let response = (index == 2).then_some(SimDuration(9));
        grown.push(Record { volume: u32::from(index == 1), response, ..record });
    }
    assert_eq!(grown.volume, [0, 1, 0, 0]);
    assert_eq!(grown.response, [None, None, Some(SimDuration(9)), None]);
}
