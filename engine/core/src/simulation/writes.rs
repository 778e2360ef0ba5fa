//! The flow of writes and flushes: into the protected cache (write-back), or straight to the disks (write-through, and
//! writes that bypass the cache for their size).

use super::Simulation;
use super::array_set::Parent;
use super::request::Service;
use super::write_back::WriteBack;
use crate::event::Event;
use crate::mutation::Mutation;
use crate::units::Sectors;
use crate::write_cache::Extent;

impl Simulation {
    /// The data of a write is in the controller.
    pub(super) fn write(&mut self, request: u32) {
        let sectors = self.front_end.requests[request].command.sectors;
        let Some(back) = self.write_back.as_mut().filter(|back| back.may_hold_dirty()) else {
            self.write_through(request);
            return;
        };
        if back.bypasses(sectors) {
            self.context.measures.counts.bypassing_writes += 1;
            self.write_through(request);
        } else if let Some(confirmed) = back.mirror(self.context.now(), sectors) {
            self.context.schedule(confirmed, Event::Mirror(request));
        } else {
            self.write_into_cache(request);
        }
    }

    /// The second copy of a write is confirmed; the cache may have become unprotected in the meantime.
    pub(super) fn on_mirror(&mut self, request: u32) {
        if self.may_hold_dirty() {
            self.write_into_cache(request);
        } else {
            self.write_through(request);
        }
    }

    fn write_into_cache(&mut self, request: u32) {
        let entry = &self.front_end.requests[request];
        if self.write_back.as_mut().is_some_and(|back| back.turns_away(entry)) {
            self.context.measures.counts.turned_away += 1;
            self.write_through(request);
            self.destage_if_due();
            return;
        }
        self.invalidate(request);
        let Self { context, front_end, write_back: Some(back), .. } = self else { return };
        context.measures.counts.cached_writes += 1;
        front_end.requests[request].service = Service::Hit;
        if back.fill(context, &mut front_end.requests, request) {
            self.complete(request);
        } else {
            back.stall(context, &mut front_end.requests, request);
        }
        self.destage_if_due();
    }

    /// Lines are free again: the writes that wait for them continue, in order.
    pub(super) fn serve_stalled(&mut self) {
        loop {
            let Self { context, front_end, write_back: Some(back), .. } = self else { return };
            let requests = &mut front_end.requests;
            let Some(request) = back.first_stalled() else { return };
            if !back.fill(context, requests, request) {
                return;
            }
            back.end_stall(context, requests);
            self.complete(request);
        }
    }

    /// Writes a request to the disks, stripe by stripe.
    fn write_through(&mut self, request: u32) {
        self.invalidate(request);
        let Self { context, front_end, write_back, arrays, .. } = self;
        let entry = &mut front_end.requests[request];
        let (array, command) = (entry.array, entry.command);
        let end = command.lba.0 + command.sectors.0;
        let mut at = command.lba;
        context.measures.counts.bypassed_sectors += end - at.0;
        let (layout, is_volatile) = (arrays[array].layout, arrays[array].is_volatile);
        entry.pending = 1;
        // Strips of several stripes may be adjacent on their disks.
        let gathers = end > layout.stripe_start(layout.stripe_of(at) + 1).0 && arrays.gather();
        while at.0 < end {
            let stripe = layout.stripe_of(at);
            let stop = end.min(layout.stripe_start(stripe + 1).0);
            let extent = Extent { lba: at, sectors: Sectors(stop - at.0) };
            front_end.requests[request].pending += 1;
            let mut is_forced = command.is_forced;
            if let Some(back) = write_back {
                back.cache.claim(request, array, stripe, extent);
                // Data that was safe in the write cache must not be replaced by data in a drive's own cache.
                is_forced |= is_volatile
                    && back.cache.has_claims(request, stripe)
                    && !context.probe.has(Mutation::UnforcedSuccessor);
            }
            let parent = Parent::WriteThrough { request };
            arrays.write_stripe(context, (array, stripe), &[extent], parent, is_forced);
            at.0 = stop;
        }
        if gathers {
            arrays.send_gathered(context);
        }
        self.part_done(request);
    }

    /// An operation or the battery may have made the cache durable: flushes that are held try again, in order.
    #[inline]
    pub(super) fn retry_held(&mut self) {
        if self.write_back.as_ref().is_some_and(WriteBack::is_holding) {
            self.retry_all_held();
        }
    }

    fn retry_all_held(&mut self) {
        let mut held = self.write_back.as_mut().map(WriteBack::take_held).unwrap_or_default();
        while let Some(request) = held.pop(&mut self.front_end.requests, |entry| &mut entry.next) {
            self.flush(request);
        }
    }

    /// A flush: what was acknowledged before is in the protected cache or at the disks, unless the cache drains; disks that
    /// cache writes are flushed.
    pub(super) fn flush(&mut self, request: u32) {
        let array = self.front_end.requests[request].array;
        if !self.is_cache_durable() {
            self.hold(request);
        } else if !self.arrays.flush_devices(&mut self.context, array, request) {
            self.complete(request);
        }
    }

    /// The disks have done their part of a flush; the cache may have become unprotected in the meantime.
    pub(super) fn devices_flushed(&mut self, request: u32) {
        if self.is_cache_durable() {
            self.complete(request);
        } else {
            self.hold(request);
        }
    }

    fn hold(&mut self, request: u32) {
        if let Some(back) = &mut self.write_back {
            back.hold(&mut self.front_end.requests, request);
        }
    }

    /// Whether nothing in the write cache depends on a battery that does not hold.
    fn is_cache_durable(&self) -> bool {
        self.write_back.as_ref().is_none_or(|back| back.may_hold_dirty() || back.is_clean())
            || self.context.probe.has(Mutation::FlushOverDirty)
    }

    /// Write-back has ended: the writes that wait for a free line are written through.
    pub(super) fn write_stalled_through(&mut self) {
        let mut stalled = self.write_back.as_mut().map(WriteBack::take_stalled).unwrap_or_default();
        while let Some(request) = stalled.pop(&mut self.front_end.requests, |entry| &mut entry.next) {
            let entry = &mut self.front_end.requests[request];
            self.context.measures.end_stall(self.context.events.now(), entry);
            if self.context.probe.has(Mutation::StalledInParts) {
                self.complete(request);
                continue;
            }
            // What the cache has accepted of it is not safe there: all of it goes to the disks.
            entry.accepted = 0;
            entry.service = Service::None;
            self.context.probe.watch(|oracle| oracle.write_anew(request));
            self.write_through(request);
        }
    }

    /// The data that a write changes is dropped from the caches, as far as it is clean.
    pub(super) fn invalidate(&mut self, request: u32) {
        let entry = &self.front_end.requests[request];
        let (array, command) = (entry.array, &entry.command);
        let extent = Extent { lba: command.lba, sectors: command.sectors };
        if let Some(back) = &mut self.write_back {
            back.cache.forget_clean(array, extent);
        }
        self.reads.invalidate(&self.context, array, extent);
    }
}

#[cfg(test)]
mod tests;
