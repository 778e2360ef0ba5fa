//! The flow of destages: dirty stripes go to the disks in the order and at the pace of the destage policy.

use super::Simulation;
use crate::slab::Link;

impl Simulation {
    /// Starts the destages that are due, as far as the disks may hold them.
    pub(super) fn destage_if_due(&mut self) {
        if let Some(back) = &mut self.write_back
            && !self.power.is_off()
        {
            back.destage_if_due(&mut self.context, &mut self.arrays);
        }
    }

    /// A destage is on the disks.
    pub(super) fn destage_done(&mut self, array: u16, lines: Link, run: u32) {
        let Some(back) = &mut self.write_back else { return };
        back.end_destage(&mut self.context, self.reads.cache.as_mut(), array, (lines, run));
        self.lines_freed();
        self.destage_if_due();
    }

    /// What `request` wrote to a stripe around the cache is on the media: the older dirty data is dropped.
    pub(super) fn supersede(&mut self, request: u32, stripe: (u16, u64)) {
        if let Some(back) = &mut self.write_back
            && back.supersede(&mut self.context, request, stripe)
        {
            self.lines_freed();
        }
    }

    /// Lines are free again.
    fn lines_freed(&mut self) {
        let is_drained = self.write_back.as_ref().is_some_and(|back| back.is_draining && back.is_clean());
        self.record_dirty();
        if is_drained {
            self.on_drained();
        }
        self.serve_stalled();
    }

    /// A stripe may have reached the age limit.
    pub(super) fn on_age_limit(&mut self, array: u16) {
        if let Some(back) = &mut self.write_back {
            back.end_wait_for_age(array);
        }
        self.destage_if_due();
    }

    /// The disks of an array may have been idle for long enough.
    pub(super) fn on_idle(&mut self, array: u16) {
        if self.arrays.end_wait_for_idle(&mut self.context, array) {
            self.destage_if_due();
        }
    }
}

#[cfg(test)]
mod tests;
