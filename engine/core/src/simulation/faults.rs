//! Scripted faults: what goes wrong during a run, and what it sets off.

use super::Simulation;
use crate::config::Fault;
use crate::event::Event;
use crate::units::SimTime;

impl Simulation {
    /// Schedules the faults of the scenario.
    pub(super) fn schedule_faults(&mut self) {
        for (index, fault) in self.scenario.faults.iter().enumerate() {
            self.events.schedule(SimTime::ZERO + fault.at(), Event::Fault(index as u32));
        }
    }

    /// A scripted fault happens.
    pub(super) fn on_fault(&mut self, index: u32) {
        match self.scenario.faults[index as usize] {
            Fault::MainsLost { .. } | Fault::BatteryFails { .. } | Fault::LearnCycle { .. } => {
                self.on_power_fault(index);
            }
            Fault::DiskFails { .. } | Fault::RebuildStarts { .. } => self.on_disk_fault(index),
        }
    }

    fn on_power_fault(&mut self, index: u32) {
        match self.scenario.faults[index as usize] {
            Fault::MainsLost { duration, .. } => self.lose_mains(duration),
            Fault::BatteryFails { .. } => self.fail_battery(),
            Fault::LearnCycle { .. } => self.request_learn_cycle(),
            Fault::DiskFails { .. } | Fault::RebuildStarts { .. } => {}
        }
    }
}
