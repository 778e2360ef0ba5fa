//! The timeline of a run: every transition of its battery, mains, disks and rebuilds, and of its conduct.

use crate::units::SimTime;

/// What changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition {
    /// The measurement window began.
    WindowBegins,
    /// The measurement window ended.
    WindowEnds,
}

impl Transition {
    /// The name that the timeline's column has.
    pub const fn name(self) -> &'static str {
        match self {
            Self::WindowBegins => "window_begins",
            Self::WindowEnds => "window_ends",
        }
    }
}

/// One transition of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// When it happened.
    pub at: SimTime,
    /// What changed.
    pub transition: Transition,
    /// What it happened to: an array, or a disk as `array/index`; empty for the controller.
    pub subject: String,
    /// The figure that goes with it; 0 where there is none.
    pub value: f64,
}

/// All transitions of a run, in order.
#[derive(Debug, Default)]
pub struct Timeline {
    entries: Vec<Entry>,
}

impl Timeline {
    /// Notes that `transition` happened to `subject` at `at`.
    pub fn note(&mut self, at: SimTime, transition: Transition, subject: impl Into<String>, value: f64) {
        self.entries.push(Entry { at, transition, subject: subject.into(), value });
    }

    /// The transitions so far, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }
}
