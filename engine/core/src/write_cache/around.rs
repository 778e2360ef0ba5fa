//! Writes around the cache, and the older dirty versions that they supersede.

use super::claims::Claim;
use super::{Extent, NUMBER, WriteCache, key};
use crate::mutation::Mutation;

impl WriteCache {
    /// Whether all of `extent` can be written now without waiting for a free line.
    pub fn has_room(&mut self, array: u16, extent: Extent) -> bool {
        let mut needed = 0;
        self.for_lines(extent, |cache, line, _| {
            let is_dirty = |slot: u32| cache.lines[slot as usize].dirty != 0;
            needed += u32::from(!cache.find(key(array, line)).is_some_and(is_dirty));
        });
        needed <= self.capacity.saturating_sub(self.used())
    }

    /// `request` writes the sectors of `extent`, in one `stripe`, around the cache: their dirty versions are dropped when
    /// [`WriteCache::supersede`] reports the write on the media. Precondition: no destage of the stripe starts before that.
    pub fn claim(&mut self, request: u32, array: u16, stripe: u64, extent: Extent) {
        self.for_lines(extent, |cache, line, mask| {
            let key = key(array, line);
            if let Some(slot) = cache.find(key) {
                let mask = mask & cache.lines[slot as usize].dirty;
                if mask != 0 {
                    cache.claims.add(Claim { request, stripe, key, mask });
                }
            }
        });
    }

    /// Whether `request` has claimed dirty sectors of `stripe`.
    pub fn has_claims(&self, request: u32, stripe: u64) -> bool {
        self.claims.has(request, stripe)
    }

    /// The write of `request` to `stripe` around the cache is on the media: the dirty sectors that it claimed are dropped,
    /// except those written again since. Calls `each` with each line and the sectors dropped; returns their number.
    pub fn supersede(&mut self, request: u32, stripe: u64, mut each: impl FnMut(u64, u64)) -> u64 {
        let mut superseded = 0;
        while let Some(claim) = self.claims.take(request, stripe) {
            let Some(slot) = self.find(claim.key) else { continue };
            let line = &mut self.lines[slot as usize];
            let gone = line.dirty & claim.mask;
            if gone == 0 || self.mutant.has(Mutation::StaleDirty) {
                continue;
            }
            line.dirty &= !gone;
            let (group, is_left) = (line.group, line.dirty != 0);
            let count = u64::from(gone.count_ones());
            superseded += count;
            each(claim.key & NUMBER, gone);
            let entry = self.groups.get_mut(group);
            entry.sectors -= count;
            if let Some(full) = &mut self.full {
                full[entry.place().array as usize].leave(entry.place().stripe);
            }
            if !is_left {
                self.leave_group(slot, group);
            }
        }
        self.dirty_sectors -= superseded;
        superseded
    }
}
