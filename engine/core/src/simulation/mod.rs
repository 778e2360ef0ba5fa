//! One run: events drive requests from the hosts through the controller and its caches to the disks.
//!
//! ```text
//!  sources ─► slot ─► firmware ─► link ─► write cache ─► acknowledged        (write-back)
//!     ▲                 │                     └─ destage ─► stripe ─► disks
//!     │                 ├─► link ─► stripe ─► disks ─► acknowledged          (write-through)
//!     │                 └─► caches ─► (disks) ─► link ─► data                (read)
//!     └───────────────── completion ◄────────────────────┘
//! ```

mod array_set;
mod build;
mod cache_lines;
mod columns;
mod context;
mod destage;
mod disk_io;
mod faults;
mod firmware;
mod front_end;
#[cfg(all(test, debug_assertions))]
mod fuzz;
mod hosts;
mod marks;
mod measures;
mod outcome;
mod phases;
mod power;
mod power_cut;
mod probe;
mod read_side;
mod reads;
mod recording;
mod request;
mod request_path;
mod run_control;
#[cfg(test)]
mod tests;
mod timeline;
mod warm_up;
mod write_back;
mod writes;

use std::sync::Arc;

use crate::config::Scenario;
use crate::error::RunError;
use crate::event::Event;
use crate::interruption::{Interrupt, POLL_EVENTS, Uninterrupted};
use crate::trace::Trace;
use crate::units::SimTime;

use array_set::ArraySet;
use context::Context;
use front_end::FrontEnd;
use hosts::Hosts;
use outcome::WindowEnd;
use power::Power;
use read_side::ReadSide;
use run_control::RunControl;
use write_back::WriteBack;

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
    simulate_interruptible(scenario, traces, &Uninterrupted)
}

/// Runs a scenario, which `interrupt` may end early.
///
/// # Errors
/// Those of [`simulate`], and [`RunError::Interrupted`].
pub fn simulate_interruptible(
    scenario: Scenario,
    traces: &dyn TraceStore,
    interrupt: &dyn Interrupt,
) -> Result<Outcome, RunError> {
    let scenario = scenario.normalise().map_err(RunError::Configuration)?;
    let mut simulation = Simulation::build(scenario, traces)?;
    simulation.run(interrupt)?;
    simulation.check_time()?;
    Ok(simulation.into_outcome())
}

/// A run in progress: the parts of the model, each with its own state, and the flows between them.
#[derive(Debug)]
struct Simulation {
    scenario: Scenario,
    context: Context,
    /// Events so far.
    event_count: u64,
    hosts: Hosts,
    front_end: FrontEnd,
    write_back: Option<WriteBack>,
    reads: ReadSide,
    arrays: ArraySet,
    power: Power,
    control: RunControl,
    /// The outcome at the end of the window, if the run drains afterwards.
    at_window_end: Option<WindowEnd>,
}

/// Number of events at the same time after which the run counts as stuck.
const STANDSTILL: u64 = 4_000_000;

impl Simulation {
    fn run(&mut self, interrupt: &dyn Interrupt) -> Result<(), RunError> {
        self.warm_up_functionally(interrupt)?;
        // Faults at time 0 take effect before the first request.
        self.schedule_faults();
        self.start_timeline();
        self.hosts.start(&mut self.context);
        self.start_power();
        self.end_if_input_over();
        let (mut now, mut at_this_moment) = (SimTime::ZERO, 0);
        let mut next_check = 0;
        while !self.is_over() {
            let Some((time, event)) = self.context.events.next_packed() else {
                if self.is_input_over() && !self.control.is_draining() {
                    self.end_input();
                    continue;
                }
                return Err(self.deadlock());
            };
            if time > now {
                if time > SimTime::END {
                    return Err(RunError::EndOfTime { requests: self.control.completed() });
                }
                now = time;
                at_this_moment = 0;
            } else {
                at_this_moment += 1;
                if at_this_moment > STANDSTILL {
                    return Err(RunError::Standstill { at_ns: now.0 });
                }
            }
            if self.event_count == next_check {
                next_check = self.check_end(interrupt)?;
            }
            self.event_count += 1;
            self.act(event.event());
        }
        let is_drained = self.control.is_draining();
        self.context
            .probe
            .watch(|oracle| oracle.end_run(is_drained, self.arrays.states(), &self.arrays.devices));
        Ok(())
    }

    #[expect(clippy::inline_always, reason = "an event stays in registers, and is dispatched once")]
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
            Event::Parity(operations) => self.on_parity(operations),
            Event::Mirror(request) => self.on_mirror(request),
            Event::AgeLimit(array) => self.on_age_limit(array),
            Event::Idle(array) => self.on_idle(array),
            Event::Rebuild(device) => self.arrays.end_rebuild_wait(&mut self.context, device),
            Event::Fault(index) => self.on_fault(index),
            Event::Clock => self.on_clock(),
            Event::Phase(index) => self.on_phase(index),
            Event::Processor(which) => self.on_processor(which),
        }
    }

    /// Checks whether the run has to end before its input is over; returns the event count of the next check.
    #[cold]
    fn check_end(&self, interrupt: &dyn Interrupt) -> Result<u64, RunError> {
        let limit = self.scenario.run.max_events;
        if self.event_count == limit {
            return Err(self.event_limit());
        }
        interrupt.check().map_err(RunError::Interrupted)?;
        Ok(limit.min(self.event_count + POLL_EVENTS))
    }

    #[cold]
    fn event_limit(&self) -> RunError {
        RunError::EventLimit {
            events: self.event_count,
            at_ns: self.now().0,
            requests: self.control.completed(),
        }
    }

    #[cold]
    fn deadlock(&self) -> RunError {
        let back = self.write_back.as_ref();
        RunError::Deadlock {
            at_ns: self.now().0,
            state: format!(
                "no event is scheduled; {} requests outstanding, {} I/Os at the disks, {} array operations, {} dirty lines, writes stalled: {}",
                self.front_end.outstanding(),
                self.arrays.io_count(),
                self.arrays.operation_count(),
                back.map_or(0, |back| back.cache.used()),
                back.is_some_and(WriteBack::is_stalled),
            ),
        }
    }

    /// The simulated time.
    fn now(&self) -> SimTime {
        self.context.now()
    }

    /// Restarts all measurements.
    fn reset_measures(&mut self) {
        let now = self.now();
        self.context.measures.restart(now);
        if let Some(cache) = &mut self.reads.cache {
            cache.restart_counts();
        }
        self.hosts.reset_measures(now);
        self.context.firmware.reset(now);
        self.front_end.reset(now);
        self.arrays.reset(now);
    }

    /// Brings all integrals up to date.
    fn advance_measures(&mut self) {
        self.arrays.advance(self.context.now());
        self.hosts.advance_measures(self.context.now());
        self.arrays.record_degraded(&mut self.context);
        self.record_dirty();
        self.record_power();
    }

    /// Records the amount of dirty data after it has changed.
    #[inline]
    fn record_dirty(&mut self) {
        if let Some(back) = &self.write_back {
            back.record_dirty(&mut self.context);
        }
    }

    /// Whether the write cache may hold dirty data.
    fn may_hold_dirty(&self) -> bool {
        self.write_back.as_ref().is_some_and(WriteBack::may_hold_dirty)
    }
}
