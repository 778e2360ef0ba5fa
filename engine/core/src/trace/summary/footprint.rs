//! The footprint of a trace: the blocks touched, and the re-references to them.
//!
//! Blocks are 4 KiB; a request touches every block that it shares a sector with. They are kept as bits, 64 blocks (256
//! KiB) per extent, and are exact up to [`EXTENTS`] extents: a footprint of 224 GiB if requests lie close together, of 3.5
//! GiB in the worst case of single scattered blocks. Beyond that every other extent is dropped, by the hash of its
//! address, as often as needed, and sums are scaled up: spatial sampling as in SHARDS \[1\]. With 458,752 extents or more
//! kept, the error is a few tenths of a per cent.
//!
//! Only the first 64 MiB of a request are counted.
//!
//! Memory: at most 96 MiB. Cost: one lookup per 256 KiB of a request.
//!
//! 1. C. A. Waldspurger, N. Park, A. Garthwaite, I. Ahmad: Efficient MRC Construction with SHARDS, FAST, 2015.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::trace::record::{Op, Record};

/// Sectors per block.
const BLOCK: u64 = 8;
/// Blocks per extent.
const BLOCKS: u64 = 64;

/// Maximum extents to keep.
const EXTENTS: usize = 917_504;

/// Maximum blocks of a request to count: 64 MiB.
const LONGEST: u64 = 1 << 14;

/// The accesses to an extent; one bit per block.
#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    read: u64,
    written: u64,
    /// Blocks whose first access was a read.
    read_first: u64,
    reads: u64,
    writes: u64,
}

/// Collects the blocks that are touched.
#[derive(Debug, Default)]
pub(super) struct Footprint {
    extents: FxHashMap<(u64, u32), Extent>,
    /// One extent in 2^`halvings` is kept.
    halvings: u32,
    most: Option<usize>,
}

/// Footprint and re-references.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Touched {
    /// One extent in this many was sampled; 1 if the figures are exact.
    pub sampled_one_in: u64,
    /// Blocks touched \[bytes\].
    pub footprint_bytes: u64,
    /// Blocks read \[bytes\].
    pub read_footprint_bytes: u64,
    /// Blocks written \[bytes\].
    pub written_footprint_bytes: u64,
    /// Share of the block accesses to a block that was touched before.
    pub re_reference_share: Option<f64>,
    /// Share of the block reads from a block that was touched before.
    pub read_re_reference_share: Option<f64>,
    /// Share of the block writes to a block that was written before.
    pub overwrite_share: Option<f64>,
}

