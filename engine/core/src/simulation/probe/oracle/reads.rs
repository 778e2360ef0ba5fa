//! What reads return: each sector no older than the newest version acknowledged when it was looked up.

use super::{Block, Oracle, Version};
use crate::write_cache::Held;

/// The versions that a fetch returns: those on the media when it was requested.
#[derive(Debug)]
pub(super) struct Brought {
    array: u16,
    first: u64,
    versions: Vec<Version>,
}

impl Oracle {
    /// A read finds its sectors in the write cache.
    pub fn read_held(&self, array: u16, from: u64, to: u64, held: Held) {
        for sector in from..to {
            let block = self.block(array, sector);
            let here = if held == Held::Clean { block.cached().max(block.clean) } else { block.cached() };
            let is_old = held == Held::Clean && block.is_kept;
            let is_held = here > 0 || is_old || (self.has_unwatched && block.newest() == 0);
            assert!(
                is_held,
                "sector {sector} of array {array} is read from the write cache, which has it not"
            );
            assert_new_enough(array, sector, &block, here);
        }
    }

    /// A read takes the sectors that the write cache does not hold from the disks.
    pub fn read_media(&self, array: u16, from: u64, to: u64) {
        for sector in from..to {
            let block = self.block(array, sector);
            assert_new_enough(array, sector, &block, block.newest());
        }
    }

    /// A read waits for a fetch.
    pub fn read_fetch(&self, fetch: u32, array: u16, from: u64, to: u64) {
        let brought = &self.fetches[&fetch];
        assert_eq!(brought.array, array, "a read waits for a fetch of another array");
        for sector in from..to {
            let version = brought.versions[(sector - brought.first) as usize];
            let block = self.block(array, sector);
            assert_new_enough(array, sector, &block, version.max(block.cached()));
        }
    }

    /// A read finds its sectors in `line` of the read cache, which begins at sector `base`.
    pub fn read_line(&self, array: u16, line: u64, base: u64, from: u64, to: u64) {
        // A line of the functional warm-up holds the data from before the run.
        let versions = self.lines.get(&(array, line));
        for sector in from..to {
            let version = versions.map_or(0, |versions| versions[(sector - base) as usize]);
            let block = self.block(array, sector);
            assert_new_enough(array, sector, &block, version.max(block.cached()));
        }
    }

    /// A fetch of the sectors `from` to `to` is requested.
    pub fn begin_fetch(&mut self, fetch: u32, array: u16, from: u64, to: u64) {
        let versions = (from..to).map(|sector| self.block(array, sector).media).collect();
        self.fetches.insert(fetch, Brought { array, first: from, versions });
    }

    /// A fetch has made `line`, of `sectors` sectors, valid.
    pub fn arrive(&mut self, fetch: u32, line: u64, sectors: u64) {
        let brought = &self.fetches[&fetch];
        let start = (line * sectors - brought.first) as usize;
        let versions = brought.versions[start..start + sectors as usize].to_vec();
        self.lines.insert((brought.array, line), versions);
    }

    /// A fetch has ended.
    pub fn end_fetch(&mut self, fetch: u32) {
        self.fetches.remove(&fetch);
    }
}

fn assert_new_enough(array: u16, sector: u64, block: &Block, version: Version) {
    assert!(
        version >= block.acknowledged,
        "a read of sector {sector} of array {array} gives version {version}: {block:?}",
    );
}
