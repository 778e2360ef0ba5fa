//! What all parts of a run share: the clock with its events, the firmware processor, the measurements, the
//! timeline and the probe.

use super::firmware::Firmware;
use super::measures::Measures;
use super::probe::Probe;
use super::timeline::{Timeline, Transition};
use crate::event::{Event, EventQueue};
use crate::units::SimTime;

/// What all parts of a run share.
#[derive(Debug)]
pub struct Context {
    /// Future events, and the simulated time.
    pub events: EventQueue,
    /// The firmware processor, for commands and parity.
    pub firmware: Firmware,
    /// Measurements of the window.
    pub measures: Measures,
    /// Transitions of the run.
    pub timeline: Timeline,
    /// Verification of the run.
    pub probe: Probe,
}

impl Context {
    /// The context of a run with this firmware and `arrays` arrays, at time zero.
    pub fn new(firmware: Firmware, arrays: usize) -> Self {
        Self {
            events: EventQueue::new(),
            firmware,
            measures: Measures::new(arrays),
            timeline: Timeline::default(),
            probe: Probe::default(),
        }
    }

    /// The simulated time.
    #[inline]
    pub const fn now(&self) -> SimTime {
        self.events.now()
    }

    /// Schedules `event` at `time`.
    #[expect(clippy::inline_always, reason = "as for the queue")]
    #[inline(always)]
    pub fn schedule(&mut self, time: SimTime, event: Event) {
        self.events.schedule(time, event);
    }

    /// Records a transition of `subject` in the timeline, now.
    pub fn record(&mut self, transition: Transition, subject: impl Into<String>, value: f64) {
        self.timeline.record(self.now(), transition, subject, value);
    }
}
