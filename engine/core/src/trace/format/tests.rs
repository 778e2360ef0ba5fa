//! The hand-written sample of each format, record by record, and what is said of each kind of mistake.

use super::samples::blktrace_event;
use super::*;
use crate::trace::{Collection, Flags, Op, Reader, Record, Trace};
use crate::units::{Lba, Sectors, SimDuration};

/// What a format reads, in the order of the trace, with the reader.
fn read_with(name: &str, bytes: &[u8], skip_bad: u64) -> Result<(Vec<Record>, Reader), TraceError> {
    let options = Options { file: "t".into(), skip_bad, volume: None };
    let mut reader = Reader::new(find(name).unwrap(), options);
    reader.feed(bytes)?;
    reader.finish()?;
    let records = reader.take().collect();
    Ok((records, reader))
}

fn records(name: &str, text: &str) -> Vec<Record> {
    read_with(name, text.as_bytes(), 0).unwrap().0
}

fn message(name: &str, text: &str) -> String {
    read_with(name, text.as_bytes(), 0).err().unwrap().to_string()
}

/// A record in short: time [ns], process, volume, sector, sectors, operation, flags, response time [ns].
type Short = (u64, u32, u32, u64, u64, Op, Flags, Option<u64>);

fn short(record: &Record) -> Short {
    (
        record.time.0,
        record.process,
        record.volume,
        record.lba.0,
        record.sectors.0,
        record.op,
        record.flags,
        record.response.map(|response| response.0),
    )
}

fn sample(name: &str) -> Vec<Short> {
    read_with(name, &samples::of(name), 0).unwrap().0.iter().map(short).collect()
}

const NONE: Flags = Flags::NONE;
const SECOND: u64 = 1_000_000_000;

#[test]
fn alibaba() {
    let expected: [Short; 2] = [
        (1_577_808_144_360_767_000, 0, 419, 17_173_304, 32, Op::Write, NONE, None),
        (1_577_808_144_360_813_000, 0, 725, 115_449_856, 704, Op::Read, NONE, None),
    ];
    assert_eq!(sample("alibaba"), expected);
    assert_eq!(records("alibaba", "device_id,opcode,offset,length,timestamp\n1,R,0,512,1\n").len(), 1);
}

#[test]
fn blkparse() {
    let expected: [Short; 2] = [
        (0, 697, 8 << 20, 223_490, 8, Op::Write, NONE, None),
        (SECOND / 4, 698, 8 << 20, 100, 16, Op::Read, Flags::READ_AHEAD, None),
    ];
    assert_eq!(sample("blkparse"), expected);
}

#[test]
fn blktrace_in_both_orders_of_bytes() {
    let device = 8 << 20 | 16;
    let expected: [Short; 3] = [
        (1_000, 697, device, 8, 8, Op::Write, Flags::SYNC, None),
        (2_000, 697, device, 64, 16, Op::Read, NONE, None),
        (3_000, 697, device, 0, 0, Op::Flush, Flags::SYNC, None),
    ];
    assert_eq!(sample("blktrace"), expected);
    let swapped = blktrace_event(true, 1_000, (8, 4096), 1 << 20 | 1 | 1 << 17 | 1 << 19, b"xy");
    let (found, _) = read_with("blktrace", &[&swapped[..], &swapped[..]].concat(), 0).unwrap();
    assert_eq!(found.iter().map(short).collect::<Vec<_>>(), [expected[0], expected[0]]);
}

#[test]
fn blktrace_says_what_blkparse_says() {
    const QUEUED: u32 = 1 << 20 | 1;
    let one = |bits: u32, bytes: u32| {
        let keep = blktrace_event(false, 9, (0, 512), QUEUED, &[]);
        let event = blktrace_event(false, 5, (8, bytes), QUEUED | bits, &[]);
        let (found, reader) = read_with("blktrace", &[event, keep].concat(), 0).unwrap();
        let left = reader.problems().findings().iter().map(|finding| finding.problem).next();
        (found.iter().find(|record| record.time.0 == 5).map(|record| (record.op, record.flags)), left)
    };
    let (sync, meta, barrier) = (Flags::SYNC, Flags::META, Flags::PREFLUSH.with(Flags::FUA));
    assert_eq!(
        one(1 << 16 | 1 << 27 | 1 << 28, 4096),
        (Some((Op::Read, Flags::READ_AHEAD.with(meta))), None)
    );
    assert_eq!(one(1 << 17 | 1 << 18 | 1 << 31, 4096), (Some((Op::Write, barrier)), None));
    assert_eq!(one(1 << 17 | 1 << 18 | 1 << 19, 0), (Some((Op::Flush, sync)), None));
    assert_eq!(one(1 << 29 | 1 << 17, 4096), (None, Some(Problem::Discard)));
    assert_eq!(one(1 << 25, 36), (None, Some(Problem::Command)));
    assert_eq!(one(1 << 17, 0), (None, Some(Problem::NoKind)));
}

