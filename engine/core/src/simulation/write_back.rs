//! Write-back: the write cache, the writes and flushes that wait for it, and the destages in flight.
//!
//! A stripe that has been dirty for `age_limit` is destaged before all others, whatever the policy chooses; a stripe that is
//! locked is skipped, and tried again when its lock is released.

mod destage_run;
mod functional;
mod room;

use super::array_set::ArraySet;
use super::cache_lines::CacheLines;
use super::context::Context;
use super::marks::Marks;
use super::power::Protection;
use super::request::{Request, Service};
use crate::config::{DestagePolicy, Scenario, WhenFull, WritePolicy};
use crate::destage::{Destage, WaterMarks};
use crate::event::Event;
use crate::mutation::Mutation;
use crate::pipe::Pipe;
use crate::read_cache::ReadCache;
use crate::slab::{Link, LinkedQueue, Slab};
use crate::units::{Bandwidth, Fraction, SECTOR_BYTES, Sectors, SimDuration, SimTime};
use crate::write_cache::{Accepted, Extent, Parts, WriteCache, mask};

pub use functional::Fill;

use destage_run::{DestageRun, longest_run};

/// The write-back side of the controller.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent settings and states of the cache")]
pub struct WriteBack {
    /// The write cache.
    pub cache: WriteCache,
    lines: CacheLines,
    /// Writes that wait for a free line.
    stalled: LinkedQueue,
    /// What a write does that finds no room.
    when_full: WhenFull,
    /// Whether a write was turned away for lack of room, and no line has been freed since.
    is_short: bool,
    /// Flushes that wait for the drain.
    held: LinkedQueue,
    /// Whether it may hold dirty data.
    pub protection: Protection,
    /// Its water marks.
    pub marks: Marks,
    /// Whether everything dirty is to be destaged.
    pub is_draining: bool,
    /// Age from which a stripe is destaged whatever the policy chooses.
    age_limit: Option<SimDuration>,
    /// Size from which a write bypasses the cache.
    bypass_from: Option<Sectors>,
    /// The path to the second copy.
    mirror: Option<Mirror>,
    /// Lines that are being destaged.
    in_flight: u32,
    runs: Slab<DestageRun>,
    destaging: Box<[Destaging]>,
    /// The extents of the destage that starts.
    extents: Vec<Extent>,
    yields_to_reads: bool,
    /// Whether destages complete on the media only.
    pub forces_destages: bool,
    /// Whether background I/Os wait for foreground ones now.
    yields: bool,
}

/// The destages of one array.
#[derive(Clone, Copy, Debug)]
struct Destaging {
    /// Destages in flight, by the disk I/Os that each needs at the least.
    in_flight: u32,
    /// Destages that may be in flight at a time.
    limit: u32,
    /// Data strips of a stripe: what a destage of full stripes counts.
    strips: u32,
    /// Most stripes of a run.
    longest_run: u32,
    /// Whether an event is scheduled for the next stripe that reaches the age limit.
    awaits_age: bool,
}

/// The path to the second copy of written data.
#[derive(Debug)]
struct Mirror {
    pipe: Pipe,
    bandwidth: Option<Bandwidth>,
    latency: SimDuration,
}

impl WriteBack {
    /// Time without foreground I/Os after which disks count as idle, if the destage policy of `scenario` uses it.
    pub fn idle_delay(scenario: &Scenario) -> Option<SimDuration> {
        let write = &scenario.controller.cache.write;
        (Self::is_used(scenario) && write.destage_policy == DestagePolicy::IdleTime)
            .then_some(write.idle_delay)
    }

    /// Whether the controller of `scenario` has a write cache.
    fn is_used(scenario: &Scenario) -> bool {
        let cache = &scenario.controller.cache;
        cache.write.policy != WritePolicy::WriteThrough && cache.dirty_bytes() >= cache.line
    }

