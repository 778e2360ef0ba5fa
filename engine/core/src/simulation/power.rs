//! Mains and battery during a run: what the charge allows, and what happens when it no longer does.
//!
//! ```text
//!   charge sufficient ──► write-back, protected
//!   not, or failed ─────► allow_without_battery: write-back at risk
//!                         otherwise: the cache drains, and writes go through to the disks
//! ```

use super::Simulation;
use super::context::Context;
use super::timeline::Transition;
use crate::battery::{Battery, Change, State};
use crate::config;
use crate::event::Event;
use crate::units::SECTOR_BYTES;

/// Whether dirty data may be held, and survives a loss of mains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// The battery's charge is below the threshold: write-through.
    None,
    /// Write-back without a battery: the data is at risk.
    AtRisk,
    /// The battery protects dirty data.
    Battery,
}

/// A loss of mains in progress.
#[derive(Clone, Copy, Debug)]
pub struct Outage {
    /// Stripes with parity whose destage it ended: the cache has their data, until it loses them.
    pub half_destaged: u64,
}

/// Mains and battery.
#[derive(Debug)]
pub struct Power {
    /// The battery.
    pub battery: Battery,
    is_allowed_without: bool,
    /// Number of the battery's event that is not stale.
    generation: u32,
    /// The loss of mains in progress, if any.
    pub outage: Option<Outage>,
    /// Whether the mains are back, and the hosts wait until the cache is flushed.
    pub is_flushing: bool,
    /// Dirty sectors at the start of the drain.
    pub to_drain: u64,
}

impl Power {
    /// Mains that are there, and a battery.
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

    /// Whether the hosts are off: from the loss of mains until the cache is flushed after their return.
    pub const fn are_hosts_off(&self) -> bool {
        self.is_off() || self.is_flushing
    }

    /// Whether dirty data may be held, and survives a loss of mains.
    pub const fn protection(&self) -> Protection {
        if self.battery.is_sufficient() {
            Protection::Battery
        } else if self.is_allowed_without {
            Protection::AtRisk
        } else {
            Protection::None
        }
    }

    /// Schedules the battery's next change by itself, if there is a cache that it protects; earlier events are stale.
    fn schedule(&mut self, context: &mut Context, has_cache: bool) {
        self.generation += 1;
        if !has_cache {
            return;
        }
        match self.battery.next() {
            // If nothing else can happen, endless learn cycles would hide that.
            Some((at, Change::LearnBegins)) if at > context.now() && context.events.is_empty() => {}
            Some((at, _)) => context.schedule(at, Event::Battery(self.generation)),
            None => {}
        }
    }

    /// Records a transition of the battery, with its charge.
    pub fn record(&self, context: &mut Context, transition: Transition) {
        context.record(transition, "", self.battery.charge_at(context.now()));
    }

    /// Records the end of a learn cycle, if there is one.
    pub fn end_learn_cycle(&self, context: &mut Context) {
        if self.battery.is_learning() {
            self.record(context, Transition::LearnEnds);
        }
    }
}

impl Simulation {
    /// The battery's first event.
    pub(super) fn start_power(&mut self) {
        self.record_power();
        self.schedule_battery();
    }

    /// Records whether the power allows write-back, and whether the hosts are off.
    pub(super) fn record_power(&mut self) {
        let are_hosts_off = self.power.are_hosts_off();
        let takes_writes = self.may_hold_dirty() && !are_hosts_off;
        let now = self.now();
        let measures = &mut self.context.measures;
        measures.write_back.set(now, u64::from(takes_writes));
        measures.outage.set(now, u64::from(are_hosts_off));
    }

    /// Schedules the battery's next change by itself.
    pub(super) fn schedule_battery(&mut self) {
        self.power.schedule(&mut self.context, self.write_back.is_some());
    }