#[test]
fn cloud_physics() {
    let time = 5_000_000 * SECOND;
    let expected: [Short; 2] =
        [(time, 0, 0, 4096, 1, Op::Write, NONE, None), (time, 0, 0, 7, 8, Op::Read, NONE, None)];
    assert_eq!(sample("cloudphysics_csv"), expected);
    let (found, reader) = read_with("cloudphysics_csv", b"1,5,35,0,0\n1,5,42,0,0\n1,6,12,0,0\n", 0).unwrap();
    assert_eq!((found.len(), found[0].op), (1, Op::Flush));
    assert_eq!(reader.problems().count(Problem::Discard), 1);
    assert_eq!(reader.problems().count(Problem::Command), 1);
}

#[test]
fn disksim() {
    let expected: [Short; 2] = [
        (10_500_000, 0, 30, 0, 5, Op::Read, NONE, None),
        (12_250_000, 0, 20, 5000, 6, Op::Write, NONE, None),
    ];
    assert_eq!(sample("disksim"), expected);
    let expected: [Short; 2] = [
        (0, 0, 0, 1000, 4, Op::Read, NONE, Some(15_000_000)),
        (71_000_000, 0, 0, 2000, 4, Op::Write, NONE, Some(3_000_000)),
    ];
    assert_eq!(sample("disksim_validate"), expected);
}

#[test]
fn fio_version_3() {
    let expected: [Short; 3] = [
        (0, 0, 0, 0, 8, Op::Write, NONE, None),
        (610_000, 0, 0, 2048, 128, Op::Read, NONE, None),
        (1_100_000, 0, 0, 0, 0, Op::Flush, Flags::SYNC, None),
    ];
    assert_eq!(sample("fio_iolog"), expected);
}

#[test]
fn fio_version_2_counts_its_waits_and_numbers_its_files() {
    let text = "fio version 2 iolog\n/dev/sdb add\n/dev/sdc add\n/dev/sdc write 0 512\n/dev/sdb wait 250\n\
                /dev/sdb read 1024 512\n/dev/sdb wait 50\n/dev/sdb sync\n/dev/sdb trim 0 512\n/dev/sdb close\n";
    let (found, reader) = read_with("fio_iolog", text.as_bytes(), 0).unwrap();
    let expected: [Short; 3] = [
        (0, 0, 1, 0, 1, Op::Write, NONE, None),
        (250_000, 0, 0, 2, 1, Op::Read, NONE, None),
        (300_000, 0, 0, 0, 0, Op::Flush, Flags::SYNC, None),
    ];
    assert_eq!(found.iter().map(short).collect::<Vec<_>>(), expected);
    assert_eq!(reader.problems().count(Problem::Discard), 1);
}

#[test]
fn fiu_with_spaces_in_a_name() {
    let expected: [Short; 2] = [
        (89_967_404_000_000, 4892, 6 << 20, 904_265_560, 8, Op::Write, NONE, None),
        (89_967_405_000_000, 2522, 6 << 20 | 1, 904_265_568, 16, Op::Read, NONE, None),
    ];
    assert_eq!(sample("fiu"), expected);
}

