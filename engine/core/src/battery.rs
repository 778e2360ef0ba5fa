//! The battery or capacitor of a write cache: a state machine in simulated time.
//!
//! ```text
//!              charge reaches 1           a learn cycle is due
//!   Charging ─────────────────► Charged ───────────────────────► Learning
//!     ▲  ▲  (write-back allowed    │ (trickle: stays full)          │ down to empty
//!     │  │   from the threshold on)│                                │
//!     │  └─────────────────────────┼────────────────────────────────┘
//!     │ mains return               ▼ mains lost, from any of the three
//!     └───────────────────────  Holding ──► Empty (the data are lost) | Copied (flash: the data stay)
//!
//!   Failed, Absent: no charge, permanently.
//! ```
//!
//! Model, with t the time in the state \[ns\] and c the charge at its start (1 is full):
//!
//! ```text
//!   Charging  charge = min(1, c + t / charge_time)
//!   Learning  charge = max(0, c - t / learn_discharge_time)
//!   Holding   charge = max(0, c - t / holdup)
//! ```
//!
//! So a battery of charge c holds data for c x holdup. A capacitor only powers the copy of the cache to flash memory: if
//! its charge lasts for the copy, the data stay permanently.
//!
//! The charge is *sufficient* from when it reaches the threshold until it has fallen to the threshold less the hysteresis.
//! A learn cycle requested while the battery charges starts when it is full. Times are exact to the nearest
//! nanosecond.
//!
//! Assumed: linear charge and discharge, constant capacity. Not modelled: self-discharge, temperature, the time to read
//! the flash memory back.
//!
//! HP: Battery-backed write cache, 4AA0-8805ENW, 2007 (threshold, charge time, holdup). Dell: PERC 6 user's guide,
//! 2008, p. 31 (learn cycle: discharge in about three hours, charge in about four, write-through while the charge is low).

use crate::config;
use crate::units::{SimDuration, SimTime};

/// State of the battery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No battery.
    Absent,
    /// Permanently failed.
    Failed,
    /// Its charge rises.
    Charging,
    /// Full, with trickle charge.
    Charged,
    /// The first half of a learn cycle: its charge falls, with mains power.
    Learning,
    /// The mains are lost, and it powers the cache.
    Holding,
    /// The mains are lost, and the cache is in flash memory.
    Copied,
    /// The mains are lost, and its charge is used up.
    Empty,
}

/// The next change without outside cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The charge has reached the threshold.
    Sufficient,
    /// The charge has fallen below the threshold less the hysteresis.
    Insufficient,
    /// The battery is full.
    Charged,
    /// A learn cycle starts.
    LearnBegins,
    /// The battery is empty in a learn cycle, and charges again.
    LearnTurns,
    /// The cache is in flash memory.
    Copied,
    /// The battery is empty, and the data are lost.
    Empty,
}

/// The battery or capacitor of a controller.
#[derive(Clone, Debug)]
pub struct Battery {
    charge_time: SimDuration,
    learn_discharge_time: SimDuration,
    learn_period: Option<SimDuration>,
    holdup: SimDuration,
    /// Time of the copy to flash memory; none if the battery holds the cache itself.
    copy_time: Option<SimDuration>,
    threshold: f64,
    floor: f64,
    state: State,
    /// Start of the state, and the charge at that time.
    since: SimTime,
    charge: f64,
    is_sufficient: bool,
    /// Whether a learn cycle is in progress: it ends when the battery is full again.
    is_learning: bool,
    /// Time from which a learn cycle is due.
    learn_due: Option<SimTime>,
}

impl Battery {
    /// The battery of a configuration at the start of a run.
    pub fn new(config: &config::Battery) -> Self {
        let (state, charge) = match config.state {
            config::BatteryState::Present => (State::Charged, 1.0),
            config::BatteryState::Absent => (State::Absent, 0.0),
            config::BatteryState::Charging => (State::Charging, config.charge.0),
        };
        Self {
            charge_time: config.charge_time,
            learn_discharge_time: config.learn_discharge_time,
            learn_period: config.learn_period,
            holdup: config.holdup,
            copy_time: config.flash_copy_time(),
            threshold: config.threshold.0,
            floor: config.threshold.0 - config.hysteresis.0,
            state,
            since: SimTime::ZERO,
            charge,
            is_sufficient: state != State::Absent && charge >= config.threshold.0,
            is_learning: false,
            learn_due: config.learn_period.map(|period| SimTime::ZERO + period),
        }
    }

    /// State of the battery.
    pub const fn state(&self) -> State {
        self.state
    }

