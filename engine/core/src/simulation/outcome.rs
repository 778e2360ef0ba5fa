//! The result of a run: one row of the result columns.

use super::Simulation;
use super::columns::{COLUMNS, RunView, Value, Verdict};
use super::run_control::Unsettled;
use crate::error::RunError;
use crate::units::SimTime;

/// Whether the result of a run may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Its figures may be used.
    Ok,
    /// Response time or dirty fraction did not become stationary within the limit of requests: shown, never averaged.
    NotStationary,
    /// The array cannot carry the open load: the backlog measures the length of the run.
    Overloaded,
    /// An array lost more disks than it tolerates, which ended the run: shown, never averaged.
    ArrayFailed,
}

impl Status {
    /// Its name in the result column.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::NotStationary => "not_stationary",
            Self::Overloaded => "overloaded",
            Self::ArrayFailed => "array_failed",
        }
    }
}

/// The result of a run: a value for each of the [`COLUMNS`].
#[derive(Debug)]
pub struct Outcome {
    values: Vec<Value>,
}

impl Outcome {
    /// The values, in the order of the columns.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// The value of a numeric column; `None` where it is undefined.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.value(name)?.number()
    }

    /// The value of a text column; `None` where it is undefined.
    pub fn text(&self, name: &str) -> Option<&str> {
        if let Value::Text(text) = self.value(name)? { text.as_deref() } else { None }
    }

    fn value(&self, name: &str) -> Option<&Value> {
        COLUMNS.iter().position(|column| column.name == name).map(|at| &self.values[at])
    }

    /// The row of a run that failed.
    pub fn failed(kind: &str, error: &str) -> Self {
        Self::read(Verdict { status: "failed", unsettled: None, error: Some((kind, error)) }, None)
    }

    fn read(verdict: Verdict<'_>, run: Option<&RunView<'_>>) -> Self {
        Self { values: COLUMNS.iter().map(|column| column.read(verdict, run)).collect() }
    }

    /// Reads the columns again that cover the drain.
    fn add_drain(&mut self, verdict: Verdict<'_>, run: &RunView<'_>) {
        for (column, value) in COLUMNS.iter().zip(&mut self.values) {
            if column.covers_drain {
                *value = column.read(verdict, Some(run));
            }
        }
    }
}

/// The outcome at the end of the window, where a drain follows.
#[derive(Debug)]
pub struct WindowEnd {
    time: SimTime,
    outcome: Outcome,
}

impl Simulation {
    /// The outcome of a finished run.
    pub(super) fn into_outcome(mut self) -> Outcome {
        let Some(mut window_end) = self.at_window_end.take() else { return self.outcome() };
        let drained = RunView::new(&self, Some(window_end.time));
        window_end.outcome.add_drain(self.verdict(), &drained);
        window_end.outcome
    }

    /// Checks that a window with requests has a length. A run alone can tell: it depends on what hits the caches.
    pub(super) fn check_time(&self) -> Result<(), RunError> {
        let end = self.at_window_end.as_ref().map_or(self.now(), |window_end| window_end.time);
        let counts = &self.context.measures.counts;
        let requests = counts.reads + counts.writes;
        let is_complete = matches!(self.status(), Status::Ok | Status::NotStationary);
        if is_complete && requests > 0 && end == self.context.measures.start {
            return Err(RunError::NoTime { requests });
        }
        Ok(())
    }

    /// The outcome if the window ends now.
    pub(super) fn window_end(&self) -> WindowEnd {
        WindowEnd { time: self.now(), outcome: self.outcome() }
    }

    fn outcome(&self) -> Outcome {
        Outcome::read(self.verdict(), Some(&RunView::new(self, None)))
    }

    fn verdict(&self) -> Verdict<'static> {
        let status = self.status();
        let unsettled = self.control.unsettled.filter(|_| status == Status::NotStationary);
        Verdict { status: status.name(), unsettled: unsettled.map(Unsettled::name), error: None }
    }

    pub(super) fn status(&self) -> Status {
        if self.control.has_failed {
            Status::ArrayFailed
        } else if self.is_overloaded() {
            Status::Overloaded
        } else if self.control.is_stationary {
            Status::Ok
        } else {
            Status::NotStationary
        }
    }
}
