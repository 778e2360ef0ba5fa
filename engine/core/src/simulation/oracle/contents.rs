//! What every sector of every disk holds: the oracle's own data and parity.
//!
//! A sector's data is one word that stands for its version, 0 for version 0. Parity is computed as a controller would,
//! and from nothing but what the operation has read and what it writes.
//!
//! Laws:
//!
//! 6. A strip that is written in part, and a parity, can be computed from what has been read for it.
//! 7. What a read finds on its disk, or decodes from the others, is a version no older than the media's when it began.
//! 8. In the end every sector is there in the media's version, on its disk or decoded, and data and parity that are
//!    there match: so whichever disks fail next, nothing is lost.
//!
//! A new disk holds noise until it is written. A power cut is taken to leave whole stripes: the write hole is counted
//! elsewhere.

use super::parity::{decode, parities};
use super::{Map, Version};
use crate::raid::{Layout, StripPart};
use crate::write_cache::Extent;

/// The data of a version: multiplication by an odd number loses nothing.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

const fn inverse(odd: u64) -> u64 {
    let mut inverse: u64 = 1;
    let mut round = 0;
    // Newton's iteration doubles the number of right bits.
    while round < 6 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)));
        round += 1;
    }
    inverse
}

const GATHER: u64 = inverse(SPREAD);

/// Sectors on one disk.
#[derive(Clone, Debug)]
struct Chunk {
    disk: u32,
    lba: u64,
    words: Vec<u64>,
}

/// What an operation has in its hands.
#[derive(Debug)]
struct Hand {
    array: u16,
    layout: Layout,
    stripe: u64,
    /// What it has read in this step.
    read: Vec<Chunk>,
    /// What it writes, disk by disk.
    written: Vec<Chunk>,
    /// New data by sector of the array, where it writes.
    new: Vec<Extent>,
    versions: Map<u64, Version>,
    /// Parts that it wants, of a read with the stripe locked.
    wanted: Vec<StripPart>,
    /// The first sector of what it reads, and the oldest versions that it may find.
    oldest: (u64, Vec<Version>),
}

/// What is on the disks, and in the hands of the operations.
#[derive(Debug, Default)]
pub(in crate::simulation) struct Contents {
    words: Map<(u32, u64), u64>,
    blanks: Vec<u32>,
    hands: Map<u32, Hand>,
    newest: Version,
}

/// The sector of the array that lies at `lba` of `disk`; nothing where that is parity.
fn sector_at(layout: &Layout, disk: u32, lba: u64) -> Option<u64> {
    let unit = layout.stripe_unit().0;
    let stripe = layout.stripe_on(disk, lba / unit);
    let index = layout.index_on(stripe, disk)?;
    Some(layout.stripe_start(stripe).0 + u64::from(index) * unit + lba % unit)
}

impl Contents {
    /// A new disk has come.
    pub fn add_blank(&mut self, device: u32) {
        self.blanks.push(device);
    }

    fn word(&self, device: u32, lba: u64) -> u64 {
        let noise = || if self.blanks.contains(&device) { (lba ^ u64::from(device)) | 1 << 63 } else { 0 };
        self.words.get(&(device, lba)).copied().unwrap_or_else(noise)
    }

    fn take_up(&mut self, operation: u32, array: u16, layout: &Layout, stripe: u64) -> &mut Hand {
        self.hands
            .entry(operation)
            .insert_entry(Hand {
                array,
                layout: *layout,
                stripe,
                read: Vec::new(),
                written: Vec::new(),
                new: Vec::new(),
                versions: Map::default(),
                wanted: Vec::new(),
                oldest: (0, Vec::new()),
            })
            .into_mut()
    }

    /// An operation begins to read from sector `first` on what is at least as new as `oldest`.
    pub fn begin_read(
        &mut self,
        operation: u32,
        array: u16,
        layout: &Layout,
        (first, oldest): (u64, Vec<Version>),
    ) {
        self.take_up(operation, array, layout, 0).oldest = (first, oldest);
    }

