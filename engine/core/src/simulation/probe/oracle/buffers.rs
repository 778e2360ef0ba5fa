//! The buffers of an operation: the data that it has read, and the data that it writes, computed as in a controller.

use super::parity::{decode, parities};
use super::volatile::Place;
use super::{Map, Version};
use crate::raid::{Layout, StripPart};
use crate::write_cache::Extent;

/// The data of a version: multiplication by an odd number is invertible.
pub(super) const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

const fn inverse(odd: u64) -> u64 {
    let mut inverse: u64 = 1;
    let mut round = 0;
    // Newton's iteration doubles the number of correct bits.
    while round < 6 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)));
        round += 1;
    }
    inverse
}

pub(super) const GATHER: u64 = inverse(SPREAD);

/// Sectors on one disk.
#[derive(Clone, Debug)]
pub(super) struct Chunk {
    pub disk: u32,
    pub lba: u64,
    pub words: Vec<u64>,
}

/// The buffers of an operation.
#[derive(Debug)]
pub(super) struct Buffers {
    pub array: u16,
    pub layout: Layout,
    pub stripe: u64,
    /// The data read in this step.
    pub read: Vec<Chunk>,
    /// The parts that it writes, by disk.
    pub written: Vec<Chunk>,
    /// New data by sector of the array.
    pub new: Vec<Extent>,
    pub versions: Map<u64, Version>,
    /// The parts to read, for a read with the stripe locked.
    pub wanted: Vec<StripPart>,
    /// The first sector to read, and the oldest versions that it may find.
    pub oldest: (u64, Vec<Version>),
}

/// The sector of the array at `lba` of `disk`; `None` for parity.
pub(super) fn sector_at(layout: &Layout, disk: u32, lba: u64) -> Option<u64> {
    let unit = layout.stripe_unit().0;
    let stripe = layout.stripe_on(disk, lba / unit);
    let index = layout.index_on(stripe, disk)?;
    Some(layout.stripe_start(stripe).0 + u64::from(index) * unit + lba % unit)
}

impl Buffers {
    /// The sectors that it writes, by the device that holds each disk.
    pub(super) fn places(&self, holding: &impl Fn(u32) -> u32) -> impl Iterator<Item = Place> {
        self.written.iter().flat_map(move |chunk| {
            let (device, end) = (holding(chunk.disk), chunk.lba + chunk.words.len() as u64);
            (chunk.lba..end).map(move |lba| (device, lba))
        })
    }

    pub(super) fn find(&self, chunks: &[Chunk], disk: u32, lba: u64) -> Option<u64> {
        debug_assert!(self.layout.disks() > disk);
        chunks
            .iter()
            .filter(|chunk| chunk.disk == disk)
            .find_map(|chunk| chunk.words.get(lba.checked_sub(chunk.lba)? as usize).copied())
    }

    /// The new data of a sector, if it is written.
    pub(super) fn new_word(&self, sector: u64) -> Option<u64> {
        let is_new =
            self.new.iter().any(|extent| (extent.lba.0..extent.lba.0 + extent.sectors.0).contains(&sector));
        is_new.then(|| self.versions.get(&sector).copied().unwrap_or(0).wrapping_mul(SPREAD))
    }

    /// The old data at `lba` of `disk`, if it was read or can be computed from data that was.
    pub(super) fn old(&self, disk: u32, lba: u64) -> Option<u64> {
        if let Some(word) = self.find(&self.read, disk, lba) {
            return Some(word);
        }
        if let Some(mirror) = self.layout.mirror(disk) {
            return self.find(&self.read, mirror, lba);
        }
        let data = decode(&self.old_data(lba), self.old_parity(lba))?;
        if let Some(index) = self.layout.index_on(self.stripe, disk) {
            return Some(data[index as usize]);
        }
        let place = self.layout.parity_disks(self.stripe).iter().position(|&p| p == Some(disk))?;
        Some(parities(&data)[place])
    }

    pub(super) fn old_data(&self, lba: u64) -> Vec<Option<u64>> {
        let disk = |index| self.layout.data_disk(self.stripe, index);
        (0..self.layout.data_disks()).map(|index| self.find(&self.read, disk(index), lba)).collect()
    }

    pub(super) fn old_parity(&self, lba: u64) -> [Option<u64>; 2] {
        self.layout.parity_disks(self.stripe).map(|disk| self.find(&self.read, disk?, lba))
    }

    /// The new data at `lba` of `disk`.
    pub(super) fn compute(&self, disk: u32, lba: u64) -> u64 {
        let layout = &self.layout;
        if let Some(sector) = sector_at(layout, disk, lba) {
            let word = self.new_word(sector).or_else(|| self.old(disk, lba));
            let Some(word) = word else {
                panic!("sector {sector} of array {} is written and its old data were not read", self.array)
            };
            return word;
        }
        let Some(place) = layout.parity_disks(self.stripe).iter().position(|&parity| parity == Some(disk))
        else {
            unreachable!("a disk of a stripe holds data or parity")
        };
        let unit = layout.stripe_unit().0;
        let start = layout.stripe_start(self.stripe).0 + lba % unit;
        let new: Vec<_> =
            (0..layout.data_disks()).map(|index| self.new_word(start + u64::from(index) * unit)).collect();
        let old = self.old_data(lba);
        let known: Option<Vec<_>> = new.iter().zip(&old).map(|(new, old)| new.or(*old)).collect();
        if let Some(known) = known {
            return parities(&known)[place];
        }
        // Read-modify-write: the parity of the change of each strip is added to the old parity.
        let change: Option<Vec<_>> = new
            .iter()
            .zip(&old)
            .map(|(new, old)| new.map_or(Some(0), |new| old.map(|old| new ^ old)))
            .collect();
        if let (Some(change), Some(parity)) = (change, self.old_parity(lba)[place]) {
            return parity ^ parities(&change)[place];
        }
        let Some(old) = decode(&old, self.old_parity(lba)) else {
            panic!("the parity of stripe {} of array {} cannot be computed", self.stripe, self.array)
        };
        let all: Vec<_> = new.iter().zip(old).map(|(new, old)| new.unwrap_or(old)).collect();
        parities(&all)[place]
    }

    pub(super) fn check_word(&self, sector: u64, word: u64, newest: Version) {
        let version = word.wrapping_mul(GATHER);
        let (first, oldest) = &self.oldest;
        let oldest = oldest.get((sector - first) as usize).copied().unwrap_or(0);
        assert!(
            oldest <= version && version <= newest,
            "a disk read of sector {sector} of array {} gives version {version}, and {oldest} was there before",
            self.array,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_for_versions() {
        assert_eq!(SPREAD.wrapping_mul(GATHER), 1);
        assert_eq!(77_u64.wrapping_mul(SPREAD).wrapping_mul(GATHER), 77);
    }
}