    /// The battery changes by itself.
    pub(super) fn on_battery(&mut self, generation: u32) {
        if generation != self.power.generation {
            return;
        }
        while let Some((at, change)) = self.power.battery.next()
            && at <= self.now()
        {
            let was_learning = self.power.battery.is_learning();
            self.power.battery.apply(at, change);
            self.follow_battery(change, was_learning);
        }
        self.update_protection();
        self.schedule_battery();
    }

    fn follow_battery(&mut self, change: Change, was_learning: bool) {
        let (power, context) = (&self.power, &mut self.context);
        match change {
            Change::Sufficient => power.record(context, Transition::BatteryReady),
            Change::Insufficient => power.record(context, Transition::BatteryLow),
            Change::Charged => {
                power.record(context, Transition::BatteryCharged);
                if was_learning {
                    power.record(context, Transition::LearnEnds);
                }
            }
            Change::LearnBegins => {
                power.record(context, Transition::LearnBegins);
                power.record(context, Transition::BatteryDischarging);
            }
            Change::LearnTurns => {
                power.record(context, Transition::BatteryEmpty);
                power.record(context, Transition::BatteryCharging);
            }
            Change::Copied => self.record_with_dirty(Transition::CacheCopied),
            Change::Empty => {
                power.record(context, Transition::BatteryEmpty);
                self.lose_dirty();
            }
        }
    }

    /// Records a transition, with the dirty data in the cache \[bytes\].
    pub(super) fn record_with_dirty(&mut self, transition: Transition) {
        let dirty = self.dirty_sectors() * SECTOR_BYTES;
        self.context.record(transition, "", dirty as f64);
    }

    /// Dirty data in the cache \[sectors\].
    pub(super) fn dirty_sectors(&self) -> u64 {
        self.write_back.as_ref().map_or(0, |back| back.cache.dirty_sectors())
    }

    /// The battery fails for good.
    pub(super) fn fail_battery(&mut self) {
        let state = self.power.battery.state();
        if let State::Absent | State::Failed = state {
            return;
        }
        self.power.record(&mut self.context, Transition::BatteryFailed);
        self.power.end_learn_cycle(&mut self.context);
        self.power.battery.fail(self.context.now());
        if state == State::Holding {
            self.lose_dirty();
        }
        self.update_protection();
        self.schedule_battery();
    }

    /// A learn cycle is requested.
    pub(super) fn request_learn_cycle(&mut self) {
        self.power.battery.request_learn(self.context.now());
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
        self.record_dirty();
        self.record_power();
        if before == Protection::None {
            self.context.record(Transition::WriteBackEnabled, "", 0.0);
            self.update_draining();
            self.retry_held();
        } else if protection == Protection::None {
            self.record_with_dirty(Transition::WriteBackDisabled);
            self.drain();
            self.write_stalled_through();
        }
    }

    /// Destages everything dirty, from now on.
    pub(super) fn drain(&mut self) {
        let Some(back) = &self.write_back else { return };
        self.power.to_drain = back.cache.dirty_sectors();
        let is_clean = back.is_clean();
        self.update_draining();
        if is_clean {
            self.on_drained();
        } else {
            self.destage_if_due();
        }
    }

    /// Whether the write cache drains: at the end of a run, without write-back, and after a loss of mains.
    pub(super) fn update_draining(&mut self) {
        if let Some(back) = &mut self.write_back {
            back.is_draining = self.control.is_draining() || self.power.is_flushing || !back.may_hold_dirty();
        }
    }

    /// The write cache is empty after a drain.
    pub(super) fn on_drained(&mut self) {
        let drained = std::mem::take(&mut self.power.to_drain) * SECTOR_BYTES;
        if drained > 0 {
            self.context.record(Transition::Drained, "", drained as f64);
        }
        if std::mem::take(&mut self.power.is_flushing) {
            self.update_draining();
            self.restart_hosts();
        }
    }

    /// The charge of the battery; `None` without one.
    pub(super) fn charge(&self) -> Option<f64> {
        let battery = &self.power.battery;
        (battery.state() != State::Absent).then(|| battery.charge_at(self.now()))
    }
}