#[test]
fn msps_counts_from_the_arrival_and_finds_its_columns() {
    let expected: [Short; 2] = [
        (11_539_000, 4, 2, 319_912, 8, Op::Write, NONE, Some(801_000)),
        (12_400_000, 1234, 0, 16, 1, Op::Read, NONE, Some(100_000)),
    ];
    assert_eq!(sample("msps"), expected);
    let text = "BeginHeader\nDiskFlush, ElapsedTime, DiskNum, TimeStamp, Process Name ( PID)\nEndHeader\n\
                DiskFlush, 5, 3, 2, x (7)\n";
    let (found, reader) = read_with("msps", text.as_bytes(), 0).unwrap();
    assert_eq!(found.iter().map(short).collect::<Vec<_>>(), [(0, 7, 3, 0, 0, Op::Flush, NONE, Some(5_000))]);
    assert_eq!(reader.problems().count(Problem::BeforeZero), 1);
}

#[test]
fn msr_numbers_disks_and_hosts() {
    let time = 12_816_637_200_000_000_000;
    let expected: [Short; 2] = [
        (time, 0, 0, 8000, 4, Op::Write, NONE, Some(150_000)),
        (time + 21_500, 0, 1, 16_000, 1, Op::Read, NONE, Some(70_000)),
    ];
    assert_eq!(sample("msr"), expected);
    let hosts = records("msr", "1,a,2,Read,0,512,1\n2,b,3,Write,0,512,1\n3,a,0,Read,0,512,1\n");
    let volumes: Vec<_> = hosts.iter().map(|record| record.volume).collect();
    assert_eq!(volumes, [2, 65_536 + 3, 0]);
}

#[test]
fn oracle_general() {
    let expected: [Short; 3] = [
        (50 * SECOND, 0, 0, 42, 8, Op::Read, NONE, None),
        (50 * SECOND, 0, 0, 7, 1, Op::Read, NONE, None),
        (51 * SECOND, 0, 0, 42, 8, Op::Read, NONE, None),
    ];
    assert_eq!(sample("oracle_general"), expected);
    let mut hashed = samples::of("oracle_general");
    hashed[4..12].copy_from_slice(&(u64::MAX - 5).to_le_bytes());
    let (found, reader) = read_with("oracle_general", &hashed, 0).unwrap();
    assert_eq!(found[0].lba, Lba((1 << 62) - 6));
    assert_eq!(reader.problems().count(Problem::Folded), 1);
}

#[test]
fn spc() {
    let expected: [Short; 2] = [
        (551_706_000, 0, 0, 20_941_264, 16, Op::Write, NONE, None),
        (1_609_859_000, 0, 1, 3_435_888, 46, Op::Read, NONE, None),
    ];
    assert_eq!(sample("spc"), expected);
    assert_eq!(records("spc", "1,2,512,w,0.5,extra,fields\n").len(), 1);
}

#[test]
fn systor_with_and_without_a_response() {
    let expected: [Short; 2] = [
        (1_456_000_000_250_000_000, 0, 0, 2048, 256, Op::Read, NONE, Some(500_000)),
        (1_456_000_000_125_000_000, 0, 1, 4096, 240, Op::Write, NONE, None),
    ];
    assert_eq!(sample("systor17"), expected);
    let (found, reader) = read_with("systor17", b"1.0,,,0,0,512\n2.0,0.1,R,0,0,512\n", 0).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(reader.problems().count(Problem::NoKind), 1);
}

#[test]
fn tencent() {
    let expected: [Short; 2] = [
        (1_538_000_000 * SECOND, 0, 7, 4_096_000, 128, Op::Write, NONE, None),
        (1_537_999_999 * SECOND, 0, 9, 8_192_000, 128, Op::Read, NONE, None),
    ];
    assert_eq!(sample("tencent"), expected);
}

#[test]
fn vscsi() {
    let expected: [Short; 4] = [
        (5 * SECOND, 0, 0, 100, 8, Op::Write, NONE, None),
        (5 * SECOND + 250_000, 0, 0, 7, 1, Op::Read, NONE, None),
        (5 * SECOND + 300_000, 0, 0, 0, 0, Op::Flush, NONE, None),
        (5 * SECOND + 400_000, 0, 0, 1 << 40, 2, Op::Read, NONE, None),
    ];
    assert_eq!(sample("vscsi_v1"), expected);
    let expected: [Short; 2] = [
        (5 * SECOND, 0, 0, 100, 8, Op::Write, NONE, Some(750_000)),
        (5 * SECOND + 250_000, 0, 0, 7, 1, Op::Read, NONE, Some(90_000)),
    ];
    assert_eq!(sample("vscsi_v2"), expected);
}

