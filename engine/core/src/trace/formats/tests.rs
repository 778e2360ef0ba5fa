//! Recognition, errors and warnings, and the trace that is built.

mod each_format;

use serde_json::json;

use super::*;
use crate::trace::{Reader, Record, Trace, TraceBuilder};
use crate::units::{Lba, Sectors, SimDuration};

/// The records of a trace in its order, and the reader.
fn read_with(name: &str, bytes: &[u8], skip_bad: u64) -> Result<(Vec<Record>, Reader), TraceError> {
    let options = ReaderOptions { skip_bad, volume: None };
    let mut reader = Reader::new(find(name).unwrap(), options);
    reader.feed(bytes)?;
    reader.finish()?;
    let records = reader.take().collect();
    Ok((records, reader))
}

fn records(name: &str, text: &str) -> Vec<Record> {
    read_with(name, text.as_bytes(), 0).unwrap().0
}

fn error(name: &str, bytes: &[u8]) -> TraceError {
    read_with(name, bytes, 0).err().unwrap()
}

const SECOND: u64 = 1_000_000_000;

#[test]
fn every_sample_is_recognised() {
    for format in &FORMATS {
        let sample = samples::of(format.name());
        assert_eq!(recognise(&sample, true).unwrap().name(), format.name());
        // The beginning of a longer trace, which ends in the middle of a line.
        let found = recognise(&sample[..sample.len() - 1], false).map(Format::name);
        assert_eq!(found, Ok(format.name()));
    }
}

#[test]
fn a_mostly_valid_trace_is_recognised_and_rubbish_is_not() {
    let mixed = format!("rubbish\n{0}{0}{0}", String::from_utf8(samples::of("msr")).unwrap());
    assert_eq!(recognise(mixed.as_bytes(), true).unwrap().name(), "msr");
    for (head, is_whole) in [(&b"neither\nnor\n"[..], true), (b"", true), (&[0; 4096], false)] {
        let error = recognise(head, is_whole).unwrap_err();
        assert_eq!(
            (error.code(), &error.data()["known"][0]),
            ("trace.unrecognised-format", &json!("alibaba"))
        );
    }
    let error = find("iostat").unwrap_err();
    assert_eq!((error.code(), &error.data()["name"]), ("trace.unknown-format", &json!("iostat")));
}

#[test]
fn the_same_columns_are_told_apart_by_the_times_between_requests() {
    let trace = |gap: &str| format!("0 0 1000 8 1\n{gap} 0 2000 8 0\n");
    let found = |gap: &str| recognise(trace(gap).as_bytes(), true).map(Format::name);
    assert_eq!(found("999"), Ok("disksim"));
    assert_eq!(found("5000.0"), Ok("disksim"));
    assert_eq!(found("100000"), Ok("mqsim"));
    assert_eq!(found("2500000"), Ok("mqsim"));
    for gap in ["1000", "99999"] {
        let error = found(gap).unwrap_err();
        let expected = ("trace.ambiguous-format", json!(["disksim", "mqsim"]));
        assert_eq!((error.code(), error.data()["matching"].clone()), expected);
    }
}

