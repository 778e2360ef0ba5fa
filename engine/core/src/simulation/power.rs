//! The battery during a run: what its charge allows, and what happens when it no longer does.
//!
//! ```text
//!   charge sufficient ──► write-back, protected
//!   not, or failed ─────► allow_without_battery: write-back at risk
//!                         otherwise: the cache drains, and writes go through to the disks
//! ```

use super::timeline::Transition;
use super::{Protection, Simulation};
use crate::battery::{Battery, Change, State};
use crate::config;
use crate::event::Event;
use crate::units::SECTOR_BYTES;

/// A loss of mains under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outage {
    /// Stripes with parity whose destage it ended: the data are in the cache, as long as that holds them.
    pub half_destaged: u64,
}

/// Mains and battery.
#[derive(Debug)]
pub(super) struct Power {
    pub battery: Battery,
    is_allowed_without: bool,
    /// Number of the battery's event that is not stale.
    generation: u32,
    pub outage: Option<Outage>,
    /// Whether the mains are back, and the hosts wait until the cache is flushed.
    pub is_flushing: bool,
    /// Dirty sectors at the start of the drain.
    to_drain: u64,
}

impl Power {
    pub fn new(config: &config::Battery) -> Self {
        Self {
            battery: Battery::new(config),
            is_allowed_without: config.allow_without_battery,
            generation: 0,
            outage: None,
            is_flushing: false,
            to_drain: 0,
        }
    }

    /// Whether the mains are lost.
    pub const fn is_off(&self) -> bool {
        self.outage.is_some()
    }

    /// Whether dirty data may be held, and survive a loss of mains.
    pub const fn protection(&self) -> Protection {
        if self.battery.is_sufficient() {
            Protection::Battery
        } else if self.is_allowed_without {
            Protection::AtRisk
        } else {
            Protection::None
        }
    }
}

impl Simulation {
    /// The battery's first event.
    pub(super) fn start_power(&mut self) {
        self.note_power();
        self.schedule_battery();
    }

    /// Brings the integrals of what the power allows up to now.
    pub(super) fn note_power(&mut self) {
        let hosts_are_off = self.power.is_off() || self.power.is_flushing;
        let takes_writes = self.may_hold_dirty() && !hosts_are_off;
        self.measures.write_back.set(self.now, u64::from(takes_writes));
        self.measures.outage.set(self.now, u64::from(hosts_are_off));
    }

    /// Schedules what the battery does next; what was scheduled before is stale.
    pub(super) fn schedule_battery(&mut self) {
        self.power.generation += 1;
        if self.write_back.is_none() {
            return;
        }
        match self.power.battery.next() {
            // Where nothing else can happen, learn cycles that return for ever would hide that.
            Some((at, Change::LearnBegins)) if at > self.now && self.events.is_empty() => {}
            Some((at, _)) => self.events.schedule(at, Event::Battery(self.power.generation)),
            None => {}
        }
    }

    /// The battery changes by itself.
    pub(super) fn on_battery(&mut self, generation: u32) {
        if generation != self.power.generation {
            return;
        }
        while let Some((at, change)) = self.power.battery.next()
            && at <= self.now
        {
            let was_learning = self.power.battery.is_learning();
            self.power.battery.apply(at, change);
            self.note_change(change, was_learning);
        }
        self.update_protection();
        self.schedule_battery();
    }

    fn note_change(&mut self, change: Change, was_learning: bool) {
        match change {
            Change::Sufficient => self.note_charge(Transition::BatteryReady),
            Change::Insufficient => self.note_charge(Transition::BatteryLow),
            Change::Charged => {
                self.note_charge(Transition::BatteryCharged);
                if was_learning {
                    self.note_charge(Transition::LearnEnds);
                }
            }
            Change::LearnBegins => {
                self.note_charge(Transition::LearnBegins);
                self.note_charge(Transition::BatteryDischarging);
            }
            Change::LearnTurns => {
                self.note_charge(Transition::BatteryEmpty);
                self.note_charge(Transition::BatteryCharging);
            }
            Change::Copied => {
                let dirty = self.dirty_bytes();
                self.timeline.note(self.now, Transition::CacheCopied, "", dirty);
            }
            Change::Empty => {
                self.note_charge(Transition::BatteryEmpty);
                self.lose_dirty();
            }
        }
    }

    /// Notes a transition of the battery, with its charge.
    pub(super) fn note_charge(&mut self, transition: Transition) {
        let charge = self.power.battery.charge_at(self.now);
        self.timeline.note(self.now, transition, "", charge);
    }

    /// Dirty data in the cache \[bytes\].
    pub(super) fn dirty_bytes(&self) -> f64 {
        let sectors = self.write_back.as_ref().map_or(0, |back| back.cache.dirty_sectors());
        (sectors * SECTOR_BYTES) as f64
    }

    /// The battery fails for good.
    pub(super) fn fail_battery(&mut self) {
        if let State::Absent | State::Failed = self.power.battery.state() {
            return;
        }
        self.note_charge(Transition::BatteryFailed);
        if self.power.battery.is_learning() {
            self.note_charge(Transition::LearnEnds);
        }
        let held_cache = self.power.battery.state() == State::Holding;
        self.power.battery.fail(self.now);
        if held_cache {
            self.lose_dirty();
        }
        self.update_protection();
        self.schedule_battery();
    }

    /// A learn cycle is asked for.
    pub(super) fn request_learn_cycle(&mut self) {
        self.power.battery.request_learn(self.now);
        self.schedule_battery();
    }

    /// Follows the battery: write-back begins or ends, protected or not.
    pub(super) fn update_protection(&mut self) {
        if self.power.is_off() {
            return;
        }
        let protection = self.power.protection();
        let Some(back) = &mut self.write_back else { return };
        let before = std::mem::replace(&mut back.protection, protection);
        if before == protection {
            return;
        }
        self.note_dirty();
        self.note_power();
        if before == Protection::None {
            self.timeline.note(self.now, Transition::WriteBackEnabled, "", 0.0);
            self.update_draining();
            self.retry_held();
        } else if protection == Protection::None {
            let dirty = self.dirty_bytes();
            self.timeline.note(self.now, Transition::WriteBackDisabled, "", dirty);
            self.drain();
            self.write_stalled_through();
        }
    }

    /// Destages all that is dirty, from now on.
    pub(super) fn drain(&mut self) {
        let Some(back) = &self.write_back else { return };
        self.power.to_drain = back.cache.dirty_sectors();
        let is_empty = back.cache.used() == 0;
        self.update_draining();
        if is_empty {
            self.on_drained();
        } else {
            self.destage_if_due();
        }
    }

    /// Whether the write cache is to be emptied: at the end of a run, without write-back, and after a loss of mains.
    pub(super) fn update_draining(&mut self) {
        let is_ending = self.is_draining();
        if let Some(back) = &mut self.write_back {
            back.is_draining = is_ending || self.power.is_flushing || back.protection == Protection::None;
        }
    }

    /// The write cache is empty after a drain.
    pub(super) fn on_drained(&mut self) {
        let drained = std::mem::take(&mut self.power.to_drain) * SECTOR_BYTES;
        if drained > 0 {
            self.timeline.note(self.now, Transition::Drained, "", drained as f64);
        }
        if std::mem::take(&mut self.power.is_flushing) {
            self.update_draining();
            self.start_hosts_again();
        }
    }

    /// The charge of the battery; nothing where there is none.
    pub(super) fn charge(&self) -> Option<f64> {
        (self.power.battery.state() != State::Absent).then(|| self.power.battery.charge_at(self.now))
    }
}
