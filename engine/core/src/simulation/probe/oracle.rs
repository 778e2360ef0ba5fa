//! The oracle: checks a run in debug builds and stops it at the first sign of lost or outdated data.
//!
//! Simulated data carries addresses and no payload. Here every sector of every write gets a version, in the order in
//! which the writes take effect: when the cache accepts the sector, or when it is sent to the disks. A version of a
//! sector can be in these places:
//!
//! ```text
//!   write ──► dirty ──► going ──► media ──► fetch ──► line of the read cache
//!     └───────── (write-through) ───▲
//! ```
//!
//! Laws:
//!
//! 1. A write stores each of its sectors once, and when it is acknowledged, each is in the cache or on the media in its
//!    version or a newer one. The cache holds dirty data only while it is allowed to.
//! 2. No acknowledged version is lost: the newest of dirty, going and media is never older than the newest
//!    acknowledged one. So a flush of a protected cache needs to do nothing.
//! 3. A destage takes dirty sectors only; no two array writes write a sector at the same time; and a sector's version on
//!    the media never decreases.
//! 4. A read returns each sector in the newest version acknowledged when it was looked up, or a newer one. A disk or a
//!    fetch returns the versions that were on the media when it was requested.
//! 5. The write cache holds as many sectors as this model of it, and none after a drain; then the media have the newest
//!    versions.
//! 6. A write acknowledged while the cache may hold no dirty data is on the media, as is everything acknowledged before
//!    an acknowledged flush.
//! 7. A power cut ends everything in progress: a write through the cache may be on the media in part, and data being
//!    destaged is dirty again. Dirty data is lost only without a battery, after it has failed, or if the mains are lost
//!    for longer than its charge lasts. A drive that caches writes may lose completed writes, unless they were forced or
//!    a later flush has completed (see `volatile`); data destaged from, or acknowledged in, the write cache is not lost
//!    in this way if destages are forced.
//!
//! `contents` models the data and parity on each disk, with laws 6 to 8 of its own.
//!
//! Writes that overlap in time may take effect in either order; a version counts as acknowledged no earlier than its
//! write. So the laws are exact for writes that do not overlap, and report no false violation for those that do.
//!
//! Cost: a hash table entry per sector written, up to a limit; sectors beyond it are not watched. Release builds have
//! no oracle.

#[cfg(all(test, debug_assertions))]
mod mutations;
#[cfg(all(test, debug_assertions))]
mod runs;
#[cfg(all(test, debug_assertions))]
pub(in crate::simulation) mod scenarios;
#[cfg(all(test, debug_assertions))]
mod streams;
#[cfg(all(test, debug_assertions))]
mod tests;

mod buffers;
mod contents;
mod cut;
mod parity;
mod power;
mod reads;
mod volatile;
mod watch;

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use self::contents::Contents;
use self::reads::Brought;
use crate::simulation::array_set::operation::Parent;
use crate::units::{Lba, Sectors, SimTime};
use crate::write_cache::Extent;

type Map<K, V> = HashMap<K, V, FxBuildHasher>;

/// A version of a sector; later writes have higher versions, 0 is the data before the run.
type Version = u64;

/// Maximum number of watched sectors.
const MOST_BLOCKS: usize = 1 << 18;

/// One sector. A version of 0 means none.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    dirty: Version,
    going: Version,
    media: Version,
    /// The last version that stayed in the cache after its destage.
    clean: Version,
    acknowledged: Version,
    /// The last version that is on the media, not only in a drive's own cache.
    lasting: Version,
    /// The newest version that only the loss of an unprotected cache's dirty data may remove.
    promised: Version,
    is_under_way: bool,
    /// Whether the functional warm-up destaged it, so that its data from before the run may have stayed in the cache.
    is_kept: bool,
}

impl Block {
    /// The newest version that the cache holds.
    fn cached(&self) -> Version {
        self.dirty.max(self.going)
    }

    fn newest(&self) -> Version {
        self.cached().max(self.media)
    }
}

/// The data of an array write.
#[derive(Debug)]
struct ArrayWrite {
    array: u16,
    /// Sectors and their versions.
    sectors: Vec<(u64, Version)>,
    is_destage: bool,
    has_begun: bool,
}

/// Watches the versions of all sectors of a run.
#[derive(Debug, Default)]
pub struct Oracle {
    blocks: Map<(u16, u64), Block>,
    newest: Version,
    /// Versions of the sectors that each request has written so far, by rising address.
    requests: Map<u32, Vec<Version>>,
    writes: Map<u32, ArrayWrite>,
    fetches: Map<u32, Brought>,
    lines: Map<(u16, u64), Vec<Version>>,
    /// Sectors in the write cache: those dirty and those going.
    held: u64,
    has_unwatched: bool,
    /// I/Os merged from several.
    #[cfg_attr(not(test), allow(dead_code, reason = "a test counts them"))]
    pub merged: u64,
    /// The contents of the disks.
    pub contents: Contents,
    /// When the mains were lost, and the battery's charge then.
    cut: Option<(SimTime, f64)>,
}