    /// An operation begins to read parts of a stripe that it locks.
    pub fn begin_locked_read(
        &mut self,
        operation: u32,
        array: u16,
        layout: &Layout,
        (stripe, wanted): (u64, &[StripPart]),
        oldest: (u64, Vec<Version>),
    ) {
        let hand = self.take_up(operation, array, layout, stripe);
        hand.wanted = wanted.to_vec();
        hand.oldest = oldest;
    }

    /// An operation is planned that writes `extents` of a stripe, in these versions where they are watched.
    pub fn begin_write(
        &mut self,
        operation: u32,
        array: u16,
        layout: &Layout,
        extents: &[Extent],
        versions: &[(u64, Version)],
    ) {
        let stripe = extents.first().map_or(0, |extent| layout.stripe_of(extent.lba));
        self.newest = versions.iter().map(|&(_, version)| version).fold(self.newest, Version::max);
        let hand = self.take_up(operation, array, layout, stripe);
        hand.new = extents.to_vec();
        hand.versions = versions.iter().copied().collect();
    }

    /// An operation is planned that rebuilds a strip of a stripe.
    pub fn begin_rebuild(&mut self, operation: u32, array: u16, layout: &Layout, stripe: u64) {
        self.take_up(operation, array, layout, stripe);
    }

    /// An operation reads anew.
    pub fn read_anew(&mut self, operation: u32) {
        if let Some(hand) = self.hands.get_mut(&operation) {
            hand.read.clear();
        }
    }

    /// A device has done an I/O at `disk` of an array for an operation.
    pub fn io_done(&mut self, operation: u32, (device, disk): (u32, u32), io: &crate::disk::Io) {
        let (first, end) = (io.lba.0, io.lba.0 + u64::from(io.sectors));
        if io.is_write {
            let Some(hand) = self.hands.get(&operation) else { return };
            for lba in first..end {
                let word = hand.find(&hand.written, disk, lba);
                let Some(word) = word else {
                    unreachable!("disk {disk} writes sector {lba} and nobody gave it")
                };
                self.words.insert((device, lba), word);
            }
            return;
        }
        let words: Vec<_> = (first..end).map(|lba| self.word(device, lba)).collect();
        let newest = self.newest;
        let Some(hand) = self.hands.get_mut(&operation) else { return };
        let is_plain = hand.wanted.is_empty() && !hand.oldest.1.is_empty();
        if is_plain {
            for (lba, &word) in (first..).zip(&words) {
                let sector = sector_at(&hand.layout, disk, lba);
                let Some(sector) = sector else { unreachable!("a read of data reads parity") };
                hand.check_word(sector, word, newest);
            }
        } else {
            hand.read.push(Chunk { disk, lba: first, words });
        }
    }

    /// An operation goes on to write these parts (disk, first sector, number), of those disks that are there.
    pub fn compute(&mut self, operation: u32, writes: &[(u32, u64, u64)]) {
        let Some(hand) = self.hands.get_mut(&operation) else { return };
        let written = writes
            .iter()
            .map(|&(disk, lba, sectors)| Chunk {
                disk,
                lba,
                words: (lba..lba + sectors).map(|lba| hand.compute(disk, lba)).collect(),
            })
            .collect();
        hand.written = written;
    }

    /// An operation is over.
    pub fn end(&mut self, operation: u32) {
        let newest = self.newest;
        let Some(hand) = self.hands.remove(&operation) else { return };
        let base = hand.layout.disk_lba(hand.stripe).0;
        for part in &hand.wanted {
            for lba in base + part.start.0..base + part.end.0 {
                let Some(sector) = sector_at(&hand.layout, part.disk, lba) else { continue };
                let word = hand.old(part.disk, lba);
                let Some(word) = word else {
                    panic!("sector {sector} of array {} cannot be decoded from what was read", hand.array)
                };
                hand.check_word(sector, word, newest);
            }
        }
    }

