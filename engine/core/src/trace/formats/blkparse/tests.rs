use super::super::{block_layer, find};
use crate::trace::{Columns, Flags, Op, Position, Problem, Reader, ReaderOptions, TraceError};

fn read(text: &[u8]) -> Result<(Columns, Reader), TraceError> {
    let mut reader = Reader::new(find("blkparse").unwrap(), ReaderOptions::default());
    reader.feed(text)?;
    reader.finish()?;
    let mut columns = Columns::default();
    reader.take().for_each(|record| columns.push(record));
    Ok((columns, reader))
}

fn of(lines: &[&str]) -> (Columns, Reader) {
    read(lines.join("\n").as_bytes()).unwrap()
}

/// The records of one queue event with these letters and this body, and one more.
fn event(letters: &str, body: &str) -> (Columns, Reader) {
    of(&[&format!("  8,0    1        1     0.000000000   697  Q {letters:>3} {body}"), WRITE])
}

/// Keeps a trace from being empty.
const WRITE: &str = "  8,0    1        2     9.000000000   697  Q   W 10 + 2 [x]";

fn bad(line: &str) -> (u64, usize, String) {
    match read([WRITE, line].join("\n").as_bytes()) {
        Err(TraceError::BadRecord {
            position: Position::Line { line, column: Some(column) }, value, ..
        }) => (line, column, value),
        other => panic!("{line}: {:?}", other.map(|(columns, _)| columns)),
    }
}

#[test]
fn only_queue_events_are_read() {
    let (columns, reader) = of(&[
        "  8,0    3        1     1.000000000   697  Q   W 223490 + 8 [kjournald]",
        "  8,0    3        2     1.000001829   697  G   W 223490 + 8 [kjournald]",
        "  8,0    3        0     1.000007900     0  m   N cfq workload slice:100",
        "  8,0    3        4     1.000009000     0 UT   N [swapper] 1",
        "  8,0    3        5     1.004512310     0  C   W 223490 + 8 [0]",
        "",
        "  8,0    0        6     1.250000000   699  Q  RA 100 + 16 [a name with spaces]",
    ]);
    let expected = Columns {
        time_ns: vec![1_000_000_000, 1_250_000_000],
        process: vec![697, 699],
        lba: vec![223_490, 100],
        sectors: vec![8, 16],
        op: vec![1, 0],
        flags: vec![0, Flags::READ_AHEAD.bits()],
        volume: vec![8 << 20; 2],
        response: vec![],
    };
    assert_eq!(columns, expected);
    assert_eq!(reader.findings(), []);
}

#[test]
fn letters_give_operation_and_flags() {
    let first = |letters, body| {
        let (columns, _) = event(letters, body);
        let flags = Flags::from_bits(columns.flags[0]).unwrap();
        (Op::from_code(columns.op[0]).unwrap(), columns.sectors[0], flags)
    };
    let (sync, meta) = (Flags::SYNC, Flags::META);
    let barrier = Flags::PREFLUSH.with(Flags::FUA);
    assert_eq!(first("R", "8 + 8 [x]"), (Op::Read, 8, Flags::NONE));
    assert_eq!(first("RAM", "8 + 8 [x]"), (Op::Read, 8, Flags::READ_AHEAD.with(meta)));
    assert_eq!(first("WS", "8 + 8 [x]"), (Op::Write, 8, sync));
    assert_eq!(first("WFS", "8 + 8 [x]"), (Op::Write, 8, Flags::FUA.with(sync)));
    assert_eq!(first("FW", "8 + 8 [x]"), (Op::Write, 8, Flags::PREFLUSH));
    assert_eq!(first("FWFSM", "8 + 8 [x]"), (Op::Write, 8, barrier.with(sync).with(meta)));
    assert_eq!(first("WBS", "8 + 8 [x]"), (Op::Write, 8, barrier.with(sync)));
    // All printed forms of a flush without data.
    for (letters, body) in [("FWS", "0 + 0 [x]"), ("FWS", "[x]"), ("FWFS", "(   1234) [x]"), ("FNS", "[x]")] {
        assert_eq!(first(letters, body), (Op::Flush, 0, sync), "{letters} {body}");
    }
    assert_eq!(first("F", "[x]"), (Op::Flush, 0, Flags::NONE));
    assert_eq!(first("FF", "[x]"), (Op::Flush, 0, Flags::NONE));
    // With the time since an earlier event, without a command, at the end of a Windows line.
    for body in ["8 + 8 (   1234) [x]", "8 + 8", "8 + 8\r"] {
        assert_eq!(first("W", body), (Op::Write, 8, Flags::NONE), "{body}");
    }
}