/// A hash of an extent.
#[inline]
fn hash(extent: u64, volume: u32) -> u64 {
    let mut word = extent ^ u64::from(volume).rotate_left(40);
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

impl Footprint {
    /// Adds a read or write.
    #[inline]
    pub fn add(&mut self, record: &Record) {
        let first = record.lba.0 / BLOCK;
        let last = ((record.lba.0 + record.sectors.0 - 1) / BLOCK).min(first + LONGEST - 1);
        for extent in first / BLOCKS..=last / BLOCKS {
            if hash(extent, record.volume) & ((1 << self.halvings) - 1) != 0 {
                continue;
            }
            let from = first.max(extent * BLOCKS) % BLOCKS;
            let to = last.min(extent * BLOCKS + BLOCKS - 1) % BLOCKS;
            let blocks = (u64::MAX >> (BLOCKS - 1 - (to - from))) << from;
            let count = to - from + 1;
            let known = self.extents.entry((extent, record.volume)).or_default();
            if record.op == Op::Read {
                known.read_first |= blocks & !known.written & !known.read;
                known.read |= blocks;
                known.reads += count;
            } else {
                known.written |= blocks;
                known.writes += count;
            }
        }
        if self.extents.len() > self.most.unwrap_or(EXTENTS) {
            self.halve();
        }
    }

    #[cold]
    fn halve(&mut self) {
        while self.extents.len() > self.most.unwrap_or(EXTENTS) {
            self.halvings += 1;
            let mask = (1 << self.halvings) - 1;
            self.extents.retain(|&(extent, volume), _| hash(extent, volume) & mask == 0);
        }
    }

    /// The footprint of all volumes together.
    pub fn touched(&self) -> Touched {
        self.sum(self.extents.values())
    }

    /// Bytes touched on each volume.
    pub fn by_volume(&self) -> BTreeMap<u32, u64> {
        let mut bytes: BTreeMap<u32, u64> = BTreeMap::new();
        for (&(_, volume), extent) in &self.extents {
            *bytes.entry(volume).or_default() +=
                self.bytes((extent.read | extent.written).count_ones().into());
        }
        bytes
    }

    const fn bytes(&self, blocks: u64) -> u64 {
        (blocks * BLOCK * 512) << self.halvings
    }

    fn sum<'a>(&self, extents: impl Iterator<Item = &'a Extent>) -> Touched {
        let (mut all, mut read, mut written, mut read_first) = (0_u64, 0_u64, 0_u64, 0_u64);
        let (mut reads, mut writes) = (0, 0);
        for extent in extents {
            all += u64::from((extent.read | extent.written).count_ones());
            read += u64::from(extent.read.count_ones());
            written += u64::from(extent.written.count_ones());
            read_first += u64::from(extent.read_first.count_ones());
            reads += extent.reads;
            writes += extent.writes;
        }
        let again = |new: u64, accesses: u64| (accesses > 0).then(|| 1.0 - new as f64 / accesses as f64);
        Touched {
            sampled_one_in: 1 << self.halvings,
            footprint_bytes: self.bytes(all),
            read_footprint_bytes: self.bytes(read),
            written_footprint_bytes: self.bytes(written),
            re_reference_share: again(all, reads + writes),
            read_re_reference_share: again(read_first, reads),
            overwrite_share: again(written, writes),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::units::{Lba, Sectors, SimDuration};

    fn io(op: Op, volume: u32, lba: u64, sectors: u64) -> Record {
        Record { op, volume, lba: Lba(lba), sectors: Sectors(sectors), ..Record::flush(SimDuration(0)) }
    }

    #[test]
    fn a_short_trace_by_hand() {
        let mut footprint = Footprint::default();
        // Blocks 0 and 1 are read, 1 and 2 written, 1 written again, block 0 of another volume read.
        for record in
            [io(Op::Read, 0, 7, 2), io(Op::Write, 0, 8, 16), io(Op::Write, 0, 9, 1), io(Op::Read, 1, 0, 8)]
        {
            footprint.add(&record);
        }
        let found = footprint.touched();
        let expected = Touched {
            sampled_one_in: 1,
            footprint_bytes: 4 * 4096,
            read_footprint_bytes: 3 * 4096,
            written_footprint_bytes: 2 * 4096,
            re_reference_share: Some(1.0 - 4.0 / 6.0),
            read_re_reference_share: Some(0.0),
            overwrite_share: Some(1.0 - 2.0 / 3.0),
        };
        assert_eq!(found, expected);
        assert_eq!(footprint.by_volume(), BTreeMap::from([(0, 3 * 4096), (1, 4096)]));
    }

    #[test]
    fn a_sample_is_close_to_the_exact_footprint() {
        let mut whole = Footprint::default();
        let mut sample = Footprint { most: Some(4_000), ..Footprint::default() };
        for index in 0..200_000_u64 {
            let place = hash(index % 60_000, 3) % 1_000_000;
            let record = io(if index % 3 == 0 { Op::Write } else { Op::Read }, 0, place * 1024, 8);
            whole.add(&record);
            sample.add(&record);
        }
        let (whole, sample) = (whole.touched(), sample.touched());
        assert!(sample.sampled_one_in >= 8);
        let ratio = sample.footprint_bytes as f64 / whole.footprint_bytes as f64;
        assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
        let difference = sample.re_reference_share.unwrap() - whole.re_reference_share.unwrap();
        assert!(difference.abs() < 0.02, "{difference}");
    }

    proptest! {
        #[test]
        fn a_footprint_equals_a_set_of_blocks(
            requests in prop::collection::vec((any::<bool>(), 0_u32..3, 0_u64..4_000, 1_u64..2_000), 1..60)
        ) {
            let mut footprint = Footprint::default();
            let (mut seen, mut written) = (BTreeSet::new(), BTreeSet::new());
            let (mut accesses, mut again, mut writes, mut over) = (0_u64, 0_u64, 0_u64, 0_u64);
            for (is_read, volume, lba, sectors) in requests {
                footprint.add(&io(if is_read { Op::Read } else { Op::Write }, volume, lba, sectors));
                for block in lba / 8..=(lba + sectors - 1) / 8 {
                    accesses += 1;
                    again += u64::from(!seen.insert((volume, block)));
                    if !is_read {
                        writes += 1;
                        over += u64::from(!written.insert((volume, block)));
                    }
                }
            }
            let found = footprint.touched();
            prop_assert_eq!(found.footprint_bytes, seen.len() as u64 * 4096);
            prop_assert_eq!(found.written_footprint_bytes, written.len() as u64 * 4096);
            prop_assert!((found.re_reference_share.unwrap() - again as f64 / accesses as f64).abs() < 1e-12);
            if writes > 0 {
                prop_assert!((found.overwrite_share.unwrap() - over as f64 / writes as f64).abs() < 1e-12);
            }
        }
    }
}
