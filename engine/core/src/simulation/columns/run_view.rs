//! What the readers of columns see of a run.

use std::cell::OnceCell;
use std::ops::Deref;

use crate::metrics::Histogram;
use crate::simulation::Simulation;
use crate::simulation::measures::{Counts, Measures};
use crate::units::SimTime;

/// A run whose window is over, with what several columns share.
#[derive(Debug)]
pub(in super::super) struct RunView<'a> {
    simulation: &'a Simulation,
    /// When the drain began, where it is over.
    drained_since: Option<SimTime>,
    response: OnceCell<Histogram>,
}

impl<'a> RunView<'a> {
    /// A run at the end of its window, or after the drain that began then.
    pub const fn new(simulation: &'a Simulation, drained_since: Option<SimTime>) -> Self {
        Self { simulation, drained_since, response: OnceCell::new() }
    }

    /// When the drain began, where it is over.
    pub const fn drained_since(&self) -> Option<SimTime> {
        self.drained_since
    }

    /// What was measured in the window.
    pub fn measures(&self) -> &Measures {
        &self.context.measures
    }

    /// What was counted in the window.
    pub fn counts(&self) -> &Counts {
        &self.context.measures.counts
    }

    /// Response times of all reads and writes \[ns\].
    pub fn response(&self) -> &Histogram {
        self.response.get_or_init(|| self.measures().response())
    }

    /// Length of the window \[s\].
    pub fn window_s(&self) -> f64 {
        self.drained_since.unwrap_or(self.now()).since(self.measures().start).as_secs_f64()
    }

    /// A count for each second of the window.
    pub fn per_second(&self, count: u64) -> Option<f64> {
        let length = self.window_s();
        (length > 0.0).then(|| count as f64 / length)
    }
}

impl Deref for RunView<'_> {
    type Target = Simulation;

    fn deref(&self) -> &Simulation {
        self.simulation
    }
}

/// A part of a whole; `None` where the whole is nothing.
pub fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