#[test]
fn a_bad_line_has_place_value_and_expectation() {
    let expected = [
        ("alibaba", "x,W,0,512,1", (1, 1), "x", "a device number"),
        ("alibaba", "1,W,0,512,", (1, 11), "", "a time [us]"),
        ("alibaba", "1,W,0,2199023255553,1", (1, 7), "2199023255553", "a size"),
        ("cloudphysics_csv", "1,1,zz,512,1", (1, 5), "zz", "a SCSI command"),
        ("cloudphysics_csv", "3,1,2a,512,1", (1, 1), "3", "the version"),
        ("disksim", "1.0 0 0 8 2", (1, 11), "2", "flags"),
        ("disksim", "1.0 0 0 8 1 9", (1, 13), "9", "nothing"),
        ("disksim_validate", "R Near 0 8 1.0 1.0", (1, 3), "Near", "Hit, Miss, Doub or Trip"),
        ("fio_iolog", "fio version 4 iolog", (1, 1), "fio version 4 iolog", "`fio"),
        ("fio_iolog", "fio version 3 iolog\n5 f wait 1", (2, 5), "wait", "add,"),
        ("fiu", "1 2 p 3 4 X 5 6 0", (1, 11), "X", "R or W"),
        ("fiu", "1 2 p q 4 W 5 6 0", (1, 7), "q", "a block address"),
        ("msps", "DiskRead, 1, p (1), 1, 0, 0x0g, 0x200, 1, 0", (1, 27), "0x0g", "an offset"),
        ("msps", "DiskRead, 1, p, 1, 0, 0x0, 0x200, 1, 0", (1, 14), "p", "a process"),
        ("msr", "1,h,0,Erase,0,512,1", (1, 7), "Erase", "Read or Write"),
        ("msr", "1,h,0,Read,0,512", (1, 17), "", "a response time [100 ns]"),
        ("msr", "1,h,0,Read,-5,512,1", (1, 12), "-5", "an offset [bytes]"),
        ("spc", "2 448003", (1, 1), "2 448003", "an ASU number"),
        ("spc", "0,1,512,W,1e3", (1, 11), "1e3", "a time [s]"),
        ("systor17", "1.0,x,R,0,0,512", (1, 5), "x", "a response time [s]"),
        ("tencent", "1,0,8,2,5", (1, 7), "2", "0 for a read, 1 for a write"),
        ("tencent", "99999999999,0,8,1,5", (1, 1), "99999999999", "a time [s]"),
    ];
    for (format, text, (line, column), value, beginning) in expected {
        let found = error(format, text.as_bytes());
        assert_eq!(found.code(), "trace.bad-record");
        assert_eq!(found.place(), format!("line {line}, column {column}"), "{format} {text}");
        let data = found.data();
        assert_eq!(data["value"], value, "{format} {text}");
        assert!(data["expected"].as_str().unwrap().starts_with(beginning), "{format} {text}: {data}");
    }
}

#[test]
fn a_bad_binary_record_is_reported_with_byte_and_value() {
    let expected = [
        ("vscsi_v1", 32 + 14, 0x0003_u16, 46, "0x0003", "the version"),
        ("vscsi_v2", 2, 0x0100, 2, "0x0100", "the version"),
        ("blktrace", 59, 0, 57, "0x00007407", "blktrace's magic number"),
        ("oracle_general", 24 + 14, 0xffff, 36, "0xffff0200", "a size of less than 1 GiB"),
    ];
    for (format, at, change, byte, value, beginning) in expected {
        let mut bytes = samples::of(format);
        bytes[at..at + 2].copy_from_slice(&change.to_le_bytes());
        let found = error(format, &bytes);
        assert_eq!((found.code(), found.place()), ("trace.bad-record", format!("byte {byte}")));
        let data = found.data();
        assert_eq!(data["value"], value, "{format}");
        assert!(data["expected"].as_str().unwrap().starts_with(beginning), "{format}: {data}");
    }
}

#[test]
fn bad_lines_are_skipped_up_to_the_maximum() {
    let text = b"oops\n0,1,512,W,1.0\nhm\n0,1,512,W,2.0\n";
    let error = read_with("spc", text, 1).err().unwrap();
    assert_eq!((error.code(), error.place().as_str()), ("trace.too-many-bad-records", "line 3, column 1"));
    assert_eq!(error.data()["skipped"], 1);
    let (found, reader) = read_with("spc", text, 2).unwrap();
    assert_eq!(found.len(), 2);
    let found = &reader.findings()[0];
    assert_eq!((found.code, found.place.as_str(), found.count), ("trace.bad-record-skipped", "line 1", 2));
}

