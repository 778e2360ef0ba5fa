//! Destages that start: one stripe, or a run of full stripes that follow each other.
//!
//! ```text
//!   dirty stripes    4 (full)  5 (full)  6 (full)  9 (in part)      4, 5 and 6 start together, and then 9
//! ```
//!
//! The strips of a run are adjacent on each disk, so they are merged into I/Os of up to `merge_limit`; a run is no longer
//! than that, nor does it extend what is in flight beyond a quarter of the cache: if everything were in flight, the stripes
//! that a stream has just begun would be destaged in part. Each stripe remains an operation with its own lock.
//!
//! A run counts as many destages as a stripe has data strips, since each of them keeps a disk busy; so `destage_depth` is
//! about the number of I/Os at a disk, whatever is destaged.

use super::{Destaging, WriteBack};
use crate::destage::Occupancy;
use crate::mutation::Mutation;
use crate::raid::{Layout, Update};
use crate::simulation::array_set::{ArraySet, Parent};
use crate::simulation::context::Context;
use crate::units::Sectors;

/// A run of stripes in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct DestageRun {
    /// Stripes that are not on the disks yet.
    stripes: u32,
    /// What it counts against the limit of destages.
    weight: u32,
}

/// A chosen stripe.
#[derive(Clone, Copy, Debug)]
struct Chosen {
    group: u32,
    is_overdue: bool,
}

/// Most stripes of a run whose strips are merged up to `limit` per disk.
pub(super) const fn longest_run(layout: &Layout, limit: Sectors) -> u32 {
    let rows = limit.0 / layout.stripe_unit().0;
    // Consecutive stripes are on consecutive groups.
    let groups = layout.stripes() / layout.rows();
    if rows < 2 { 1 } else { (rows * groups) as u32 }
}

impl WriteBack {
    /// Starts the destages that are due, as far as the disks may hold them.
    pub fn destage_if_due(&mut self, context: &mut Context, arrays: &mut ArraySet) {
        self.yields = self.yields_to_reads && !self.is_pressed() && !self.is_draining;
        for array in 0..arrays.len() as u16 {
            while let Some(chosen) = self.choose(context, array, arrays) {
                self.destage_run(context, array, arrays, chosen);
            }
            self.await_age(context, array);
        }
    }

    /// Destages that the policy allows for an array, in flight included.
    fn allow(&mut self, context: &Context, array: u16, arrays: &ArraySet) -> u32 {
        let occupancy = Occupancy {
            used: self.cache.used(),
            waiting: self.cache.used().saturating_sub(self.in_flight),
            is_stalled: self.is_pressed(),
            is_draining: self.is_draining,
            is_idle: arrays.is_idle(array, context.now()),
            limit: self.destaging[array as usize].limit,
        };
        self.cache.allow(&occupancy)
    }

    /// Chooses the next stripe of an array to destage, if one is due.
    fn choose(&mut self, context: &Context, array: u16, arrays: &ArraySet) -> Option<Chosen> {
        let Destaging { in_flight, limit, .. } = self.destaging[array as usize];
        let allowed = self.allow(context, array, arrays);
        if in_flight >= limit || !self.cache.has_dirty(array) {
            return None;
        }
        let locks = &arrays[array].locks;
        let is_busy = |stripe: u64| locks.is_locked(stripe);
        let now = context.now();
        let overdue = self.age_limit.and_then(|limit| self.cache.overdue(array, now, limit, is_busy));
        let group = match overdue {
            None if in_flight < allowed => self.cache.choose(array, is_busy),
            overdue => overdue,
        }?;
        Some(Chosen { group, is_overdue: overdue.is_some() })
    }

    /// Starts the destage of a stripe, and of the full stripes that follow it if it is full.
    fn destage_run(&mut self, context: &mut Context, array: u16, arrays: &mut ArraySet, first: Chosen) {
        let Destaging { strips, longest_run, .. } = self.destaging[array as usize];
        let is_full = self.cache.is_full(first.group);
        let weight = if is_full { strips } else { 1 };
        let run = self.runs.insert(DestageRun { stripes: 0, weight });
        self.destaging[array as usize].in_flight += weight;
        let gathers = is_full && longest_run > 1 && arrays.gather();
        let mut stripe = self.destage_stripe(context, array, arrays, (first, run));
        if is_full {
            while self.runs[run].stripes < longest_run
                && let Some(group) = self.choose_next(context, arrays, (array, stripe + 1), weight)
            {
                stripe = self.destage_stripe(context, array, arrays, (Chosen { group, ..first }, run));
            }
        }
        if gathers {
            arrays.send_gathered(context);
        }
    }

    /// The group of a stripe of an array, if it may extend a run of `weight` in flight that ends before it.
    fn choose_next(
        &mut self,
        context: &Context,
        arrays: &ArraySet,
        (array, stripe): (u16, u64),
        weight: u32,
    ) -> Option<u32> {
        let allowed = self.allow(context, array, arrays);
        let is_allowed = self.destaging[array as usize].in_flight - weight < allowed
            && self.in_flight < self.cache.capacity() / 4
            && !arrays[array].locks.is_locked(stripe);
        if is_allowed { self.cache.follow(array, stripe) } else { None }
    }

    /// Starts the destage of a stripe as part of a run; returns the stripe.
    fn destage_stripe(
        &mut self,
        context: &mut Context,
        array: u16,
        arrays: &mut ArraySet,
        (chosen, run): (Chosen, u32),
    ) -> u64 {
        let (stripe, lines, count) = self.cache.begin_destage(chosen.group, &mut self.extents);
        context.probe.mutate_destage(&mut self.extents, chosen.is_overdue);
        self.in_flight += count;
        self.runs[run].stripes += 1;
        let counts = &mut context.measures.counts;
        counts.destages += 1;
        counts.destages_by_age += u64::from(chosen.is_overdue);
        counts.destage_extents += self.extents.len() as u64;
        let is_forced = self.forces_destages && !context.probe.has(Mutation::UnforcedDestage);
        let parent = Parent::Destage { lines, run };
        let update = arrays.write_stripe(context, (array, stripe), &self.extents, parent, is_forced);
        context.measures.counts.full_stripes += u64::from(update == Some(Update::FullStripe));
        stripe
    }

    /// A stripe of a run is on the disks.
    pub(super) fn end_stripe(&mut self, array: u16, run: u32) {
        let entry = &mut self.runs[run];
        entry.stripes -= 1;
        if entry.stripes == 0 {
            let DestageRun { weight, .. } = self.runs.remove(run);
            self.destaging[array as usize].in_flight -= weight;
        }
    }
}