#[test]
fn every_sample_is_recognised_as_what_it_is() {
    for format in &FORMATS {
        let sample = samples::of(format.name());
        assert_eq!(recognise(&sample, true, "t").unwrap().name(), format.name());
        // A beginning that ends in the middle of a line, as the beginning of a longer trace does.
        let found = recognise(&sample[..sample.len() - 1], false, "t").map(Format::name);
        assert_eq!(found, Ok(format.name()));
    }
}

#[test]
fn a_trace_that_is_mostly_sound_is_recognised_and_one_that_is_nothing_is_not() {
    let mixed = format!("rubbish\n{0}{0}{0}", String::from_utf8(samples::of("msr")).unwrap());
    assert_eq!(recognise(mixed.as_bytes(), true, "t").unwrap().name(), "msr");
    let message = recognise(b"neither\nnor\n", true, "t").unwrap_err().to_string();
    assert!(
        message.starts_with("t: the format is not recognised; name it; known are alibaba, "),
        "{message}"
    );
    assert!(recognise(b"", true, "t").is_err());
    assert!(recognise(&[0; 4096], false, "t").is_err());
    let message = find("iostat").unwrap_err().to_string();
    assert!(message.starts_with("there is no trace format \"iostat\"; known are alibaba, "), "{message}");
}

#[test]
fn a_bad_line_is_named_with_file_line_column_value_and_what_is_expected() {
    let expected = [
        ("alibaba", "x,W,0,512,1", "t: line 1, column 1: `x`; expected a device number"),
        ("alibaba", "1,W,0,512,", "t: line 1, column 11: ``; expected a time [us]"),
        ("alibaba", "1,W,0,2199023255553,1", "t: line 1, column 7: `2199023255553`; expected a size"),
        ("cloudphysics_csv", "1,1,zz,512,1", "t: line 1, column 5: `zz`; expected a SCSI command"),
        ("cloudphysics_csv", "3,1,2a,512,1", "t: line 1, column 1: `3`; expected the version"),
        ("disksim", "1.0 0 0 8 2", "t: line 1, column 11: `2`; expected flags"),
        ("disksim", "1.0 0 0 8 1 9", "t: line 1, column 13: `9`; expected nothing"),
        ("disksim_validate", "R Near 0 8 1.0 1.0", "t: line 1, column 3: `Near`; expected Hit or Miss"),
        ("fio_iolog", "fio version 4 iolog", "t: line 1, column 1: `fio version 4 iolog`; expected `fio"),
        ("fio_iolog", "fio version 3 iolog\n5 f wait 1", "t: line 2, column 5: `wait`; expected add,"),
        ("fiu", "1 2 p 3 4 X 5 6 0", "t: line 1, column 11: `X`; expected R or W"),
        ("fiu", "1 2 p q 4 W 5 6 0", "t: line 1, column 7: `q`; expected a block address"),
        ("msps", "DiskRead, 1, p (1), 1, 0, 0x0g, 0x200, 1, 0", "t: line 1, column 27: `0x0g`; expected an"),
        ("msps", "DiskRead, 1, p, 1, 0, 0x0, 0x200, 1, 0", "t: line 1, column 14: `p`; expected a process"),
        ("msr", "1,h,0,Erase,0,512,1", "t: line 1, column 7: `Erase`; expected Read or Write"),
        ("msr", "1,h,0,Read,0,512", "t: line 1, column 17: ``; expected a response time [100 ns]"),
        ("msr", "1,h,0,Read,-5,512,1", "t: line 1, column 12: `-5`; expected an offset [bytes]"),
        ("spc", "2 448003", "t: line 1, column 1: `2 448003`; expected the number of an ASU"),
        ("spc", "0,1,512,W,1e3", "t: line 1, column 11: `1e3`; expected a time [s]"),
        ("systor17", "1.0,x,R,0,0,512", "t: line 1, column 5: `x`; expected a response time [s]"),
        ("tencent", "1,0,8,2,5", "t: line 1, column 7: `2`; expected 0 for a read, 1 for a write"),
        ("tencent", "99999999999,0,8,1,5", "t: line 1, column 1: `99999999999`; expected a time [s]"),
    ];
    for (format, text, beginning) in expected {
        let found = message(format, text);
        assert!(found.starts_with(beginning), "{format} {text}: {found}");
    }
}

