//! Degraded stripes: the reads of a stripe with missing members.
//!
//! With d data strips, of which k are written, v of these over the whole parity range, and q parities present:
//!
//! ```text
//!   method              possible if                                      reads
//!   parity missing      q = 0                                            none
//!   read-modify-write   every written strip is present                   k old data + q old parities
//!   reconstruct-write   every missing strip is written over the range    the other d - v strips
//!   decode              within the redundancy                            any d strips, data or parity
//! ```
//!
//! Then the data and parities present are written. `fewest_ios` uses the method with the fewest reads, the upper one
//! in a tie; `rmw` uses read-modify-write if possible, unless the whole stripe is written.
//!
//! A missing strip is decoded from any d present strips: in RAID 5 from all others, n - 1 reads; in RAID 6 from
//! n - 2. Data strips are preferred to parities, since the request may need them too.

use super::{Layout, ParityUpdate, StripWrite, Touched};
use crate::units::Sectors;

/// A part of one strip of a stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripPart {
    /// The disk within the array.
    pub disk: u32,
    /// First offset within the strip.
    pub start: Sectors,
    /// Offset just beyond the last one.
    pub end: Sectors,
}

impl StripPart {
    /// The smallest part that covers both.
    fn hull(self, other: Self) -> Self {
        Self { disk: self.disk, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// Reads of a degraded stripe, and the input of the XOR engine.
#[derive(Debug, Default)]
pub struct DegradedReads {
    /// Reads, at most one per strip.
    pub reads: Vec<StripPart>,
    /// Input of the XOR engine.
    pub parity_input: Sectors,
}

impl DegradedReads {
    /// Plans the reads for `writes` to `stripe`, whose disks are present if `is_there` is true.
    /// Precondition: the layout has parity, there is at least one write, and no more disks are missing than parities.
    pub fn of_write(
        &mut self,
        layout: &Layout,
        stripe: u64,
        policy: ParityUpdate,
        writes: &[StripWrite],
        is_there: impl Fn(u32) -> bool,
    ) {
        self.reads.clear();
        self.parity_input = Sectors(0);
        let touched = Touched::by(writes);
        let (d, k, v) = (layout.data_disks(), touched.strips, touched.covering);
        let part = |disk: u32, start: Sectors, end: Sectors| StripPart { disk, start, end };
        let disk = |index: u32| layout.data_disk(stripe, index);
        let covers =
            |strip: &StripWrite| strip.is_solid && strip.start == touched.start && strip.end == touched.end;
        let written = |index: u32| writes.iter().find(|strip| strip.index == index);
        let is_known = |index: u32| written(index).is_some_and(covers);
        let parities = layout.parity_disks(stripe).into_iter().flatten().filter(|&disk| is_there(disk));
        let q = parities.clone().count() as u32;
        if q == 0 {
            // Between two written ranges of a strip, its old content is written.
            let gapped = writes.iter().filter(|strip| !strip.is_solid);
            self.reads.extend(gapped.map(|strip| part(disk(strip.index), strip.start, strip.end)));
            return;
        }
        let may_modify = writes.iter().all(|strip| is_there(disk(strip.index)));
        let may_reconstruct = (0..d).all(|index| is_there(disk(index)) || is_known(index));
        let (modify, reconstruct, decode) = (k + q, d - v, d);
        let modifies = may_modify
            && v < d
            && (policy == ParityUpdate::Rmw
                || (modify <= decode && (!may_reconstruct || modify <= reconstruct)));
        let range = touched.end.0 - touched.start.0;
        if modifies {
            self.reads.extend(writes.iter().map(|strip| part(disk(strip.index), strip.start, strip.end)));
            self.reads.extend(parities.map(|disk| part(disk, touched.start, touched.end)));
            let data: u64 = writes.iter().map(|strip| strip.end.0 - strip.start.0).sum();
            self.parity_input = Sectors(u64::from(q) * (2 * data + range));
        } else if may_reconstruct {
            let unknown = (0..d).filter(|&index| !is_known(index));
            self.reads.extend(unknown.map(|index| part(disk(index), touched.start, touched.end)));
            self.parity_input = Sectors(u64::from(q * d) * range);
        } else {
            let missing = self.decode(layout, stripe, &is_there, (touched.start, touched.end));
            self.parity_input = Sectors(u64::from((missing + q) * d) * range);
        }
    }

    /// Plans the reads for the parts `wanted` of `stripe`, data or parity, at most one per strip.
    /// Precondition: as for [`Self::of_write`].
    pub fn of_parts(
        &mut self,
        layout: &Layout,
        stripe: u64,
        wanted: &[StripPart],
        is_there: impl Fn(u32) -> bool,
    ) {
        self.reads.clear();
        self.parity_input = Sectors(0);
        let missing = wanted.iter().copied().filter(|part| !is_there(part.disk));
        let Some(range) = missing.clone().reduce(StripPart::hull) else {
            self.reads.extend_from_slice(wanted);
            return;
        };
        self.decode(layout, stripe, &is_there, (range.start, range.end));
        for part in wanted {
            if let Some(read) = self.reads.iter_mut().find(|read| read.disk == part.disk) {
                *read = read.hull(*part);
            }
        }
        let length = range.end.0 - range.start.0;
        self.parity_input = Sectors(missing.count() as u64 * u64::from(layout.data_disks()) * length);
    }

    /// Adds reads of as many strips as there are data strips; returns how many of those are missing.
    fn decode(
        &mut self,
        layout: &Layout,
        stripe: u64,
        is_there: &impl Fn(u32) -> bool,
        (start, end): (Sectors, Sectors),
    ) -> u32 {
        let data = (0..layout.data_disks()).map(|index| layout.data_disk(stripe, index));
        let parities = layout.parity_disks(stripe).into_iter().flatten();
        let there = data.clone().chain(parities).filter(|&disk| is_there(disk));
        self.reads.extend(there.take(layout.data_disks() as usize).map(|disk| StripPart {
            disk,
            start,
            end,
        }));
        debug_assert_eq!(self.reads.len(), layout.data_disks() as usize, "more is lost than can be decoded");
        data.filter(|&disk| !is_there(disk)).count() as u32
    }
}

#[cfg(test)]
mod tests;
