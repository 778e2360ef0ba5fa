//! One run: events drive requests from the hosts through the controller and its caches to the disks.
//!
//! ```text
//!  sources ─► slot ─► firmware ─► link ─► write cache ─► acknowledged        (write-back)
//!     ▲                 │                     └─ destage ─► stripe ─► disks
//!     │                 ├─► link ─► stripe ─► disks ─► acknowledged          (write-through)
//!     │                 └─► caches ─► (disks) ─► link ─► data                (read)
//!     └───────────────── completion ◄────────────────────┘
//! ```

mod array_operations;
mod array_state;
mod back_end;
mod build;
mod columns;
mod conduct;
mod degraded;
mod destage;
mod disk_faults;
mod faults;
#[cfg(all(test, debug_assertions))]
mod fuzz;
mod hosts;
mod lock_range;
mod measures;
mod operation;
mod outcome;
mod path;
mod power;
mod power_cut;
mod probe;
mod reads;
mod rebuild;
mod recording;
mod redundancy;
mod replay;
mod request;
mod stripe_lock;
mod stripe_write;
#[cfg(test)]
mod tests;
mod timeline;
mod warm_up;
mod writes;

use std::sync::Arc;

use crate::config::Scenario;
use crate::disk::{BlockDevice as _, Device};
use crate::error::RunError;
use crate::event::{Event, EventQueue};
use crate::pipe::Pipe;
use crate::raid::DegradedReads;
use crate::read_cache::ReadCache;
use crate::rng;
use crate::slab::{Fifo, Slab};
use crate::trace::{Columns, Trace};
use crate::units::{Bandwidth, Sectors, SimDuration, SimTime};
use crate::workload::RequestModel;
use crate::write_cache::{Extent, WriteCache};

use array_state::{ArrayState, Fetch, Waiter};
use back_end::BackEnd;
use conduct::Conduct;
use hosts::Source;
use measures::Measures;
use operation::{ArrayOperation, PlannedIo};
use power::Power;
use probe::Probe;
use request::Request;
use stripe_write::StripeWrite;
use timeline::Timeline;

pub use columns::{COLUMNS, Column, Kind, Value};
pub use outcome::{Outcome, Status};
#[cfg(any(test, feature = "mutations"))]
pub use probe::simulate_mutant;
pub use recording::record;

/// The traces that scenarios may name, by digest or by file name.
pub trait TraceStore {
    /// The trace of this name.
    fn find(&self, name: &str) -> Option<Arc<Trace>>;
}

impl TraceStore for std::collections::BTreeMap<String, Arc<Trace>> {
    fn find(&self, name: &str) -> Option<Arc<Trace>> {
        self.get(name).cloned()
    }
}

/// Runs a scenario.
///
/// # Errors
/// The configuration breaks a rule, a trace cannot be replayed, or the run is stuck.
pub fn simulate(scenario: Scenario, traces: &dyn TraceStore) -> Result<Outcome, RunError> {
    let scenario = scenario.normalise().map_err(RunError::Configuration)?;
    let mut simulation = Simulation::build(scenario, traces)?;
    simulation.run()?;
    Ok(simulation.into_outcome())
}

/// Whether dirty data may be held, and survives a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protection {
    /// The battery's charge is below the threshold: write-through.
    None,
    /// Write-back without a battery: the data is at risk.
    AtRisk,
    /// The battery protects dirty data.
    Battery,
}

/// The write-back side of the controller.
#[derive(Debug)]
struct WriteBack {
    cache: WriteCache,
    /// Requests that wait for a free line.
    stalled: Fifo,
    /// Flushes that wait for what is dirty to be destaged.
    held: Fifo,
    protection: Protection,
    /// Dirty lines to which the functional warm-up fills it.
    warm_level: u32,
    /// A stripe that has been dirty for this long is destaged whatever the policy says.
    age_limit: Option<SimDuration>,
    /// Disks count as idle when they have had no foreground I/O for this long, where the policy asks.
    idle_delay: Option<SimDuration>,
    /// Sectors from which on a write goes around the cache.
    bypass_from: Option<Sectors>,
    /// The path to the second copy.
    mirror: Option<Mirror>,
    /// Lines on their way to the disks.
    going: u32,
    is_draining: bool,
    yields: bool,
}

/// The path to the second copy of written data.
#[derive(Debug)]
struct Mirror {
    pipe: Pipe,
    bandwidth: Option<Bandwidth>,
    latency: SimDuration,
}

impl WriteBack {
    /// Whether it may hold dirty data.
    fn may_hold_dirty(&self) -> bool {
        self.protection != Protection::None
    }

    /// Dirty sectors that no battery protects.
    fn at_risk(&self) -> u64 {
        if self.protection == Protection::Battery { 0 } else { self.cache.dirty_sectors() }
    }
}