impl Oracle {
    /// The entry of a sector that is written; `None` if it is not watched.
    fn watch(&mut self, array: u16, sector: u64) -> Option<&mut Block> {
        let key = (array, sector);
        if self.blocks.len() >= MOST_BLOCKS && !self.blocks.contains_key(&key) {
            self.has_unwatched = true;
            return None;
        }
        Some(self.blocks.entry(key).or_default())
    }

    fn block(&self, array: u16, sector: u64) -> Block {
        self.blocks.get(&(array, sector)).copied().unwrap_or_default()
    }

    /// The write cache has accepted `sectors` from `lba` on, for `request` or for the functional warm-up, whose
    /// writes are acknowledged at once.
    pub fn accept(&mut self, request: Option<u32>, array: u16, lba: u64, sectors: u64, is_allowed: bool) {
        assert!(is_allowed, "sector {lba} of array {array} became dirty in a cache that may hold none");
        for sector in lba..lba + sectors {
            self.newest += 1;
            let version = self.newest;
            let mut added = 0;
            if let Some(block) = self.watch(array, sector) {
                added = u64::from(block.dirty == 0);
                block.dirty = version;
                if request.is_none() {
                    (block.acknowledged, block.promised) = (version, version);
                }
            }
            self.held += added;
            if let Some(request) = request {
                self.requests.entry(request).or_default().push(version);
            }
        }
    }

    /// The functional warm-up has destaged `extents`: what it wrote there is data from before the run, which may stay in
    /// the cache.
    pub fn forget_destaged(&mut self, array: u16, extents: &[Extent]) {
        for sector in extents.iter().flat_map(|extent| extent.lba.0..extent.lba.0 + extent.sectors.0) {
            if let Some(block) = self.blocks.get_mut(&(array, sector)) {
                assert!(block.dirty > 0, "sector {sector} of array {array} is destaged and was not dirty");
                *block = Block { is_kept: true, ..Block::default() };
                self.held -= 1;
            }
        }
    }

    /// An array write is about to lock its stripe.
    pub fn plan_write(&mut self, operation: u32, array: u16, parent: Parent, extents: &[Extent]) {
        let is_destage = matches!(parent, Parent::Destage { .. });
        let mut sectors = Vec::new();
        for sector in extents.iter().flat_map(|extent| extent.lba.0..extent.lba.0 + extent.sectors.0) {
            if let Parent::WriteThrough { request } = parent {
                self.newest += 1;
                let version = self.newest;
                self.requests.entry(request).or_default().push(version);
                if self.watch(array, sector).is_some() {
                    sectors.push((sector, version));
                }
            } else if let Some(block) = self.blocks.get_mut(&(array, sector)) {
                assert!(block.dirty > 0, "sector {sector} of array {array} is destaged and was not dirty");
                assert!(block.going == 0, "sector {sector} of array {array} is destaged twice at a time");
                (block.going, block.dirty) = (block.dirty, 0);
                sectors.push((sector, block.going));
            } else {
                assert!(
                    self.has_unwatched,
                    "sector {sector} of array {array} is destaged and never was dirty"
                );
            }
        }
        let before =
            self.writes.insert(operation, ArrayWrite { array, sectors, is_destage, has_begun: false });
        assert!(before.is_none(), "array operation {operation} is planned twice");
    }

    /// The watched sectors of an array write, with their versions.
    fn carried(&self, operation: u32) -> &[(u64, Version)] {
        &self.writes[&operation].sectors
    }

    /// The versions on the media of `sectors` sectors from `first` on.
    fn on_media(&self, array: u16, first: u64, sectors: u64) -> Vec<Version> {
        (first..first + sectors).map(|sector| self.block(array, sector).media).collect()
    }

    /// All sectors that are watched, by array, with their versions on the media.
    fn media(&self) -> impl Iterator<Item = (u16, u64, Version)> {
        self.blocks.iter().map(|(&(array, sector), block)| (array, sector, block.media))
    }

    /// An array write has locked its stripe and is sent to the disks.
    pub fn begin_write(&mut self, operation: u32) {
        let Some(write) = self.writes.get_mut(&operation) else {
            unreachable!("array operation {operation} begins and was never planned")
        };
        write.has_begun = true;
        for &(sector, _) in &write.sectors {
            if let Some(block) = self.blocks.get_mut(&(write.array, sector)) {
                assert!(
                    !block.is_under_way,
                    "two writes of sector {sector} of array {} at a time",
                    write.array
                );
                block.is_under_way = true;
            }
        }
    }

