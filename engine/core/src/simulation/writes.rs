//! Writes: into the protected cache (write-back), or straight to the disks (write-through, and large writes that go
//! around the cache).

use super::Simulation;
use super::operation::Parent;
use super::request::Service;
use crate::event::Event;
use crate::mutation::Mutation;
use crate::units::{Lba, Sectors, SimDuration};
use crate::write_cache::{Accepted, Extent, mask};

impl Simulation {
    /// The data of a write are in the controller.
    pub(super) fn write(&mut self, request: u32) {
        let sectors = self.requests[request].command.sectors;
        if !self.may_hold_dirty() {
            self.write_through(request);
            return;
        }
        let Some(back) = &mut self.write_back else { return };
        if back.bypass_from.is_some_and(|least| sectors >= least) {
            self.measures.counts.bypassing_writes += 1;
            self.write_through(request);
            return;
        }
        if let Some(mirror) = &mut back.mirror {
            let transfer = mirror.bandwidth.map_or(SimDuration::ZERO, |rate| rate.time_for(sectors.bytes()));
            let confirmed = mirror.pipe.claim(self.now, transfer) + mirror.latency;
            if confirmed > self.now {
                self.events.schedule(confirmed, Event::Mirror(request));
                return;
            }
        }
        self.write_back(request);
    }

    /// The second copy of a write is confirmed; by now the cache may be unprotected.
    pub(super) fn on_mirror(&mut self, request: u32) {
        if self.may_hold_dirty() {
            self.write_back(request);
        } else {
            self.write_through(request);
        }
    }

    /// Puts a write into the cache.
    fn write_back(&mut self, request: u32) {
        let entry = self.requests[request];
        self.invalidate(entry.array, entry.command.lba.0, entry.command.sectors.0);
        self.measures.counts.cached_writes += 1;
        self.requests[request].service = Service::Hit;
        if self.fill(request) {
            self.complete(request);
        } else {
            self.measures.counts.stalls += 1;
            self.requests[request].stalled_since = self.now;
            if let Some(back) = &mut self.write_back {
                back.stalled.push(&mut self.requests, request, |entry| &mut entry.next);
            }
        }
        self.destage_if_due();
    }

    /// Puts what is left of a write into the cache, as far as lines are free; gives whether all of it is in.
    ///
    /// A write that needs a new line waits behind those that wait already; one that only overwrites does not.
    fn fill(&mut self, request: u32) -> bool {
        let entry = self.requests[request];
        let Some(back) = &mut self.write_back else { return true };
        let first_in_line = back.stalled.first().is_none_or(|first| first == request);
        let (line_bits, end) = (self.line_bits, entry.command.lba.0 + entry.command.sectors.0);
        let mut at = entry.command.lba.0 + entry.accepted;
        let mut is_hit = entry.service == Service::Hit;
        while at < end {
            let line = at >> line_bits;
            let stop = end.min((line + 1) << line_bits);
            let mask = mask(at - (line << line_bits), stop - at);
            match back.cache.accept(self.now, entry.array, line, mask, first_in_line) {
                Accepted::In { absorbed, was_dirty } => {
                    let is_allowed = back.may_hold_dirty();
                    self.probe.watch(|oracle| {
                        oracle.accept(Some(request), entry.array, at, stop - at, is_allowed);
                    });
                    is_hit &= was_dirty;
                    self.measures.counts.accepted_sectors += stop - at;
                    self.measures.counts.absorbed_sectors += u64::from(absorbed);
                    at = stop;
                }
                Accepted::Full => break,
            }
        }
        self.measures.set_dirty(self.now, back.cache.dirty_sectors(), back.at_risk());
        let is_hit = is_hit && !self.probe.strikes(Mutation::UnseenWriteHit);
        let entry = &mut self.requests[request];
        entry.accepted = at - entry.command.lba.0;
        entry.service = if is_hit { Service::Hit } else { Service::None };
        at == end || self.probe.has(Mutation::EarlyAcknowledgement)
    }

    /// Lines have become free: the writes that wait go on, in order.
    pub(super) fn serve_stalled(&mut self) {
        while let Some(request) = self.write_back.as_ref().and_then(|back| back.stalled.first()) {
            if !self.fill(request) {
                break;
            }
            if let Some(back) = &mut self.write_back {
                back.stalled.pop(&mut self.requests, |entry| &mut entry.next);
            }
            self.end_stall(request);
            self.complete(request);
        }
    }