/// A run under way.
#[derive(Debug)]
struct Simulation {
    scenario: Scenario,
    now: SimTime,
    events: EventQueue,
    event_count: u64,
    sources: Vec<Source>,
    /// Replays that have records to issue, or requests under way.
    replays_left: usize,
    /// Whether there is a replay at all.
    has_replays: bool,
    /// Think times, gaps and slots of outstanding I/Os that go on: what is left of the synthetic sources.
    threads: u64,
    models: Vec<RequestModel>,
    requests: Slab<Request>,
    waiting: Fifo,
    outstanding: u32,
    limit: Option<u32>,
    /// Requests that may be under way at a time; more is the backlog of an open load that the array cannot carry.
    backlog_limit: usize,
    firmware: Pipe,
    command_time: SimDuration,
    /// Draws of the firmware's times, where they vary.
    command_draws: Option<rng::RandomStream>,
    /// The two directions of the host link; the first carries both where they share it.
    link: [Pipe; 2],
    is_full_duplex: bool,
    write_back: Option<WriteBack>,
    power: Power,
    /// Whether the destage policy asks how busy the disks are.
    watches_idleness: bool,
    read_cache: Option<ReadCache>,
    line_sectors: u64,
    /// A line's sectors are two to this power.
    line_bits: u32,
    back_end: Option<BackEnd>,
    xor: Pipe,
    xor_bandwidth: Option<Bandwidth>,
    arrays: Vec<ArrayState>,
    devices: Vec<Device>,
    device_array: Vec<u16>,
    /// The place in its array that each device holds, or held until it failed.
    device_disk: Vec<u32>,
    operations: Slab<ArrayOperation>,
    planned: Slab<PlannedIo>,
    fetches: Slab<Fetch>,
    waiters: Slab<Waiter>,
    measures: Measures,
    timeline: Timeline,
    conduct: Conduct,
    /// The outcome as it was when the window ended, where the run drains afterwards.
    at_window_end: Option<outcome::WindowEnd>,
    /// The commands of the hosts, where they are recorded.
    recorded: Option<Box<Columns>>,
    extents: Vec<Extent>,
    stripe_write: StripeWrite,
    degraded_reads: DegradedReads,
    probe: Probe,
}

/// Events at one moment after which time is taken to stand still.
const STANDSTILL: u64 = 4_000_000;

impl Simulation {
    fn run(&mut self) -> Result<(), RunError> {
        self.warm_up_functionally();
        // What is faulty from the start is so before the first request.
        self.schedule_faults();
        self.start_timeline();
        self.start_sources();
        self.start_power();
        self.finish_if_input_over();
        let mut at_this_moment = 0;
        while !self.is_over() {
            let Some((time, event)) = self.events.next_packed() else {
                if self.is_input_over() && !self.is_draining() {
                    self.finish_early();
                    continue;
                }
                return Err(self.deadlock());
            };
            if time > self.now {
                if time > SimTime::END {
                    return Err(RunError::EndOfTime { requests: self.conduct.seen() });
                }
                self.now = time;
                at_this_moment = 0;
            } else {
                at_this_moment += 1;
                if at_this_moment > STANDSTILL {
                    return Err(RunError::Standstill { at_ns: self.now.0 });
                }
            }
            if self.event_count == self.scenario.run.max_events {
                return Err(self.event_limit());
            }
            self.event_count += 1;
            self.act(event.event());
        }
        let (is_draining, arrays, devices) = (self.is_draining(), &self.arrays, &self.devices);
        self.probe.watch(|oracle| oracle.end_run(is_draining, arrays, devices));
        Ok(())
    }

    #[expect(clippy::inline_always, reason = "an event stays in registers, and is told apart once")]
    #[inline(always)]
    fn act(&mut self, event: Event) {
        match event {
            Event::Source(source) => self.on_source(source),
            Event::Firmware(request) => self.on_firmware(request),
            Event::Link(request) => self.on_link(request),
            Event::Device { device, slot } => self.on_device(device, slot),
            Event::Battery(generation) => self.on_battery(generation),
            Event::MainsBack => self.on_mains_back(),
            Event::Channel(crossing) => self.on_channel(crossing),
            Event::Parity(operation) => self.on_parity(operation),
            Event::Mirror(request) => self.on_mirror(request),
            Event::AgeLimit(array) => self.on_age_limit(array),
            Event::Idle(array) => self.on_idle(array),
            Event::Rebuild(device) => self.on_rebuild(device),
            Event::Fault(index) => self.on_fault(index),
            Event::Clock => self.on_clock(),
            Event::Phase(index) => self.on_phase(index),
        }
    }

    #[cold]
    fn event_limit(&self) -> RunError {
        RunError::EventLimit { events: self.event_count, at_ns: self.now.0, requests: self.conduct.seen() }
    }

    #[cold]
    fn deadlock(&self) -> RunError {
        let in_devices: u32 = self.devices.iter().map(|device| device.usage().in_system()).sum();
        let stalled = self.write_back.as_ref().is_some_and(|back| !back.stalled.is_empty());
        RunError::Deadlock {
            at_ns: self.now.0,
            state: format!(
                "no event is scheduled; {} requests outstanding, {in_devices} I/Os at the disks, {} array operations, {} dirty lines, writes stalled: {stalled}",
                self.outstanding,
                self.operations.len(),
                self.write_back.as_ref().map_or(0, |back| back.cache.used()),
            ),
        }
    }

    /// Starts the measurement of everything afresh.
    fn start_window(&mut self) {
        self.measures.restart(self.now);
        if let Some(cache) = &mut self.read_cache {
            cache.restart_counts();
        }
        self.firmware.reset(self.now);
        for direction in &mut self.link {
            direction.reset(self.now);
        }
        self.xor.reset(self.now);
        if let Some(back_end) = &mut self.back_end {
            back_end.reset(self.now);
        }
        for device in &mut self.devices {
            device.usage_mut().reset(self.now);
        }
    }

    /// Brings all integrals up to the end of the window.
    fn end_window(&mut self) {
        for device in &mut self.devices {
            device.usage_mut().advance(self.now);
        }
        self.note_degraded();
        self.note_dirty();
        self.note_power();
    }

    /// Notes the amount of dirty data after it has changed.
    #[inline]
    fn note_dirty(&mut self) {
        if let Some(back) = &self.write_back {
            self.measures.set_dirty(self.now, back.cache.dirty_sectors(), back.at_risk());
        }
    }

    /// Whether the write cache may hold dirty data.
    fn may_hold_dirty(&self) -> bool {
        self.write_back.as_ref().is_some_and(WriteBack::may_hold_dirty)
    }
}
