use super::*;

fn columns() -> Columns {
    Columns {
        time_ns: vec![5_000, 5_000, 7_500, 9_000],
        process: vec![7, 9, 7, 7],
        lba: vec![100, 8, 0, 40],
        sectors: vec![8, 16, 0, 4],
        op: vec![0, 1, 2, 1],
        flags: vec![Flags::READ_AHEAD.bits(), 3, 1, 0b1_0111],
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
        lba: Lba(40),
        sectors: Sectors(4),
        op: Op::Write,
        flags: Flags::SYNC.with(Flags::FUA).with(Flags::META).with(Flags::PREFLUSH),
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
