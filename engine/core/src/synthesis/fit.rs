//! Fits a profile to a trace, in one pass.

use std::collections::BTreeMap;

use super::bins::{DepthBin, GapBin};
use super::profile::{FLUSH, GAP_CLASSES, KINDS, Profile, RequestKind, Reuse, Shape, kind};
use super::recency::Stacks;
use crate::trace::{Op, Record, Trace};
use crate::units::Sectors;

/// Bins per class of gaps.
const GAP_BINS: usize = 128;
/// Bins of the places of fresh requests.
const PLACE_BINS: usize = 1024;

#[derive(Default)]
struct Counts {
    shapes: BTreeMap<Shape, u64>,
    depths: BTreeMap<(u64, u64), DepthBin>,
}

/// The profile of `trace`, with reuse by blocks of `block`. Precondition: `block` is not 0.
pub fn fit(trace: &Trace, block: Sectors) -> Profile {
    let gaps: Vec<u64> = gaps(trace).collect();
    let classes = GapClasses::new(&gaps);
    let mut stacks = Stacks::new();
    let mut ends = [None; 2];
    let mut counts: [Counts; KINDS] = Default::default();
    let mut next = vec![BTreeMap::new(); KINDS * GAP_CLASSES];
    let mut before: Option<usize> = None;
    let mut first = 0;
    let mut places = Vec::new();
    for (record, gap) in trace.records().zip(gaps) {
        let (kind, depth) = classify(&record, block.0, &stacks, &ends);
        let offset = if record.op == Op::Flush { 0 } else { record.lba.0 % block.0 };
        let last = (record.lba.0 + record.sectors.0.max(1) - 1) / block.0;
        let is_extending = record.op != Op::Flush
            && last > record.lba.0 / block.0
            && !stacks.own[record.op as usize].has(last);
        let shape = Shape { offset, sectors: record.sectors.0, flags: record.flags.bits(), is_extending };
        *counts[kind].shapes.entry(shape).or_insert(0) += 1;
        if let Some(depth) = depth {
            let common = stacks.common.depth(record.lba.0 / block.0).unwrap_or(depth);
            let bin = DepthBin::of(depth, common);
            counts[kind].depths.entry((bin.low, bin.common)).or_insert(bin).count += 1;
        }
        if record.op != Op::Flush && depth.is_none() && ends[record.op as usize] != Some(record.lba.0) {
            places.push(record.lba.0 / block.0);
        }
        let state = kind * GAP_CLASSES + classes.of(gap);
        match before {
            Some(before) => *next[before].entry(state).or_insert(0) += 1,
            None => first = state,
        }
        before = Some(state);
        if record.op != Op::Flush {
            let end = record.lba.0 + record.sectors.0;
            ends[record.op as usize] = Some(end);
            for block in record.lba.0 / block.0..=(end - 1) / block.0 {
                stacks.touch(record.op as usize, block);
            }
        }
    }
    places.sort_unstable();
    let size = places.len().div_ceil(PLACE_BINS).max(1);
    Profile {
        block_sectors: block.0,
        requests: trace.len() as u64,
        duration_ns: trace.duration().0,
        end_blocks: trace.end().0.div_ceil(block.0),
        kinds: counts.into_iter().enumerate().map(|(number, counts)| request_kind(number, counts)).collect(),
        places: places.chunks(size).map(|bin| (bin[0], bin[bin.len() - 1])).collect(),
        gaps: classes.bins,
        first,
        next: next.into_iter().map(|row| row.into_iter().collect()).collect(),
    }
}

/// The time before each request since the one before it \[ns\].
fn gaps(trace: &Trace) -> impl Iterator<Item = u64> {
    let times = &trace.columns().time_ns;
    times.iter().enumerate().map(move |(at, time)| time - times[at.saturating_sub(1)])
}

/// The kind of a request, and the stack distance of its first block.
fn classify(record: &Record, block: u64, stacks: &Stacks, ends: &[Option<u64>; 2]) -> (usize, Option<u64>) {
    if record.op == Op::Flush {
        return (FLUSH, None);
    }
    let own = record.op as usize;
    let first = record.lba.0 / block;
    let (reuse, depth) = if let Some(depth) = stacks.own[own].depth(first) {
        (Reuse::Own, Some(depth))
    } else if let Some(depth) = stacks.own[1 - own].depth(first) {
        (Reuse::Other, Some(depth))
    } else {
        (Reuse::Fresh, None)
    };
    (kind(record.op, reuse, ends[own] == Some(record.lba.0)), depth)
}

fn request_kind(number: usize, counts: Counts) -> RequestKind {
    let count = counts.shapes.values().sum();
    let is_flush = number == FLUSH;
    RequestKind {
        op: if is_flush { "flush" } else { ["read", "write"][number * 2 / FLUSH] },
        reuse: (!is_flush).then(|| [Reuse::Own, Reuse::Other, Reuse::Fresh][number % 6 / 2]),
        is_sequential: !is_flush && number % 2 == 1,
        count,
        shapes: counts.shapes.into_iter().collect(),
        depths: counts.depths.into_values().collect(),
    }
}

/// Classes of gaps, of equally many each as far as equal gaps allow.
struct GapClasses {
    /// The largest gap of each class except the last.
    bounds: Vec<u64>,
    bins: Vec<Vec<GapBin>>,
}

impl GapClasses {
    fn new(gaps: &[u64]) -> Self {
        let mut gaps = gaps.to_vec();
        gaps.sort_unstable();
        let bounds: Vec<u64> = (1..GAP_CLASSES)
            .map(|class| gaps[(gaps.len() * class / GAP_CLASSES).min(gaps.len() - 1)])
            .collect();
        let mut classes = Self { bounds, bins: Vec::new() };
        let mut from = 0;
        for class in 0..GAP_CLASSES {
            let to = gaps.partition_point(|&gap| classes.of(gap) <= class);
            let own = &gaps[from..to];
            let size = own.len().div_ceil(GAP_BINS).max(1);
            classes.bins.push(own.chunks(size).map(GapBin::of).collect());
            from = to;
        }
        classes
    }

    fn of(&self, gap: u64) -> usize {
        self.bounds.partition_point(|&bound| bound < gap)
    }
}
