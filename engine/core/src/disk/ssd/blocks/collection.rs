//! Greedy garbage collection: choice and progress of the victim.

use super::{ANONYMOUS, Blocks, Contents, NONE, Writer};

/// Erased blocks below which copies are faster, so that their number recovers.
const FEW: usize = 2;

/// The victim.
#[derive(Clone, Copy, Debug)]
pub(super) struct Victim {
    pub block: u32,
    /// Place up to which it is copied.
    cursor: u32,
    /// Valid units when it was chosen.
    valid: u32,
    /// Units copied, and units written by the host, since then.
    copied: u32,
    pub written: u32,
}

impl Blocks {
    /// Whether a copy or erasure of the victim is due. Chooses a victim if erased blocks are running low.
    pub fn is_collection_due(&mut self) -> bool {
        if self.victim.is_none() {
            if self.erased.len() >= self.low_mark as usize && self.has_room(Writer::Host) {
                return false;
            }
            self.choose_victim();
        }
        let Some(victim) = &self.victim else { return false };
        let gain = u64::from(self.units - victim.valid);
        let haste = if self.erased.len() < FEW { 9 } else { 8 };
        8 * u64::from(victim.copied) * gain < haste * u64::from(victim.written) * u64::from(victim.valid)
            || (victim.written >= self.units - victim.valid && self.is_victim_empty())
            || !self.has_room(Writer::Host)
    }

    fn choose_victim(&mut self) {
        while self.least <= self.units && self.full[self.least as usize] == NONE {
            self.least += 1;
        }
        // A block without invalid units would free nothing.
        if self.least >= self.units {
            self.least = self.units;
            return;
        }
        let block = self.full[self.least as usize];
        self.unlist(block);
        let valid = self.least;
        self.victim = Some(Victim { block, cursor: 0, valid, copied: 0, written: 0 });
    }

    /// Whether all valid units of the victim have been copied, so that it can be erased.
    pub fn is_victim_empty(&self) -> bool {
        self.victim.is_some_and(|victim| self.all[victim.block as usize].valid == 0)
    }

    /// Valid units of the victim when it was chosen.
    pub fn victim_valid(&self) -> u32 {
        self.victim.map_or(0, |victim| victim.valid)
    }

    /// Copies `most` valid units of the victim, or the remaining ones; calls `moved` with the address and the new place of
    /// each known unit. `is_in_order` tells whether an address is still at its initial place. Returns the number of units.
    pub fn copy(
        &mut self,
        most: u32,
        is_in_order: impl Fn(u32) -> bool,
        mut moved: impl FnMut(u32, u32),
    ) -> u32 {
        let Some(Victim { block, .. }) = self.victim else { return 0 };
        if let Contents::InOrder(first) = self.all[block as usize].contents {
            let mut table = self.tables.pop().unwrap_or_else(|| vec![NONE; self.units as usize].into());
            for (address, entry) in (first..).zip(table.iter_mut()) {
                *entry = if is_in_order(address) { address } else { NONE };
            }
            self.all[block as usize].contents = Contents::Listed(table);
        }
        let mut count = 0;
        while count < most && self.all[block as usize].anonymous > 0 {
            self.all[block as usize].anonymous -= 1;
            self.all[block as usize].valid -= 1;
            self.anonymous -= 1;
            self.write_anonymous(Writer::Collector);
            count += 1;
        }
        while count < most && self.all[block as usize].valid > 0 {
            let Some(address) = self.next_of_victim() else { break };
            self.all[block as usize].valid -= 1;
            let place = self.write(Writer::Collector, address);
            moved(address, place);
            count += 1;
        }
        if let Some(victim) = &mut self.victim {
            victim.copied += count;
        }
        self.copies += u64::from(count);
        count
    }

    /// Removes and returns the next valid address of the victim's table.
    fn next_of_victim(&mut self) -> Option<u32> {
        let victim = self.victim.as_mut()?;
        let Contents::Listed(table) = &mut self.all[victim.block as usize].contents else { return None };
        while let Some(entry) = table.get_mut(victim.cursor as usize) {
            victim.cursor += 1;
            if *entry < ANONYMOUS {
                return Some(std::mem::replace(entry, NONE));
            }
        }
        None
    }

    /// Erases the victim. Precondition: all its valid units have been copied.
    pub fn erase(&mut self) {
        let Some(victim) = self.victim.take() else { return };
        let entry = &mut self.all[victim.block as usize];
        debug_assert_eq!((entry.valid, entry.anonymous), (0, 0), "a block with valid units is erased");
        if let Contents::Listed(mut table) = std::mem::replace(&mut entry.contents, Contents::Unlisted) {
            table.fill(ANONYMOUS);
            self.tables.push(table);
        }
        self.erased.push_back(victim.block);
    }
}