    /// An array write is on the media.
    pub fn end_write(&mut self, operation: u32, lasts: bool) {
        let Some(write) = self.writes.remove(&operation) else {
            unreachable!("array operation {operation} ends and was never planned")
        };
        for (sector, version) in write.sectors {
            let Some(block) = self.blocks.get_mut(&(write.array, sector)) else { continue };
            assert!(
                block.media < version,
                "sector {sector} of array {} goes back from version {} to {version}",
                write.array,
                block.media,
            );
            block.media = version;
            block.is_under_way = false;
            if lasts {
                block.lasting = version;
                block.promised = block.promised.max(version);
            }
            if write.is_destage {
                block.going = 0;
                self.held -= 1;
                if !lasts {
                    // It leaves the protected cache for that of a drive: nothing is promised of it any more.
                    block.promised = block.promised.min(block.cached().max(block.lasting));
                }
            }
            assert_not_lost(write.array, sector, block);
        }
    }

    /// A host write is acknowledged by a cache that may or may not hold dirty data. What is in the cache or on the media
    /// is promised: a forced write is, unless an unforced destage has taken it to a drive's cache since.
    pub fn acknowledge(
        &mut self,
        request: u32,
        array: u16,
        lba: Lba,
        sectors: Sectors,
        may_hold_dirty: bool,
    ) {
        let versions = self.requests.remove(&request).unwrap_or_default();
        assert_eq!(
            versions.len() as u64,
            sectors.0,
            "a write of {} sectors from {} on array {array} is acknowledged with another number taken",
            sectors.0,
            lba.0,
        );
        for (sector, version) in (lba.0..).zip(versions) {
            if let Some(block) = self.blocks.get_mut(&(array, sector)) {
                block.acknowledged = block.acknowledged.max(version);
                if block.cached().max(block.lasting) >= version {
                    block.promised = block.promised.max(version);
                }
                assert!(
                    may_hold_dirty || block.media >= version,
                    "sector {sector} of array {array} is acknowledged in write-through and not on the media: {block:?}",
                );
                assert_not_lost(array, sector, block);
            }
        }
    }

    /// A flush is acknowledged: no acknowledged data may be in a cache that may hold none.
    pub fn flush(&self, is_allowed: bool) {
        assert!(is_allowed || self.held == 0, "a flush is acknowledged over {} dirty sectors", self.held);
    }

    /// Compares the number of dirty sectors with the write cache's own.
    pub fn compare(&self, dirty_sectors: u64) {
        assert!(
            self.has_unwatched || self.held == dirty_sectors,
            "the write cache counts {dirty_sectors} dirty sectors, {} were left there",
            self.held,
        );
    }

    /// A destage has ended, and the line at sector `base` keeps the sectors of `mask` clean.
    pub fn keep_clean(&mut self, array: u16, base: u64, mask: u64) {
        for sector in sectors_of(base, mask) {
            if let Some(block) = self.blocks.get_mut(&(array, sector)) {
                // A sector that stayed before may have fallen back on the media since.
                block.clean = block.clean.max(block.media);
            }
        }
    }

    /// A newer version of the sectors of `mask` in the line at sector `base` is on the media: the dirty one is dropped.
    pub fn supersede(&mut self, array: u16, base: u64, mask: u64) {
        for sector in sectors_of(base, mask) {
            if let Some(block) = self.blocks.get_mut(&(array, sector)) {
                assert!(
                    block.dirty < block.media,
                    "sector {sector} of array {array} is dropped for an older version: {block:?}"
                );
                assert!(block.dirty > 0, "sector {sector} of array {array} is dropped and was not dirty");
                block.dirty = 0;
                self.held -= 1;
                assert_not_lost(array, sector, block);
                assert!(
                    block.cached().max(block.lasting) >= block.promised,
                    "sector {sector} of array {array} is dropped for one in a drive's cache: {block:?}"
                );
            }
        }
    }

    /// The run has drained: everything is on the media.
    pub fn end_drain(&self) {
        assert_eq!(self.held, 0, "sectors are left in the write cache after a drain");
        for (&(array, sector), block) in &self.blocks {
            assert!(
                block.cached() == 0 && !block.is_under_way && block.media == block.newest(),
                "sector {sector} of array {array} is not on the media after a drain: {block:?}",
            );
            assert_not_lost(array, sector, block);
        }
    }
}

/// The sectors whose bits are set in the mask of the line at sector `base`.
fn sectors_of(base: u64, mask: u64) -> impl Iterator<Item = u64> {
    (0..64).filter(move |bit| mask >> bit & 1 == 1).map(move |bit| base + bit)
}

fn assert_not_lost(array: u16, sector: u64, block: &Block) {
    assert!(
        block.newest() >= block.acknowledged,
        "acknowledged data of sector {sector} of array {array} is lost: {block:?}",
    );
}
