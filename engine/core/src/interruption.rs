//! The end of a run from outside: a stop, or a time limit. The caller decides; the run asks.

/// Why a run ends before it is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// Its caller no longer wants the result.
    Stopped,
    /// It took longer than allowed.
    TimedOut {
        /// The time allowed \[ms\].
        limit_ms: u64,
    },
}

/// Decides whether a run has to end. The result of a run that is not interrupted does not depend on it.
pub trait Interrupt {
    /// Called before the first event and then every [`POLL_EVENTS`] events.
    ///
    /// # Errors
    /// The run has to end.
    fn check(&self) -> Result<(), Interruption>;
}

/// Number of events between two checks: fewer than a millisecond of work on most arrays.
pub const POLL_EVENTS: u64 = 4096;

/// Never interrupts.
#[derive(Clone, Copy, Debug)]
pub struct Uninterrupted;

impl Interrupt for Uninterrupted {
    fn check(&self) -> Result<(), Interruption> {
        Ok(())
    }
}