    /// The write-back side of `scenario`; `None` if its controller has no write cache.
    pub fn new(scenario: &Scenario, arrays: &ArraySet, protection: Protection) -> Option<Self> {
        if !Self::is_used(scenario) {
            return None;
        }
        let cache = &scenario.controller.cache;
        let write = &cache.write;
        let size = cache.dirty_bytes();
        let capacity = size.0 / cache.line.0;
        let mark = |fraction: Fraction| (capacity as f64 * fraction.0) as u32;
        let (low, high) = (mark(write.low_water), mark(write.high_water).max(1));
        let parts = Parts {
            size,
            line: cache.line,
            destage: Destage::new(write.destage_policy, arrays.len(), WaterMarks::new(high, low)),
            has_age_limit: write.age_limit.is_some(),
            prefers_full: write.prefer_full_stripes,
            keeps_clean: write.keep_clean,
        };
        let stripes: Vec<_> = arrays.iter().map(|array| array.layout.stripe_sectors()).collect();
        let limit = |disks: u32| write.destage_depth.saturating_mul(disks);
        let destaging = scenario.arrays().iter().zip(arrays.iter()).map(|(array, state)| Destaging {
            in_flight: 0,
            limit: limit(array.disks),
            strips: state.layout.data_disks(),
            longest_run: longest_run(&state.layout, scenario.controller.merge_limit.sectors()),
            awaits_age: false,
        });
        Some(Self {
            cache: WriteCache::new(parts, &stripes),
            lines: CacheLines::new(cache.line),
            stalled: LinkedQueue::default(),
            when_full: write.when_full,
            is_short: false,
            held: LinkedQueue::default(),
            protection,
            marks: Marks { low, high, line: cache.line.sectors().0 },
            is_draining: false,
            age_limit: write.age_limit,
            bypass_from: write.bypass_threshold.map(|threshold| Sectors(threshold.0.div_ceil(SECTOR_BYTES))),
            mirror: write.mirror.map(|mirror| Mirror {
                pipe: Pipe::default(),
                bandwidth: mirror.bandwidth,
                latency: mirror.latency,
            }),
            in_flight: 0,
            runs: Slab::default(),
            destaging: destaging.collect(),
            extents: Vec::new(),
            yields_to_reads: write.yield_to_reads,
            forces_destages: write.force_destages,
            yields: write.yield_to_reads,
        })
    }

    /// Whether it may hold dirty data.
    #[inline]
    pub fn may_hold_dirty(&self) -> bool {
        self.protection != Protection::None
    }

    /// Whether nothing is dirty.
    pub fn is_clean(&self) -> bool {
        self.cache.used() == 0
    }

    /// Capacity of the cache \[sectors\].
    pub fn capacity_sectors(&self) -> u64 {
        u64::from(self.cache.capacity()) * self.lines.sectors()
    }

    /// Whether a flush waits for the drain.
    #[inline]
    pub fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// Whether background I/Os wait for foreground ones.
    #[inline]
    pub const fn yields(&self) -> bool {
        self.yields
    }

    /// Whether a write of `sectors` bypasses the cache.
    #[inline]
    pub fn bypasses(&self, sectors: Sectors) -> bool {
        self.bypass_from.is_some_and(|least| sectors >= least)
    }

    /// Records the amount of dirty data after it has changed.
    #[inline]
    pub fn record_dirty(&self, context: &mut Context) {
        let dirty = self.cache.dirty_sectors();
        let at_risk = if self.protection == Protection::Battery { 0 } else { dirty };
        context.measures.set_dirty(context.events.now(), dirty, at_risk);
    }

    /// Sends a second copy of `sectors` sectors; returns when it is confirmed, if that takes time.
    #[inline]
    pub fn mirror(&mut self, now: SimTime, sectors: Sectors) -> Option<SimTime> {
        let mirror = self.mirror.as_mut()?;
        let transfer = mirror.bandwidth.map_or(SimDuration::ZERO, |rate| rate.time_for(sectors.bytes()));
        let confirmed = mirror.pipe.claim(now, transfer) + mirror.latency;
        (confirmed > now).then_some(confirmed)
    }