#[test]
fn a_bad_binary_record_is_named_with_its_byte_and_value() {
    let expected = [
        ("vscsi_v1", 32 + 14, 0x0003_u16, "t: byte 46: 0x0003; expected the version"),
        ("vscsi_v2", 2, 0x0100, "t: byte 2: 0x0100; expected the version"),
        ("blktrace", 57, 0, "t: byte 57: 0x00007407; expected blktrace's magic number"),
        ("oracle_general", 24 + 14, 0xffff, "t: byte 36: 0xffff0200; expected a size of less than 1 GiB"),
    ];
    for (format, at, value, beginning) in expected {
        let mut bytes = samples::of(format);
        let at = if format == "blktrace" { at + 2 } else { at };
        bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
        let found = read_with(format, &bytes, 0).err().unwrap().to_string();
        assert!(found.starts_with(beginning), "{format}: {found}");
    }
}

#[test]
fn as_many_bad_lines_as_allowed_are_left_out_and_counted() {
    let text = b"oops\n0,1,512,W,1.0\nhm\n0,1,512,W,2.0\n";
    assert!(read_with("spc", text, 1).is_err());
    let (found, reader) = read_with("spc", text, 2).unwrap();
    assert_eq!(found.len(), 2);
    let findings = reader.problems().findings();
    assert_eq!((findings[0].problem, findings[0].count, findings[0].first), (Problem::Bad, 2, 1));
}

#[test]
fn trouble_that_is_no_mistake_is_counted() {
    let text = b"0,1,512,W,1.0\n0,1,0,W,1.0\n0,1,513,R,0.5\n0,1,512,R,0.75";
    let (found, reader) = read_with("spc", text, 0).unwrap();
    assert_eq!(found.len(), 3);
    assert_eq!(found[1].sectors, Sectors(2));
    let counts = [Problem::ZeroLength, Problem::Rounded, Problem::OutOfOrder]
        .map(|problem| reader.problems().count(problem));
    assert_eq!(counts, [1, 1, 2]);
    assert_eq!(reader.problems().longest_back_ns, SECOND / 2);
    let mut torn = samples::of("vscsi_v1");
    torn.truncate(torn.len() - 1);
    assert_eq!(read_with("vscsi_v1", &torn, 0).unwrap().1.problems().count(Problem::Torn), 1);
}

#[test]
fn a_line_that_is_too_long_is_passed_over_wherever_it_is_cut() {
    let long = [&b"0,1,512,W,1.0\n"[..], &b"9".repeat(200_000), b"\n0,1,512,W,2.0\n"].concat();
    for piece in [1_000, 70_000, 300_000] {
        let options = Options { skip_bad: 1, ..Options::default() };
        let mut reader = Reader::new(find("spc").unwrap(), options);
        long.chunks(piece).for_each(|bytes| reader.feed(bytes).unwrap());
        reader.finish().unwrap();
        let count = reader.take().len();
        assert_eq!((count, reader.frames()), (2, 3), "{piece}");
        assert_eq!(reader.problems().findings()[0].first, 2);
    }
    let found = read_with("spc", &long, 0).err().unwrap().to_string();
    assert!(found.starts_with("t: line 2, column 1: `9999"), "{found}");
    assert!(found.ends_with("expected a line of at most 65,536 bytes"), "{found}");
}

fn trace(name: &str, bytes: &[u8], volume: Option<u32>) -> Result<Trace, TraceError> {
    let options = Options { file: "t".into(), volume, ..Options::default() };
    let mut reader = Reader::new(find(name).unwrap(), options);
    let mut collection = Collection::default();
    reader.feed(bytes)?;
    reader.finish()?;
    collection.add(&mut reader);
    collection.into_trace(&reader)
}

#[test]
fn a_collected_trace_is_sorted_spread_and_laid_end_to_end() {
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
    let message = trace("tencent", text, Some(8)).unwrap_err().to_string();
    assert_eq!(message, "t: nothing goes to volume 8");
}
