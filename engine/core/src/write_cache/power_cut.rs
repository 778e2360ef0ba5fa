//! A power cut: what was on its way is dirty again, or everything is lost.

use super::{ARRAY_SHIFT, NUMBER, WriteCache};
use crate::mutation::Mutation;
use crate::slab::Link;
use crate::units::SimTime;

impl WriteCache {
    /// The power is cut at `now`, and with it every destage: what was going is dirty again, unless a newer version is.
    /// Gives the sectors that have one.
    pub fn cut_power(&mut self, now: SimTime) -> u64 {
        self.claims.clear();
        if self.mutant.has(Mutation::CutForgetsDestages) {
            self.forget_going();
        }
        let mut absorbed = 0;
        for slot in 0..self.lines.len() as u32 {
            let line = &mut self.lines[slot as usize];
            let going = std::mem::take(&mut line.going);
            if going == 0 {
                continue;
            }
            let was_dirty = line.dirty != 0;
            let added = u64::from((going & !line.dirty).count_ones());
            absorbed += u64::from((going & line.dirty).count_ones());
            line.dirty |= going;
            line.clean &= !line.dirty;
            let (group, key) = (line.group, line.key);
            if was_dirty {
                self.second_versions -= 1;
                self.groups.get_mut(group).sectors += added;
                self.note_full(group);
            } else {
                self.join_group(now, (key >> ARRAY_SHIFT) as u16, key & NUMBER, slot);
            }
        }
        self.dirty_sectors -= absorbed;
        absorbed
    }

    /// Drops the data of all destages.
    fn forget_going(&mut self) {
        for line in &mut self.lines {
            self.dirty_sectors -= u64::from(std::mem::take(&mut line.going).count_ones());
        }
    }

    /// Everything in it is lost. Precondition: nothing is going.
    pub fn lose_all(&mut self) {
        for group in self.groups.all() {
            self.leave(group);
        }
        self.claims.clear();
        self.index.clear();
        self.lines.clear();
        self.free.clear();
        self.dirty_sectors = 0;
        (self.second_versions, self.clean_lines) = (0, 0);
        (self.first_clean, self.last_clean) = (Link::END, Link::END);
    }
}
