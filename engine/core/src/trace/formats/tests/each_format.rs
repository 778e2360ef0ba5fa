//! The hand-written sample of each format, record by record.

use super::*;
use crate::trace::formats::samples::blktrace_event;
use crate::trace::{Flags, Op};

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
fn blktrace_flags_match_those_of_blkparse() {
    const QUEUED: u32 = 1 << 20 | 1;
    let one = |bits: u32, bytes: u32| {
        let keep = blktrace_event(false, 9, (0, 512), QUEUED, &[]);
        let event = blktrace_event(false, 5, (8, bytes), QUEUED | bits, &[]);
        let (found, reader) = read_with("blktrace", &[event, keep].concat(), 0).unwrap();
        let skipped = reader.findings().first().map(|finding| finding.code);
        (found.iter().find(|record| record.time.0 == 5).map(|record| (record.op, record.flags)), skipped)
    };
    let (sync, meta, barrier) = (Flags::SYNC, Flags::META, Flags::PREFLUSH.with(Flags::FUA));
    assert_eq!(
        one(1 << 16 | 1 << 27 | 1 << 28, 4096),
        (Some((Op::Read, Flags::READ_AHEAD.with(meta))), None)
    );
    assert_eq!(one(1 << 17 | 1 << 18 | 1 << 31, 4096), (Some((Op::Write, barrier)), None));
    assert_eq!(one(1 << 17 | 1 << 18 | 1 << 19, 0), (Some((Op::Flush, sync)), None));
    assert_eq!(one(1 << 29 | 1 << 17, 4096), (None, Some("trace.discard")));
    assert_eq!(one(1 << 25, 36), (None, Some("trace.other-command")));
    assert_eq!(one(1 << 17, 0), (None, Some("trace.no-operation")));
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
    assert_eq!(reader.problems().count(Problem::OtherCommand), 1);
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
fn validate_traces_have_hits_in_two_or_three_segments() {
    let found = records(
        "disksim_validate",
        "R Miss 1000 2 1000.000 10.000\nW Doub 2000 15 2000.000 20.000\nW Trip 3000 13 3000.000 30.000\n",
    );
    assert_eq!(found.iter().map(|record| record.lba.0).collect::<Vec<_>>(), [1000, 2000, 3000]);
    assert_eq!(found[2].time, SimDuration(3_030_000));
}

#[test]
fn mqsim() {
    let expected: [Short; 4] = [
        (1_000_000, 0, 0, 1000, 8, Op::Write, NONE, None),
        (2_500_000, 0, 0, 2000, 8, Op::Write, NONE, None),
        (4_000_000, 0, 0, 1000, 8, Op::Read, NONE, None),
        (9_000_000, 0, 0, 3000, 16, Op::Read, NONE, None),
    ];
    assert_eq!(sample("mqsim"), expected);
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
fn fio_version_2_has_waits_for_times() {
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
fn msps_times_are_arrivals_and_the_header_names_fields() {
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
    assert_eq!(reader.problems().count(Problem::NoOperation), 1);
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