#[test]
fn warnings_are_counted() {
    let text = b"0,1,512,W,1.0\n0,1,0,W,1.0\n0,1,513,R,0.5\n0,1,512,R,0.75";
    let (found, reader) = read_with("spc", text, 0).unwrap();
    assert_eq!(found.len(), 3);
    assert_eq!(found[1].sectors, Sectors(2));
    let counts = [Problem::ZeroLength, Problem::Unaligned, Problem::OutOfOrder]
        .map(|problem| reader.problems().count(problem));
    assert_eq!(counts, [1, 1, 2]);
    let mut truncated = samples::of("vscsi_v1");
    truncated.truncate(truncated.len() - 1);
    assert_eq!(read_with("vscsi_v1", &truncated, 0).unwrap().1.problems().count(Problem::Truncated), 1);
}

#[test]
fn times_that_may_be_in_another_unit_are_a_warning() {
    let doubtful = |name: &str| {
        let (found, reader) = read_with(name, &samples::of("mqsim"), 0).unwrap();
        assert_eq!(found.len(), 4);
        reader.problems().count(Problem::DoubtfulTimes)
    };
    assert_eq!((doubtful("disksim"), doubtful("mqsim")), (1, 0));
}

#[test]
fn an_overlong_line_is_skipped_in_pieces_of_any_size() {
    let long = [&b"0,1,512,W,1.0\n"[..], &b"9".repeat(200_000), b"\n0,1,512,W,2.0\n"].concat();
    for piece in [1_000, 70_000, 300_000] {
        let options = ReaderOptions { skip_bad: 1, ..ReaderOptions::default() };
        let mut reader = Reader::new(find("spc").unwrap(), options);
        long.chunks(piece).for_each(|bytes| reader.feed(bytes).unwrap());
        reader.finish().unwrap();
        let count = reader.take().len();
        assert_eq!((count, reader.frames()), (2, 3), "{piece}");
        assert_eq!(reader.findings()[0].place, "line 2");
    }
    let found = error("spc", &long);
    assert_eq!((found.code(), found.place().as_str()), ("trace.bad-record", "line 2, column 1"));
    assert_eq!(found.data()["expected"], "a line of at most 65,536 bytes");
}

fn trace(name: &str, bytes: &[u8], volume: Option<u32>) -> Result<Trace, TraceError> {
    let options = ReaderOptions { volume, ..ReaderOptions::default() };
    let mut reader = Reader::new(find(name).unwrap(), options);
    let mut builder = TraceBuilder::default();
    reader.feed(bytes)?;
    reader.finish()?;
    builder.take_from(&mut reader);
    builder.build(&reader)
}

#[test]
fn a_built_trace_is_sorted_spread_and_laid_end_to_end() {
    let text = b"11,9,8,0,7\n10,0,8,1,7\n10,5,8,1,3\n10,1,8,0,3\n";
    let found = trace("tencent", text, None).unwrap();
    assert_eq!(found.columns().time_ns, [0, SECOND / 3, 2 * SECOND / 3, SECOND]);
    // Volume 3 ends at sector 13, so volume 7 begins at 1 MiB.
    assert_eq!(found.columns().lba, [2048, 5, 1, 2048 + 9]);
    assert_eq!(found.recorded_addresses(), [0, 5, 1, 9]);
    assert_eq!(found.end(), Lba(2048 + 17));
    let volumes: Vec<_> = found.volumes().iter().map(|it| (it.number, it.base.0, it.length.0)).collect();
    assert_eq!(volumes, [(3, 0, 13), (7, 2048, 17)]);
    let one = trace("tencent", text, Some(7)).unwrap();
    assert_eq!((one.columns().lba.clone(), one.volumes().len()), (vec![0, 9], 0));
    assert_eq!(one.duration(), SimDuration(SECOND));
    let error = trace("tencent", text, Some(8)).unwrap_err();
    assert_eq!((error.code(), error.data()), ("trace.empty", json!({"volume": 8})));
}