    /// Whether its charge allows write-back.
    pub const fn is_sufficient(&self) -> bool {
        self.is_sufficient
    }

    /// Whether a learn cycle is in progress.
    pub const fn is_learning(&self) -> bool {
        self.is_learning
    }

    /// Charge at `now` (1 is full). Precondition: no change is due before `now`.
    pub fn charge_at(&self, now: SimTime) -> f64 {
        let passed = now.since(self.since).0 as f64;
        match self.state {
            State::Absent | State::Failed => 0.0,
            State::Charged | State::Copied | State::Empty => self.charge,
            State::Charging => (self.charge + passed / self.charge_time.0.max(1) as f64).min(1.0),
            State::Learning => (self.charge - passed / self.learn_discharge_time.0 as f64).max(0.0),
            State::Holding => (self.charge - passed / self.holdup.0 as f64).max(0.0),
        }
    }

    /// The next change and its time; none if the state is permanent.
    pub fn next(&self) -> Option<(SimTime, Change)> {
        let after = |span: SimDuration, share: f64| self.since + part(span, share);
        match self.state {
            State::Absent | State::Failed | State::Copied | State::Empty => None,
            State::Charging => {
                let charged = (after(self.charge_time, 1.0 - self.charge), Change::Charged);
                let missing = self.threshold - self.charge;
                let sufficient = (after(self.charge_time, missing), Change::Sufficient);
                Some(if self.is_sufficient { charged } else { sufficient })
            }
            State::Charged => Some((self.learn_due?.max(self.since), Change::LearnBegins)),
            State::Learning => {
                let turns = (after(self.learn_discharge_time, self.charge), Change::LearnTurns);
                let falls =
                    (after(self.learn_discharge_time, self.charge - self.floor), Change::Insufficient);
                Some(if self.is_sufficient && self.floor > 0.0 { falls } else { turns })
            }
            State::Holding => {
                let lasts = part(self.holdup, self.charge);
                match self.copy_time {
                    Some(copy) if copy <= lasts => Some((self.since + copy, Change::Copied)),
                    _ => Some((self.since + lasts, Change::Empty)),
                }
            }
        }
    }

    /// Makes the change that [`next`](Self::next) returned for `at`.
    pub fn apply(&mut self, at: SimTime, change: Change) {
        match change {
            Change::Sufficient => self.is_sufficient = true,
            Change::Insufficient => self.is_sufficient = false,
            Change::Charged => {
                self.is_learning = false;
                self.enter(at, State::Charged, 1.0);
            }
            Change::LearnBegins => {
                self.is_learning = true;
                self.learn_due = self.learn_period.map(|period| at + period);
                self.enter(at, State::Learning, self.charge);
            }
            Change::LearnTurns => {
                // An empty battery also meets a threshold of 0.
                self.is_sufficient = self.floor <= 0.0;
                self.enter(at, State::Charging, 0.0);
            }
            Change::Copied => {
                let left = self.charge_at(at);
                self.enter(at, State::Copied, left);
            }
            Change::Empty => self.enter(at, State::Empty, 0.0),
        }
    }

    /// Requests a learn cycle, which starts when the battery is full.
    pub fn request_learn(&mut self, now: SimTime) {
        if !matches!(self.state, State::Learning) {
            self.learn_due = Some(self.learn_due.map_or(now, |due| due.min(now)));
        }
    }

    /// The battery fails permanently.
    pub fn fail(&mut self, now: SimTime) {
        if self.state != State::Absent {
            self.is_sufficient = false;
            self.is_learning = false;
            self.enter(now, State::Failed, 0.0);
        }
    }

    /// The mains are lost. A learn cycle ends.
    pub fn lose_mains(&mut self, now: SimTime) {
        if let State::Charging | State::Charged | State::Learning = self.state {
            let charge = self.charge_at(now);
            self.is_learning = false;
            self.enter(now, State::Holding, charge);
        }
    }

    /// The mains return.
    pub fn restore_mains(&mut self, now: SimTime) {
        if let State::Holding | State::Copied | State::Empty = self.state {
            let charge = self.charge_at(now);
            let enough = if self.is_sufficient { self.floor } else { self.threshold };
            self.is_sufficient = charge >= enough;
            self.enter(now, State::Charging, charge);
        }
    }

    fn enter(&mut self, now: SimTime, state: State, charge: f64) {
        (self.state, self.since, self.charge) = (state, now, charge);
    }
}

/// The share `share` of `span`, to the nearest nanosecond; none if negative.
fn part(span: SimDuration, share: f64) -> SimDuration {
    SimDuration((span.0 as f64 * share.max(0.0) + 0.5) as u64)
}

#[cfg(test)]
mod tests;
