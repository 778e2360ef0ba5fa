//! The oracle's model of the data and parity in every sector of every disk.
//!
//! A sector's data is one word that represents its version, 0 for version 0. Parity is computed as in a controller, only
//! from the data that the operation has read and writes.
//!
//! Laws:
//!
//! 6. A partly written strip, and a parity, can be computed from the data that was read for it.
//! 7. A read finds on its disk, or decodes from the others, a version no older than the one on the media when it began.
//! 8. In the end every sector can be read or decoded in the media's version, and data and parity match: so no further
//!    tolerated disk failure loses data.
//!
//! A new disk has random data until it is written. A power cut leaves consistent stripes in this model; the write hole is
//! counted elsewhere. Sectors that drives lose from their caches return to an older version (see `volatile`), as does
//! their parity.

use super::buffers::{Buffers, Chunk, GATHER, SPREAD, sector_at};
use super::parity::{decode, parities};
use super::volatile::Volatile;
use super::{Map, Version};
use crate::raid::{Layout, StripPart};
use crate::units::{Lba, Sectors};
use crate::write_cache::Extent;

/// The data on the disks and in the buffers of operations.
#[derive(Debug, Default)]
pub(in crate::simulation) struct Contents {
    pub(super) words: Map<(u32, u64), u64>,
    blanks: Vec<u32>,
    pub(super) by_operation: Map<u32, Buffers>,
    newest: Version,
    /// Writes that may be lost from the drives' own caches.
    pub volatile: Volatile,
}

impl Contents {
    /// A new disk is in use.
    pub fn add_blank(&mut self, device: u32) {
        self.blanks.push(device);
    }

    pub(super) fn word(&self, device: u32, lba: u64) -> u64 {
        let noise = || if self.blanks.contains(&device) { (lba ^ u64::from(device)) | 1 << 63 } else { 0 };
        self.words.get(&(device, lba)).copied().unwrap_or_else(noise)
    }

    fn take_up(&mut self, operation: u32, array: u16, layout: &Layout, stripe: u64) -> &mut Buffers {
        self.by_operation
            .entry(operation)
            .insert_entry(Buffers {
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

    /// An operation begins to read from sector `first`, and must find versions at least as new as `oldest`.
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
        let buffers = self.take_up(operation, array, layout, stripe);
        buffers.wanted = wanted.to_vec();
        buffers.oldest = oldest;
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
        let buffers = self.take_up(operation, array, layout, stripe);
        buffers.new = extents.to_vec();
        buffers.versions = versions.iter().copied().collect();
    }

    /// An operation is planned that rebuilds a strip of a stripe.
    pub fn begin_rebuild(&mut self, operation: u32, array: u16, layout: &Layout, stripe: u64) {
        self.take_up(operation, array, layout, stripe);
    }

    /// An operation repeats its reads.
    pub fn read_anew(&mut self, operation: u32) {
        if let Some(buffers) = self.by_operation.get_mut(&operation) {
            buffers.read.clear();
        }
    }

    /// A device, which `is_volatile` or not, has done an I/O at `disk` of an array for an operation.
    pub fn io_done(
        &mut self,
        operation: u32,
        (device, disk): (u32, u32),
        io: &crate::disk::Io,
        is_volatile: bool,
    ) {
        let (first, end) = (io.lba.0, io.lba.0 + u64::from(io.sectors));
        if io.is_write {
            let Some(buffers) = self.by_operation.get(&operation) else { return };
            for lba in first..end {
                let word = buffers.find(&buffers.written, disk, lba);
                let Some(word) = word else {
                    unreachable!("disk {disk} writes sector {lba} and nobody gave it")
                };
                if is_volatile && !io.is_forced {
                    self.volatile.write((device, lba), self.word(device, lba), word);
                } else {
                    self.volatile.force((device, lba));
                }
                self.words.insert((device, lba), word);
            }
            return;
        }
        let words: Vec<_> = (first..end).map(|lba| self.word(device, lba)).collect();
        let newest = self.newest;
        let Some(buffers) = self.by_operation.get_mut(&operation) else { return };
        let is_plain = buffers.wanted.is_empty() && !buffers.oldest.1.is_empty();
        if is_plain {
            for (lba, &word) in (first..).zip(&words) {
                let sector = sector_at(&buffers.layout, disk, lba);
                let Some(sector) = sector else { unreachable!("a read of data reads parity") };
                buffers.check_word(sector, word, newest);
            }
        } else {
            buffers.read.push(Chunk { disk, lba: first, words });
        }
    }

    /// An operation writes these parts (disk, first sector, length) of those disks that are present.
    pub fn compute(&mut self, operation: u32, writes: impl Iterator<Item = (u32, Lba, Sectors)>) {
        let Some(buffers) = self.by_operation.get_mut(&operation) else { return };
        let written = writes
            .map(|(disk, Lba(lba), sectors)| Chunk {
                disk,
                lba,
                words: (lba..lba + sectors.0).map(|lba| buffers.compute(disk, lba)).collect(),
            })
            .collect();
        buffers.written = written;
    }

    /// Whether everything that an operation has written is on the media, except on failed devices; `holding` gives the
    /// device that holds a disk.
    pub fn lasts(&self, operation: u32, holding: impl Fn(u32) -> u32, is_lost: impl Fn(u32) -> bool) -> bool {
        let is_safe = |place| self.volatile.lasts(place) || is_lost(place.0);
        self.by_operation.get(&operation).is_none_or(|buffers| buffers.places(&holding).all(is_safe))
    }

    /// An operation has ended.
    pub fn end(&mut self, operation: u32) {
        let newest = self.newest;
        let Some(buffers) = self.by_operation.remove(&operation) else { return };
        let base = buffers.layout.disk_lba(buffers.stripe).0;
        for part in &buffers.wanted {
            for lba in base + part.start.0..base + part.end.0 {
                let Some(sector) = sector_at(&buffers.layout, part.disk, lba) else { continue };
                let word = buffers.old(part.disk, lba);
                let Some(word) = word else {
                    panic!("sector {sector} of array {} cannot be decoded from what was read", buffers.array)
                };
                buffers.check_word(sector, word, newest);
            }
        }
    }

    /// Checks a sector and its parity once nothing is in progress: `serving` gives the device that serves a disk.
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