    /// Writes a request to the disks, stripe by stripe.
    fn write_through(&mut self, request: u32) {
        let entry = self.requests[request];
        let (array, command) = (entry.array, entry.command);
        self.invalidate(array, command.lba.0, command.sectors.0);
        let end = command.lba.0 + command.sectors.0;
        let mut at = command.lba;
        self.measures.counts.bypassed_sectors += end - at.0;
        let layout = self.arrays[array as usize].layout;
        self.requests[request].pending = 1;
        while at.0 < end {
            let stripe = layout.stripe_of(at);
            let stop = end.min(layout.stripe_start(stripe + 1).0);
            let extent = Extent { lba: at, sectors: Sectors(stop - at.0) };
            self.requests[request].pending += 1;
            if let Some(back) = &mut self.write_back {
                back.cache.claim(request, array, stripe, extent);
            }
            self.extents.clear();
            self.extents.push(extent);
            self.write_stripe(array, stripe, Parent::WriteThrough { request });
            at.0 = stop;
        }
        self.part_done(request);
    }

    /// A flush waits until all that is dirty is destaged.
    fn hold(&mut self, request: u32) {
        if let Some(back) = &mut self.write_back {
            back.held.push(&mut self.requests, request, |entry| &mut entry.next);
        }
    }

    /// A write to the disks is over, or write-back is allowed again: the flushes that are held try again, in order.
    #[inline]
    pub(super) fn retry_held(&mut self) {
        if self.write_back.as_ref().is_some_and(|back| !back.held.is_empty()) {
            self.retry_all_held();
        }
    }

    fn retry_all_held(&mut self) {
        let mut held =
            self.write_back.as_mut().map(|back| std::mem::take(&mut back.held)).unwrap_or_default();
        while let Some(request) = held.pop(&mut self.requests, |entry| &mut entry.next) {
            self.flush(request);
        }
    }

    /// A flush: what was acknowledged before is in protected cache or at the disks, unless the cache drains; disks that
    /// cache writes are flushed.
    pub(super) fn flush(&mut self, request: u32) {
        if !self.is_cache_durable() {
            self.hold(request);
        } else if !self.flush_devices(self.requests[request].array, request) {
            self.complete(request);
        }
    }

    /// The disks have done their part of a flush; by now the cache may be unprotected.
    pub(super) fn devices_flushed(&mut self, request: u32) {
        if self.is_cache_durable() {
            self.complete(request);
        } else {
            self.hold(request);
        }
    }

    /// Whether nothing in the write cache is left to a battery that does not hold.
    fn is_cache_durable(&self) -> bool {
        let is_empty = || self.write_back.as_ref().is_none_or(|back| back.cache.used() == 0);
        self.may_hold_dirty() || is_empty() || self.probe.has(Mutation::FlushOverDirty)
    }

    /// Write-back has ended: the writes that wait for a free line go on to the disks.
    pub(super) fn write_stalled_through(&mut self) {
        let mut stalled =
            self.write_back.as_mut().map(|back| std::mem::take(&mut back.stalled)).unwrap_or_default();
        while let Some(request) = stalled.pop(&mut self.requests, |entry| &mut entry.next) {
            self.end_stall(request);
            if self.probe.has(Mutation::StalledInParts) {
                self.complete(request);
                continue;
            }
            // What the cache has taken of it is not safe there: all of it goes to the disks.
            let entry = &mut self.requests[request];
            entry.accepted = 0;
            entry.service = Service::None;
            self.probe.watch(|oracle| oracle.write_anew(request));
            self.write_through(request);
        }
    }

    fn end_stall(&mut self, request: u32) {
        let waited = self.now.since(self.requests[request].stalled_since);
        self.measures.counts.stall_time += waited;
        self.measures.counts.stall_max = self.measures.counts.stall_max.max(waited);
    }

    /// The data of these sectors have changed: what is clean of them in the caches is forgotten.
    pub(super) fn invalidate(&mut self, array: u16, lba: u64, sectors: u64) {
        if let Some(back) = &mut self.write_back {
            back.cache.forget_clean(array, Extent { lba: Lba(lba), sectors: Sectors(sectors) });
        }
        if self.probe.has(Mutation::StaleFetch) {
            return;
        }
        if let Some(cache) = &mut self.read_cache {
            for line in lba / self.line_sectors..=(lba + sectors - 1) / self.line_sectors {
                cache.invalidate(array, line);
            }
        }
    }
}