    /// Takes in what is left of a write, as far as lines are free; returns whether all of it is in.
    ///
    /// A write that needs a new line waits behind those that wait already; one that only overwrites does not.
    pub fn fill(&mut self, context: &mut Context, requests: &mut Slab<Request>, request: u32) -> bool {
        let entry = requests[request];
        let first_in_line = self.stalled.first().is_none_or(|first| first == request);
        let end = entry.command.lba.0 + entry.command.sectors.0;
        let mut at = entry.command.lba.0 + entry.accepted;
        let mut is_hit = entry.service == Service::Hit;
        let is_allowed = self.may_hold_dirty();
        while at < end {
            let line = self.lines.line_of(at);
            let stop = end.min(self.lines.start(line + 1));
            let mask = mask(at - self.lines.start(line), stop - at);
            match self.cache.accept(context.now(), entry.array, line, mask, first_in_line) {
                Accepted::In { absorbed, was_dirty } => {
                    context.probe.watch(|oracle| {
                        oracle.accept(Some(request), entry.array, at, stop - at, is_allowed);
                    });
                    is_hit &= was_dirty;
                    context.measures.counts.accepted_sectors += stop - at;
                    context.measures.counts.absorbed_sectors += u64::from(absorbed);
                    at = stop;
                }
                Accepted::Full => break,
            }
        }
        self.record_dirty(context);
        let is_hit = is_hit && !context.probe.strikes(Mutation::UnseenWriteHit);
        let entry = &mut requests[request];
        entry.accepted = at - entry.command.lba.0;
        entry.service = if is_hit { Service::Hit } else { Service::None };
        at == end || context.probe.has(Mutation::EarlyAcknowledgement)
    }

    /// Has a flush wait for the drain.
    pub fn hold(&mut self, requests: &mut Slab<Request>, request: u32) {
        self.held.push(requests, request, |entry| &mut entry.next);
    }

    /// The flushes that wait for the drain; none is held any more.
    pub fn take_held(&mut self) -> LinkedQueue {
        std::mem::take(&mut self.held)
    }

    /// What `request` wrote to `stripe` around the cache is on the media: the older dirty data is dropped. Returns whether
    /// there was any.
    pub fn supersede(&mut self, context: &mut Context, request: u32, (array, stripe): (u16, u64)) -> bool {
        let (probe, lines) = (&mut context.probe, self.lines);
        let superseded = self.cache.supersede(request, stripe, |line, mask| {
            probe.watch(|oracle| oracle.supersede(array, lines.start(line), mask));
        });
        context.measures.counts.absorbed_sectors += superseded;
        self.is_short &= superseded == 0;
        superseded > 0
    }

    /// A destage is on the disks.
    pub fn end_destage(
        &mut self,
        context: &mut Context,
        read_cache: Option<&mut ReadCache>,
        array: u16,
        (lines, run): (Link, u32),
    ) {
        self.end_stripe(array, run);
        let mut read_cache = read_cache;
        let mut count = 0;
        let probe = &mut context.probe;
        let destaged = self.cache.end_destage(lines, |line, clean| {
            count += 1;
            probe.watch(|oracle| oracle.keep_clean(array, self.lines.start(line), clean));
            // A fetch that began before this destage ended may return the old data.
            if let Some(cache) = &mut read_cache {
                cache.invalidate(array, line);
            }
        });
        self.in_flight -= count;
        self.is_short = false;
        probe.watch(|oracle| oracle.compare(self.cache.dirty_sectors()));
        context.measures.counts.destaged_sectors += destaged;
    }

    /// Schedules the moment when the next stripe reaches the age limit. Those that have reached it already wait for a
    /// destage or a write to end.
    fn await_age(&mut self, context: &mut Context, array: u16) {
        let Some(limit) = self.age_limit else { return };
        let destaging = &mut self.destaging[array as usize];
        if destaging.awaits_age || destaging.in_flight >= destaging.limit {
            return;
        }
        if let Some(due) = self.cache.next_overdue(array, context.now(), limit) {
            destaging.awaits_age = true;
            context.schedule(due, Event::AgeLimit(array));
        }
    }

    /// A stripe of `array` may have reached the age limit.
    pub fn end_wait_for_age(&mut self, array: u16) {
        self.destaging[array as usize].awaits_age = false;
    }

    /// Power is cut: what was being destaged is dirty again.
    pub fn cut_power(&mut self, context: &mut Context) {
        let now = context.now();
        self.stalled = LinkedQueue::default();
        self.is_short = false;
        self.held = LinkedQueue::default();
        self.in_flight = 0;
        self.runs = Slab::default();
        for destaging in &mut self.destaging {
            (destaging.in_flight, destaging.awaits_age) = (0, false);
        }
        if let Some(mirror) = &mut self.mirror {
            mirror.pipe.cut(now);
        }
        context.measures.counts.absorbed_sectors += self.cache.cut_power(now);
        context.probe.watch(|oracle| oracle.compare(self.cache.dirty_sectors()));
    }

    /// Whether no destage is in flight.
    #[cfg(test)]
    pub fn is_quiet(&self) -> bool {
        self.destaging.iter().all(|destaging| destaging.in_flight == 0)
    }
}
