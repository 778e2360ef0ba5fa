//! Scripted faults: what fails during a run, and what follows.

use super::Simulation;
use super::array_set::Place;
use crate::config::Fault;
use crate::event::Event;
use crate::units::SimTime;

impl Simulation {
    /// Schedules the faults of the scenario.
    pub(super) fn schedule_faults(&mut self) {
        for (index, fault) in self.scenario.faults.iter().enumerate() {
            self.context.schedule(SimTime::ZERO + fault.at(), Event::Fault(index as u32));
        }
    }

    /// A scripted fault happens.
    pub(super) fn on_fault(&mut self, index: u32) {
        let find = |name: &Option<String>| {
            let place = self.scenario.arrays().iter().position(|array| Some(&array.name) == name.as_ref());
            place.unwrap_or_default() as u16
        };
        match &self.scenario.faults[index as usize] {
            Fault::MainsLost { duration, .. } => self.lose_mains(*duration),
            Fault::BatteryFails { .. } => self.fail_battery(),
            Fault::LearnCycle { .. } => self.request_learn_cycle(),
            Fault::DiskFails { array, disk, .. } => {
                let place = Place { array: find(array), disk: *disk };
                self.fail_disk(place);
            }
            Fault::RebuildStarts { array, .. } => {
                let array = find(array);
                // If a hot spare has been taken already, there is nothing to replace.
                if let Some(&disk) = self.arrays[array].redundancy.vacant.first() {
                    self.replace_disk(Place { array, disk });
                }
            }
        }
    }

    /// A disk fails: its I/Os are lost, and a hot spare is taken if there is one.
    fn fail_disk(&mut self, place: Place) {
        let Some(failure) = self.arrays.fail_disk(&mut self.context, place) else { return };
        if failure.has_lost_data {
            self.end_by_array_failure(place.array);
            return;
        }
        for io in failure.ios {
            self.lose_io(failure.device, io);
        }
        if self.arrays.take_spare(&mut self.context, place) {
            self.replace_disk(place);
        }
    }

    /// Puts a new disk at the place of a failed one and starts its rebuild.
    fn replace_disk(&mut self, place: Place) {
        let device = self.arrays.replace_disk(&mut self.context, &self.scenario, place);
        self.continue_rebuild(device);
    }

    /// Starts the rows of a rebuild that are due, unless the mains are lost.
    pub(super) fn continue_rebuild(&mut self, device: u32) {
        if !self.power.is_off() {
            self.arrays.continue_rebuild(&mut self.context, device);
        }
    }

    /// Progress of the rebuild that is furthest behind, as a fraction, 1 once all have ended; `None` without one.
    pub(super) fn rebuild_progress(&self) -> Option<f64> {
        self.arrays.rebuild_progress().or_else(|| self.context.measures.rebuild_time.map(|_| 1.0))
    }
}
