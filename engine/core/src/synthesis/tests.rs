use super::*;
use crate::miss_ratio_curve::{CurveOptions, Side, miss_ratio_curves};
use crate::replacement::Policy;
use crate::rng::{Purpose, RandomStream};
use crate::trace::summary::{Summariser, Summary};
use crate::trace::{Columns, Trace};
use crate::units::{Sectors, SimDuration};

const COUNT: usize = 30_000;

/// Reads and writes over hot and cold blocks in bursts, with runs and flushes.
fn recorded() -> Trace {
    let mut stream = RandomStream::named(1, 0, "recorded", 0, Purpose::Address);
    let mut columns = Columns::default();
    let (mut time, mut end, mut is_burst) = (0, 0, false);
    for _ in 0..COUNT {
        is_burst ^= stream.below(50) == 0;
        time += (stream.exponential() * if is_burst { 1e4 } else { 1e6 }) as u64;
        let op = [0, 1, 1, 1, 0, 1, 2, 0][stream.below(8) as usize];
        let range = if stream.below(3) == 0 { 20_000 } else { 700 };
        let lba = if stream.below(4) == 0 { end } else { 8 * stream.below(range) };
        let sectors = if op == 2 { 0 } else { [8, 8, 16, 3][stream.below(4) as usize] };
        if op < 2 {
            end = lba + sectors;
        }
        columns.time_ns.push(time);
        columns.process.push(0);
        columns.lba.push(if op == 2 { 0 } else { lba });
        columns.sectors.push(sectors as u32);
        columns.op.push(op);
        columns.flags.push(u8::from(op == 1));
    }
    Trace::from_columns(columns).unwrap()
}

fn summary(trace: &Trace) -> Summary {
    let mut summariser = Summariser::default();
    trace.records().for_each(|record| summariser.add(&record));
    summariser.summary()
}

fn shares(trace: &Trace) -> Vec<f64> {
    let found = summary(trace);
    let count = trace.len() as f64;
    [found.reads, found.writes, found.flushes, found.synchronous, found.read_bytes, found.written_bytes]
        .iter()
        .map(|&one| one as f64 / count)
        .chain([trace.duration().0 as f64 / count / 1e6])
        .collect()
}

#[test]
fn a_drawn_trace_has_the_mix_rate_and_curves_of_the_original() {
    let trace = recorded();
    let profile = fit(&trace, Sectors(8));
    assert_eq!(profile.kinds.iter().map(|kind| kind.count).sum::<u64>(), COUNT as u64);
    let drawn = draw(&profile, Until::Requests(COUNT as u64), 7).unwrap();
    assert_eq!(drawn.len(), COUNT);
    for (recorded, drawn) in shares(&trace).into_iter().zip(shares(&drawn)) {
        assert!((recorded - drawn).abs() < 0.05 * recorded, "{recorded} and {drawn}");
    }
    let options = CurveOptions {
        block: Sectors(8),
        policy: Policy::Lru,
        sample: None,
        sizes: Some(vec![50, 200, 1000, 5000, 20_000]),
    };
    let (one, other) =
        (miss_ratio_curves(&trace, &options).unwrap(), miss_ratio_curves(&drawn, &options).unwrap());
    for (one, other) in one.iter().zip(&other) {
        for (recorded, drawn) in one.points.iter().zip(&other.points) {
            let difference = (recorded.miss_ratio - drawn.miss_ratio).abs();
            // The common stack is matched as far as blocks exist that fit both.
            let most = if one.side == Side::Both { 0.15 } else { 0.12 };
            assert!(difference < most, "{:?} {recorded:?} {drawn:?}", one.side);
        }
    }
}

#[test]
fn a_trace_depends_on_its_seed_only() {
    let profile = fit(&recorded(), Sectors(8));
    let drawn = |seed| draw(&profile, Until::Requests(2000), seed).unwrap();
    assert_eq!(drawn(3), drawn(3));
    assert_ne!(drawn(3), drawn(4));
}

#[test]
fn a_trace_ends_at_its_time() {
    let profile = fit(&recorded(), Sectors(8));
    let drawn = draw(&profile, Until::Time(SimDuration(1_000_000_000)), 0).unwrap();
    assert!(drawn.duration().0 <= 1_000_000_000 && drawn.len() > 500);
    assert!(draw(&profile, Until::Requests(0), 0).is_err());
}

#[test]
fn a_trace_of_one_request_is_repeated() {
    let columns = Columns {
        time_ns: vec![5],
        process: vec![1],
        lba: vec![80],
        sectors: vec![8],
        op: vec![1],
        flags: vec![0],
        ..Columns::default()
    };
    let profile = fit(&Trace::from_columns(columns).unwrap(), Sectors(8));
    let drawn = draw(&profile, Until::Requests(3), 0).unwrap();
    assert_eq!(summary(&drawn).writes, 3);
    assert!(profile.to_json().contains("\"block_sectors\":8"));
}
