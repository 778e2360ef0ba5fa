//! A loss of mains: everything stops, the battery holds what is dirty, and all starts again when they are back.
//!
//! ```text
//!   mains_lost ──► all in flight ends, unanswered; destages under way are dirty again
//!       │              the battery empties, fails, or is absent ──► dirty_lost
//!   mains_back ──► dirty_preserved ──► flush of the cache (drained) ──► hosts_back
//! ```
//!
//! At the cut each disk write under way may have reached the media in part: its sectors are old or new. A stripe with
//! parity that was being written may be left with parity that does not match, the write hole: harmless while the cache
//! holds the data and writes them again, counted where it does not. The heads stay where they are and the spindles keep
//! their phase; the read cache is empty. As on the real controllers the cache is flushed before the hosts start: they
//! begin anew, each user with a think time, each open stream with a gap. The time that starting takes is not modelled.

use super::Simulation;
use super::array_state::Idleness;
use super::operation::{ArrayOperation, Kind, Parent};
use super::power::Outage;
use super::timeline::Transition;
use crate::battery::State;
use crate::disk::BlockDevice as _;
use crate::event::Event;
use crate::mutation::Mutation;
use crate::slab::{Fifo, Link, Slab};
use crate::units::SimDuration;

impl Simulation {
    /// The mains are lost for `duration`.
    pub(super) fn lose_mains(&mut self, duration: SimDuration) {
        let dirty = self.dirty_bytes();
        self.timeline.note(self.now, Transition::MainsLost, "", dirty);
        self.measures.counts.requests_cut += self.requests.len() as u64;
        let half_destaged = self.count_cut_writes();
        self.power.outage = Some(Outage { half_destaged });
        self.stop_everything();
        self.note_dirty();
        self.note_power();
        self.events.schedule(self.now + duration, Event::MainsBack);
        if self.power.battery.is_learning() {
            self.note_charge(Transition::LearnEnds);
        }
        let (now, battery) = (self.now, &self.power.battery);
        self.probe.watch(|oracle| oracle.lose_mains(now, battery.charge_at(now)));
        self.power.battery.lose_mains(now);
        if self.write_back.is_some() {
            if self.power.battery.state() == State::Holding {
                self.note_charge(Transition::BatteryDischarging);
            } else {
                self.lose_dirty();
            }
        }
        self.schedule_battery();
    }

    /// Counts what a cut tears; gives the stripes with parity whose destage it ends.
    fn count_cut_writes(&mut self) -> u64 {
        let mut half_destaged = 0;
        let is_writing = |operation: &ArrayOperation| {
            let is_issued = operation.second == Link::END && operation.first == Link::END;
            operation.kind == Kind::Write && operation.pending > 0 && is_issued
        };
        for array in &self.arrays {
            let has_parity = array.layout.level().parities() > 0;
            for lock in array.locks.values() {
                for operation in lock.holders(&self.operations).filter(|operation| is_writing(operation)) {
                    self.measures.counts.disk_writes_cut += u64::from(operation.pending);
                    if let (true, Parent::Destage { .. }) = (has_parity, operation.parent) {
                        half_destaged += 1;
                    } else {
                        self.measures.counts.write_holes += u64::from(has_parity);
                    }
                }
            }
        }
        half_destaged
    }

    /// Ends all that is under way, but for what lies on disks, in the write cache and ahead in the script.
    fn stop_everything(&mut self) {
        self.events.retain(|event| {
            matches!(
                event,
                Event::Fault(_) | Event::Clock | Event::Phase(_) | Event::Battery(_) | Event::MainsBack
            )
        });
        self.requests = Slab::default();
        self.waiting = Fifo::default();
        self.outstanding = 0;
        for pipe in self.link.iter_mut().chain([&mut self.firmware, &mut self.xor]) {
            pipe.cut(self.now);
        }
        if let Some(back_end) = &mut self.back_end {
            back_end.cut_power(self.now);
        }
        let mut lost = Vec::new();
        for (index, device) in (0..).zip(&mut self.devices) {
            device.lose_power(self.now, &mut |first, sectors| lost.push((index, first, sectors)));
        }
        self.measures.counts.disk_lost_sectors += lost.iter().map(|(.., sectors)| sectors.0).sum::<u64>();
        self.operations = Slab::default();
        self.planned = Slab::default();
        self.fetches = Slab::default();
        self.waiters = Slab::default();
        for array in &mut self.arrays {
            array.locks.clear();
            array.destages = 0;
            array.awaits_age = false;
            array.idleness = Idleness { since: self.now, ..Idleness::default() };
        }
        if let Some(cache) = &mut self.read_cache {
            cache.cut_power();
        }
        let (arrays, device_array, device_disk) = (&self.arrays, &self.device_array, &self.device_disk);
        self.probe.watch(|oracle| {
            let place = |device: u32| (device_array[device as usize], device_disk[device as usize]);
            oracle.cut_run(arrays, place, &lost);
        });
        if let Some(back) = &mut self.write_back {
            back.stalled = Fifo::default();
            back.held = Fifo::default();
            back.going = 0;
            if let Some(mirror) = &mut back.mirror {
                mirror.pipe.cut(self.now);
            }
            self.measures.counts.absorbed_sectors += back.cache.cut_power(self.now);
            self.probe.watch(|oracle| oracle.compare(back.cache.dirty_sectors()));
        }
    }

    /// What is dirty in the cache is lost.
    pub(super) fn lose_dirty(&mut self) {
        let Some(back) = &mut self.write_back else { return };
        let lost = back.cache.dirty_sectors();
        if lost == 0 {
            return;
        }
        back.cache.lose_all();
        self.measures.counts.lost_sectors += lost;
        let half_destaged = self.power.outage.map_or(0, |outage| outage.half_destaged);
        self.measures.counts.write_holes += half_destaged;
        let (now, config, state) = (self.now, &self.scenario.controller.battery, self.power.battery.state());
        self.probe.watch(|oracle| oracle.lose_dirty(now, config, state));
        let bytes = (lost * crate::units::SECTOR_BYTES) as f64;
        self.timeline.note(self.now, Transition::DirtyLost, "", bytes);
        self.note_dirty();
    }

    /// The mains are back.
    pub(super) fn on_mains_back(&mut self) {
        self.power.outage = None;
        self.timeline.note(self.now, Transition::MainsBack, "", 0.0);
        self.power.battery.restore_mains(self.now);
        self.resume_rebuilds();
        if self.write_back.is_some() && self.power.battery.state() == State::Charging {
            self.note_charge(Transition::BatteryCharging);
        }
        if self.probe.has(Mutation::EarlyLoss) {
            self.lose_dirty();
        }
        let dirty = self.write_back.as_ref().map_or(0, |back| back.cache.dirty_sectors());
        if dirty > 0 {
            self.measures.counts.preserved_sectors += dirty;
            let bytes = self.dirty_bytes();
            self.timeline.note(self.now, Transition::DirtyPreserved, "", bytes);
        }
        self.power.is_flushing = dirty > 0;
        self.update_protection();
        self.schedule_battery();
        if dirty > 0 {
            self.drain();
        } else {
            self.start_hosts_again();
        }
    }

    /// All hosts begin anew.
    pub(super) fn start_hosts_again(&mut self) {
        self.note_power();
        self.timeline.note(self.now, Transition::HostsBack, "", 0.0);
        for source in &mut self.sources {
            source.forget_requests();
        }
        self.start_sources();
    }
}
