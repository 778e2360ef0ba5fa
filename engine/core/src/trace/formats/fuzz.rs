//! Any bytes, in pieces of any size: a reader must finish without a panic, in bounded memory, with the same result.
//!
//! `DESTAGE_FUZZ_CASES` is the number of cases per format (default 120).

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::*;
use crate::trace::problems::Finding;
use crate::trace::reader::{Reader, TraceBuilder};
use crate::trace::record::Record;
use crate::trace::window_sorter::{LatePolicy, WindowSorter};

/// Tokens that have a meaning in some format.
const TOKENS: [&[u8]; 24] = [
    b"\n",
    b",",
    b" ",
    b"\t",
    b"\r\n",
    b"-1",
    b"0",
    b"1",
    b"9223372036854775807",
    b"18446744073709551615",
    b"18446744073709551616",
    b"99999999999999999999999999999999",
    b"0.999999999",
    b"1e9",
    b"0xffffffffffffffff",
    b"R",
    b"W",
    b"Q",
    b"FWFSM",
    b"BeginHeader\n",
    b"fio version 2 iolog\n",
    b"wait",
    b"CPU0",
    b"\xff\xfe",
];

/// A change of a sample: at an index, some bytes are removed and others inserted, several times.
#[derive(Clone, Debug)]
struct Edit {
    at: prop::sample::Index,
    cut: usize,
    insert: Vec<u8>,
    times: usize,
}

fn insert() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => prop::sample::select(TOKENS.to_vec()).prop_map(<[u8]>::to_vec),
        2 => prop::collection::vec(any::<u8>(), 0..24),
        1 => any::<u64>().prop_map(|word| word.to_le_bytes().to_vec()),
        1 => Just(vec![0xff; 8]),
    ]
}

fn edit() -> impl Strategy<Value = Edit> {
    let times = prop_oneof![20 => 1_usize..3, 1 => Just(70_000)];
    (any::<prop::sample::Index>(), 0_usize..24, insert(), times).prop_map(|(at, cut, insert, times)| Edit {
        at,
        cut,
        insert,
        times,
    })
}

/// A trace of a format: its sample, repeated, changed and cut off; or any bytes.
fn trace(name: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let sample = samples::of(name);
    let changed =
        (1_usize..4, prop::collection::vec(edit(), 0..5), any::<prop::sample::Index>(), any::<bool>())
            .prop_map(move |(times, edits, end, is_cut)| {
                let mut bytes = sample.repeat(times);
                for Edit { at, cut, insert, times } in edits {
                    let from = at.index(bytes.len() + 1);
                    let to = (from + cut).min(bytes.len());
                    bytes.splice(from..to, insert.repeat(times));
                }
                if is_cut {
                    bytes.truncate(end.index(bytes.len() + 1));
                }
                bytes
            });
    prop_oneof![5 => changed, 1 => prop::collection::vec(any::<u8>(), 0..3_000)]
}

/// Everything that a reader returns for `bytes` in pieces of at most `piece` bytes.
fn read(
    format: &'static Format,
    bytes: &[u8],
    piece: usize,
    skip_bad: u64,
) -> (Vec<Record>, Result<(), TraceError>, Vec<Finding>, u64) {
    let mut reader = Reader::new(format, ReaderOptions { skip_bad, ..ReaderOptions::default() });
    let mut result = Ok(());
    let mut records = Vec::new();
    for part in bytes.chunks(piece) {
        result = reader.feed(part);
        records.extend(reader.take());
        if result.is_err() {
            break;
        }
    }
    if result.is_ok() {
        result = reader.finish();
        records.extend(reader.take());
    }
    (records, result, reader.findings(), reader.frames())
}

fn check(format: &'static Format, bytes: &[u8], piece: usize, skip_bad: u64) {
    let whole = read(format, bytes, bytes.len().max(1), skip_bad);
    assert_eq!(whole, read(format, bytes, piece, skip_bad), "different result in pieces of {piece}");
    let shortest = if format.is_text() { 5 } else { 24 };
    assert!(whole.0.len() <= bytes.len() / shortest + 1, "more records than the bytes can hold");
    let mut sorter = WindowSorter::new(format, LatePolicy::Count);
    let mut out = Vec::new();
    for record in &whole.0 {
        sorter.push(*record, &mut out).unwrap();
    }
    sorter.finish(&mut out);
    assert_eq!(out.len(), whole.0.len());
    assert!(out.is_sorted_by_key(|record| record.time));
    let mut reader = Reader::new(format, ReaderOptions { skip_bad, ..ReaderOptions::default() });
    let mut builder = TraceBuilder::default();
    if reader.feed(bytes).is_ok() && reader.finish().is_ok() {
        builder.take_from(&mut reader);
        if let Ok(trace) = builder.build(&reader) {
            let first = out[0].time.0;
            let times: Vec<_> = out.iter().map(|record| record.time.0 - first).collect();
            assert_eq!(trace.columns().time_ns, times, "sorted whole differs from sorted within the window");
        }
    }
    let _ = recognise(bytes, piece.is_multiple_of(2));
}

#[test]
fn no_input_panics_hangs_or_depends_on_its_pieces() {
    let cases = std::env::var("DESTAGE_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(120);
    for format in &FORMATS {
        let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
        let input = (trace(format.name()), 1_usize..200, prop_oneof![Just(0), Just(3), Just(u64::MAX)]);
        runner
            .run(&input, |(bytes, piece, skip_bad)| {
                check(format, &bytes, piece, skip_bad);
                Ok(())
            })
            .unwrap_or_else(|error| panic!("{}: {error}", format.name()));
    }
}