    /// The power is cut: the sectors under way are as the media have them, by `media`, with parity that matches.
    pub fn cut_power(&mut self, media: impl Fn(u16, u64) -> Version, holding: impl Fn(u16, u32) -> u32) {
        for (_, hand) in self.hands.drain() {
            let layout = &hand.layout;
            let word = |sector: u64| media(hand.array, sector).wrapping_mul(SPREAD);
            let unit = layout.stripe_unit().0;
            for sector in hand.new.iter().flat_map(|extent| extent.lba.0..extent.lba.0 + extent.sectors.0) {
                let place = layout.locate(crate::units::Lba(sector));
                let lba = place.disk_lba.0;
                let mirror = layout.mirror(place.disk);
                for disk in mirror.into_iter().chain([place.disk]) {
                    self.words.insert((holding(hand.array, disk), lba), word(sector));
                }
                let start = layout.stripe_start(place.stripe).0 + lba % unit;
                let data: Vec<_> =
                    (0..layout.data_disks()).map(|index| word(start + u64::from(index) * unit)).collect();
                for (disk, parity) in layout.parity_disks(place.stripe).into_iter().zip(parities(&data)) {
                    if let Some(disk) = disk {
                        self.words.insert((holding(hand.array, disk), lba), parity);
                    }
                }
            }
        }
    }

    /// Checks a sector and its parity once nothing is under way: `serving` gives the device that serves a disk.
    pub fn check(
        &self,
        array: u16,
        layout: &Layout,
        sector: u64,
        media: Version,
        serving: impl Fn(u32) -> Option<u32>,
    ) {
        let place = layout.locate(crate::units::Lba(sector));
        let lba = place.disk_lba.0;
        let word = |disk: u32| serving(disk).map(|device| self.word(device, lba));
        let expected = media.wrapping_mul(SPREAD);
        if layout.level().parities() == 0 {
            let mirror = layout.mirror(place.disk);
            let copies = [Some(place.disk), mirror].into_iter().flatten().filter_map(word);
            assert!(
                copies.clone().all(|copy| copy == expected) && copies.count() > 0,
                "sector {sector} of array {array} is not on every disk in version {media}",
            );
            return;
        }
        let data: Vec<_> =
            (0..layout.data_disks()).map(|index| word(layout.data_disk(place.stripe, index))).collect();
        let parity = layout.parity_disks(place.stripe).map(|disk| disk.and_then(word));
        let Some(decoded) = decode(&data, parity) else {
            panic!("sector {sector} of array {array} is lost: too much is missing")
        };
        let found = decoded[place.index as usize];
        assert!(
            found == expected,
            "sector {sector} of array {array} is not there in version {media}: {}",
            found.wrapping_mul(GATHER),
        );
        for (there, computed) in parity.into_iter().zip(parities(&decoded)) {
            assert!(
                there.is_none_or(|there| there == computed),
                "the parity of sector {sector} of array {array} does not match its data",
            );
        }
    }
}

impl Hand {
    fn find(&self, chunks: &[Chunk], disk: u32, lba: u64) -> Option<u64> {
        debug_assert!(self.layout.disks() > disk);
        chunks
            .iter()
            .filter(|chunk| chunk.disk == disk)
            .find_map(|chunk| chunk.words.get(lba.checked_sub(chunk.lba)? as usize).copied())
    }

    /// The new data of a sector, where it is written.
    fn new_word(&self, sector: u64) -> Option<u64> {
        let is_new =
            self.new.iter().any(|extent| (extent.lba.0..extent.lba.0 + extent.sectors.0).contains(&sector));
        is_new.then(|| self.versions.get(&sector).copied().unwrap_or(0).wrapping_mul(SPREAD))
    }

    /// What was at `lba` of `disk`, as far as it was read or follows from what was.
    fn old(&self, disk: u32, lba: u64) -> Option<u64> {
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

    fn old_data(&self, lba: u64) -> Vec<Option<u64>> {
        let disk = |index| self.layout.data_disk(self.stripe, index);
        (0..self.layout.data_disks()).map(|index| self.find(&self.read, disk(index), lba)).collect()
    }

    fn old_parity(&self, lba: u64) -> [Option<u64>; 2] {
        self.layout.parity_disks(self.stripe).map(|disk| self.find(&self.read, disk?, lba))
    }

    /// What is to be at `lba` of `disk`.
    fn compute(&self, disk: u32, lba: u64) -> u64 {
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

    fn check_word(&self, sector: u64, word: u64, newest: Version) {
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
