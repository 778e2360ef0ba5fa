//! A loss of mains: everything stops, the battery holds what is dirty, and all starts again when they are back.
//!
//! ```text
//!   mains_lost ──► all requests end, unanswered; data being destaged is dirty again
//!       │              the battery empties, fails, or is absent ──► dirty_lost
//!   mains_back ──► dirty_preserved ──► flush of the cache (drained) ──► hosts_back
//! ```
//!
//! At the cut each disk write in progress may have reached the media in part: its sectors are old or new. A stripe with
//! parity that was being written may be left with parity that does not match, the write hole: harmless while the cache
//! holds the data and writes them again, counted where it does not. The heads stay where they are and the spindles keep
//! their phase; the read cache is empty. As on real controllers the cache is flushed before the hosts start: they
//! restart, each user with a think time, each open stream with a gap. The time that starting takes is not modelled.

use super::Simulation;
use super::power::Outage;
use super::timeline::Transition;
use crate::battery::State;
use crate::event::Event;
use crate::mutation::Mutation;
use crate::units::{SECTOR_BYTES, SimDuration};

impl Simulation {
    /// The mains are lost for `duration`.
    pub(super) fn lose_mains(&mut self, duration: SimDuration) {
        self.record_with_dirty(Transition::MainsLost);
        self.context.measures.counts.requests_cut += self.front_end.requests.len() as u64;
        let half_destaged = self.arrays.count_torn_writes(&mut self.context);
        self.power.outage = Some(Outage { half_destaged });
        self.stop_everything();
        self.record_dirty();
        self.record_power();
        let now = self.now();
        self.context.schedule(now + duration, Event::MainsBack);
        self.power.end_learn_cycle(&mut self.context);
        let battery = &mut self.power.battery;
        self.context.probe.watch(|oracle| oracle.lose_mains(now, battery.charge_at(now)));
        battery.lose_mains(now);
        if self.write_back.is_some() {
            if self.power.battery.state() == State::Holding {
                self.power.record(&mut self.context, Transition::BatteryDischarging);
            } else {
                self.lose_dirty();
            }
        }
        self.schedule_battery();
    }

    /// Ends everything in progress, except what is on disks, in the write cache and ahead in the script.
    fn stop_everything(&mut self) {
        self.context.events.retain(|event| {
            matches!(
                event,
                Event::Fault(_) | Event::Clock | Event::Phase(_) | Event::Battery(_) | Event::MainsBack
            )
        });
        self.hosts.cut_power(self.context.now());
        self.context.firmware.cut_power(self.context.now());
        self.front_end.cut_power(self.context.now());
        self.arrays.cut_power(&mut self.context);
        self.reads.cut_power();
        if let Some(back) = &mut self.write_back {
            back.cut_power(&mut self.context);
        }
    }

    /// The dirty data in the cache is lost.
    pub(super) fn lose_dirty(&mut self) {
        let Some(back) = &mut self.write_back else { return };
        let lost = back.cache.dirty_sectors();
        if lost == 0 {
            return;
        }
        back.cache.lose_all();
        let counts = &mut self.context.measures.counts;
        counts.lost_sectors += lost;
        counts.write_holes += self.power.outage.map_or(0, |outage| outage.half_destaged);
        let (now, state) = (self.context.now(), self.power.battery.state());
        let config = &self.scenario.controller.battery;
        self.context.probe.watch(|oracle| oracle.lose_dirty(now, config, state));
        self.context.record(Transition::DirtyLost, "", (lost * SECTOR_BYTES) as f64);
        self.record_dirty();
    }

    /// The mains are back.
    pub(super) fn on_mains_back(&mut self) {
        self.power.outage = None;
        self.context.record(Transition::MainsBack, "", 0.0);
        self.power.battery.restore_mains(self.context.now());
        self.arrays.resume_rebuilds(&mut self.context);
        if self.write_back.is_some() && self.power.battery.state() == State::Charging {
            self.power.record(&mut self.context, Transition::BatteryCharging);
        }
        if self.context.probe.has(Mutation::EarlyLoss) {
            self.lose_dirty();
        }
        let dirty = self.dirty_sectors();
        if dirty > 0 {
            self.context.measures.counts.preserved_sectors += dirty;
            self.record_with_dirty(Transition::DirtyPreserved);
        }
        self.power.is_flushing = dirty > 0;
        self.update_protection();
        self.schedule_battery();
        if dirty > 0 {
            self.drain();
        } else {
            self.restart_hosts();
        }
    }

    /// All hosts start again.
    pub(super) fn restart_hosts(&mut self) {
        self.record_power();
        self.context.record(Transition::HostsBack, "", 0.0);
        self.hosts.restart(&mut self.context);
    }
}
