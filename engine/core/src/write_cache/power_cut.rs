//! Power cuts: data in flight become dirty again, or everything is lost.

use super::{ARRAY_SHIFT, NUMBER, WriteCache};
use crate::mutation::Mutation;
use crate::slab::{Link, Slab};
use crate::units::SimTime;

impl WriteCache {
    /// The power is cut at `now`, and with it every destage: sectors in flight become dirty again, unless they have a newer
    /// version. Returns the number of sectors that have one.
    pub fn cut_power(&mut self, now: SimTime) -> u64 {
        self.claims.clear();
        if self.mutant.has(Mutation::CutForgetsDestages) {
            self.forget_going();
        }
        let mut absorbed = 0;
        for slot in 0..self.lines.len() as u32 {
            let line = &mut self.lines[slot as usize];
            let Some(flight) = line.flight.get() else { continue };
            let in_flight = self.flights.remove(flight).sectors;
            line.flight = Link::END;
            let was_dirty = line.dirty != 0;
            let added = u64::from((in_flight & !line.dirty).count_ones());
            absorbed += u64::from((in_flight & line.dirty).count_ones());
            line.dirty |= in_flight;
            let (group, key, dirty) = (line.group, line.key, line.dirty);
            self.soil(slot, dirty);
            if was_dirty {
                self.second_versions -= 1;
                self.groups.get_mut(group).sectors += added;
                self.record_full(group);
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
            if let Some(flight) = std::mem::replace(&mut line.flight, Link::END).get() {
                self.dirty_sectors -= u64::from(self.flights.remove(flight).sectors.count_ones());
            }
        }
    }

    /// All data are lost. Precondition: nothing is in flight.
    pub fn lose_all(&mut self) {
        for group in self.groups.all() {
            self.leave(group);
        }
        self.claims.clear();
        self.index.clear();
        self.lines.clear();
        self.clean.clear();
        self.flights = Slab::default();
        self.free.clear();
        self.dirty_sectors = 0;
        (self.second_versions, self.clean_lines) = (0, 0);
        (self.first_clean, self.last_clean) = (Link::END, Link::END);
    }
}