#[test]
fn skipped_events_are_counted() {
    let skipped = |letters, body| {
        let (columns, reader) = event(letters, body);
        assert_eq!(columns.op.len(), 1);
        let count = |problem| reader.problems().count(problem);
        (count(Problem::Discard), count(Problem::OtherCommand), count(Problem::NoOperation))
    };
    assert_eq!(skipped("D", "8 + 8 [x]"), (1, 0, 0));
    assert_eq!(skipped("DES", "8 + 8 [x]"), (1, 0, 0));
    assert_eq!(skipped("ZR", "8 + 8 [x]"), (0, 1, 0));
    assert_eq!(skipped("R", "36 (12 01 00 00 24 00 ..) [hald]"), (0, 1, 0));
    assert_eq!(skipped("N", "[x]"), (0, 0, 1));
    assert_eq!(skipped("WS", "0 + 0 [x]"), (0, 0, 1));
}

#[test]
fn the_summary_ends_the_trace() {
    for first in ["CPU0 (sda):", "Total (sda):"] {
        let (columns, _) =
            of(&[WRITE, first, " Reads Queued:           0,        0KiB\t Writes Queued: 1", "not a line"]);
        assert_eq!(columns.op.len(), 1);
    }
}

#[test]
fn a_bad_line_is_reported_with_place_and_value() {
    assert_eq!(bad("8.0 1 1 0.5 7 Q W 1 + 1"), (2, 1, "8.0".into()));
    assert_eq!(bad("8,0 x 1 0.5 7 Q W 1 + 1"), (2, 5, "x".into()));
    assert_eq!(bad("8,0 1 - 0.5 7 Q W 1 + 1"), (2, 7, "-".into()));
    assert_eq!(bad("8,0 1 1 5 7 Q W 1 + 1"), (2, 9, "5".into()));
    assert_eq!(bad("8,0 1 1 0.0000000001 7 Q W 1 + 1"), (2, 9, "0.0000000001".into()));
    assert_eq!(bad("8,0 1 1 0.5 4294967296 Q W 1 + 1"), (2, 13, "4294967296".into()));
    assert_eq!(bad("8,0 1 1 0.5 7"), (2, 14, String::new()));
    assert_eq!(bad("8,0 1 1 0.5 7 Q WX 1 + 1"), (2, 18, "X".into()));
    assert_eq!(bad("8,0 1 1 0.5 7 Q Q 1 + 1"), (2, 17, "Q".into()));
    assert_eq!(bad("8,0 1 1 0.5 7 Q W one + 1"), (2, 19, "one".into()));
    assert_eq!(bad("8,0 1 1 0.5 7 Q W 1 - 1"), (2, 21, "-".into()));
    assert_eq!(bad("8,0 1 1 0.5 7 Q W 1 + 4294967296"), (2, 23, "4294967296".into()));
    assert_eq!(bad("8,0 1 1 0.5 7 Q W 1 +"), (2, 22, String::new()));
}

#[test]
fn a_trace_without_io_is_empty() {
    let empty = read(b"  8,0    3        2     1.000001829   697  G   W 223490 + 8 [x]\n").err().unwrap();
    assert_eq!(empty, TraceError::Empty { frames: 1, is_text: true, needs: block_layer::NEEDS });
    assert_eq!((empty.code(), empty.place()), ("trace.empty", String::new()));
}

#[test]
fn devices_are_volumes() {
    let (columns, _) = of(&["8,0 1 1 0.5 7 Q W 1 + 1", "8,16 1 1 0.5 7 Q W 1 + 1"]);
    assert_eq!(columns.volume, [8 << 20, 8 << 20 | 16]);
}
